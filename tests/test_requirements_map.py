"""The map of requirements is complete, and leads to modules and tests that exist."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from scripts.promises import is_outside

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "requirements.md"
NOT_FROM_OUTSIDE = {("S0", "TC-1"), ("S0", "8.2"), ("S0", "8.3"), ("S4", "M6")}
"""How the code is written, and what speaks of users and a market."""
HEADER = ["id", "in short", "where", "shown by", "what holds"]


def _numbered(prefix: str, *counts: int) -> list[str]:
    """`prefix` with 1.1 to 1.n, 2.1 to 2.m, and so on."""
    return [f"{prefix}{group}.{item}" for group, count in enumerate(counts, 1) for item in range(1, count + 1)]


def _listed(prefix: str, count: int, width: int = 1) -> list[str]:
    return [f"{prefix}{number:0{width}}" for number in range(1, count + 1)]


def _functional(sections: dict[str, int]) -> list[str]:
    return [id for section, count in sections.items() for id in _listed(f"FR-{section}.", count)]


REQUIREMENTS: dict[str, list[str]] = {
    "S0": [
        *(
            id
            for area, count in {"PA": 4, "PR": 3, "TH": 3, "CO": 4, "LC": 4, "TR": 2, "SM": 8, "CS": 3}.items()
            for id in _listed(f"FR-{area}-", count, 3)
        ),
        *(id for area in "PRUM" for id in _listed(f"NFR-{area}-", 3, 3)),
        *_listed("TC-", 5),
        *_listed("BC-", 2),
        *_listed("2.2.", 5),
        *_listed("7.2.", 7),
        *_listed("7.3.", 7),
        *_listed("8.1.", 7),
        "8.2",
        "8.3",
        "10",
    ],
    "S1": [
        *_functional({"1.1": 4, "1.2": 4, "1.3": 5, "1.4": 6, "1.5": 3, "1.6": 4}),
        *_functional({"2.1": 3, "2.2": 3, "2.3": 3, "2.4": 3, "2.5": 3, "3.1": 3, "3.2": 2, "3.3": 2}),
        *_functional({"4.1": 3, "4.2": 1, "4.3": 2, "5.1": 2, "5.2": 1, "5.3": 1, "5.4": 2}),
        *_functional({"6.1": 2, "6.2": 3, "6.3": 2}),
        *_listed("NFR-7.", 5),
    ],
    "S2": _numbered("", 2, 2, 1, 3, 3, 3, 2, 4, 2, 3, 3, 2, 3, 3, 2, 2, 2, 3),
    "S3": [*_numbered("V", 8, 7, 8), *_listed("C.", 3)],
    "S4": [
        *_functional({"1.1": 5, "1.2": 4, "1.3": 4, "1.4": 6, "1.5": 3, "1.6": 4}),
        *_functional({"2.1": 3, "2.2": 3, "2.3": 3, "2.4": 2, "3.1": 3, "3.2": 5, "3.3": 1}),
        *_functional({"4.1": 4, "4.2": 1, "4.3": 2, "5.1": 2, "5.2": 1, "5.3": 1, "5.4": 2}),
        *_functional({"6.1": 2, "6.2": 3, "6.3": 2}),
        *_listed("NFR-7.", 4),
        *_listed("Q", 7),
        *_listed("M", 8),
        *_listed("B", 2),
    ],
}


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    meaning: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    holds: str


def read(text: str) -> dict[str, list[Row]]:
    """The rows of each specification's table."""
    found: dict[str, list[Row]] = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in section.split("\n") if line.startswith("|")]
        header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        assert header == HEADER, section.split("\n")[0]
        found[section.split(":")[0]] = [_row(cells) for cells in rows]
    return found


def _row(cells: list[str]) -> Row:
    id, meaning, modules, tests, holds = cells
    return Row(id, meaning, _quoted(modules), _quoted(tests), holds)


def _quoted(cell: str) -> tuple[str, ...]:
    names = tuple(re.findall(r"`([^`]+)`", cell))
    assert names or cell == "none", f"neither names nor `none`: {cell!r}"
    return names


@cache
def named_in(file: str) -> frozenset[str]:
    path = ROOT / "tests" / file
    if not path.is_file():
        return frozenset()
    functions = ast.parse(path.read_text(encoding="utf-8")).body
    return frozenset(node.name for node in functions if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def place(module: str) -> Path:
    return ROOT / module if module.startswith("web/") else ROOT / "src" / "compact" / module


def broken(rows: list[Row]) -> list[str]:
    """What rows name and is not there; and what is said to be done without anything that shows it."""
    found = []
    for row in rows:
        found += [f"{row.id}: {module}" for module in row.modules if not place(module).is_file()]
        for test in row.tests:
            file, _, name = test.partition("::")
            found += [] if name in named_in(file) else [f"{row.id}: {test}"]
        if not row.tests and not re.search(r"[Nn]ot yet: |Not something a test can show", row.holds):
            found.append(f"{row.id}: nothing shows it")
    return found


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Row]]:
    return read(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("specification", REQUIREMENTS)
def test_every_requirement_is_listed_once_and_in_order(specification: str, tables: dict[str, list[Row]]) -> None:
    assert [row.id for row in tables[specification]] == REQUIREMENTS[specification]
    assert all(row.meaning for row in tables[specification])


@pytest.mark.parametrize("specification", REQUIREMENTS)
def test_what_is_listed_is_there(specification: str, tables: dict[str, list[Row]]) -> None:
    assert broken(tables[specification]) == []


def test_every_requirement_is_shown_from_outside(tables: dict[str, list[Row]]) -> None:
    inside = {(name, row.id) for name, rows in tables.items() for row in rows if not any(map(is_outside, row.tests))}
    assert inside == NOT_FROM_OUTSIDE


def test_what_is_gone_is_noticed() -> None:
    here = f"test_requirements_map.py::{test_what_is_gone_is_noticed.__name__}"
    rows = [
        Row("whole", "", ("errors.py",), (here,), ""),
        Row("later", "", (), (), "Not yet: a reason."),
        Row("a", "", ("gone.py",), (here,), ""),
        Row("b", "", ("errors.py",), ("test_requirements_map.py::test_gone", "gone/test_x.py::test_x"), ""),
        Row("c", "", ("errors.py",), (), "It works."),
    ]
    assert broken(rows) == [
        "a: gone.py",
        "b: test_requirements_map.py::test_gone",
        "b: gone/test_x.py::test_x",
        "c: nothing shows it",
    ]
