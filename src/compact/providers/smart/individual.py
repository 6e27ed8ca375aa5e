"""Individual mode: each text of the selected messages by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from compact.ports import Answer, Completion, Measure
from compact.providers.provider import Step, Steps, Task, ask, propose
from compact.providers.smart.prompting import question
from compact.providers.smart.settings import ContentOperation, Overrides, PassSettings, SelectionSettings
from compact.providers.truncation.cutting import SUMMARIZED, SUPPRESSED
from compact.providers.truncation.links import blank, follow, separate
from compact.providers.truncation.places import Place, Shortening, places, shorten
from compact.providers.truncation.provider import as_pass
from compact.providers.truncation.settings import TruncationSettings
from compact.providers.truncation.targeting import oversized
from compact.summaries.evidence import Evidence
from compact.summaries.ladder import is_hopeless
from compact.summaries.trust import Refused, check_summary

_FRAME = 24
"""Tokens of the two markers around a summary, more or less."""
_INSTRUCTIONS = 600
"""Tokens of the usual instructions, generously."""


@dataclass(slots=True)
class _Work:
    """A pass while it is put together: what is left to save, if there is a target; what was done; what failed."""

    task: Task
    settings: PassSettings
    overrides: Mapping[str, Overrides]
    excess: int | None
    done: list[Shortening] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    doubted: int = 0

    @property
    def finished(self) -> bool:
        return self.excess is not None and self.excess <= 0

    def operation(self, place: Place) -> ContentOperation:
        own = self.overrides.get(place.where.message)
        return (own.of(place.kind) if own else None) or self.settings.individual.defaults.of(place.kind)

    def take(self, shortening: Shortening | None) -> None:
        if shortening is not None:
            self.done.append(shortening)
            if self.excess is not None:
                self.excess -= shortening.saved

    def shortened(self, place: Place) -> str:
        """What is left of the text, without asking anybody."""
        operation = self.operation(place)
        if operation.operation == "suppress":
            return SUPPRESSED
        return operation.cut(place.kind, self.settings.individual.markers).apply(place.text, place.tool)

    def cut(self, place: Place) -> Shortening | None:
        why = "suppressed" if self.operation(place).operation == "suppress" else "truncated"
        return shorten(place, self.shortened(place), self.task.measure, why)


def rewrite_each(
    task: Task, settings: PassSettings, positions: Sequence[int], overrides: Mapping[str, Overrides], parallel: int
) -> Steps:
    """Suppress, cut and summarize the texts as the settings say, in one pass.

    Oversized texts are worked on until the target is met. Questions cost money: none is asked once it is.
    """
    work = _Work(task, settings, overrides, None if task.target is None else task.tokens - task.target)
    every = places(task.conversation, positions, handles=settings.individual.handles)
    found = [place for place in every if work.operation(place).operation != "keep"]
    free, followers = separate(task.conversation, found)
    wanted: list[Place] = []
    for place in _ordered(free, settings.selection, task.measure):
        if work.operation(place).operation == "summarize":
            wanted.append(place)
        elif not (work.finished and settings.selection.type == "oversized"):
            work.take(work.cut(place))
    yield from _summarize(work, wanted, parallel)
    if settings.selection.type == "oversized":
        followed = blank(work.done, followers, settings.individual.markers, task.measure)
    else:
        followed = follow(work.done, followers, work.shortened, task.measure)
    notes = [f"{count} without a summary: {reason}" for reason, count in work.failures.items()]
    notes += [f"{work.doubted} statements of the model were not believed"] if work.doubted else []
    yield from propose(as_pass(settings.title, work.done + followed, notes))


def _ordered(found: Sequence[Place], selection: SelectionSettings, measure: Measure) -> Sequence[Place]:
    if selection.type != "oversized":
        return found
    thresholds = TruncationSettings(
        result_threshold=selection.result_threshold,
        parameter_threshold=selection.parameter_threshold,
        priority=selection.priority,
    )
    return oversized(found, thresholds, measure)[0]


def _summarize(work: _Work, wanted: Sequence[Place], parallel: int) -> Generator[Step, Any, None]:
    """Ask for the summaries, some at a time; where one is of no use, the text is cut instead."""
    task = work.task
    readable: list[tuple[Place, int]] = []
    for place in wanted:
        tokens, longest = place.tokens(place.text, task.measure), work.operation(place).max_tokens
        if tokens + longest + _INSTRUCTIONS > (task.reads or task.window):
            work.failures["it is too long to be read at once"] += 1
            work.take(work.cut(place))
        elif tokens > longest:
            readable.append((place, tokens - longest))
    waiting = iter(readable)
    while not work.finished and (batch := list(_next_batch(waiting, work.excess, parallel))):
        answers = yield from ask(*(question(place, work.operation(place)) for place in batch))
        for place, answer in zip(batch, answers, strict=True):
            summary = _summary(work, place, answer)
            if isinstance(summary, str):
                work.failures[summary] += 1
            work.take(work.cut(place) if isinstance(summary, str) else summary)


def _next_batch(waiting: Iterator[tuple[Place, int]], excess: int | None, parallel: int) -> Iterator[Place]:
    """The next texts to ask about: no more than may be asked at a time, nor than the target is likely to take."""
    expected = 0
    for place, saving in islice(waiting, parallel):
        yield place
        expected += saving - _FRAME
        if excess is not None and expected >= excess:
            return


def _summary(work: _Work, place: Place, answer: Answer) -> Shortening | str:
    """The summary in the text's place; why there is none, where it cannot be believed or is not shorter."""
    if not isinstance(answer, Completion):
        return answer.reason
    if answer.truncated:
        return "the answer was cut off"
    summary = answer.text.strip()
    if not (answer.trusted or answer.estimated):
        tokens = work.task.measure.text(summary)
        if is_hopeless(tokens, work.operation(place).max_tokens):
            longer = tokens >= place.tokens(place.text, work.task.measure)
            return "it was longer than the text" if longer else "it was far longer than asked for"
        verdict = check_summary(summary, Evidence((), (place.text,)))
        if isinstance(verdict, Refused):
            return verdict.reason
        work.doubted += len(verdict.flags)
        summary = verdict.text
    text = f"{SUMMARIZED}\n\n{summary}\n\n⟨ Original was {len(place.text)} chars ⟩"
    return shorten(place, text, work.task.measure, "summarized") or "it was longer than the text"
