"""Private copies of what callers hold, in plain JSON and of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import islice
from math import isfinite
from typing import Final

from compact.messages import Json

NODES: Final = 256
"""So many values are copied: it bounds the time that an event costs its caller."""
DEPTH: Final = 16
EXACT: Final = 2**53
"""Many readers of JSON round integers beyond this, so those are written as text."""
MORE: Final = "…"


def capture(value: object) -> Json:
    """A copy that nobody else holds, as plain JSON.

    What JSON has no word for becomes text; what is too much is cut off, and `…` says how much that was.
    """
    return _Copy(NODES).of(value, DEPTH)


def writable(value: object) -> Json:
    """The same with every text fit for UTF-8, and with room for all that `capture` leaves."""
    return _Copy(4 * NODES, repaired).of(value, 2 * DEPTH)


def repaired(text: str) -> str:
    """The text without lone surrogates, which UTF-8 cannot express."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Copy:
    __slots__ = ("room", "text")

    def __init__(self, room: int, text: Callable[[str], str] | None = None) -> None:
        self.room = room
        self.text = text

    def of(self, value: object, depth: int) -> Json:
        kind = type(value)
        if kind is str:
            return value if self.text is None else self.text(value)  # type: ignore[arg-type]  # its type is str
        if kind is bool or value is None:
            return value
        if isinstance(value, int):
            return _integer(int.__add__(value, 0))
        if isinstance(value, float):
            return float.__add__(value, 0.0) if isfinite(value) else float.__repr__(value)
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        if isinstance(value, list | tuple):
            return self._items(value, depth)
        return self._other(value)

    def _mapping(self, value: Mapping[object, object], depth: int) -> Json:
        # Taken in one go: another thread may be changing it.
        taken = list(islice(value.items(), max(0, self.room) if depth else 0))
        self.room -= len(taken)
        copy = {self._key(key): self.of(item, depth - 1) for key, item in taken}
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

    def _key(self, key: object) -> str:
        return str(self.of(key, 0)) if isinstance(key, str | int | float) else self._other(key)

    def _other(self, value: object) -> str:
        # Nobody's own __str__ is called: it may be slow, and may raise.
        if isinstance(value, str):
            return str.__str__(value) if self.text is None else self.text(str.__str__(value))
        if type(value) is Decimal:
            return str(value)
        return f"<{type(value).__name__}>"


def _integer(value: int) -> Json:
    if -EXACT <= value <= EXACT:
        return value
    bits = value.bit_length()
    # Python refuses to write very long integers, and others are slow to.
    return str(value) if bits <= 1024 else f"<integer of {bits} bits>"
