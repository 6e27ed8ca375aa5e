"""Presets of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from compact.errors import InvalidConfiguration
from compact.providers.presets import Preset, dump_presets
from compact.providers.presets import presets as built_in
from compact.settings.presets import find_preset, own_presets, own_presets_path

MINE = Preset("mine", "", "truncation", {"mode": "mechanical"})
OTHER = Preset("other", "", "lossless", {"level": "verbatim"})


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    return tmp_path


def test_without_a_file_there_are_none() -> None:
    assert own_presets() == ()
    with pytest.raises(InvalidConfiguration, match="'mine' is unknown"):
        find_preset("mine")


def test_they_are_found_beside_the_built_in_ones_and_read_again_when_they_change() -> None:
    own_presets_path().write_text(dump_presets([MINE]), encoding="utf-8")
    assert own_presets() == (MINE,)
    assert find_preset("mine") == MINE
    assert find_preset("v1") in built_in()
    own_presets_path().write_text(dump_presets([MINE, OTHER]), encoding="utf-8")
    assert find_preset("other") == OTHER


def test_a_damaged_file_is_named_and_spoils_no_other_preset() -> None:
    own_presets_path().write_text("{", encoding="utf-8")
    assert find_preset("v1").provider == "truncation"
    with pytest.raises(InvalidConfiguration, match=r"presets\.json: is not valid JSON"):
        find_preset("mine")


def test_a_file_that_cannot_be_read_is_named() -> None:
    own_presets_path().mkdir()
    with pytest.raises(InvalidConfiguration, match=r"presets\.json: cannot be read: .*Check the name"):
        own_presets()
