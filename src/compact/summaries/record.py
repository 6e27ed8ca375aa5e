"""A summary as values: items under the headings of a strategy, each with its sources and, maybe, a status.

`parse_record` (in `parsing`) reads what a model wrote, `merge` and `fit` (in `merging`) put it together with what was
known before, and `render_record` writes what stands in the conversation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from compact.summaries.strategy import Strategy

Status: TypeAlias = Literal["active", "blocked", "completed"]
Became: TypeAlias = Literal["active", "blocked", "completed", "outdated"]
# A number counts messages of the transcript from 1, as the model sees them; a text is the id of a message.
Source: TypeAlias = int | str

STATUSES: tuple[Status, ...] = ("active", "blocked", "completed")
CHANGES = "Changes"  # the heading under which a model says what became of earlier items, by their keys
_NOTHING = frozenset({"", "none", "nothing", "n/a", "-", "—"})

# An id is written with this before it, so that it is not taken for a number.
ID_MARK = "@"
_ID = re.compile(r"[\w.:-]{1,64}")
# Boxes to tick, as some models write them: a status, and no part of the text.
BOXES = re.compile(r"\A(?:\[(?P<tick>[ xX])\]\s+)+")
_BRACKETS = str.maketrans("[]", "()")
_ONE = rf"(?:(?:#|m|(?:messages?|msgs?)\s)?\d{{1,9}}(?:\s?[-–]\s?\d{{1,9}})?|{ID_MARK}{_ID.pattern})"
_CITED = rf"(?P<cited>(?:\[(?:{_ONE}(?:(?:\s?[,;&]\s?|\sand\s|\s){_ONE})*)?\])+)"
_AT_END = re.compile(rf"(?P<text>.*\S)\s{_CITED}(?: — (?P<note>[^\[\]]*))?", re.IGNORECASE)
_AT_START = re.compile(rf"{_CITED}:?\s(?P<text>.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Item:
    """One statement: under which heading it stands, what it says, which messages say so.

    Text and note are single lines; what takes more is `code`, quoted as it is. `note` says what an item waits for, or
    how it ended. Items of the same section and the same text are the same statement.
    """

    section: str
    text: str
    sources: tuple[Source, ...] = ()
    status: Status | None = None
    note: str = ""
    code: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "section", " ".join(self.section.split()))
        object.__setattr__(self, "text", BOXES.sub("", " ".join(self.text.split())))
        object.__setattr__(self, "note", " ".join(self.note.translate(_BRACKETS).split()))
        object.__setattr__(self, "code", re.sub(r"\r\n?", "\n", self.code).strip("\n"))
        sources = (one for one in self.sources if isinstance(one, int) or _ID.fullmatch(one))
        object.__setattr__(self, "sources", tuple(dict.fromkeys(sources)))

    @property
    def same(self) -> tuple[str, str]:
        """What is equal for items that say the same."""
        return self.section, self.text.rstrip(" .;") or self.text

    @property
    def is_open(self) -> bool:
        """Whether it is active or blocked."""
        return self.status in ("active", "blocked")


@dataclass(frozen=True, slots=True)
class Change:
    """What became of an earlier item; one that is `outdated` no longer holds."""

    item: Item
    to: Became
    why: str = ""
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """The items of a summary, and what it says about those of the summary before it.

    Changes are settled when the record is merged. `unread` are lines that are neither: shown to people, never kept.
    """

    items: tuple[Item, ...] = ()
    changes: tuple[Change, ...] = ()
    unread: tuple[str, ...] = ()

    def keyed(self) -> dict[str, Item]:
        """The items by the keys that a model refers to them by: k1, k2 and so on."""
        return {f"k{number}": item for number, item in enumerate(self.items, 1)}


def with_ids(record: Record, ids: Sequence[str]) -> Record:
    """The record with message ids in place of the numbers: message 1 is the first of `ids`. Other numbers vanish."""

    def named(sources: tuple[Source, ...]) -> tuple[Source, ...]:
        found = (one if isinstance(one, str) else ids[one - 1] if 1 <= one <= len(ids) else "" for one in sources)
        return tuple(one for one in found if one)

    return replace(
        record,
        items=tuple(replace(item, sources=named(item.sources)) for item in record.items),
        changes=tuple(replace(change, sources=named(change.sources)) for change in record.changes),
    )


def arrange(record: Record, strategy: Strategy) -> Record:
    """The record with its items in the order they are written in: by section, by status, else as they are."""
    order = {section.title: number for number, section in enumerate(strategy.sections)}
    # Sections of another strategy, from which an earlier summary came, follow in the order they appear in.
    for item in record.items:
        order.setdefault(item.section, len(order))

    def place(item: Item) -> tuple[int, int]:
        return order[item.section], STATUSES.index(item.status) + 1 if item.status else 0

    return replace(record, items=tuple(sorted(record.items, key=place)))


def render_record(record: Record, strategy: Strategy) -> str:
    """The record as it stands in a conversation; `parse_record` reads the same record from it, but for changes."""
    lines: list[str] = []
    section, status = "", None
    for item in arrange(record, strategy).items:
        if item.section != section:
            section, status = item.section, None
            lines += [f"## {section}"]
        if item.status != status:
            status = item.status
            lines += [f"### {status.capitalize()}"] if status else []
        lines += item_lines(item, strategy)
    return "\n".join(lines)


def item_lines(item: Item, strategy: Strategy) -> Iterator[str]:
    """The lines of one item."""
    cited = f"[{', '.join(map(_spell, item.sources))}]"
    note = f" — {item.note}" if item.note else ""
    section = strategy.section(item.section)
    begun = f"{cited} {item.text}"
    if section and section.ledger and item.sources and not note and not _AT_END.fullmatch(begun):
        yield f"- {begun}"
    elif item.sources or note or says_nothing(item.text) or find_citation(item.text):
        yield f"- {item.text} {cited}{note}"
    else:
        yield f"- {item.text}"
    if item.code:
        fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", item.code)), default=0))
        yield from (f"  {line}" for line in (fence, *item.code.split("\n"), fence))


def find_citation(line: str) -> re.Match[str] | None:
    """The groups `text`, `cited` and, at the end of a line, `note`, where a line names its sources."""
    return _AT_END.fullmatch(line) or _AT_START.fullmatch(line)


def says_nothing(text: str) -> bool:
    """Whether the text only says that there is nothing to say."""
    return text.casefold().strip(" .*_()") in _NOTHING


def _spell(source: Source) -> str:
    return str(source) if isinstance(source, int) else f"{ID_MARK}{source}"
