"""Runs the command line as a user does, in this process so that coverage sees it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pytest

from compact.cli import main


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    out: str
    err: str


Run: TypeAlias = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments: object, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["compact", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            main()
            status = 0
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else int(left.code is not None)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return call
