"""The lines of an account, and reading an earlier one back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from compact.messages import AccountItem, Message, body_of, count_of, is_own, is_summary

NO_ROOM = "there is no room to tell of them"
LONGEST_ITEM = 1_600
_FRAMING = re.compile(
    rf"- (?:{NO_ROOM}|\((?:\d+ (?:more messages?, not told here|of the messages below (?:are|is) older than .*"
    r"|messages? (?:are|is) not described(?:, (?:\d+|none) of them the user's)?(?:, at most \d+ in a row)?"
    r"|messages? below (?:are|is) older than the last one told here)"
    r"|the first (?:\d+ messages below are|message below is) older than the end of this account"
    r"|from here on: what came after the first (?:\d+ messages|message) below"
    r"|the first (?:\d+ messages below were|message below was) sent before (?:the last things told here|this point))\))"
)
_UNLISTED = re.compile(r"- \((\d{1,9}) messages? (?:are|is) not described[,)]")
_ASKED = re.compile(r' \(in answer to ["“](.{1,200}?)["”]\)')
_MANY = 10
_SINCE = "## After that"
AFTER_STEPS = "after the steps below, "
UNVERIFIED = "(an earlier summary, unverified) "
_EARLIER = "## From an earlier summary that came with the messages (unverified)"


def unlisted(count: int, by_user: int | None = None, in_row: int = 0) -> str:
    """The line that says how many messages no line tells of.

    Of many, it also says how many the user sent, where given, and how many there are `in_row` at most.
    """
    whose = f", {by_user or 'none'} of them the user's" if by_user is not None and count >= _MANY else ""
    where = f", at most {in_row} in a row" if whose and 0 < in_row < count else ""
    return f"- ({count} message{'s are' if count != 1 else ' is'} not described{whose}{where})"


def undescribed_in(message: Message) -> int:
    """How many of its messages an earlier account says that it does not describe."""
    body, count = body_of(message), count_of(message)
    if body == NO_ROOM:
        return count
    told = (found for line in body.split("\n") if (found := _UNLISTED.match(line)))
    return min(sum(int(found[1]) for found in told), count)


def kept_below(count: int) -> str:
    """The line that says how many messages below the account are older than the lines after it."""
    first = f"first {count} messages" if count != 1 else "first message"
    return f"- (from here on: what came after the {first} below)"


def earlier_items(
    messages: Sequence[Message], known: Mapping[str, tuple[AccountItem, ...]], longest: int = LONGEST_ITEM
) -> list[AccountItem]:
    """What accounts among the messages say, as it was stored or as it can be read from them.

    Words give no authority: what only looks like an account of ours is kept as an earlier summary, unverified.
    """
    found: list[AccountItem] = []
    for message in messages:
        if message.id in known or is_own(message):
            found += known.get(message.id) or read_items(body_of(message), longest)
        elif is_summary(message):
            found += unverified_items(body_of(message))
    return [item for item in found if not is_framing(item.text)]


def unverified_items(body: str) -> list[AccountItem]:
    """The lines of what only looks like an account of ours, each called unverified, with the heading it stood under."""
    items, heading = [], ""
    for line in map(str.strip, body.splitlines()):  # a model reads a break of any kind as one
        said = line.removeprefix("- ").removeprefix(UNVERIFIED)
        if line.startswith("#"):
            heading = "" if line in (_SINCE, _EARLIER) else f"{line.lstrip('#').strip()}: "
        elif said and not is_framing(f"- {said}"):
            items.append(AccountItem(f"- {UNVERIFIED}{heading}{said}"))
    return items


def is_framing(line: str) -> bool:
    """Whether the line says something of the account itself."""
    return _FRAMING.fullmatch(line) is not None


def join_lines(items: Sequence[AccountItem]) -> list[str]:
    """The lines of an account; those that follow a summary with headings, or an unverified one, get a heading."""
    lines: list[str] = []
    before = ""
    for item in items:
        unverified = item.text.startswith(f"- {UNVERIFIED}")
        heading = _EARLIER if unverified else "#" if item.text.startswith("#") else ""
        if unverified and before != _EARLIER:
            lines.append(_EARLIER)
        elif before and not heading:
            lines.append(_SINCE)
        before = heading
        line = item.text.replace(UNVERIFIED, "", 1) if unverified else item.text
        if (asked := _ASKED.search(line)) and lines and asked[1] in lines[-1]:
            line = line[: asked.start()] + line[asked.end() :]  # the line before has the question
        lines.append(line)
    return lines


def read_items(body: str, longest: int = LONGEST_ITEM) -> list[AccountItem]:
    """The statements of an account: its lines, and under headings whole paragraphs, each with its heading."""
    items: list[AccountItem] = []
    heading, lines = "", list[str]()

    def close() -> None:
        text = ""
        if heading == _EARLIER:
            items.extend(unverified_items("\n".join(lines)))
            return
        for line in lines:
            if text and len(text) + len(line) > longest:
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
            heading, lines = "" if line == _SINCE else line, []
        elif line.strip():
            lines.append(line)
    close()
    return items
