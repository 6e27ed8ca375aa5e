"""The first places in which two outputs differ, each in a line or two."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Final

from scripts.referee.canonical import Aspects

_AROUND, _SHOWN = 40, 130
_ABSENT: Final = object()
_HASH: Final = re.compile("[0-9a-f]{8,64}")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an output, such as messages[3].content, and what both trees have there."""

    path: str
    before: str
    after: str

    def to_json(self) -> dict[str, str]:
        return {"path": self.path, "before": self.before, "after": self.after}

    def __str__(self) -> str:
        return f"    {self.path}\n      - {self.before}\n      + {self.after}"


def first_places(before: Aspects, after: Aspects, most: int = 3) -> list[Place]:
    """The first places of the first aspect that differs, and one of each other: they usually follow from it."""
    found: list[Place] = []
    for name in dict.fromkeys([*before, *after]):
        places = _places(name, before.get(name, _ABSENT), after.get(name, _ABSENT))
        found += islice(places, 1 if found else most)
    return found


def _places(path: str, before: Any, after: Any) -> Iterator[Place]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        if before == after and list(before) != list(after) and path.startswith("messages"):
            yield Place(f"{path} (order of keys)", ", ".join(before), ", ".join(after))
        for key in dict.fromkeys([*before, *after]):
            yield from _places(f"{path}.{key}", before.get(key, _ABSENT), after.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield Place(f"{path} (length)", str(len(before)), str(len(after)))
        for index in range(max(len(before), len(after))):
            one, other = (each[index] if index < len(each) else _ABSENT for each in (before, after))
            yield from _places(f"{path}[{index}]", one, other)
    elif isinstance(before, str) and isinstance(after, str) and before != after:
        yield Place(path, *_excerpts(*_first_lines(before, after)))
    elif type(before) is not type(after) or before != after:
        yield Place(path, *_excerpts(_text(before), _text(after)))


def _text(value: Any) -> str:
    return "(nothing)" if value is _ABSENT else json.dumps(value, ensure_ascii=False)


def _first_lines(before: str, after: str) -> tuple[str, str]:
    """The first lines that differ, in more than their hashes if any do."""
    one, other = before.splitlines(), after.splitlines()
    masked = [_HASH.sub("#", line) for line in one], [_HASH.sub("#", line) for line in other]
    first, second = (one, other) if masked[0] == masked[1] else masked
    for kind, *ends in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if kind != "equal":
            return "\n".join(one[ends[0] : ends[1]]), "\n".join(other[ends[2] : ends[3]])
    return before, after


def _excerpts(before: str, after: str) -> tuple[str, str]:
    """Both texts from shortly before the first character that differs."""
    pairs = enumerate(zip(before, after, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    start = max(0, same - _AROUND)
    return _excerpt(before, start), _excerpt(after, start)


def _excerpt(text: str, start: int) -> str:
    shown = text[start : start + _SHOWN].replace("\n", "\\n")
    return f"{'…' if start else ''}{shown}{'…' if start + _SHOWN < len(text) else ''}"
