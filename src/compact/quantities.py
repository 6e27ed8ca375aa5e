"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """The number of things, in words: 1 message, 2,000 messages; the first word of `what` takes the plural."""
    noun, space, rest = what.partition(" of ")
    return f"{number:,} {noun}{'s' * (number != 1)}{space}{rest}"
