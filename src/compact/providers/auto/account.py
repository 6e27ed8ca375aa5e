"""The account: what stands in the conversation for the messages before the boundary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from compact.messages import AccountItem, Message, body_of, is_summary
from compact.ports import Measure
from compact.providers.auto.allocation import Allocation
from compact.providers.auto.ladders import Ladder, Level
from compact.summaries.lines import LONG, SHORT, USER, Told

_USER, _OTHER = 4.0, 1.2
_OLD = 0.15
_LONGEST_ITEM = 1_600


def earlier_items(messages: Sequence[Message], known: Mapping[str, tuple[AccountItem, ...]]) -> list[AccountItem]:
    """What accounts among the messages say, as it was stored or as it can be read from them."""
    found: list[AccountItem] = []
    for message in messages:
        if is_summary(message):
            found += known.get(message.id) or read_items(body_of(message))
    return [item for item in found if not _FRAMING.fullmatch(item.text)]


def carry(items: Sequence[AccountItem], measure: Measure) -> list[Ladder]:
    """The items of earlier accounts as exchanges that can only be told as they stand, or not."""
    ladders = []
    for number, item in enumerate(items):
        size = measure.text(item.text) + 1
        weight = _USER if item.text.startswith(USER) else _OTHER
        ladder = Ladder(number - len(items), (), Told(""), size, text=item.text, lines=(size, size))
        ladder.worth, ladder.recency = (weight * (len(item.text) / 4 + 4) ** 0.6, 0.0), _OLD
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


def unlisted(count: int) -> str:
    """The line that says how many messages no line tells of."""
    return f"- ({count} more message{'s' * (count != 1)}, not told here)"


def kept_below(count: int) -> str:
    """The line that says how many messages below the account are older than the last it tells of."""
    return f"- ({count} of the messages below {'are' if count != 1 else 'is'} older than the last of these)"


_FRAMING = re.compile(r"- \(\d+ (?:more messages?, not told here|of the messages below (?:are|is) older than .*)\)")


def read_items(body: str) -> list[AccountItem]:
    """The statements of an account: its lines, and under headings whole paragraphs, each with its heading."""
    items: list[AccountItem] = []
    heading, lines = "", list[str]()

    def close() -> None:
        text = ""
        for line in lines:
            if text and len(text) + len(line) > _LONGEST_ITEM:
                items.append(AccountItem(text))
                text = ""
            text = f"{text}\n{line}" if text else f"{heading}\n{line}" if heading else f"- {line.removeprefix('- ')}"
            if not heading:
                items.append(AccountItem(text))
                text = ""
        if text:
            items.append(AccountItem(text))

    for line in body.split("\n"):
        if line.startswith("#"):
            close()
            heading, lines = line, []
        elif line.strip():
            lines.append(line)
    close()
    return items
