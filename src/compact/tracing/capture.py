"""Private copies of what callers hold, in plain JSON and of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    return _Copy(NODES, _unchanging).of(value, DEPTH)


def writable(value: object) -> Json:
    """The value as plain JSON in texts fit for UTF-8, with room for all that `capture` leaves.

    What JSON has no word for becomes text; what is too much is cut off, and `…` says how much that was.
    """
    return _Copy(4 * NODES, _plain, _name).of(value, 2 * DEPTH)


def repaired(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot express."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Copy:
    """Copies objects and lists as far as there is room; `leaf` makes what is copied of every other value."""

    __slots__ = ("_leaf", "_name", "_room")

    def __init__(
        self, room: int, leaf: Callable[[object], object], name: Callable[[object], object] | None = None
    ) -> None:
        self._room = room
        self._leaf = leaf
        self._name = name

    def of(self, value: object, depth: int) -> object:
        if type(value) in _UNCHANGING:
            return self._leaf(value)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, list | tuple):
            return self._items(value, depth)
        return self._leaf(value)

    def _mapping(self, value: Mapping[Any, object], depth: int) -> dict[Any, object]:
        room = self._room if depth else 0
        # Copied in one go: another thread may be changing it.
        copy = dict(value) if len(value) <= room else dict(islice(value.items(), room))
        more = len(value) - len(copy)
        self._room -= len(copy)
        copy = {self._name(key) if self._name else key: self.of(item, depth - 1) for key, item in copy.items()}
        if more > 0:
            copy[MORE] = f"{more} more"
        return copy

    def _items(self, value: list[object] | tuple[object, ...], depth: int) -> list[object]:
        taken = value[: self._room if depth else 0]
        self._room -= len(taken)
        copy = [self.of(item, depth - 1) for item in taken]
        if len(value) > len(taken):
            copy.append(f"{MORE} {len(value) - len(taken)} more")
        return copy


def _unchanging(value: object) -> object:
    """A value that cannot change. No method of the value's own is called: it may be slow, and may raise."""
    if type(value) in _UNCHANGING:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__add__(value, 0)
    return float.__add__(value, 0.0) if isinstance(value, float) else f"<{type(value).__name__}>"


def _plain(value: object) -> Json:
    if isinstance(value, str):
        return repaired(str.__str__(value))
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return value if isfinite(value) else float.__repr__(value)
    return str(value) if type(value) is Decimal else f"<{type(value).__name__}>"


def _name(key: object) -> str:
    return str(_plain(key))


def _integer(value: int) -> Json:
    if -EXACT <= value <= EXACT:
        return value
    bits = value.bit_length()
    # Python refuses to write very long integers, and others are slow to.
    return str(value) if bits <= 1024 else f"<integer of {bits} bits>"
