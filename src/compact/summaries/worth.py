"""What an exchange is worth as a line: words more than deeds, a person's words most, new more than old."""

from __future__ import annotations

import re
from math import exp
from typing import TypeAlias

from compact.facts import Source
from compact.summaries.accounts import UNVERIFIED
from compact.summaries.actions import CHANGES
from compact.summaries.lines import USER, Told
from compact.summaries.rules import rules_read

Worth: TypeAlias = tuple[float, float]
"""What the words of an exchange are worth, and its deeds."""

SHORT_SHOWS, LONG_SHOWS = (0.4, 0.5), (0.85, 0.6)
"""The shares of words and deeds that a short line shows, and a long one."""
OLDEST = 0.15
LEAST_STEP = 8
"""Tokens that a step counts for at least."""
_BY_USER, _CLOSING, _ON_THE_WAY = 4.0, 1.6, 1.2
_SUPERSEDED = 0.3
_PLEASANT = 0.5
"""What an answer is worth that names nothing."""
_FACT = re.compile(r"\d|`|\w[_/]\w|[a-z][A-Z]|\n\s*[-*]")
_LONGEST_RULES = 4_000
_SPAN, _LEAST_SPAN = 0.15, 4
"""How fast what is old loses its worth: by this share of the conversation, and so many exchanges."""
_FADING = 0.4
"""Lines lose their worth with age more slowly than messages: detail goes first."""


def weigh(told: Told) -> Worth:
    """What an exchange is worth; what a later action does again is worth little."""
    words = done = 0.0
    for spoken in told.said:
        if spoken.source is Source.TOOL:
            done += _printed(len(spoken.text))
            continue
        weight = _BY_USER if spoken.source is Source.USER else _CLOSING if spoken.closing else _ON_THE_WAY
        if spoken.source is Source.ASSISTANT and not _FACT.search(spoken.text):
            weight *= _PLEASANT
        words += _said(weight, spoken.text)
    for action in told.actions:
        if rules_read(action) and not action.superseded:
            words += _said(_BY_USER, action.result[:_LONGEST_RULES])
            continue
        weight = 1.3 if action.outcome.failed or action.kind in CHANGES else 0.7 if action.kind == "read" else 1.0
        done += weight * (_SUPERSEDED if action.superseded else 1.0) * _printed(len(action.result))
    return words, done


def weigh_item(text: str) -> Worth:
    """What a statement of an earlier account is worth."""
    by_user = text.replace(UNVERIFIED, "", 1).startswith(USER)
    return _said(_BY_USER if by_user else _ON_THE_WAY, text), 0.0


def fade(at: int, size: int) -> float:
    """How much of its worth the exchange at that place still has, of so many."""
    return OLDEST + (1 - OLDEST) * exp(-(size - 1 - at) / (_SPAN * size + _LEAST_SPAN))


def line_value(worth: Worth, recency: float, shows: tuple[float, float]) -> float:
    """What a line is worth that shows these shares."""
    faded: float = recency**_FADING
    return faded * (shows[0] * worth[0] + shows[1] * worth[1])


def _said(weight: float, text: str) -> float:
    value: float = weight * (len(text) / 4 + 4) ** 0.6
    return value


def _printed(size: int) -> float:
    value: float = (size / 4 + 10) ** 0.4
    return value
