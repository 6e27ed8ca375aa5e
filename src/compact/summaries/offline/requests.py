"""The subject of the latest request: its names, and the words that say something."""

from __future__ import annotations

import re

from compact.history.reading import Reading
from compact.history.speech import common_words
from compact.summaries.offline.records import names_in

QUESTION = 600
_INFLECTED = 6
_SHORT_NUMBER, _LONG_NUMBER = 3, 5
"""Shorter ones are as likely numbers of lines, the more so in a long request."""
LONGEST_RESULT = 20_000
_RARE = 3
"""A word that more results have says nothing about any of them."""
_MOST_ASKED = 60
_SPACELESS = "\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7a3"
_ASKED_WORD = re.compile(rf"[^\W{_SPACELESS}]{{4,40}}|[{_SPACELESS}]{{2,8}}")


def find_asked(reading: Reading, text: str) -> frozenset[str]:
    """The names of the latest request, and the stems of its words where it is short; all in lower case."""
    short = len(text) <= QUESTION
    least = _SHORT_NUMBER if short else _LONG_NUMBER
    names = {name.lower() for name in names_in(text) if not (name.isdigit() and len(name) < least)}
    words = words_of_request(text) - names
    chosen = sorted(words, key=lambda word: (-len(word), word))[:_MOST_ASKED]
    results = [action.result[:LONGEST_RESULT].lower() for action in reading.actions] if chosen else []
    rare = [word for word in chosen if sum(word in result for result in results) <= _RARE]
    return frozenset([*sorted(names)[:_MOST_ASKED], *rare])


def words_of_request(request: str) -> set[str]:
    """The stems of the words of a short request that say what it is about."""
    said = {word.lower() for word in _ASKED_WORD.findall(request)} if len(request) <= QUESTION else set()
    return {_stem(word) for word in said - common_words()}


def _stem(word: str) -> str:
    """The word without what an inflection may change."""
    return word[:-2] if len(word) > _INFLECTED and word.isalpha() else word
