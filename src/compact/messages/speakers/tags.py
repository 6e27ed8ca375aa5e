"""Blocks between XML-like tags, as programs put them around what they add to a message."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator
from typing import NamedTuple

from compact.messages.speakers.known import plain_name

_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]{0,60})((?:\s[^<>]{0,400})?)>")
_FENCE = re.compile(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)
_MOST_NESTED = 16
_WIDEST_INDENT = 40


class Tag(NamedTuple):
    """One tag; `name` as it is compared, `joined` when it is written in parts, `bare` without attributes."""

    start: int
    end: int
    closing: bool
    name: str
    joined: bool
    bare: bool


class Block(NamedTuple):
    """An opening tag, and the closing one that belongs to it."""

    opening: Tag
    closing: Tag


def blocks_in(text: str, at: int, names: Collection[str]) -> Iterator[Block]:
    """The outermost blocks from `at` on whose tag is one of the names, or is written in parts: `my-tag`, `my_tag`.

    An opening tag begins a line, or follows a block. What stands between fences is left alone, and so is a tag that is
    never closed.
    """
    tags = [tag for found in _TAG.finditer(text, at) if (tag := _tag(found)).joined or tag.name in names]
    places: dict[str, list[int]] = {}
    for position, tag in enumerate(tags):
        places.setdefault(tag.name, []).append(position)
    fences = [found.start() for found in _FENCE.finditer(text, at)] if tags else []
    passed, fenced, end = 0, False, at
    for position, tag in enumerate(tags):
        if tag.closing or tag.start < end or not _begins_line(text, tag.start, end):
            continue
        while passed < len(fences) and fences[passed] < tag.start:
            # Fences within a block are its own.
            fenced ^= fences[passed] >= end
            passed += 1
        closing = None if fenced else _closing(tags, places[tag.name], position)
        if closing is not None:
            yield Block(tag, closing)
            end = closing.end


def _tag(found: re.Match[str]) -> Tag:
    name = found[2]
    return Tag(found.start(), found.end(), bool(found[1]), plain_name(name), "-" in name or "_" in name, not found[3])


def _begins_line(text: str, start: int, end: int) -> bool:
    """Whether nothing but some space stands before the place in its line, or since the end of the block before."""
    at = start
    while at > end and start - at < _WIDEST_INDENT and text[at - 1] in " \t":
        at -= 1
    return at == end or text[at - 1] == "\n"


def _closing(tags: list[Tag], places: list[int], position: int) -> Tag | None:
    """The closing tag, with those of the same name nested; where they do not add up, the first that closes."""
    first: Tag | None = None
    depth = 1
    begin = bisect_right(places, position)
    for place in places[begin : begin + _MOST_NESTED]:
        tag = tags[place]
        depth += -1 if tag.closing else 1
        first = first or (tag if tag.closing else None)
        if not depth:
            return tag
    return first
