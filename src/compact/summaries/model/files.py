"""Which file a name stands in: by it, a name is found that a summary put into another file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from compact.messages import ToolCall
from compact.summaries.model.bindings import Passage, are_same_file
from compact.summaries.model.words import FILE, WORD, is_name, kind_of, normal, plain

_ABOUT = 300
"""Characters of the first line of an argument that may tell which file a call is about."""
_FREQUENT = 60
"""Places of a name that says nothing, because it stands in so many."""
_ENOUGH = 2
"""Names that must stand in the other file."""
_PARTS, _DOTTED = re.compile(r"[;.!?]\s"), re.compile(r"\w\.[a-zA-Z]")
_NAMES = frozenset({"_", "_A", "_T", "_TA", "Aa", "aA"})
"""Kinds of names that are defined in a file."""


def files_in(text: str) -> tuple[str, ...]:
    """The files that a text names, as they are compared."""
    if not _DOTTED.search(text):
        return ()
    found = (normal(word) for word in WORD.findall(text) if "." in word)
    return tuple(dict.fromkeys(name for name in found if FILE.fullmatch(name.rpartition("/")[2])))


def files_of(call: ToolCall) -> tuple[str, ...]:
    """The files that a call is about."""
    return files_in("\n".join(plain(text).partition("\n")[0][:_ABOUT] for _, text in call.strings))


class FileIndex:
    """The files that names stand in: those of the call or of its result, and the one that was named last above them."""

    def __init__(self, passages: Sequence[Passage], places: Mapping[str, Sequence[int]]) -> None:
        self._passages = passages
        self._places = places

    def misfiled(self, text: str) -> tuple[str, str] | None:
        """The only file of a statement, or of a part of it, and the one in which all names beside it stand instead."""
        found = (self._other_file(part) for part in (text, *_PARTS.split(text)))
        return next(filter(None, found), None)

    def _other_file(self, text: str) -> tuple[str, str] | None:
        files = files_in(plain(text))
        if len(files) != 1 or not _is_among(files[0], self._opened):
            return None
        known = [self._files_with(name) for name in self._names(text)]
        files_with = [found for found in known if found]
        if len(files_with) < _ENOUGH or any(_is_among(files[0], found) for found in known):
            return None
        shared = sorted(frozenset.intersection(*files_with) & self._opened)
        return (files[0], shared[0]) if shared else None

    def _names(self, text: str) -> set[str]:
        found = {normal(word) for word in WORD.findall(plain(text)) if kind_of(word) in _NAMES and is_name(word)}
        return {name for name in found if 0 < len(self._places.get(name, ())) <= _FREQUENT}

    def _files_with(self, name: str) -> frozenset[str]:
        return frozenset(file for place in self._places[name] for file in self._files[place])

    @cached_property
    def _opened(self) -> frozenset[str]:
        """The files that calls were about."""
        return frozenset(file for passage in self._passages for file in passage.files)

    @cached_property
    def _files(self) -> list[tuple[str, ...]]:
        """By passage: the files it stands in or below."""
        found = []
        named: tuple[str, ...] = ()
        for passage in self._passages:
            named = (files_in(passage.text) or named) if passage.text else ()
            found.append((*passage.files, *named))
        return found


def _is_among(file: str, files: Iterable[str]) -> bool:
    return any(are_same_file(file, one) for one in files)
