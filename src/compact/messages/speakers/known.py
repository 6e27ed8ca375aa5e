"""Who speaks, and the forms by which programs are known, read from the data file beside this module."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any


class Speaker(StrEnum):
    """Who is behind a passage in the user's role."""

    PERSON = "person"
    REMINDER = "reminder"
    """A program's reminder, caveat, or a hook's output."""
    COMMAND = "command"
    """What a command or a skill was expanded to."""
    NOTIFICATION = "notification"
    """A background task, or a tool that reports later."""
    DEMONSTRATION = "demonstration"
    CONTINUATION = "continuation"
    """An account of earlier messages by another program."""
    PASTED = "pasted"
    """A log, a file, code or data that a person pasted or attached."""
    OBSERVATION = "observation"
    """The answer of an environment: a command's output, a file's content, what an editor shows."""
    RULES = "rules"
    """Rules that a program read from a file, such as AGENTS.md."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a message in the user's role, by one speaker; `label` says in plain words what it is."""

    speaker: Speaker
    text: str
    label: str


@dataclass(frozen=True, slots=True)
class Form:
    """How something of a program begins, where it ends, and the tag that its own must stand beside."""

    speaker: Speaker
    label: str
    starts: tuple[str, ...] = ()
    until: str = ""
    next: bool = False
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """Everything in the data file, as it is looked for."""

    wrappers: dict[str, Form]
    sections: tuple[Form, ...]
    lines: tuple[Form, ...]
    starts: tuple[str, ...]
    """How any of the sections begins."""
    hints: tuple[str, ...]
    """How anything begins that has to be looked at."""
    line_starts: tuple[str, ...]
    shapes: dict[str, tuple[str, ...]]
    program_tag: re.Pattern[str]
    person_tag: re.Pattern[str]
    pasted_tag: re.Pattern[str]
    web_tags: frozenset[str]


def plain_name(tag: str) -> str:
    """A tag's name as it is compared."""
    return tag.replace("-", "").replace("_", "").lower()


@cache
def load(name: str = "known.toml") -> dict[str, Any]:
    """A data file of this package."""
    # Both are imported when the first message is read: `import compact` needs neither.
    import pkgutil
    import tomllib

    return tomllib.loads((pkgutil.get_data("compact.messages.speakers", name) or b"").decode())


@cache
def known() -> Known:
    """The forms that ship with this release."""
    data = load()
    sections = [(_form(entry), entry.get("line", False)) for entry in data["section"]]
    at_start = tuple(form for form, line in sections if not line)
    at_line = tuple(form for form, line in sections if line)
    starts = tuple(start for form in at_start for start in form.starts)
    shapes = {name: tuple(words) for name, words in data["shapes"].items()}
    return Known(
        wrappers={plain_name(tag): _form(entry) for entry in data["wrapper"] for tag in entry["tags"]},
        sections=at_start,
        lines=at_line,
        starts=starts,
        hints=("{", "[", "<", *(start for start in starts if start[0] not in "[<")),
        line_starts=tuple(start for form in at_line for start in form.starts),
        shapes=shapes,
        program_tag=re.compile("|".join(shapes["program_tags"])),
        person_tag=re.compile("|".join(shapes["person_tags"])),
        pasted_tag=re.compile("|".join(shapes["pasted_tags"])),
        web_tags=frozenset(shapes["web_tags"]),
    )


def asks_person(tool: str) -> bool:
    """True if a tool of that name puts a question to a person and returns the answer."""
    return tool in known().shapes["questions"]


def _form(entry: dict[str, Any]) -> Form:
    return Form(
        Speaker(entry["speaker"]),
        entry["label"],
        tuple(entry.get("starts", ())),
        entry.get("until", ""),
        entry.get("next", False),
        plain_name(entry.get("beside", "")),
    )
