"""What was spent, kept line by line."""

from __future__ import annotations

import stat
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from compact.errors import InvalidConfiguration
from compact.models.spending import Charge, Spending
from compact.settings.spending import add_spending, load_spending

ONE = Spending("2026-01-01T00:00:00+00:00", "native", "p", "m", Charge(), Charge(1, 2, 3, Decimal("0.01")), 4, 5, 6)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_records_are_appended_and_read_back(home: Path) -> None:
    assert load_spending() == ()
    written = tuple(replace(ONE, limit=number) for number in range(5))
    paths = {add_spending(record) for record in written}
    assert paths == {home / "spending.jsonl"}
    assert load_spending() == written
    assert stat.S_IMODE((home / "spending.jsonl").stat().st_mode) == 0o600


def test_a_line_cut_short_by_a_crash_is_passed_over(home: Path) -> None:
    path = add_spending(ONE)
    path.write_bytes(b"\xff\n[1]\n" + path.read_bytes() + path.read_bytes()[:20] + b"\n")
    add_spending(ONE)
    assert load_spending() == (ONE, ONE)


def test_only_the_latest_are_read() -> None:
    path = add_spending(ONE)
    line = path.read_bytes()
    path.write_bytes(line * (2**20 // len(line)))
    found = load_spending()
    assert 1000 < len(found) < 2**20 // len(line)
    assert set(found) == {ONE}


def test_a_home_that_cannot_be_written_is_told(home: Path) -> None:
    home.write_text("")
    with pytest.raises(InvalidConfiguration, match="Set COMPACT_HOME"):
        add_spending(ONE)
    assert load_spending() == ()
