"""Individual mode: each text of the selected messages by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from compact.messages import MARK
from compact.ports import Answer, Ask, Completion, Measure
from compact.providers.provider import Step, Steps, Task, ask, propose
from compact.providers.smart.prompting import content_instructions
from compact.providers.smart.settings import ContentOperation, Overrides, PassSettings, SelectionSettings
from compact.providers.truncation.cutting import SUMMARIZED, SUPPRESSED
from compact.providers.truncation.links import blank, follow, separate
from compact.providers.truncation.places import Place, Shortening, places, shorten
from compact.providers.truncation.provider import as_pass
from compact.providers.truncation.settings import TruncationSettings
from compact.providers.truncation.targeting import oversized

_FRAME = 24
"""Tokens of the two markers around a summary, more or less."""


@dataclass(slots=True)
class _Work:
    """A pass while it is put together: what is left to save, if there is a target; what was done; what failed."""

    task: Task
    settings: PassSettings
    overrides: Mapping[str, Overrides]
    excess: int | None
    done: list[Shortening] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)

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
    found = [place for place in places(task.conversation, positions) if work.operation(place).operation != "keep"]
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
    measure = work.task.measure
    sizes = ((place, place.tokens(place.text, measure) - work.operation(place).max_tokens) for place in wanted)
    waiting = iter([(place, excess) for place, excess in sizes if excess > 0])
    while not work.finished and (batch := list(_next_batch(waiting, work.excess, parallel))):
        answers = yield from ask(*(_question(place, work.operation(place)) for place in batch))
        for place, answer in zip(batch, answers, strict=True):
            work.take(_summary(work, place, answer) or work.cut(place))


def _next_batch(waiting: Iterator[tuple[Place, int]], excess: int | None, parallel: int) -> Iterator[Place]:
    """The next texts to ask about: no more than may be asked at a time, nor than the target is likely to take."""
    expected = 0
    for place, saving in islice(waiting, parallel):
        yield place
        expected += saving - _FRAME
        if excess is not None and expected >= excess:
            return


def _question(place: Place, operation: ContentOperation) -> Ask:
    instructions = operation.prompt or content_instructions(place.kind, place.tool, operation.max_tokens)
    return Ask(instructions, place.text, operation.max_tokens, (place.where.message,), operation.profile)


def _summary(work: _Work, place: Place, answer: Answer) -> Shortening | None:
    """The summary in the text's place, if there is one and it is shorter."""
    if not isinstance(answer, Completion):
        work.failures[answer.reason] += 1
        return None
    # A model may repeat a reference it has read; here it would have no source.
    summary = answer.text.strip().replace(MARK, "⟨ =")
    text = f"{SUMMARIZED}\n\n{summary}\n\n⟨ Original was {len(place.text)} chars ⟩"
    found = shorten(place, text, work.task.measure, "summarized") if summary else None
    if found is None:
        work.failures["it was longer than the text" if summary else "the answer was empty"] += 1
    return found
