"""What readers could answer who saw nothing but a condensed conversation: marks that people gave, as a document.

The marks are written down in `readers.json`. Each session was cut in its middle and condensed to the same budget in
several ways. A reader who saw only that answered fourteen questions about it; somebody else marked the answers by a
key, without knowing which reader had read what: 1 right, 0 unknown, less where something is missing, below 0 where an
answer is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

_MARKS = Path(__file__).with_name("readers.json")


def section() -> str:
    """The part of `docs/benchmarks.md` about readers."""
    given: dict[str, Any] = json.loads(_MARKS.read_text(encoding="utf-8"))
    ways: dict[str, str] = given["ways"]
    parts = ["## What readers could answer\n", f"{given['about']}\n", *_totals(given["sessions"], ways)]
    for session, marks in given["sessions"].items():
        parts += [f"\n{session}:\n", *_questions(marks, ways)]
    parts += ["\nOther sessions, not looked at before they were read:\n", *_others(given["others"])]
    return "\n".join(parts) + "\n"


def _others(rows: list[list[str]]) -> Iterator[str]:
    """What readers of other sessions could answer at first, and after changes made with their complaints at hand."""
    yield "| sessions | way | readers each | at first | after changes made for their readers' complaints |"
    yield "| --- | --- | --- | ---: | ---: |"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def _totals(sessions: dict[str, dict[str, list[list[float]]]], ways: dict[str, str]) -> Iterator[str]:
    yield f"| of the full marks | {' | '.join(ways.values())} |"
    yield f"| --- |{' ---: |' * len(ways)}"
    for session, marks in sessions.items():
        yield f"| {session} | {' | '.join(_percent(marks[way]) for way in ways)} |"
    together = {way: [reader for marks in sessions.values() for reader in marks[way]] for way in ways}
    yield f"| **all** | {' | '.join(f'**{_percent(together[way])}**' for way in ways)} |"


def _questions(marks: dict[str, list[list[float]]], ways: dict[str, str]) -> Iterator[str]:
    """The marks of each question, the mean of the readers."""
    count = len(next(iter(marks.values()))[0])
    yield f"| question | {' | '.join(str(number) for number in range(1, count + 1))} |"
    yield f"| --- |{' ---: |' * count}"
    for way, title in ways.items():
        means = [mean(reader[at] for reader in marks[way]) for at in range(count)]
        yield f"| {title} | {' | '.join(f'{each:.2f}'.rstrip('0').rstrip('.') for each in means)} |"


def _percent(readers: list[list[float]]) -> str:
    return f"{mean(mean(reader) for reader in readers):.1%}"
