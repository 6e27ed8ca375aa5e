"""The words of a text, as the search knows them, and where they stand.

A word is a run of letters and digits, whatever its case and accents. SQLite's own tokenizer agrees; PostgreSQL's would
take a path or a host for one word, so it is given words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from unicodedata import normalize

_ACCENTS = re.compile("[\u0300-\u036f]+")
_WORD = re.compile("[^\\W_](?:[^\\W_]|[\u0300-\u036f])*")
_LONGEST_WORD = 64  # characters; PostgreSQL refuses words of 2,048 bytes, and nobody types such a one
_MOST_BYTES = 1_000_000  # PostgreSQL refuses a list of words beyond 2**20 bytes
_MOST_ASKED = 32
_EXCERPT, _BEFORE = 240, 60  # characters


def storable(text: str) -> str:
    """The text without what a database has no place for: NUL and halves of surrogate pairs."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def asked(text: str) -> list[str]:
    """The words that a person asks for, each once, as they were typed."""
    return list(islice({_fold(match[0]): match[0] for match in _WORD.finditer(text)}.values(), _MOST_ASKED))


def fts5_query(words: Sequence[str]) -> str:
    """All of the words, in SQLite's language; quoted, so that none is taken for an operator."""
    return " ".join(f'"{word}"' for word in words)


def tsquery(words: Sequence[str]) -> str:
    """All of the words, in PostgreSQL's language."""
    return " & ".join(f"'{_fold(word)}'" for word in words)


def indexed(text: str) -> str:
    """The words of a text, each once, with a space between them; of an enormous one as many as PostgreSQL takes."""
    found = _WORD.findall(text.lower()) if text.isascii() else [_fold(word) for word in _WORD.findall(text)]
    if max(map(len, found), default=0) > _LONGEST_WORD:
        found = [word[:_LONGEST_WORD] for word in found]
    once = " ".join(dict.fromkeys(found))
    if len(once) <= _MOST_BYTES // 4 or len(once.encode()) <= _MOST_BYTES:
        return once
    return once.encode()[:_MOST_BYTES].decode(errors="ignore").rpartition(" ")[0]


def excerpt(text: str, words: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A piece of the text around the first of the words, and where words stand in it."""
    wanted = {_fold(word) for word in words}
    first = next((match.start() for match in _WORD.finditer(text) if _fold(match[0]) in wanted), 0)
    start = max(0, first - _BEFORE)
    if start:
        start = max(start, text.find(" ", start, first) + 1)
    piece = text[start : start + _EXCERPT]
    spans = tuple(match.span() for match in _WORD.finditer(piece) if _fold(match[0]) in wanted)
    return piece, spans


def _fold(word: str) -> str:
    """The word as it is compared: without case, without accents, and not too long."""
    if word.isascii():
        return word.lower()[:_LONGEST_WORD]
    return _ACCENTS.sub("", normalize("NFD", word)).casefold()[:_LONGEST_WORD]
