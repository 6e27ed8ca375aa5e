"""Searching what was removed for words: every word must be there, whatever its case, and the best come first."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable
from dataclasses import dataclass

from compact.errors import CompactError, InvalidInput

_BEFORE, _AFTER = 80, 160
_SATURATION = 1.5
_LENGTH_MATTERS = 0.75


@dataclass(frozen=True, slots=True)
class Source:
    """Where something stood: in the message of the log at `position`. `handle` is what recalls it.

    `tool` is the tool that was called, and `path` the argument that tells most about the call.
    """

    handle: str
    position: int
    role: str
    tool: str
    path: str

    @property
    def source(self) -> str:
        return " ".join(part for part in (self.role, self.tool, " ".join(self.path.split())[:100]) if part)


@dataclass(frozen=True, slots=True)
class Piece(Source):
    """Something that was removed: a message of the log, or one text in it."""

    text: str


@dataclass(frozen=True, slots=True)
class Hit(Source):
    """A piece in which all words of a search were found, with what stands around them."""

    snippet: str
    session: str = ""

    def __str__(self) -> str:
        return f"{self.handle} ({self.source}): {self.snippet}"


class Hits(list[Hit]):
    """What was found; `unread` are the errors that say what could not be searched."""

    unread: tuple[CompactError, ...] = ()


class Phrase:
    """A text to be found as it stands, whatever its case and its spaces; InvalidInput where it has no word."""

    def __init__(self, text: str) -> None:
        self._pattern = re.compile(r"\s+".join(map(re.escape, _words(text, once=False))), re.IGNORECASE)

    def search(self, text: str) -> re.Match[str] | None:
        """Where the phrase is in a text for the first time."""
        return self._pattern.search(text)


class Index:
    """Texts with their cases folded. Words are found inside other words too: paths and names are full of them."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._pieces = list(pieces)
        self._folded = [f"{f'{one.tool} {one.path}'.strip()}\n{one.text}".casefold() for one in self._pieces]
        self._mean = max(1.0, sum(map(len, self._folded)) / max(1, len(self._folded)))

    def search(self, text: str, limit: int) -> list[Hit]:
        """The best pieces that contain all the words, each with a snippet around the longest of them."""
        words = _words(text)
        phrase = " ".join(text.casefold().split())
        longest_first = sorted(words, key=len, reverse=True)
        scored = (
            (self._score(folded, words, phrase), number)
            for number, folded in enumerate(self._folded)
            if all(word in folded for word in longest_first)
        )
        best = heapq.nlargest(max(limit, 0), scored)
        found = (self._pieces[number] for _, number in best)
        return [
            Hit(one.handle, one.position, one.role, one.tool, one.path, _snippet(one.text, longest_first))
            for one in found
        ]

    def find(self, text: str) -> list[Hit]:
        """Every piece that holds the text as it stands, whatever its case and spaces, in their order."""
        phrase = Phrase(text)
        found = ((one, phrase.search(one.text)) for one in self._pieces)
        return [
            Hit(one.handle, one.position, one.role, one.tool, one.path, _excerpt(one.text, at))
            for one, at in found
            if at
        ]

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


def _words(text: str, *, once: bool = True) -> list[str]:
    given: object = text  # it may come from a model
    words = given.casefold().split() if isinstance(given, str) else []
    words = list(dict.fromkeys(words)) if once else words
    if not words:
        raise InvalidInput("must hold a word", field="text", remedy="Name a path, a command or a few words of it.")
    return words


def _stands_alone(folded: str, word: str) -> bool:
    at = folded.find(word)
    return not folded[max(0, at - 1) : at].isalnum() and not folded[at + len(word) : at + len(word) + 1].isalnum()


def _snippet(text: str, words: list[str]) -> str:
    found = (re.search(re.escape(word), text, re.IGNORECASE) for word in words)
    return _excerpt(text, next(filter(None, found), None))


def _excerpt(text: str, found: re.Match[str] | None) -> str:
    at = found.start() if found else 0
    start, end = max(0, at - _BEFORE), min(len(text), at + _AFTER)
    return f"{'…' * (start > 0)}{' '.join(text[start:end].split())}{'…' * (end < len(text))}"
