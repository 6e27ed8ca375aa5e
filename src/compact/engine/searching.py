"""Searching texts for words: every word must be there, whatever its case, and the best come first."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from compact.errors import InvalidInput

_BEFORE, _AFTER = 80, 160
_SATURATION = 1.5
_LENGTH_MATTERS = 0.75


@dataclass(frozen=True, slots=True)
class Document:
    """A text to be searched, with what it is about; `key` and `handle` are for the caller to know it by."""

    key: tuple[Any, ...]
    handle: str
    about: str
    text: str


class Index:
    """Texts with their cases folded. Words are found inside other words too: paths and names are full of them."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = list(documents)
        self._folded = [f"{document.about}\n{document.text}".casefold() for document in self._documents]
        self._mean = max(1.0, sum(map(len, self._folded)) / max(1, len(self._folded)))

    def search(self, text: str, limit: int) -> list[tuple[Document, str]]:
        """The best texts that contain all the words, each with a snippet around the longest of them."""
        words = _words(text)
        phrase = " ".join(text.casefold().split())
        longest_first = sorted(words, key=len, reverse=True)
        scored = (
            (self._score(folded, words, phrase), number)
            for number, folded in enumerate(self._folded)
            if all(word in folded for word in longest_first)
        )
        best = heapq.nlargest(max(limit, 0), scored)
        return [(self._documents[number], _snippet(self._documents[number].text, longest_first)) for _, number in best]

    def _score(self, folded: str, words: list[str], phrase: str) -> float:
        """More for words that come often in little text, that stand alone, and that stand together."""
        length = 1 - _LENGTH_MATTERS + _LENGTH_MATTERS * len(folded) / self._mean
        about = folded.partition("\n")[0]
        score = 2.0 * (len(words) > 1 and phrase in folded)
        for word in words:
            count = folded.count(word)
            score += count * (_SATURATION + 1) / (count + _SATURATION * length)
            score += _stands_alone(folded, word) + (word in about)
        return score


def _words(text: str) -> list[str]:
    given: object = text  # it may come from a model
    words = list(dict.fromkeys(given.casefold().split())) if isinstance(given, str) else []
    if not words:
        raise InvalidInput("must hold a word", field="text", remedy="Name a path, a command or a few words of it.")
    return words


def _stands_alone(folded: str, word: str) -> bool:
    at = folded.find(word)
    return not folded[max(0, at - 1) : at].isalnum() and not folded[at + len(word) : at + len(word) + 1].isalnum()


def _snippet(text: str, words: list[str]) -> str:
    found = next(filter(None, (re.search(re.escape(word), text, re.IGNORECASE) for word in words)), None)
    at = found.start() if found else 0
    start, end = max(0, at - _BEFORE), min(len(text), at + _AFTER)
    return f"{'…' * (start > 0)}{' '.join(text[start:end].split())}{'…' * (end < len(text))}"
