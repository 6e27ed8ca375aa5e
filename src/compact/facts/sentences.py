"""Cutting text into sentences, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """A piece of a text, on one line, and where it stands."""

    text: str
    start: int
    end: int


_FENCED = re.compile(r"^[ \t]*+(?:```|~~~)", re.MULTILINE)
# Begins with a class of characters, which the engine finds fastest; whether a sentence ends there is looked at after.
_STOP = re.compile(r"[.!?\n。！？]+[\"')\]*]{0,3}")  # noqa: RUF001 - Chinese and Japanese end sentences with these
_ENDS_ANYWHERE = frozenset("\n。！？")  # noqa: RUF001 - the same
_QUOTES = "\"'"
_ABBREVIATIONS = ("e.g", "i.e", " vs", "etc", " Mr", "Mrs", " Dr", " No")
_MARK = re.compile(r"(?:[\s>*•·–—-]|#+(?![\w]))*+(?:\d{1,3}[.)][ \t]+)?")
_LONGEST = 500
# Chinese, Japanese, Thai and their neighbours write no spaces between words; a word is about two characters long.


def sentences_in(text: str) -> Iterator[Span]:
    """The sentences of a text outside its fenced code, without the marks of a list; long ones are cut."""
    for start, end in _outside_fences(text):
        at = start
        for stop in _STOP.finditer(text, start, end):
            if _ends(text, stop):
                span = _clean(text, at, stop.end())
                at = stop.end()
                if span:
                    yield span
        if at < end and (span := _clean(text, at, end)):
            yield span


def _ends(text: str, stop: re.Match[str]) -> bool:
    if not _ENDS_ANYWHERE.isdisjoint(stop[0]):
        return True
    following, before = text[stop.end() : stop.end() + 1], text[max(0, stop.start() - 3) : stop.start()]
    # A sign that stands alone between quotation marks is spoken of, and "(...)" stands for what a call is given.
    spoken_of = len(stop[0]) == 2 and stop[0][1] in _QUOTES and before.endswith(stop[0][1])
    spoken_of = spoken_of or (before.endswith("(") and stop[0].startswith(".."))
    return (not following or following.isspace()) and not spoken_of and before not in _ABBREVIATIONS


def _outside_fences(text: str) -> Iterator[tuple[int, int]]:
    if "```" not in text and "~~~" not in text:
        yield 0, len(text)
        return
    at, inside = 0, False
    for fence in _FENCED.finditer(text):
        if not inside:
            yield at, fence.start()
        line_end = text.find("\n", fence.end())
        at = len(text) if line_end < 0 else line_end + 1
        inside = not inside
    if not inside:
        yield at, len(text)


def _clean(text: str, start: int, end: int) -> Span | None:
    mark = _MARK.match(text, start, end)
    start = mark.end() if mark else start
    line = " ".join(text[start : min(end, start + _LONGEST)].split())
    return Span(line, start, end) if line else None
