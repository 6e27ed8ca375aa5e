"""Lines of a summary, as values: written out and read back without loss."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from compact.summaries.quoting import shorten


class Section(Enum):
    """The sections in the order they stand in; the value is the heading."""

    DIRECTIVES = "Task and directives (the user's words)"
    SAID = "Also said by the user"
    STATE = "State"
    FINDINGS = "Findings and errors (tool-reported)"
    DECISIONS = "Decisions and answers"
    FACTS = "Key facts"
    STEPS = "Last steps"


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a section: what it says, which messages say so, and what it is worth.

    `order` puts items into the order of the conversation. What a user asked for is taken before all else (tier 1),
    and a rule before any request (tier 2). Items that differ only in their `note` say the same.
    """

    section: Section
    text: str
    ids: tuple[str, ...]
    order: float
    value: float
    tier: int = 0
    note: str = ""

    @property
    def line(self) -> str:
        return f"- {self.text}{self.note}{citation(self.ids)}"

    def shortened(self, longest: int) -> Item:
        """The item with only the beginning of its text."""
        text = shorten(self.text, longest)
        quoted = self.text.startswith('"') and text != self.text
        return replace(self, text=f'{text}"' if quoted else text)


def rank(tier: int, value: float, length: int) -> tuple[int, float]:
    """What puts one line before another: what was asked for by its value, all else by value for its length."""
    return tier, value if tier else value / (min(length, _LONG) + OVERHEAD)


_LONG = 300
OVERHEAD = 60  # in characters: the marks around a line, and what makes a short one hard to understand
_ID = re.compile(r"[\w.:-]{1,64}")
_IDS = re.compile(r"[\w.:-]{1,64}(?:,[\w.:-]{1,64}){0,9}\]")
_SECTIONS = {f"## {section.value}": section for section in Section}
# As versions before wrote it; their summaries are read back, too.
_SECTIONS["## Key facts (tool-reported)"] = Section.FACTS
_MOST_IDS = 3


def citation(ids: Sequence[str]) -> str:
    """The ids in brackets: the first, and the last ones."""
    good = list(dict.fromkeys(id for id in ids if _ID.fullmatch(id)))
    if len(good) > _MOST_IDS:
        good = [good[0], *good[1 - _MOST_IDS :]]
    return f" [{','.join(good)}]" if good else ""


def heading(section: Section) -> str:
    return f"## {section.value}"


def is_heading(line: str) -> bool:
    return line in _SECTIONS


def is_item(line: str) -> bool:
    """Whether the line is written as items are, with the messages it comes from."""
    return line.startswith("- ") and _IDS.fullmatch(line.rstrip().rpartition(" [")[2]) is not None


def render(items: Sequence[Item]) -> str:
    """The items under their headings, each section in the order of the conversation."""
    lines: list[str] = []
    for section in Section:
        chosen = sorted((item for item in items if item.section is section), key=lambda item: item.order)
        if chosen:
            lines += [heading(section), *(item.line for item in chosen)]
    return "\n".join(lines)


def parse(summary: str) -> Iterator[tuple[Section | None, str, tuple[str, ...]]]:
    """The lines of an earlier summary: section, text, ids. What stands under no heading of ours has no section."""
    section: Section | None = None
    for line in summary.split("\n"):
        stripped = line.strip()
        if stripped in _SECTIONS:
            section = _SECTIONS[stripped]
        elif stripped.startswith("#"):
            section = None
        elif stripped:
            text, _, ids = stripped.removeprefix("- ").rpartition(" [")
            if _IDS.fullmatch(ids):
                yield section, text, tuple(ids[:-1].split(","))
            else:
                yield section, stripped.removeprefix("- "), ()
