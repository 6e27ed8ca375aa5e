"""Statements are counted without docstrings, in the working tree and in any commit."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import TYPE_CHECKING

from scripts.count_statements import count, count_packages, main, table

if TYPE_CHECKING:
    import pytest

SOURCE = '''
"""A module."""

import os

class Thing:
    """A thing."""

    size = 1

    def grow(self):
        """Grow."""
        if self.size:
            self.size += 1; return "text"
        "no docstring"
'''


def test_docstrings_are_no_statements() -> None:
    assert count(dedent(SOURCE)) == 8


def test_modules_beside_packages_count_by_themselves() -> None:
    files = [("src/compact/disk.py", b"a = 1"), ("src/compact/app/a.py", b"a = 1"), ("src/compact/app/b/c.py", b"b")]
    assert count_packages(files) == {"app": 2, "disk": 1}


def test_two_commits_are_compared() -> None:
    shown = table({"v1": {"app": 1_200, "cli": 7}, ".": {"app": 1_195, "cli": 7, "disk": 3}})
    assert [line.split() for line in shown.splitlines()] == [
        ["v1", "working", "tree"],
        ["app", "1,200", "1,195", "-5"],
        ["cli", "7", "7", "="],
        ["disk", "0", "3", "+3"],
        ["total", "1,207", "1,205", "-2"],
    ]


def test_a_commit_is_read_from_git(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["HEAD", ".", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["HEAD", "."]
    assert all(each["total"] == sum(each["packages"].values()) > 10_000 for each in found.values())
    assert main(["no-such-commit"]) == 2
    assert "no-such-commit" in capsys.readouterr().err
