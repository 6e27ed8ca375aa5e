"""Individual mode: each text of the selected messages by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from compact.messages import EditKind, Pass
from compact.ports import LEAST_SAVED, Answer, Completion, Measure
from compact.providers.provider import Applied, Step, Steps, Task, ask, propose
from compact.providers.smart.prompting import question
from compact.providers.smart.settings import ContentOperation, Overrides, PassSettings, SelectionSettings
from compact.providers.truncation.cutting import Markers, summarized, suppress
from compact.providers.truncation.links import blank, follow, separate
from compact.providers.truncation.places import Kind, Place, Shortening, places, shorten
from compact.providers.truncation.provider import as_pass
from compact.providers.truncation.settings import TruncationSettings
from compact.providers.truncation.targeting import PRECISION, fit_last, oversized
from compact.quantities import counted
from compact.summaries.model.check import Refused, check_summary
from compact.summaries.model.ladder import is_hopeless
from compact.summaries.model.sources import Sources
from compact.summaries.model.statements import render
from compact.summaries.model.strategy import DEFAULT, find_strategy

_ROUNDS = 4
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

    @property
    def markers(self) -> Markers:
        return self.settings.individual.markers

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
            return suppress(place.text, self.markers)
        return operation.cut(place.kind, self.markers).apply(place.text, place.tool)

    def cut(self, place: Place) -> Shortening | None:
        """The place cut as its operation says, or less where less will do; None where that saves nothing."""
        operation, measure, target = self.operation(place), self.task.measure, self.task.target
        if operation.operation == "suppress":
            return shorten(place, suppress(place.text, self.markers), measure, EditKind.SUPPRESSED)
        least = shorten(place, self.shortened(place), measure, EditKind.TRUNCATED)
        if least is None or target is None or self.excess is None or least.saved < self.excess:
            return least
        return fit_last(
            least,
            (self.excess, target // PRECISION),
            lambda chars: operation.cut(place.kind, self.markers, chars),
            measure,
        )


def rewrite_each(
    task: Task, settings: PassSettings, positions: Sequence[int], overrides: Mapping[str, Overrides], parallel: int
) -> Steps:
    """Suppress, cut and summarize the texts as the settings say, until the target is met if there is one.

    The last text is cut no further than that takes, and no question is asked once it is met. What a text in the
    arguments of a call takes is an estimate: where it was too low, there is another pass, which asks no model.
    """
    for attempt in range(_ROUNDS):
        parallel = 0 if attempt and task.asks else parallel
        work = _Work(task, settings, overrides, None if task.target is None else task.tokens - task.target)
        verdict = yield from propose((yield from _rewritten(work, positions, parallel)))
        if not (work.finished and isinstance(verdict, Applied)) or task.reached(verdict.tokens):
            return
        task = replace(task, conversation=verdict.conversation, tokens=verdict.tokens)


def _rewritten(work: _Work, positions: Sequence[int], parallel: int) -> Generator[Step, Any, Pass]:
    """The pass over the texts at these positions."""
    task, settings = work.task, work.settings
    every = places(task.conversation, positions, handles=settings.individual.handles, originals=task.originals)
    found = [place for place in every if work.operation(place).operation != "keep"]
    free, followers = separate(task.conversation, found)
    wanted: list[Place] = []
    for place in _ordered(free, settings.selection, task.measure):
        if work.operation(place).operation == "summarize":
            wanted.append(place)
        elif not work.finished:
            work.take(work.cut(place))
    yield from _summarize(work, wanted, parallel)
    if settings.selection.type == "oversized":
        followed = blank(work.done, followers, work.markers, task.measure)
    else:
        followed = follow(work.done, followers, work.shortened, work.markers, task.measure)
    notes = [f"{count} without a summary: {reason}" for reason, count in work.failures.items()]
    if work.doubted:
        verb = "is" if work.doubted == 1 else "are"
        notes.append(f"{counted(work.doubted, 'statement of the model')} {verb} doubted")
    return as_pass(settings.title, work.done + followed, notes)


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
    """Ask for the summaries, some at a time; where one is of no use, or not worth a question, the text is cut instead.

    A model is asked what the target takes if every summary is as long as it may be, so that it is known beforehand how
    many questions there are; where that is not enough, the other texts are cut.
    """
    task = work.task
    readable: dict[tuple[str, Kind, str, ContentOperation], list[Place]] = {}
    others: list[Place] = []
    for place in wanted:
        operation = work.operation(place)
        tokens = place.whole_tokens(task.measure)
        if tokens + operation.max_tokens + _INSTRUCTIONS > task.read_by(operation.profile):
            work.failures["it is too long to be read at once"] += 1
            work.take(work.cut(place))
        elif task.asks and tokens - operation.max_tokens < LEAST_SAVED:
            others.append(place)
        elif tokens > operation.max_tokens:
            readable.setdefault((place.text, place.kind, place.tool, operation), []).append(place)
    waiting = iter(readable.values())
    for batch in _batches(waiting, work, parallel):
        answers = yield from ask(*(question(alike[0], work.operation(alike[0])) for alike in batch))
        for alike, answer in zip(batch, answers, strict=True):
            for place in alike:
                summary = _summary(work, place, answer)
                if isinstance(summary, str):
                    work.failures[summary] += 1
                work.take(work.cut(place) if isinstance(summary, str) else summary)
    for place in chain(*waiting, others) if task.asks else ():
        if not work.finished:
            work.take(work.cut(place))


def _batches(waiting: Iterator[list[Place]], work: _Work, parallel: int) -> Iterator[list[list[Place]]]:
    """The texts to ask about, so many at a time; what a model is asked does not depend on how long its answers are."""
    if work.task.asks:
        planned = iter(list(_needed(waiting, work))) if parallel else iter(())
        while batch := list(islice(planned, parallel)):
            yield batch
        return
    while not work.finished and (batch := list(_needed(islice(waiting, parallel), work))):
        yield batch


def _needed(waiting: Iterator[list[Place]], work: _Work) -> Iterator[list[Place]]:
    """The next texts to ask about, each with all its places: no more than the target is likely to take."""
    expected = 0
    for alike in waiting:
        yield alike
        for place in alike:
            expected += place.whole_tokens(work.task.measure) - work.operation(place).max_tokens - _FRAME
        if work.excess is not None and expected >= work.excess:
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
            longer = tokens >= place.whole_tokens(work.task.measure)
            return "it was longer than the text" if longer else "it was far longer than asked for"
        strategy = find_strategy(DEFAULT)
        verdict = check_summary(summary, Sources((), place.text), strategy)
        if isinstance(verdict, Refused):
            return verdict.reason
        work.doubted += len(verdict.doubts)
        summary = render(verdict.draft.statements, strategy)
    text = summarized(place.text, summary, work.markers, extracted=answer.trusted)
    return shorten(place, text, work.task.measure, EditKind.SUMMARIZED) or "it was longer than the text"
