"""Where learned factors are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from compact.errors import InvalidConfiguration
from compact.settings import home, load_calibrations, save_calibration
from compact.tokens import Calibration


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_saved_factors_are_read_back() -> None:
    assert load_calibrations() == {}
    first = Calibration().observe(1000, 1200)
    save_calibration("claude-a", first)
    save_calibration("claude-b", first.observe(1000, 1400))
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
        save_calibration("claude-a", Calibration().observe(1000, 1200))


def test_home_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPACT_HOME")
    assert home().name == "compact"
