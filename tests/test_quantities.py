"""Numbers of things in words."""

from __future__ import annotations

import re
from pathlib import Path

from compact.quantities import counted

SOURCES = Path(__file__).parent.parent / "src" / "compact"
NOUNS = "questions|answers|spans|messages|violations|requests|exchanges|statements|blocks|sessions|calls|turns|models"
# Numbers that are never 1: limits, windows, what stands in a question to a vendor.
NEVER_ONE = ("MOST", "_KEPT", "window", "times}", "count != 1", "experiment.rounds", "of {last", "answered == 1")


def test_one_is_singular() -> None:
    assert [counted(number, "message") for number in (0, 1, 2, 2000)] == [
        "0 messages",
        "1 message",
        "2 messages",
        "2,000 messages",
    ]
    assert counted(1, "block of reasoning") == "1 block of reasoning"
    assert counted(2, "block of reasoning") == "2 blocks of reasoning"


def test_no_text_has_a_plural_behind_any_number() -> None:
    fixed = re.compile(rf"\{{[^{{}}]*\}} (?:{NOUNS})\b")
    found = [
        f"{path.name}: {line.strip()}"
        for path in SOURCES.rglob("*.py")
        if "testing" not in path.parts
        for line in path.read_text().splitlines()
        if fixed.search(line) and not any(word in line for word in NEVER_ONE)
    ]
    assert found == []
