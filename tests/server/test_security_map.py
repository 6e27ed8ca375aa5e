"""The checklist in the documentation is complete, and every test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.test_requirements_map import named_in

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
ROWS = [
    "open port",
    "missing authentication",
    "DNS rebinding",
    "path confusion",
    "CSRF",
    "CORS",
    "XSS",
    "path traversal",
    "object access",
    "SQL",
    "deserialisation",
    "YAML",
    "bombs",
    "SSRF",
    "redirects",
    "deadlines",
    "commands",
    "privileges",
    "supply chain",
    "keys at rest",
    "archive at rest",
    "trace export",
]


def rows(text: str) -> dict[str, tuple[str, ...]]:
    """The tests that each row of the checklist names."""
    section = text.partition("\n## The checklist\n")[2].partition("\n## ")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.split("\n") if line[:1] == "|"]
    header, _, *found = cells
    assert header == ["threat", "what is done", "shown by"]
    return {threat: tuple(re.findall(r"`([^`]+)`", tests)) for threat, _, tests in found}


def missing(listed: dict[str, tuple[str, ...]]) -> list[str]:
    """Rows that nothing shows, and tests that are not there."""
    silent = [row for row, tests in listed.items() if not tests]
    names = [(row, test, *test.partition("::")[::2]) for row, tests in listed.items() for test in tests]
    return silent + [f"{row}: {test}" for row, test, file, name in names if name not in named_in(file)]


def test_every_row_of_the_checklist_is_shown_by_tests_that_exist() -> None:
    listed = rows(PAGE.read_text(encoding="utf-8"))
    assert list(listed) == ROWS
    assert missing(listed) == []


def test_what_is_gone_is_noticed() -> None:
    here = f"server/test_security_map.py::{test_what_is_gone_is_noticed.__name__}"
    listed = {"whole": (here,), "silent": (), "gone": (here, "server/test_security_map.py::test_gone", "x.py::test_y")}
    assert missing(listed) == ["silent", "gone: server/test_security_map.py::test_gone", "gone: x.py::test_y"]
