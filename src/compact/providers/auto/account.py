"""The lines of the account: those of earlier accounts, and one for each exchange that is not shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from compact.messages import AccountItem
from compact.ports import Measure
from compact.providers.auto.allocation import Allocation
from compact.providers.auto.ladders import Ladder, Level
from compact.summaries.lines import LONG, SHORT, Told
from compact.summaries.worth import OLDEST, weigh_item


def carry(items: Sequence[AccountItem], measure: Measure) -> list[Ladder]:
    """The items of earlier accounts as exchanges that can only be told as they stand, or not."""
    ladders = []
    for number, item in enumerate(items):
        size = measure.text(item.text) + 1
        ladder = Ladder(number - len(items), (), Told(""), size, text=item.text, lines=(size, size))
        ladder.worth, ladder.recency = weigh_item(item.text), OLDEST
        ladders.append(ladder)
    return ladders


def account_lines(
    ladders: Sequence[Ladder], done: Allocation, ids: Mapping[int, tuple[str, ...]], earlier: Sequence[AccountItem]
) -> list[AccountItem]:
    """A line for each exchange that is told of, in order; `earlier` are the items that were carried over."""
    lines = []
    for at, ladder in enumerate(ladders):
        level = done.levels[at]
        if not Level.NONE < level < Level.CUT:
            continue
        if ladder.text:
            lines.append(earlier[ladder.at + len(earlier)])
            continue
        room = LONG if level is Level.LONG else SHORT
        if at in done.quotes:
            room = replace(room, words=done.quotes[at])
        lines.append(AccountItem(ladder.told.line(room), ids[at]))
    return lines
