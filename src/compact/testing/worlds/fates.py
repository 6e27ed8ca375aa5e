"""What a line says about the fate of a request or the outcome of a command."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compact.testing.worlds.judgement import Reading, Reason
from compact.testing.worlds.lexicon import Word
from compact.testing.worlds.mentions import labels_before, sentence_start
from compact.testing.worlds.originals import SENTENCE
from compact.testing.worlds.truth import Fate, Outcome, Truth, TruthKind
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
_RESULT = {Outcome.OK: "ok", Outcome.FAILED: "failed", Outcome.FIXED: "fixed"}
_COLON = re.compile(r"\s?[:：…]")  # noqa: RUF001 - the marks themselves
_GAP = re.compile(r"[.!?。！？؟]\s?…")  # noqa: RUF001
"""What follows a gap between sentences is about something else."""
_SHORTEST = 24
"""Letters of a line that still says what it said without its last third."""


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
    words = _own(view, find(view.without(truth.text)))
    if words:
        return words
    if truth.outcome and _is_cut_short(view):
        return [Word(_RESULT[truth.outcome], view.mention.start, view.mention.end, label=False)]
    for label in labels_before(view.clean, view.mention.start):
        if words := find(label):
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


def _own(view: View, words: list[Word]) -> list[Word]:
    """The words that are about it; those that settled it count as what they say, and no word in them does."""
    truth, first = view.truth, view.mention.first
    gap = _GAP.search(view.own, view.mention.end - first)
    last = next((word.start for word in words if _is_next_label(view, word)), len(view.line))
    words = [word for word in words if word.start < min(last, gap.start() if gap else last)]
    for group, text in _answers(truth):
        at = view.line.find(text) if text else -1
        if at >= 0:
            end = at + len(text)
            words = [word for word in words if not at <= first + word.start < end]
            words.append(Word(group, at - first, end - first, label=group != "open"))
    return words


def _answers(truth: Truth) -> Iterator[tuple[str, str]]:
    """What was said about a request, in lower case, and the state that this tells."""
    yield "open", truth.deferred.lower()
    if truth.fate in _ANSWER and truth.settled != truth.text:
        names = [name.lower() for name in truth.names]
        for sentence in SENTENCE.split(truth.settled.lower()):
            if any(name in sentence for name in names):
                yield _ANSWER[truth.fate], sentence.rstrip(" .!?。！？؟")  # noqa: RUF001 - the marks themselves


def _is_next_label(view: View, word: Word) -> bool:
    """Whether a sentence after the one that names it begins with the word as its label: `open: a. done: …`."""
    own, named = view.own, view.mention.end - view.mention.first
    begins = sentence_start(own, word.start)
    return named < begins and not own[begins : word.start].strip() and bool(_COLON.match(own, word.end))


def _is_cut_short(view: View) -> bool:
    """Whether most of the line that says how it ended is quoted, and only its end is not."""
    said, line = (" ".join(text.lower().split()) for text in (view.truth.settled, view.line))
    return len(said) >= _SHORTEST and said[: len(said) * 2 // 3] in line


def _inherited(view: View) -> list[Word]:
    """The state that several names share: `finished a, b and c`, `a, b and c passed`."""
    for other in view.neighbours():
        before = other.start < view.mention.start
        for word in view.lexicon.states(view.clean[other.first : other.last]):
            place = other.first + word.start
            if (before and place < other.start) or (not before and place > other.end):
                return [word]
    return []
