"""Summarizing by a model: the questions, what becomes of the answers, and what is done without one.

What a model cannot read at once it reads in parts, and the parts are put together by rules, not by a model. Only where
that is too long is it asked to shorten them.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from compact.ports import Ask, Event, Measure
from compact.summaries.ladder import Good, Stop, Trouble
from compact.summaries.material import Draft, Material, OnFailure, Request
from compact.summaries.merging import fit, merge
from compact.summaries.offline import SHARE, summarize_offline
from compact.summaries.opening import with_first_request
from compact.summaries.record import Record, render_record, with_ids

__all__ = ["NoSummary", "OnFailure", "Request", "Summary", "summarize"]

_SMALLER_INPUTS = 2
_SHORTENINGS = 3


@dataclass(frozen=True, slots=True)
class Summary:
    """The text, within the budget, and what is worth telling about it. `offline`: no model wrote any of it."""

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
    outcome: Summary | Stop = Stop("empty", "there is nothing to summarize")
    if material.messages and material.size > 1:
        outcome = yield from _by_model(material)
    if isinstance(outcome, Stop):
        return (yield from _without(material, outcome))
    yield Event("summary_created", {"tokens": measure.text(outcome.text), "offline": outcome.offline})
    return outcome


def _by_model(material: Material) -> Generator[_Step, Any, Summary | Stop]:
    answers: list[Good] | Stop = Stop("overflow", "")
    reads = material.request.reads
    for attempt in range(1, _SMALLER_INPUTS + 2):
        answers = yield from material.ladder().climb(material.questions(reads))
        if not (isinstance(answers, Stop) and answers.kind == "overflow"):
            break
        # The model reads less than was thought: ask again, in smaller parts.
        again = attempt <= _SMALLER_INPUTS
        reads = reads // 2 if again else reads
        facts = {"kind": "overflow", "reason": answers.reason, "attempt": attempt, "reads": reads}
        yield Event("summary_retry" if again else "summary_failed", facts)
    if isinstance(answers, Stop):
        return answers
    draft = yield from _shortened(material, material.draft(answers), reads)
    if isinstance(draft, Stop):
        return draft
    notes = [f"summarized in {len(answers)} parts"] if len(answers) > 1 else []
    flags = [flag for answer in answers for flag in answer.flags]
    if flags:
        notes.append(f"{len(flags)} statements of the model were not believed: {flags[0].why}")
    finished = _finished(material, draft, notes)
    if isinstance(finished, Stop):
        yield Event("summary_failed", {"kind": finished.kind, "reason": finished.reason})
        return finished
    # Only what our own code has made needs no merging.
    return replace(finished, offline=all(answer.finished for answer in answers))


def _shortened(material: Material, draft: Draft, reads: int) -> Generator[_Step, Any, Draft | Stop]:
    """The draft within its limit; a record may stay longer, since its items can be left out one by one."""
    count = material.measure.text
    tokens = count(material.text(draft))
    for _ in range(_SHORTENINGS):
        if tokens <= material.limit:
            return draft
        answers = yield from material.shortener().climb(material.shortenings(draft, reads))
        if isinstance(answers, Stop):
            return draft if isinstance(draft, Record) else answers
        shorter = material.draft(answers)
        if isinstance(draft, Record) and isinstance(shorter, Record):
            shorter = Record(shorter.items, draft.changes, draft.unread)
        before, tokens = tokens, count(material.text(shorter))
        if tokens >= before:
            break
        draft = shorter
    if tokens <= material.limit or isinstance(draft, Record):
        return draft
    reason = f"the parts together take {tokens:,} tokens where {material.limit:,} are allowed"
    yield Event("summary_failed", {"kind": "over_long", "reason": reason})
    return Stop("over_long", reason)


def _finished(material: Material, draft: Draft, notes: list[str]) -> Summary | Stop:
    """The summary: what is new is merged with what was known before, and made to fit."""
    if isinstance(draft, str):
        return Summary(draft, tuple(notes))
    update = with_ids(draft, [message.id for message in material.messages])
    strategy = material.request.strategy
    if material.earlier:
        whole = merge(material.earlier, update)
    else:
        whole = with_first_request(Record(update.items), material.messages, strategy)
    kept, left_out = fit(whole, strategy, material.limit, material.measure.text)
    if not kept.items:
        return Stop("over_long", f"none of {len(whole.items)} items fits into {material.limit:,} tokens")
    if left_out:
        notes.append(f"{len(left_out)} items were left out to keep to {material.limit:,} tokens")
    if draft.unread:
        notes.append(f"{len(draft.unread)} lines of the answer stood under no heading and were left out")
    return Summary(render_record(kept, strategy), tuple(notes))


def _without(material: Material, stop: Stop) -> Generator[Event, None, Summary | NoSummary]:
    """What is done where no answer is usable."""
    request, count = material.request, material.measure.text
    if request.on_failure == "offline":
        budget = min(material.limit, material.size // SHARE)
        text = summarize_offline(request.messages, budget=budget, count=count, kept=request.kept)
        if text:
            yield Event("summary_created", {"tokens": count(text), "offline": True, "reason": stop.reason})
            return Summary(text, (f"summarized without a model: {stop.reason}",), offline=True)
    if request.on_failure == "prune":
        yield Event("summary_pruned", {"kind": stop.kind, "reason": stop.reason, "messages": len(request.messages)})
    return NoSummary(stop.kind, stop.reason, prune=request.on_failure == "prune")
