"""How much a text says that the conversation does not say everywhere else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import fsum

# Scripts without spaces are read by twos.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{1,2}|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_TOKEN = re.compile(r"\w+")
_WITHIN = re.compile(r"[\d_]|[a-z][A-Z]")
_CAPITAL = re.compile(r"[^\W\d_a-z](?<=[^.!?:\s]\s.)\w+")
_ASCII_CAPITAL = re.compile(r"[A-Z](?<=[^.!?:\s]\s.)\w+")
_LATIN, _OTHER_SCRIPT = re.compile(r"[A-Za-z]{2,}"), re.compile(r"[\u0370-\u1fff\u2e80-\ud7ff]")
_DIGIT = re.compile(r"\d")
# A number of many digits, or four and more with letters; no amounts, dates, versions or paths.
_REFERENCE = re.compile(
    r"(?<![\w./\\$€£-])(?:"
    r"#?[A-Z]{0,12}[-_]?(?!\d*000\b)(?<=[A-Z#_-])\d{4,20}|(?!\d*000\b)\d{6,20}"
    r"|(?=[A-Z]*\d)(?=\d*[A-Z])(?=(?:[A-Z]*\d){2})[A-Z0-9]{6,20}"
    r"|(?=[0-9-]*[A-Z])(?=(?:[A-Z-]*\d){4})[A-Z0-9]{2,12}(?:-[A-Z0-9]{1,12}){1,5}"
    r"|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r")(?![\w/\\%-]|[.,]\d)"
)
_CALLED = re.compile(r"\b([A-Za-z_]\w{2,60})\(\)")
_QUOTED = re.compile(r"`(\w{3,60})(?:\(\))?`")
_NAMED = 3.0
"""How much more a name says than a word."""
_RARE = 3
"""A word that so many exchanges have at most says as much as it can."""
_TOPIC = 0.05
"""The share of the exchanges that a topic may have: its words are no less rare for that."""
_SHORTEST_NAME, _LONGER = 3, 5
_PER_TOKEN = 4
_LONGEST, _LONGEST_PHRASE = 40_000, 400


class Vocabulary:
    """The words of a conversation, with how many of its exchanges have each."""

    def __init__(self, said: Iterable[Sequence[str]] = ()) -> None:
        """`said` are the texts of each exchange."""
        self._counts: Counter[str] = Counter()
        self._texts: Counter[str] = Counter()
        self._given: dict[str, str] = {}
        exchanges = 0
        for texts in said:
            exchanges += any(texts)
            for text in texts:
                for code in references_in(text):
                    self._given.setdefault(code, text)
            self._counts.update(set().union(*map(words_of, texts)))
            self._texts.update(text for text in texts if len(text) <= _LONGEST_PHRASE)
        rare = max(_RARE, exchanges * _TOPIC)
        self._worth = {word: _worth(word, count, rare) for word, count in self._counts.items()}

    def information(self, text: str) -> float:
        """The tokens of a text that say something, roughly: a word that many exchanges have counts for little.

        What is said again and again, word for word, says nothing new.
        """
        known = self._worth
        start = text[:_LONGEST]
        tokens = set(_TOKEN.findall(start))
        words = set(map(str.lower, tokens)) if start.isascii() else words_of(start)
        worth = {word: known[word] if word in known else _worth(word) for word in words}
        named = fsum(worth.get(name, 0.0) for name in set(map(str.lower, _names(start, tokens))))
        # Sets have another order in every process; exact sums do not depend on it.
        return (fsum(worth.values()) + (_NAMED - 1) * named) / max(self._texts[text], 1)

    def references_given_in(self, text: str) -> list[str]:
        """The ids and reference numbers that this text was the first to give."""
        return [code for code in references_in(text) if self._given.get(code) == text]

    def rare_words(self, text: str) -> set[str]:
        """The longer words of a text that a few exchanges have."""
        return {word for word in words_of(text) if len(word) >= _LONGER and self._counts[word] <= _RARE}


def _worth(word: str, exchanges: int = 1, rare: float = _RARE) -> float:
    """The tokens of a word, fewer the more exchanges have it; those that only so many have are `rare`."""
    return (len(word) + 1) / _PER_TOKEN * min(1.0, (rare / exchanges) ** 2)


def proper_names(text: str) -> set[str]:
    """The names in a text that are words, in lower case; what stands in backticks or is called, too.

    In a text of another script these are all words in Latin letters.
    """
    text = text[:_LONGEST]
    found = _names(text, set(_TOKEN.findall(text))) + (_LATIN.findall(text) if _OTHER_SCRIPT.search(text) else [])
    found += _QUOTED.findall(text) if "`" in text else []
    found += _CALLED.findall(text) if "()" in text else []
    return {name.lower() for name in found if len(name) >= _SHORTEST_NAME}


def _names(text: str, tokens: Iterable[str]) -> list[str]:
    """Words with a digit, an underscore or a capital letter in them, or a capital letter that begins no sentence."""
    capital = _ASCII_CAPITAL if text.isascii() else _CAPITAL
    return [*filter(_is_name, tokens), *capital.findall(text)]


@lru_cache(1 << 14)
def _is_name(word: str) -> bool:
    return _WITHIN.search(word) is not None


@lru_cache(1 << 12)
def references_in(text: str) -> tuple[str, ...]:
    """The ids and reference numbers of a text, as people are given them: HOTEL-83721, #W2378156, XK4T9Q."""
    return tuple(dict.fromkeys(_REFERENCE.findall(text[:_LONGEST]))) if _DIGIT.search(text) else ()


def words_of(text: str) -> set[str]:
    """The words of a text, in lower case."""
    return set(_WORD.findall(text[:_LONGEST].lower()))


NO_WORDS = Vocabulary()
