"""How much a text says that the conversation does not say everywhere else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

# Scripts without spaces are read by twos.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{1,2}|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_NAME = re.compile(r"\b\w*(?:\d|_|[a-z][A-Z])\w*|(?<=[^.!?:\s]\s)[^\W\d_a-z]\w+")
"""A word with a digit or an underscore, or with a capital letter that no sentence begins with."""
_LATIN, _OTHER_SCRIPT = re.compile(r"[A-Za-z]{2,}"), re.compile(r"[\u0370-\u1fff\u2e80-\ud7ff]")
_NAMED = 3.0
"""How much more a name says than a word."""
_RARE = 3
"""A word that so many exchanges have at most says as much as it can."""
_SHORTEST_NAME, _LONGER = 3, 5
_PER_TOKEN = 4
_LONGEST, _LONGEST_PHRASE = 40_000, 400


class Vocabulary:
    """The words of a conversation, with how many of its exchanges have each."""

    def __init__(self, said: Iterable[Sequence[str]] = ()) -> None:
        """`said` are the texts of each exchange."""
        self._counts: Counter[str] = Counter()
        self._texts: Counter[str] = Counter()
        for texts in said:
            self._counts.update(set().union(*map(_words, texts)))
            self._texts.update(text for text in texts if len(text) <= _LONGEST_PHRASE)

    def information(self, text: str) -> float:
        """The tokens of a text that say something, roughly: a word that many exchanges have counts for little.

        What is said again and again, word for word, says nothing new.
        """
        counts = self._counts
        names = set(map(str.lower, _NAME.findall(text[:_LONGEST])))
        total = 0.0
        for word in _words(text):
            rare = min(1.0, (_RARE / (counts[word] or 1)) ** 2)
            total += (len(word) + 1) / _PER_TOKEN * rare * (_NAMED if word in names else 1.0)
        return total / max(self._texts[text], 1)

    def rare_words(self, text: str) -> set[str]:
        """The longer words of a text that a few exchanges have."""
        return {word for word in _words(text) if len(word) >= _LONGER and self._counts[word] <= _RARE}


def proper_names(text: str) -> set[str]:
    """The names in a text that are words, in lower case: in a text of another script, every word in Latin letters."""
    text = text[:_LONGEST]
    found = _NAME.findall(text) + (_LATIN.findall(text) if _OTHER_SCRIPT.search(text) else [])
    return {name.lower() for name in found if len(name) >= _SHORTEST_NAME}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text[:_LONGEST].lower()))


NO_WORDS = Vocabulary()
