"""What a line says about an order, a prohibition, a rule, a decision."""

from __future__ import annotations

import re

from compact.testing.worlds.judgement import Reading, Reason
from compact.testing.worlds.lexicon import SPACELESS
from compact.testing.worlds.truth import Speaker, TruthKind
from compact.testing.worlds.views import ENDS, View, content

_COMMA = re.compile(r"[,，、،;；؛(（)）—–]")  # noqa: RUF001 - the marks themselves
_BREAK = re.compile(r"[;；؛]|(?<=[.!?])\s|[。！？؟]")  # noqa: RUF001
_END = re.compile(r"(?<=[.!?])\s|[。！？؟]")  # noqa: RUF001
_OPENING = re.compile(r"[\"“«「„『]")
_COLON = re.compile(r"[:：]")  # noqa: RUF001
_NEAR = 28
"""So many letters may stand between a word of rejection and the name it rejects."""


def read_order(view: View) -> tuple[Reading, Reason]:
    """Whether the line tells the order or prohibition with its sense and its limits."""
    truth = view.truth
    own = _without_condition(view)
    turned = _turned(view)
    here = view.mention.start if turned < 0 else turned
    scope = own if truth.negative and turned < 0 else _segment(own, here - view.mention.first)
    negative = view.lexicon.negates(scope) or _governed(view)
    related = view.verbatim or bool(view.meant & content(f"{own} {view.label}", ()))
    if not truth.standing:
        return _read_past(view, related=related)
    if not related and (not negative or not truth.negative):
        return Reading.MENTION, Reason.NOTHING
    if not negative and _shares_negation(view, own):
        negative = True
    if view.verbatim and not _has_head(view) and turned < 0:
        negative = truth.negative
    elif older := next((each.truth for each in view.mentions if each.truth.replaced_by == truth.id), None):
        # A no in a line with both may be about either of them.
        negative = _rejects(view, truth.names, older.names)
    if negative != truth.negative:
        lost = truth.lead and truth.negative and view.verbatim
        return Reading.FALSE, Reason.LEAD if lost else Reason.POLARITY
    if truth.condition and not _limited(view):
        return Reading.FALSE, Reason.CONDITION
    return Reading.TRUE, Reason.NOTHING


def _turned(view: View) -> int:
    """Where the line says the very opposite, or -1; what only a head forbids reads like its opposite."""
    truth, line = view.truth, view.line
    opposite = truth.opposite.lower().rstrip(ENDS)
    if not opposite or _has_head(view):
        return -1
    rest = line.replace(truth.text.lower(), "¤" * len(truth.text))
    at = rest.find(opposite, view.mention.first, view.mention.last)
    while at >= 0 and not view.begins_at(at):
        at = rest.find(opposite, at + 1, view.mention.last)
    return at


def _has_head(view: View) -> bool:
    """Whether it is an item of a list whose head forbids it; words that hand over another's do not."""
    return bool(view.truth.lead) and view.truth.speaker is Speaker.USER


def _segment(own: str, here: int) -> str:
    """The part around the place between semicolons and ends of sentences: a no beyond is about something else."""
    borders = [0, *(match.end() for match in _BREAK.finditer(own)), len(own)]
    first = max(border for border in borders if border <= here)
    return own[first : min((border for border in borders if border > here), default=len(own))]


def _governed(view: View) -> bool:
    """Whether a label or a heading forbids what stands behind or below it; a label may have another before it."""
    forbids = view.lexicon.forbids
    before = _BREAK.split(view.clean[: view.mention.start])[-1]
    labels = (view.label, *_COLON.split(before)[:-1], _inline_lead(view))
    return any(map(forbids, labels)) or any(forbids(head) for head in view.heads)


def _inline_lead(view: View) -> str:
    """The words before a colon that a list within the sentence stands behind: `Never: a; b; c`."""
    before = view.line[: view.mention.start]
    begins = max((match.end() for match in _END.finditer(before)), default=0)
    lead, colon, _ = before[begins:].replace("：", ":").rpartition(":")  # noqa: RUF001 - the mark itself
    return _OPENING.split(lead)[-1] if colon else ""


def _shares_negation(view: View, own: str) -> bool:
    """Whether it is one of several things that one no forbids: `never touch a, b or c`."""
    for other in view.neighbours():
        if other.start < view.mention.start:
            theirs = view.clean[other.first : other.last]
            return view.lexicon.negates(theirs) and len(own.split()) <= 3 and len(SPACELESS.findall(own)) <= 6
    return False


def _limited(view: View) -> bool:
    names = [name.lower() for name in view.truth.condition_names]
    return any(name in view.line or name in view.below for name in names)


def _without_condition(view: View) -> str:
    """The own part without the clause that limits it: a no in there is not one of the order."""
    truth = view.truth
    own = view.without(truth.condition, labelled=False)
    raw = view.line[view.mention.first : view.mention.last]
    here = view.mention.start - view.mention.first
    for name in truth.condition_names:
        at = raw.find(name.lower())
        if at < 0:
            continue
        starts = [0, *(match.end() for match in _COMMA.finditer(raw)), len(raw)]
        first = max(start for start in starts if start <= at)
        last = min(start for start in starts if start > at)
        words = [word.start for word in view.lexicon.condition.find(raw[first:last])]
        if first <= here < last:
            first = max((first + word for word in words if first + word < at and first + word > here), default=at)
        own = own[:first] + " " * (last - first) + own[last:]
    return own


def _read_past(view: View, *, related: bool) -> tuple[Reading, Reason]:
    """A superseded order: right as history, wrong as if it still stood."""
    truth = view.truth
    rest = view.line.replace(truth.text.lower(), " ")
    told = view.lexicon.history.occur(rest) or any(view.lexicon.history.occur(head) for head in view.heads)
    if told or any(each.truth.id == truth.replaced_by for each in view.mentions):
        return Reading.TRUE, Reason.NOTHING
    return (Reading.FALSE, Reason.STALE) if related else (Reading.MENTION, Reason.NOTHING)


def read_decision(view: View) -> tuple[Reading, Reason]:
    """Whether the line tells the choice, and why."""
    truth = view.truth
    line = view.line
    turned = _turned(view) >= 0
    if turned or (not view.verbatim and _rejects(view, truth.names, truth.rejected)):
        return Reading.FALSE, Reason.CHOICE
    reason = (truth.value or "").lower()
    if reason in line or reason in view.below:
        return Reading.TRUE, Reason.NOTHING
    return Reading.MENTION, Reason.NOTHING


def _place(line: str, names: tuple[str, ...]) -> int:
    return max(line.find(name.lower()) for name in names)


def _rejects(view: View, names: tuple[str, ...], rejected: tuple[str, ...]) -> bool:
    """Whether the line says that this is what was not chosen."""
    at = _place(view.line, names)
    length = max(len(name) for name in names)
    before = view.lexicon.rejected_before.find(view.line[:at])
    others = [place for place in (_place(view.line, rejected),) if place >= 0]
    for word in before:
        between = any(word.end <= other < at for other in others)
        between = between or view.lexicon.chosen.occur(view.line[word.start : at])
        if at - word.end <= _NEAR and not between and not _COMMA.search(view.line[word.end : at]):
            return True
    rest = view.line[at + length :][:_NEAR]
    after = view.lexicon.rejected_after.find(rest)
    return any(word.start <= 12 and not _COMMA.search(rest[: word.start]) for word in after)


def is_order(kind: TruthKind) -> bool:
    """Whether the truth is something to do or not to do."""
    return kind in (TruthKind.ORDER, TruthKind.PROHIBITION, TruthKind.QUOTATION, TruthKind.PROJECT_RULE)
