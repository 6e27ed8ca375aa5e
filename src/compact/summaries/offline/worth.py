"""What an exchange is worth as a line: a person's words most, deeds with effect more than reads, new more than old."""

from __future__ import annotations

from math import exp
from typing import NamedTuple

from compact.facts import Source
from compact.history.actions import CHANGES, Action, subject, written_by
from compact.history.outcomes.outcome import Verdict
from compact.history.rules import rules_read
from compact.summaries.accounts import UNVERIFIED
from compact.summaries.offline.emphasis import EVEN, Emphasis
from compact.summaries.offline.lines import LONG, SHORT, USER, Told, quoted

OLDEST = 0.15
LEAST_STEP = 8
"""Tokens that a step counts for at least."""
_BINDING, _BY_USER, _CLOSING, _ON_THE_WAY, _COMMENT = 15.0, 4.0, 3.2, 1.2, 0.6
_ASKED_FOR = 18.0
"""What a result is worth that answers the latest question."""
_SUPERSEDED = 0.3
_EFFECT, _CHANGE, _LOOK = 4.5, 1.6, 0.4
"""What a deed is worth that any line tells: one with an outcome, a change of a file, a look at something."""
_OF_RESULT = (0.2, 0.35)
"""The shares of a result that a short line shows, and a long one."""
_LITTLE = 4
"""Tokens below which little is said."""
_LONGEST_RULES = 4_000
_SPAN, _LEAST_SPAN = 0.15, 4
"""How fast what is old loses its worth: by this share of the conversation, and so many exchanges."""
_FADING = 0.4
"""Lines lose their worth with age more slowly than messages: detail goes first."""


class Worth(NamedTuple):
    """What an exchange is worth in a short line and in a long one; all that was said in it, and all its results.

    What is `lasting` does not lose its worth with age.
    """

    short: float = 0.0
    long: float = 0.0
    words: float = 0.0
    done: float = 0.0
    lasting: float = 0.0

    def plus(self, value: float, short: float, long: float) -> Worth:
        """With more words, of which lines show these shares."""
        short, long = self.short + short * value, self.long + long * value
        return self._replace(short=short, long=long, words=self.words + value)

    def plus_result(self, value: float) -> Worth:
        """With more of what tools printed."""
        short, long = (line + share * value for line, share in zip((self.short, self.long), _OF_RESULT, strict=True))
        return self._replace(short=short, long=long, done=self.done + value)


NOTHING = Worth()


def weigh(told: Told, emphasis: Emphasis = EVEN) -> Worth:
    """What an exchange is worth to a strategy with that emphasis; what a later action does again is worth little."""
    worth = NOTHING
    for spoken in told.said:
        stress = emphasis.of_words(spoken)
        if spoken.source is Source.TOOL:
            worth = worth.plus_result(stress * _printed(len(spoken.text)))
            continue
        by_user = spoken.source is Source.USER
        weight = _BY_USER if by_user else _ON_THE_WAY if not spoken.closing else _COMMENT if told.comments else _CLOSING
        weight = _BINDING if spoken.binding else weight
        value = _said(stress * weight, told.vocabulary.information(spoken.text))
        worth = worth.plus(value, *(_shown(len(spoken.text), quoted(spoken, room)) for room in (SHORT, LONG)))
        if spoken.binding:
            worth = worth._replace(lasting=worth.lasting + value)
    for action in told.actions:
        if rules_read(action) and not action.superseded:
            size = min(len(action.result), _LONGEST_RULES)
            value = _said(emphasis.rules * _BINDING, size / 4)
            worth = worth.plus(value, _shown(size, SHORT.rules), _shown(size, LONG.rules))
            worth = worth._replace(lasting=worth.lasting + value)
            continue
        again = emphasis.of_deed(action) * (_SUPERSEDED if action.superseded else 1.0)
        shown = 0 if action.kind == "read" else min(len(action.result), LONG.answer)
        deed = _said(again * _deed(action), (len(subject(action)) + shown) / 4)
        worth = worth.plus(deed, 1.0, 1.0).plus_result(again * _printed(len(action.result)))
        if action.kind == "called" and action.outcome.kind is not Verdict.UNKNOWN:
            worth = worth._replace(lasting=worth.lasting + deed / 2)
        if wrote := len(written_by(action)):
            worth = worth.plus(_said(again * _CHANGE, wrote / 4), 0.0, _shown(wrote, LONG.written))
        if found := told.found(action, LONG):
            shares = (_shown(len(found), room.found) for room in (SHORT, LONG))
            value = _said(_ASKED_FOR, len(found) / 4)
            worth = worth.plus(value, *shares)._replace(lasting=worth.lasting + value)
    return worth


def weigh_item(text: str, emphasis: Emphasis = EVEN) -> Worth:
    """What a statement of an earlier account is worth."""
    by_user = text.replace(UNVERIFIED, "", 1).startswith(USER)
    weight = emphasis.of_line(text) * (_BY_USER if by_user else _ON_THE_WAY)
    return NOTHING.plus(_said(weight, len(text) / 4), 1.0, 1.0)


def fade(at: int, size: int) -> float:
    """How much of its worth the exchange at that place still has, of so many."""
    return OLDEST + (1 - OLDEST) * exp(-(size - 1 - at) / (_SPAN * size + _LEAST_SPAN))


def fade_line(value: float, worth: Worth, recency: float) -> float:
    """What a line of that value is worth at that age."""
    lasting = min(value, worth.lasting)
    faded: float = lasting + (value - lasting) * recency**_FADING
    return faded


def _deed(action: Action) -> float:
    if action.outcome.failed:
        return _EFFECT
    if action.kind in CHANGES or action.kind == "read":
        return _LOOK if action.kind == "read" else _CHANGE
    return _EFFECT if action.outcome.kind is Verdict.OK else _CHANGE


def _said(weight: float, tokens: float) -> float:
    value: float = weight * tokens / (tokens + _LITTLE) ** 0.4
    return value


def _shown(length: int, room: int) -> float:
    """The share of what a text of that length says which a quote of so many characters shows."""
    share: float = min(1.0, room / max(length, 1)) ** 0.6
    return share


def _printed(size: int) -> float:
    value: float = 0.7 * (size / 4 + 10) ** 0.4
    return value
