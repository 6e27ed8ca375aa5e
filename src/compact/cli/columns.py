"""The columns of tables: what stands above them, and how they are set."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """A column under its title.

    One that is `numeric` is set to the right and never wrapped. One of `bars` goes first where there is no room.
    """

    title: str
    numeric: bool = False
    bars: bool = False


BARS = Column("", bars=True)


def numeric(title: str) -> Column:
    """A column of numbers."""
    return Column(title, numeric=True)
