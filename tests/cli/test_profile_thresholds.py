"""The thresholds that `compact profiles` lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from compact.policies import Profile, Profiles
from compact.settings.profiles import save_profiles
from tests.cli.conftest import Run

if TYPE_CHECKING:
    import pytest


def test_thresholds_are_listed_and_where_they_were_set(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = Profile(name="own", vendor="openai", model="gpt-4o", threshold=70)
    inherits = Profile(name="inherits", vendor="openai", model="gpt-4o-mini")
    summarizes = Profile(name="summarizes", vendor="openai", model="gpt-4.1-nano", use="condensation")
    save_profiles(Profiles(profiles=(own, inherits, summarizes)))

    def listed() -> dict[str, tuple[object, object]]:
        told = json.loads(run("profiles", "--json").out)
        return {one["name"]: (one["threshold_in_force"], one["threshold_source"]) for one in told}

    found = listed()
    assert (found["own"], found["inherits"]) == ((70, "profile"), (85, "default"))
    assert found["summarizes"] == found["anthropic"] == (None, None)
    rows = {line.split()[0]: line for line in run("profiles").out.splitlines() if line.strip()}
    assert rows["own"].rstrip().endswith("70%")
    assert rows["inherits"].rstrip().endswith("85% (default)")
    assert "%" not in rows["summarizes"] + rows["anthropic"]
    (tmp_path / "compact.yaml").write_text("policy:\n  trigger_pct: 0.6\n")
    assert listed() == {**found, "inherits": (60, "global")}
    (tmp_path / "compact.yaml").write_text("policy: [what\n")
    assert listed() == {**found, "inherits": (None, None)}
