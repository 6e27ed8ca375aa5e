"""Private copies of what callers hold, in plain JSON and of bounded size."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import islice
from math import isfinite
from types import NoneType
from typing import Any, Final

from compact.messages import Json

NODES: Final = 256
"""So many values are copied: it bounds the time that an event costs its caller."""
DEPTH: Final = 16
EXACT: Final = 2**53
"""Many readers of JSON round integers beyond this, so those are written as text."""
MORE: Final = "…"
_UNCHANGING: Final = frozenset({str, int, float, bool, NoneType, Decimal})


def capture(value: object) -> object:
    """A copy that nobody else can change, of bounded size; made in the caller's time, so it does no more than that."""
    return _Capture().of(value, DEPTH)


def writable(value: object) -> Json:
    """The value as plain JSON in texts fit for UTF-8, with room for all that `capture` leaves.

    What JSON has no word for becomes text; what is too much is cut off, and `…` says how much that was.
    """
    return _Copy(4 * NODES).of(value, 2 * DEPTH)


def repaired(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot express."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Capture:
    __slots__ = ("room",)

    def __init__(self) -> None:
        self.room = NODES

    def of(self, value: object, depth: int) -> object:
        if type(value) is dict:
            return self._dict(value, depth)
        if isinstance(value, list | tuple):
            return self._items(value, depth)
        if type(value) in _UNCHANGING:
            return value
        if isinstance(value, Mapping):
            return self._dict(dict(islice(value.items(), NODES + 1)), depth)
        # Nobody's own methods are called: they may be slow, and may raise.
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return int.__add__(value, 0)
        return float.__add__(value, 0.0) if isinstance(value, float) else f"<{type(value).__name__}>"

    def _dict(self, value: dict[Any, object], depth: int) -> dict[Any, object]:
        room = self.room if depth else 0
        # Copied in one go: another thread may be changing it.
        copy = value.copy() if len(value) <= room else dict(islice(value.items(), room))
        self.room -= len(copy)
        for key, item in copy.items():
            if type(item) not in _UNCHANGING:
                copy[key] = self.of(item, depth - 1)
        if len(value) > room:
            copy[MORE] = f"{len(value) - room} more"
        return copy

    def _items(self, value: list[object] | tuple[object, ...], depth: int) -> list[object]:
        room = self.room if depth else 0
        taken = value[:room]
        self.room -= len(taken)
        copy = [item if type(item) in _UNCHANGING else self.of(item, depth - 1) for item in taken]
        if len(value) > room:
            copy.append(f"{MORE} {len(value) - room} more")
        return copy


class _Copy:
    __slots__ = ("room",)

    def __init__(self, room: int) -> None:
        self.room = room

    def of(self, value: object, depth: int) -> Json:
        if isinstance(value, str):
            return repaired(str.__str__(value))
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int):
            return _integer(value)
        if isinstance(value, float):
            return value if isfinite(value) else float.__repr__(value)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, list | tuple):
            return self._items(value, depth)
        return str(value) if type(value) is Decimal else f"<{type(value).__name__}>"

    def _mapping(self, value: Mapping[object, object], depth: int) -> Json:
        taken = list(islice(value.items(), max(0, self.room) if depth else 0))
        self.room -= len(taken)
        copy = {str(self.of(key, 0)): self.of(item, depth - 1) for key, item in taken}
        if len(value) > len(taken):
            copy[MORE] = f"{len(value) - len(taken)} more"
        return copy

    def _items(self, value: list[object] | tuple[object, ...], depth: int) -> Json:
        taken = value[: max(0, self.room) if depth else 0]
        self.room -= len(taken)
        copy = [self.of(item, depth - 1) for item in taken]
        if len(value) > len(taken):
            copy.append(f"{MORE} {len(value) - len(taken)} more")
        return copy


def _integer(value: int) -> Json:
    if -EXACT <= value <= EXACT:
        return value
    bits = value.bit_length()
    # Python refuses to write very long integers, and others are slow to.
    return str(value) if bits <= 1024 else f"<integer of {bits} bits>"
