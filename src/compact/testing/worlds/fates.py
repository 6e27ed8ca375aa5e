"""What a line says about the fate of a request or the outcome of a command."""

from __future__ import annotations

from compact.testing.worlds.judgement import Reading, Reason
from compact.testing.worlds.lexicon import Word
from compact.testing.worlds.truth import Fate, Outcome, TruthKind
from compact.testing.worlds.views import View

_RIGHT: dict[str, set[str]] = {
    Fate.DONE: {"done", "ok", "fixed"},
    Fate.OPEN: {"open"},
    Fate.REFUSED: {"refused"},
    Fate.WITHDRAWN: {"withdrawn"},
    Fate.REPLACED: {"replaced", "withdrawn"},
    Outcome.OK: {"ok", "done", "fixed"},
    Outcome.FAILED: {"failed", "refused"},
    Outcome.FIXED: {"ok", "done", "fixed"},
}
_WRONG: dict[str, set[str]] = {
    Fate.DONE: {"open", "refused", "withdrawn", "replaced", "failed"},
    Fate.OPEN: {"done", "ok", "fixed", "refused", "withdrawn", "replaced"},
    Fate.REFUSED: {"done", "ok", "fixed", "withdrawn", "open", "replaced"},
    Fate.WITHDRAWN: {"done", "ok", "fixed", "refused", "open", "failed"},
    Fate.REPLACED: {"done", "ok", "fixed", "refused", "open", "failed"},
    Outcome.OK: {"failed", "refused", "open"},
    Outcome.FAILED: {"ok", "done", "fixed"},
    Outcome.FIXED: {"failed", "open"},
}
_PAST: dict[str, set[str]] = {
    Fate.DONE: {"open", "failed"},
    Fate.REFUSED: {"open"},
    Fate.WITHDRAWN: {"open"},
    Fate.REPLACED: {"open"},
    Outcome.FIXED: {"failed", "open"},
    Outcome.OK: {"open"},
}
"""What may have been so before."""
_ANSWER = {Fate.DONE: "done", Fate.REFUSED: "refused", Fate.WITHDRAWN: "withdrawn", Fate.REPLACED: "replaced"}


def read_fate(view: View) -> tuple[Reading, Reason]:
    """Whether the line tells what became of it."""
    truth = view.truth
    expected = truth.fate or truth.outcome
    if expected is None:
        return Reading.MENTION, Reason.NOTHING
    said = _decide(view, expected, _states(view))
    wrong = Reason.FATE if truth.kind is TruthKind.REQUEST else Reason.OUTCOME
    if not said:
        return Reading.MENTION, Reason.NOTHING
    if said & _RIGHT[expected]:
        return Reading.TRUE, Reason.NOTHING
    if said & _PAST.get(expected, set()) and not said - _PAST[expected]:
        return Reading.FALSE, Reason.STALE
    return (Reading.FALSE, wrong) if said & _WRONG[expected] else (Reading.MENTION, Reason.NOTHING)


def _decide(view: View, expected: str, words: list[Word]) -> set[str]:
    """The states that count: labels before other words; of a success and a failure, what decides."""
    if view.truth.kind is TruthKind.OUTCOME:  # an order that was cancelled successfully
        words = [word for word in words if word.group not in ("withdrawn", "replaced")]
    chosen = [word for word in words if word.label or word.group == "fixed"]
    chosen = chosen if any(word.label for word in chosen) else words
    states = {word.group for word in chosen}
    if view.truth.kind is TruthKind.OUTCOME and states & {"ok", "done", "fixed"} and "failed" in states:
        if expected == Outcome.FAILED:
            return {"fixed"} if "fixed" in states else {"failed"}
        last = max(chosen, key=lambda word: word.start).group
        return {last} if expected == Outcome.OK else {"fixed"}
    if view.truth.kind is TruthKind.OUTCOME:
        return states
    if any(each.truth.replaced_by == view.truth.id for each in view.mentions):
        states -= {"replaced", "withdrawn"}
    return states & _RIGHT[expected] or states


def _states(view: View) -> list[Word]:
    find = view.lexicon.states
    truth = view.truth
    words = find(view.without(truth.text, *(truth.text, truth.condition)))
    if truth.settled and truth.settled.lower() in view.line and truth.fate in _ANSWER:
        words.append(Word(_ANSWER[truth.fate], view.mention.start, view.mention.end, label=False))
    if words:
        return words
    if (label := view.label) and (words := find(label)):
        return words
    if words := _inherited(view):
        return words
    if view.below and (words := find(view.below)):
        return words
    for head in reversed(view.heads):
        words = find(head)
        joined = view.lexicon.join.occur(head) or "&" in head or "/" in head
        words = [word for word in words if not (joined and word.group == "failed")]
        if words and len({word.group for word in words}) == 1:
            return words
    return []


def _inherited(view: View) -> list[Word]:
    """The state that several names share: `finished a, b and c`, `a, b and c passed`."""
    for other in view.neighbours():
        before = other.start < view.mention.start
        for word in view.lexicon.states(view.clean[other.first : other.last]):
            place = other.first + word.start
            if (before and place < other.start) or (not before and place > other.end):
                return [word]
    return []
