"""Summarizing by a model: the questions, what becomes of the answers, and what is done without one.

What a model cannot read at once it reads in parts, and the parts are put together by rules, not by a model.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from compact.ports import Ask, Event, Measure
from compact.quantities import counted
from compact.summaries.model.ladder import Good, Stop, Trouble
from compact.summaries.model.material import Material, OnFailure, Request
from compact.summaries.model.merging import fit, merge
from compact.summaries.model.statements import Draft, render
from compact.summaries.model.strategy import DEFAULT
from compact.summaries.offline.emphasis import EVEN, describe_no_effect, emphasis_of
from compact.summaries.offline.summarize import SHARE, summarize_offline

__all__ = ["NoSummary", "OnFailure", "Request", "Summary", "summarize"]

_SMALLER_INPUTS = 2


@dataclass(frozen=True, slots=True)
class Summary:
    """The text, within the budget, and notes about it for the report. `offline`: no model wrote any of it."""

    text: str
    notes: tuple[str, ...] = ()
    offline: bool = False


@dataclass(frozen=True, slots=True)
class NoSummary:
    """Why there is none; and whether the messages go all the same."""

    kind: Trouble
    reason: str
    prune: bool


_Step: TypeAlias = tuple[Ask, ...] | Event


def summarize(request: Request, measure: Measure) -> Generator[_Step, Any, Summary | NoSummary]:
    """Ask for a summary; use with `yield from`. Whatever a model answers, it does not raise."""
    material = Material(request, measure)
    little = f"{counted(material.size, 'token')} are too few to ask a model about"
    outcome: Summary | Stop = Stop("empty", little if material.messages else "there is nothing to summarize")
    if material.is_worth_asking:
        outcome = yield from _by_model(material)
    if isinstance(outcome, Stop):
        return (yield from _without(material, outcome))
    yield Event("summary_created", {"tokens": measure.text(outcome.text), "offline": outcome.offline})
    return outcome


def _by_model(material: Material) -> Generator[_Step, Any, Summary | Stop]:
    answers: list[Good] | Stop = Stop("overflow", "")
    reads = material.request.reads
    questions = material.questions(reads)
    for attempt in range(1, _SMALLER_INPUTS + 2):
        answers = yield from material.ladder().climb(questions)
        if not (isinstance(answers, Stop) and answers.kind == "overflow"):
            break
        # The model reads less than was thought: ask again, in smaller parts, if there are any.
        reads //= 2
        smaller = material.questions(reads)
        again = attempt <= _SMALLER_INPUTS and smaller != questions
        questions = smaller
        facts = {"kind": "overflow", "reason": answers.reason, "attempt": attempt, "reads": reads}
        yield Event("summary_retry" if again else "summary_failed", facts)
        if not again:
            break
    if isinstance(answers, Stop):
        return answers
    finished = _finished(material, answers)
    if isinstance(finished, Stop):
        yield Event("summary_failed", {"kind": finished.kind, "reason": finished.reason})
    return finished


def _finished(material: Material, answers: Sequence[Good]) -> Summary | Stop:
    """The summary: what is new is merged with what was known before, and made to fit."""
    strategy, count = material.request.strategy, material.measure.text
    notes = [f"summarized in {len(answers)} parts"] if len(answers) > 1 else []
    if all(answer.offline for answer in answers):
        # It is made of the sources' own words, and the earlier summary's are among them.
        text = "\n".join(answer.text for answer in answers)
        if len(answers) > 1 and count(text) > material.limit:
            # Parts that are each small enough need not be so together.
            text = _write_offline(material, material.limit) or text
        return Summary(
            text, (*notes, *_notes_offline(material, min(material.limit, material.size // SHARE))), offline=True
        )
    doubts = [doubt for answer in answers for doubt in answer.doubts]
    if doubts:
        removed = sum(doubt.removed for doubt in doubts)
        told = f"{removed} removed, {len(doubts) - removed} labelled"
        verb = "is" if len(doubts) == 1 else "are"
        notes.append(f"{counted(len(doubts), 'statement of the model')} {verb} doubted ({told}): {doubts[0].why}")
    whole = material.earlier
    for answer in answers:
        whole = merge(whole, Draft(answer.draft.statements))
    whole = merge(whole, Draft(changes=tuple(change for answer in answers for change in answer.draft.changes)))
    kept = fit(whole, strategy, material.limit, count)
    if not kept:
        return Stop("over_long", f"none of {counted(len(whole), 'statement')} fits into {material.limit:,} tokens")
    if len(kept) < len(whole):
        less = len(whole) - len(kept)
        left = f"{counted(less, 'statement')} {'was' if less == 1 else 'were'} left out"
        notes.append(f"{left} to keep to {material.limit:,} tokens")
    return Summary(render(kept, strategy), tuple(notes))


def _write_offline(material: Material, budget: int, strategy: str = "") -> str:
    """The summary by our own code, all at once, by another strategy where one is named."""
    request, count = material.request, material.measure.text
    emphasis = emphasis_of(strategy or request.strategy.name)
    return summarize_offline(request.messages, budget=budget, count=count, kept=request.kept, emphasis=emphasis)


def _notes_offline(material: Material, budget: int) -> tuple[str, ...]:
    """Say which settings of the request had no effect, as no model wrote the summary."""
    strategy = material.request.strategy
    same = emphasis_of(strategy.name) != EVEN and (
        _write_offline(material, budget) == _write_offline(material, budget, DEFAULT)
    )
    return describe_no_effect(strategy.name, prompt=strategy.custom, same=same)


def _without(material: Material, stop: Stop) -> Generator[Event, None, Summary | NoSummary]:
    """What is done where no answer is usable."""
    request, count = material.request, material.measure.text
    if request.on_failure == "offline":
        budget = min(request.budget, material.size // SHARE)
        if text := _write_offline(material, budget):
            yield Event("summary_created", {"tokens": count(text), "offline": True, "reason": stop.reason})
            notes = _notes_offline(material, budget)
            return Summary(text, (f"summarized without a model: {stop.reason}", *notes), offline=True)
    if request.on_failure == "prune":
        yield Event("summary_pruned", {"kind": stop.kind, "reason": stop.reason, "messages": len(request.messages)})
    return NoSummary(stop.kind, stop.reason, prune=request.on_failure == "prune")
