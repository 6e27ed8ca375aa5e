"""What the dry run shows of costs and of its own progress."""

from __future__ import annotations

import io
import json
import re
import sys
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

import pytest

from compact.cli import plan
from tests.cli.conftest import Run


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "session.json"
    path.write_bytes((files("compact.cli") / "transcripts" / "session.openai-chat.json").read_bytes())
    return path


def test_summaries_have_a_price_before_they_are_made(run: Run, file: Path) -> None:
    told = json.loads(run("plan", file, "-t", "10%", "--json").out)["recipes"]
    asking = {name for name, one in told.items() if one["summaries"]}
    assert asking == {"auto", "layers", "native", "quality", "cost", "balanced", "v3"}
    assert all(Decimal(told[name]["cost"]) > 0 for name in asking)
    assert {one["cost"] for name, one in told.items() if name not in asking} == {None}
    shown = run("plan", file, "-t", "20%").out
    (row,) = (line for line in shown.splitlines() if line.startswith("v3 "))
    assert f"${Decimal(told['v3']['cost']):.4f}" in row
    assert "?" not in row


def test_an_unknown_price_is_a_question_mark(run: Run, file: Path) -> None:
    shown = run("plan", file, "-t", "20%", "-m", "a-model-nobody-knows").out
    (row,) = (line for line in shown.splitlines() if line.startswith("v3 "))
    assert "$" not in row
    assert row.count("?") == 2


@pytest.mark.parametrize("patience", [0.0, 60.0])
def test_a_bar_shows_on_a_terminal_once_it_takes_long(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(plan, "_PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    told = run("plan", file, "--json")
    assert len(json.loads(told.out)["recipes"]) == 13
    drawn = terminal.getvalue()
    assert "trying" in drawn
    assert bool(re.search(r"\d/13", drawn)) is (patience == 0.0)


def test_nothing_is_drawn_where_nobody_looks(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_PATIENCE", 0.0)
    assert run("plan", file).err == ""


def test_what_plan_says_is_saved_and_costs_is_what_cost_says(run: Run, file: Path) -> None:
    planned = json.loads(run("plan", file, "--target", "0.4", "--json").out)["recipes"]
    priced = json.loads(run("cost", file, "--target", "0.4", "--profile", "openai", "--json").out)
    own = [option for option in priced["options"] if option["model"] in (None, priced["model"])]
    assert {option["way"] for option in own} == planned.keys()
    for option in own:
        found = planned[option["way"]]
        assert Decimal(found["saved"]) == Decimal(option["saved_per_request"])
        assert Decimal(found["cost"] or 0) == Decimal(option["condensing"])
        assert Decimal(found["cost_low"]) == Decimal(option["condensing_low"])
        assert Decimal(found["cost_high"]) == Decimal(option["condensing_high"])
        assert found["tokens"] == option["tokens_after"]
