"""Where learned factors are kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from compact.errors import InvalidConfiguration
from compact.settings import home, load_calibrations, update_calibration
from compact.tokens import Calibration

OBSERVE = """
from compact.settings import update_calibration
for _ in range(10):
    update_calibration("claude-a", lambda known: known.observe(1000, 1200))
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_saved_factors_are_read_back() -> None:
    assert load_calibrations() == {}
    first = Calibration().observe(1000, 1200)
    update_calibration("claude-a", lambda _: first)
    update_calibration("claude-b", lambda _: first.observe(1000, 1400))
    assert load_calibrations() == {"claude-a": first, "claude-b": first.observe(1000, 1400)}


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 2, "models": {}}', '{"version": 1, "models": {"m": {"factor": 9}}}']
)
def test_a_damaged_file_is_named_with_its_remedy(own_home: Path, content: str) -> None:
    own_home.mkdir()
    (own_home / "calibration.json").write_text(content)
    with pytest.raises(InvalidConfiguration, match=r"calibration\.json: cannot be used.*Remove the file"):
        load_calibrations()


def test_a_home_that_cannot_be_written_is_named(own_home: Path) -> None:
    own_home.write_text("a file")
    with pytest.raises(InvalidConfiguration, match=r"cannot be written: .* Set COMPACT_HOME"):
        update_calibration("claude-a", lambda _: Calibration().observe(1000, 1200))


def test_home_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPACT_HOME")
    assert home().name == "compact"


def test_an_observation_is_added_to_what_is_known() -> None:
    update_calibration("claude-a", lambda _: Calibration().observe(1000, 1200))
    updated = update_calibration("claude-a", lambda known: known.observe(1000, 1400))
    assert updated == Calibration().observe(1000, 1200).observe(1000, 1400)
    assert load_calibrations() == {"claude-a": updated}


def test_processes_that_learn_at_the_same_time_lose_nothing(own_home: Path) -> None:
    learning = [subprocess.Popen([sys.executable, "-c", OBSERVE]) for _ in range(3)]
    assert [process.wait(60) for process in learning] == [0, 0, 0]
    assert load_calibrations()["claude-a"].samples == 30
    assert {path.name for path in own_home.iterdir()} == {"calibration.json", "calibration.lock"}


def test_a_change_that_fails_leaves_everything_as_it_was(own_home: Path) -> None:
    update_calibration("claude-a", lambda _: Calibration().observe(1000, 1200))
    before = (own_home / "calibration.json").read_bytes()
    with pytest.raises(ZeroDivisionError):
        update_calibration("claude-a", lambda _: Calibration(1 / 0))
    assert (own_home / "calibration.json").read_bytes() == before
    assert update_calibration("claude-a", lambda known: known).samples == 1
