"""A text as it reads without escapes, and the way back from there."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from operator import itemgetter

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_LETTER = re.compile(r"\\{1,7}u(0[0-9a-fA-F]{3}|[4-9][0-9a-fA-F]{3})")
_FIRST_LETTER = 0xC0
_DELIMITER = re.compile(r"[\s\"'<>`]")
_REACH = 1024  # how far before its first escape a piece of URL may begin


def flatten(text: str) -> str:
    r"""The text with line breaks and tabs that are written `\n`, `\r`, `\t` made real, at the same places.

    A line break that was written has a vertical tab before it: it may stand within a string.
    """
    if "\\" not in text:
        return text
    return text.replace("\\n", "\v\n").replace("\\r", "\v\r").replace("\\t", " \t")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, or the pieces of it that hold percent escapes, one on a line, decoded."""

    text: str
    _turns: tuple[tuple[int, int], ...]
    """From which place of the decoded text on the original is how far ahead."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text that holds text[start:end]."""
        return self._place(start), self._place(end)

    def _place(self, position: int) -> int:
        index = bisect_right(self._turns, position, key=itemgetter(0))
        return position + self._turns[index - 1][1]


def decoded(text: str) -> Decoded | None:
    """The text's percent escapes decoded, with what surrounds them up to a space or a quote; None without any."""
    escape = _ESCAPE.search(text)
    if escape is None:
        return None
    pieces: list[str] = []
    turns: list[tuple[int, int]] = []
    size = copied = piece_end = 0  # of the decoded text; how far the original is copied; where its piece ends
    while escape is not None:
        if escape.start() >= piece_end:
            if copied < piece_end:
                pieces.append(text[copied:piece_end])
                size += piece_end - copied
            pieces.append("\n")
            size += 1
            before = text[max(piece_end, escape.start() - _REACH) : escape.start()]
            copied = escape.start() - len(_DELIMITER.split(before)[-1])
            stop = _DELIMITER.search(text, escape.end())
            piece_end = stop.start() if stop else len(text)
            turns.append((size, copied - size))
        pieces += [text[copied : escape.start()], chr(int(text[escape.start() + 1 : escape.end()], 16))]
        size += escape.start() - copied + 1
        copied = escape.end()
        turns.append((size, copied - size))
        escape = _ESCAPE.search(text, copied)
    pieces.append(text[copied:piece_end])
    return Decoded("".join(pieces), tuple(turns))


def unescaped(text: str) -> Decoded | None:
    """The text with letters beyond ASCII that are written as JSON writes them; None without any."""
    pieces: list[str] = []
    turns = [(0, 0)]
    size = copied = 0
    for escape in _LETTER.finditer(text):
        letter = chr(int(escape[1], 16))
        if ord(letter) >= _FIRST_LETTER and letter.isalpha():
            pieces += [text[copied : escape.start()], letter]
            size += escape.start() - copied + 1
            copied = escape.end()
            turns.append((size, copied - size))
    return Decoded("".join([*pieces, text[copied:]]), tuple(turns)) if pieces else None
