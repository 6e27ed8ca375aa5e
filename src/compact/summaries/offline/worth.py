"""What an exchange is worth as a line: a person's words most, deeds with effect more than reads, new more than old."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp
from typing import NamedTuple

from compact.facts import Source
from compact.history.actions import CHANGES, Action, subject, written_by
from compact.history.outcomes.outcome import Verdict
from compact.history.quoting import after_quote
from compact.history.reading import binds
from compact.summaries.accounts import UNVERIFIED
from compact.summaries.offline.emphasis import EVEN, Emphasis, is_assistants
from compact.summaries.offline.lines import LONG, ROOMS, USER, Told
from compact.summaries.offline.quotations import Speech
from compact.summaries.offline.rules import is_rules
from compact.summaries.offline.vocabulary import references_in

OLDEST = 0.15
LEAST_STEP = 8
"""Tokens that a step counts for at least."""
_BINDING, _BY_USER, _CLOSING, _ON_THE_WAY, _COMMENT = 24.0, 5.0, 5.0, 1.2, 0.6
_CARRIED_USER, _CARRIED = 7.5, 2.5
"""What a person's words and others are worth in an earlier account, which has left out what matters less."""
_REFERENCE = 8.0
"""The worth of an id or number that the assistant gave: people come back to it, and cannot guess it."""
_ASKED_FOR = 30.0
"""What a result is worth that answers the latest question."""
_SUPERSEDED, _RUN_AGAIN = 0.3, 0.5
"""How much an action counts that was done again later, and a failure that was run again."""
_GREEN = 0.4
"""What the output of a command is worth that went well: its outcome says the most of it."""
_EFFECT, _CHANGE, _LOOK, _LOOKUP = 6.0, 1.6, 0.4, 1.2
"""What an action is worth in any line: one with an outcome, a change of a file, a look at a file, or at a record."""
_OF_RESULT = (0.2, 0.3, 0.35)
"""The shares of a result that lines of each length show."""
_TOLD = 0.2
"""The share of its worth that a message of a person has for being mentioned at all."""
_LITTLE = 4
"""Tokens below which little is said."""
_SPAN, _LEAST_SPAN = 0.15, 4
"""How fast what is old loses its worth: by this share of the conversation, and so many exchanges."""
_FADING = 0.25
"""Lines lose their worth with age more slowly than messages: detail goes first."""


class Worth(NamedTuple):
    """What an exchange is worth in lines of each length; all that was said in it, and all its results.

    What is `lasting` does not lose its worth with age.
    """

    lines: tuple[float, ...] = (0.0,) * len(ROOMS)
    words: float = 0.0
    done: float = 0.0
    lasting: float = 0.0

    def plus(self, value: float, shares: Iterable[float] = (1.0,) * len(ROOMS)) -> Worth:
        """With more words, of which lines show these shares."""
        return self._replace(lines=self._raised(value, shares), words=self.words + value)

    def plus_result(self, value: float) -> Worth:
        """With more of what tools printed."""
        return self._replace(lines=self._raised(value, _OF_RESULT), done=self.done + value)

    def _raised(self, value: float, shares: Iterable[float]) -> tuple[float, ...]:
        return tuple(line + share * value for line, share in zip(self.lines, shares, strict=True))


NOTHING = Worth()
RULES = Worth(lines=(1e6, 2e6, 4e6), words=4e6, lasting=4e6)
"""What a file of the project's rules is worth: it is the last to leave an account."""


