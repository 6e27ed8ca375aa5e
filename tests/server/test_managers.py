"""The managers of the gateway: one for each model, and what they hold in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from compact.errors import InvalidInput
from compact.policies import Profile
from compact.server.gateway import managers
from compact.server.gateway.compacting import Compactor
from compact.server.gateway.managers import Managers, configured, folder_name
from compact.server.ingest import traces
from tests.server.conftest import Served, long_history


@pytest.fixture(autouse=True)
def _alone(environment: Path) -> None:
    """Nothing is configured but what the environment says."""


def test_memory_lets_go_of_what_has_rested_longest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managers, "_LIVE", 2)
    made = Managers(tmp_path, lambda session, event: None)
    manager = made.get("gpt-4o", None)
    for session in ("a", "b", "a", "c", "d"):
        with made.at_work(manager, session):
            manager.preflight(session, [{"role": "user", "content": session}])
    held = set(manager._sessions.projections())
    made.close()
    assert held == {"c", "d"}


def test_only_so_many_models_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managers, "_MOST", 2)
    made = Managers(tmp_path, lambda session, event: None)
    assert made.get("one", None) is made.get("one", None)
    made.get("two", None)
    with pytest.raises(InvalidInput, match="2 models are served already"):
        made.get("three", None)
    made.close()


def test_a_profile_decides_when_its_model_is_compacted(tmp_path: Path) -> None:
    profile = Profile(name="own", vendor="openai", model="gpt-4o", threshold=70)
    config = configured(tmp_path, "gpt-4o", profile)
    assert config.policy.trigger_pct == 0.7
    assert config.model == "openai:gpt-4o"
    assert Path(config.storage.path).parent == tmp_path / "gateway"


def test_every_model_has_a_folder_of_its_own_and_no_name_leads_out() -> None:
    names = ["gpt-4o", "a/b", "a-b", "../../etc", "", "..", "con", "é" * 300, "\ud800"]
    folders = [folder_name(name, None) for name in names]
    assert len(set(folders)) == len(names)
    assert all("/" not in folder and len(folder) < 60 and not folder.startswith(".") for folder in folders)


def test_compactions_are_among_the_traces(served: Served) -> None:
    history = long_history(60, first="traced")
    served.ask("POST", "/v1/chat/completions", json={"model": "gpt-4o", "messages": history})
    served.state.service("gateway", Compactor)._tracer.flush(5)
    names = {span["name"] for trace in traces(served.state, 5) for span in trace["spans"]}
    assert "compact.condensed" in names
