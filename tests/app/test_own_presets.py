"""Presets of one's own, from the library."""

from __future__ import annotations

from pathlib import Path

import pytest

import compact
from compact.errors import InvalidConfiguration
from compact.providers import Preset, dump_presets
from tests.complaints import session


def test_the_library_knows_the_presets_that_were_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    with pytest.raises(InvalidConfiguration, match="'mine' is unknown"):
        compact.condense(session(), preset="mine")
    mine = Preset("mine", "", "truncation", {"mode": "mechanical", "max_result_lines": 2})
    (tmp_path / "presets.json").write_text(dump_presets([mine]), encoding="utf-8")
    result = compact.condense(session(), preset="mine")
    assert result.messages == compact.condense(session(), provider="truncation", config=mine.settings).messages
    assert result.plan
    assert compact.estimate(session(), preset="mine").reduction > 0.5