def weigh(told: Told) -> Worth:
    """Return the worth of an exchange by its emphasis; an action that a later one repeats is worth little."""
    worth, emphasis = NOTHING, told.emphasis
    for spoken in told.said:
        stress = emphasis.of_words(spoken)
        if spoken.source is Source.TOOL:
            worth = worth.plus_result(stress * _printed(len(spoken.text)))
            continue
        by_user = spoken.source is Source.USER
        weight = _BY_USER if by_user else _ON_THE_WAY if not spoken.closing else _COMMENT if told.comments else _CLOSING
        information, size = told.vocabulary.information(spoken.text), len(spoken.text)
        information += told.vocabulary.information(question) if (question := told.answered(spoken, spoken.text)) else 0
        speech, rest = told.speech(spoken), 1.0
        if rules := speech.share_of_rules if spoken.binding else 0.0:
            value, rest = _said(stress * _BINDING, rules * information), rest - rules
            worth = worth.plus(value, _shown_first(rules * size))._replace(lasting=worth.lasting + value)
        if refers := speech.share_of_references:
            value = _said(max(stress, 1.0) * _REFERENCE, refers * information)
            worth = worth.plus(value)._replace(lasting=worth.lasting + value)
            rest -= refers
        if emphasis.reasons > stress and (reasons := rest * speech.share_of_reasons):
            value, rest = _said(emphasis.reasons * max(weight, _CLOSING), reasons * information), rest - reasons
            worth = worth.plus(value, _shown_first(reasons * size))
        value = _said(stress * weight, rest * information)
        worth = worth.plus(value, _quoted(speech, int(rest * size), _TOLD * by_user))
    stresses = [(id(said), emphasis.of_words(said)) for said in told.said]
    stresses += [(id(action), emphasis.of_deed(action)) for action in told.actions]
    for key, stress in stresses:
        if plan := told.lists.get(key):
            value = _said(stress * (_BINDING if plan.index == told.planned else _CLOSING), len(plan.tell()) / 4)
            worth = worth.plus(value)._replace(lasting=worth.lasting + value)
    for action in told.actions:
        later = action.mended_by is not None or action.rerun is not None
        again = emphasis.of_deed(action) * (_SUPERSEDED if action.superseded else _RUN_AGAIN if later else 1.0)
        looked_up = action.kind == "read" and told.tells(action)
        shown = min(len(action.result), LONG.answer) if action.kind != "read" or looked_up else 0
        weight = max(_deed(action), _LOOKUP) if looked_up else _deed(action)
        deed = _said(again * weight, (len(subject(action)) + shown) / 4)
        green = action.kind == "ran" and action.outcome.kind is Verdict.OK
        worth = worth.plus(deed).plus_result(again * (_GREEN if green else 1.0) * _printed(len(action.result)))
        if action.kind == "called" and action.outcome.kind is not Verdict.UNKNOWN:
            worth = worth._replace(lasting=worth.lasting + deed / 2)
        if wrote := 0 if action.is_command else len(written_by(action)):
            worth = worth.plus(_said(again * _CHANGE, wrote / 4), (_shown(wrote, room.written) for room in ROOMS))
        if found := told.picked(action, LONG):
            value = _said(_ASKED_FOR, len(found) / 4)
            worth = worth.plus(value, (_shown(len(found), room.found) for room in ROOMS))._replace(
                lasting=worth.lasting + value
            )
    return worth


def weigh_item(text: str, emphasis: Emphasis = EVEN) -> Worth:
    """What a statement of an earlier account is worth; one that quotes a file of rules more than all others."""
    if is_rules(text):
        return RULES
    said = text.replace(UNVERIFIED, "", 1)
    words = after_quote(said)  # a rule is known by how its sentence begins
    rule = text.startswith(USER) and binds(words or said)
    refers = any(references_in(part) for part in said.removeprefix("- ").split(" → ") if is_assistants(part))
    usual = _BINDING if rule else _REFERENCE if refers else _CARRIED_USER if said.startswith(USER) else _CARRIED
    stress = max(emphasis.of_line(text), 1.0 if refers else 0.0)
    value = _said(stress * usual, len(text) / 4)
    return NOTHING.plus(value)._replace(lasting=value if rule or refers else 0.0)


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


def _shown_first(length: float) -> Iterator[float]:
    """The shares of what a quote may take more room for that lines of each length show."""
    return (_shown(int(length), max(room.rules, room.words)) for room in ROOMS)


def _shown(length: int, room: int) -> float:
    """The share of what a text of that length says which a quote of so many characters shows."""
    share: float = min(1.0, room / max(length, 1)) ** 0.6
    return share


def _quoted(speech: Speech, length: int, least: float) -> tuple[float, ...]:
    """The shares of what was said that quotes of each length show; `least` is that of being mentioned at all.

    Where the next sentence is too long for a short quote, a longer one shows the more.
    """
    shares = [_shown(length, room.words) for room in ROOMS]
    if shares[0] < 1.0:
        missing = shares[0] - min(shares[0], _shown(length, len(speech.quote(ROOMS[0].words))))
        shares[1:] = [min(1.0, share + missing) for share in shares[1:]]
    return tuple(least + (1 - least) * share for share in shares)


def _printed(size: int) -> float:
    value: float = 0.7 * (size / 4 + 10) ** 0.4
    return value
