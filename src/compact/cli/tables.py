"""Tables that fit their screen: text is wrapped, and no digit is ever cut."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text

_WORD = 16
"""A longer word of a text may be broken."""
_TEXT = 8
_PADDINGS = (1, 0)

Cell: TypeAlias = str | Text


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


def table_of(rows: Sequence[Mapping[str | Column, Cell]], *, without: Collection[str | Column] = ()) -> Table:
    """A table of rows that name their columns, all of them the same; those `without` are left out."""
    columns = [column for column in rows[0] if column not in without]
    return Table(columns, ([row[column] for column in columns] for row in rows))


def shares_table(title: str, tokens: Mapping[str, int], total: int, *, digits: int = 1) -> Table:
    """How many tokens each part takes, and which share of the total that is; the largest first."""
    largest_first = sorted(tokens.items(), key=lambda item: -item[1])
    rows = ((name, f"{amount:,}", f"{amount / max(total, 1):.{digits}%}") for name, amount in largest_first)
    return Table((title, numeric("tokens"), numeric("share")), rows)


class Table:
    """Rows under the titles of their columns; a string is the title of a column of text.

    Where a table does not fit, its bars go, then the space between columns; where that is not enough, each row is
    shown as lines of a title and a value.
    """

    def __init__(self, columns: Iterable[str | Column], rows: Iterable[Sequence[Cell]]) -> None:
        self._columns = [Column(each) if isinstance(each, str) else each for each in columns]
        self._rows = list(rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        columns = [_Filled(each, [row[at] for row in self._rows], console) for at, each in enumerate(self._columns)]
        plain = [column for column in columns if not column.bars]
        ways = [(columns, _PADDINGS[0]), *((plain, padding) for padding in _PADDINGS)]
        for shown, padding in ways:
            gaps = (2 * padding + 1) * (len(shown) - 1)
            if (widths := _fit(shown, options.max_width - gaps)) is not None:
                yield _table(shown, widths, padding)
                return
        yield from _blocks(plain)


class _Filled:
    """A column as it is shown; `most` is its width where there is room, and `least` what it needs."""

    def __init__(self, column: Column, cells: Sequence[Cell], console: Console) -> None:
        self.title, self.numeric, self.bars = column.title, column.numeric, column.bars
        self.cells = [console.render_str(cell) if isinstance(cell, str) else cell for cell in cells]
        sizes = [Measurement.get(console, console.options, cell) for cell in self.cells]
        head = Measurement.get(console, console.options, Text(self.title))
        widest = max((size.maximum for size in sizes), default=0)
        word = max((size.minimum for size in sizes), default=0)
        self.most = max(widest, head.maximum)
        needed = widest if self.numeric or self.bars else max(min(widest, _TEXT), min(word, _WORD))
        self.least = max(needed, head.minimum)


def _fit(columns: Sequence[_Filled], room: int) -> list[int] | None:
    """The width of each column, the widest made narrower first; None where they need more than there is."""
    if sum(column.least for column in columns) > room:
        return None
    widths = [min(column.most, room) for column in columns]
    for _ in range(sum(widths) - room):
        wide = (at for at, column in enumerate(columns) if widths[at] > column.least)
        widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _table(columns: Sequence[_Filled], widths: Sequence[int], padding: int) -> Grid:
    made = Grid(box=box.SIMPLE_HEAD, padding=(0, padding), pad_edge=False, show_edge=False)
    for column, width in zip(columns, widths, strict=True):
        made.add_column(column.title, justify="right" if column.numeric else "left", width=width, overflow="fold")
    for row in zip(*(column.cells for column in columns), strict=True):
        made.add_row(*row)
    return made


def _blocks(columns: Sequence[_Filled]) -> Iterator[Text]:
    for row in zip(*(column.cells for column in columns), strict=True):
        for column, cell in zip(columns, row, strict=True):
            if cell.plain:
                yield Text.assemble(f"{column.title}: " if column.title else "", cell, overflow="fold")
        yield Text()
