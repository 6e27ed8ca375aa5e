"""The managers of the gateway: one for each model, and what they hold in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from compact import CompactManager
from compact.errors import InsufficientBudget, InvalidInput
from compact.policies import Profile, Profiles
from compact.ports import ModelConfig
from compact.server.gateway import managers
from compact.server.gateway.compacting import Compactor
from compact.server.gateway.managers import Managers, configured, folder_name
from compact.server.ingest import store_of
from compact.server.stored import StoredModels, sessions_of
from compact.settings.profiles import save_profiles
from compact.settings.recipes import choose_default
from compact.testing.vendors import FakeVendors
from tests.server.conftest import Serve, Served, long_history


@pytest.fixture(autouse=True)
def _alone(environment: Path) -> None:
    """Nothing is configured but what the environment says."""


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Managers]:
    made = Managers(tmp_path)
    yield made
    made.close()


def is_closed(manager: CompactManager) -> bool:
    return manager._keeper._tracer._closed


def test_memory_lets_go_of_what_has_rested_longest(made: Managers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managers, "_LIVE", 2)
    with made.using("gpt-4o", None) as manager:
        for session in ("a", "b", "a", "c", "d"):
            manager.preflight(session, [{"role": "user", "content": session}])
            made.hold(manager, session)
        assert set(manager._sessions.projections()) == {"c", "d"}


def test_memory_holds_only_so_many_bytes_of_conversations(made: Managers) -> None:
    with made.using("gpt-4o", None) as manager:
        for session in ("a", "b", "c", "d"):
            manager.preflight(session, [{"role": "user", "content": session}])
            made.hold(manager, session, 100_000_000)
        assert set(manager._sessions.projections()) == {"c", "d"}
        manager.preflight("e", [{"role": "user", "content": "alone"}])
        made.hold(manager, "e", 300_000_000)
        assert set(manager._sessions.projections()) == {"e"}


def test_memory_lets_go_of_what_was_refused(made: Managers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managers, "_LIVE", 1)
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "4000")
    with made.using("gpt-4o", None) as manager:
        for session in ("a", "b", "c"):
            with pytest.raises(InsufficientBudget):
                manager.preflight(session, [{"role": "system", "content": f"{session} " * 5_000}])
            made.hold(manager, session)
        assert set(manager._sessions.projections()) <= {"c"}


def test_beyond_so_many_models_the_one_that_rested_longest_is_closed(
    made: Managers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(managers, "_MOST", 2)
    with made.using("one", None) as one:
        one.preflight("s", [{"role": "user", "content": "Hi"}])
        made.hold(one, "s")
    with made.using("one", None) as again, made.using("two", None) as two, made.using("two", None):
        assert again is one
    with made.using("three", None) as three:
        assert is_closed(one)
        assert not made._live
        with made.using("one", None) as again:
            assert again is not one
            assert is_closed(two)
            assert not is_closed(three)


def test_a_model_in_use_is_not_let_go_of(made: Managers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managers, "_MOST", 2)
    with made.using("one", None) as one:
        with made.using("two", None), pytest.raises(InvalidInput, match="2 models are served already"):
            made.using("three", None).__enter__()
        with made.using("three", None), made.using("one", None) as again:
            assert again is one
            assert not is_closed(one)


def test_a_window_that_a_vendor_told_outlasts_its_manager(made: Managers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managers, "_MOST", 1)
    with made.using("one", None) as one:
        made.narrow("one", None, 5_000)
        assert not is_closed(one)
    assert is_closed(one)
    with made.using("two", None) as two:
        assert two.window != 5_000
    with made.using("one", None) as one:
        assert one.window == 5_000
    made.narrow("one", None, 4_000)
    assert is_closed(one)


def test_every_model_is_compacted_however_many_there_were(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(managers, "_MOST", 2)
    done = []
    for number in range(4):
        ask = {"model": f"own-{number}", "messages": [{"role": "user", "content": "Hi"}]}
        answer = served.ask("POST", "/v1/chat/completions", json=ask)
        done.append(answer.headers["x-compact-compaction"])
    assert done == ["none"] * 4


def test_a_profile_decides_when_its_model_is_compacted(tmp_path: Path) -> None:
    profile = Profile(name="own", vendor="openai", model="gpt-4o", threshold=70)
    config = configured(tmp_path, "gpt-4o", profile)
    assert config.policy.trigger_pct == 0.7
    assert config.model == "openai:gpt-4o"
    assert Path(config.storage.path).parent == tmp_path / "gateway"


@pytest.mark.parametrize("configured_target", ["", "policy: {target_pct: 0.5}"])
def test_a_profile_may_compact_below_the_target_of_all(tmp_path: Path, configured_target: str) -> None:
    (tmp_path / "compact.yaml").write_text(configured_target)
    profile = Profile(name="own", vendor="openai", model="gpt-4o", threshold=40)
    managers = Managers(tmp_path)
    with managers.using("gpt-4o", profile) as manager:
        assert manager.compactor.judge(int(0.4 * manager.window) + 1).triggered
        assert (manager.threshold.share, manager.threshold.target) == (0.4, 0.235)
        assert manager.threshold.origin == "profile own"
        assert manager.compactor.target_share == 0.235
    with managers.fitting("gpt-4o", profile, 8_000, 0.5) as narrow:
        assert narrow.compactor.target_share == 0.1175
    managers.close()


def test_a_changed_threshold_of_a_profile_holds_for_the_next_request(made: Managers) -> None:
    profile = Profile(name="own", vendor="openai", model="gpt-4o", threshold=70)
    with made.using("gpt-4o", profile) as before:
        assert before.threshold.share == 0.7
    with made.using("gpt-4o", profile.model_copy(update={"threshold": 60.0})) as after:
        assert after.threshold.share == 0.6
    assert is_closed(before)


def test_the_window_of_a_profile_holds_for_its_conversations(made: Managers, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Profile(name="own", vendor="compatible", model="m", url="http://localhost:9/v1", context_window=9_000)
    with made.using("m", own) as manager:
        assert manager.window == 9_000
    with made.using("m", own.model_copy(update={"context_window": None})) as manager:
        assert manager.window == 128_000
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "5000")
    with made.using("m", own) as manager:
        assert manager.window == 5_000


def test_a_new_default_recipe_holds_for_the_next_request(made: Managers) -> None:
    with made.using("one", None) as before:
        assert before.compactor.recipe.name == "auto"
        choose_default("layers")
        with made.using("one", None) as after:
            assert after.compactor.recipe.name == "layers"
            assert not is_closed(before)
        with made.using("one", None) as again:
            assert again is after
    assert is_closed(before)
    choose_default("auto")


def test_a_profile_has_a_recipe_of_its_own(made: Managers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPACT_RECIPE", "layers")
    profile = Profile(name="own", vendor="openai", model="gpt-4o", recipe="speed")
    with made.using("gpt-4o", profile) as manager, made.using("gpt-4o", None) as other:
        assert (manager.compactor.recipe.name, other.compactor.recipe.name) == ("speed", "layers")
    with made.using("gpt-4o", profile.model_copy(update={"recipe": "v2"})) as manager:
        assert manager.compactor.recipe.name == "v2"


def test_every_model_has_a_folder_of_its_own_and_no_name_leads_out() -> None:
    names = ["gpt-4o", "a/b", "a-b", "../../etc", "", "..", "con", "é" * 300, "\ud800"]
    folders = [folder_name(name, None) for name in names]
    assert len(set(folders)) == len(names)
    assert all("/" not in folder and len(folder) < 60 and not folder.startswith(".") for folder in folders)


def test_compactions_are_among_the_traces(served: Served) -> None:
    history = long_history(60, first="traced")
    served.ask("POST", "/v1/chat/completions", json={"model": "gpt-4o", "messages": history})
    served.state.service("gateway", Compactor)._tracer.flush(5)
    names = {span["name"] for trace in store_of(served.state).last(5) for span in trace["spans"]}
    assert "compact.condensed" in names


@pytest.mark.parametrize(("vendor", "shown"), [("openai", True), ("compatible", False), ("azure", False)])
def test_only_the_vendor_that_a_conversation_goes_to_is_asked_with_its_secrets(
    made: Managers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, vendor: str, shown: bool
) -> None:
    history = long_history(24)
    history[2]["content"] = f"The database password: Sommerregen\n{history[2]['content']}"
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    monkeypatch.setenv("COMPACT_PROFILE", "writer")
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "6000")
    monkeypatch.setenv("COMPACT_RECIPE", "native")
    with FakeVendors() as server:
        server.reply(lambda _: "## Findings\n- nothing new")
        url = f"{server.url}/v1"
        writer = Profile.model_validate({"name": "writer", "vendor": "openai", "model": "gpt-4o-mini", "url": url})
        save_profiles(Profiles(profiles=(writer,)))
        talker = Profile.model_validate({"name": "talker", "vendor": vendor, "model": "gpt-4o", "url": url})
        with made.using("gpt-4o", talker) as manager:
            manager.manual_compact("a", history)
        sent = "".join(str(request.body) for request in server.requests)
    assert "database password: " in sent
    assert ("Sommerregen" in sent) == shown


def test_what_is_stored_of_a_model_is_its_window_at_once(serve: Serve) -> None:
    with FakeVendors(window=8_192) as vendor:
        served = serve(vendor.url)

        def ask(turns: int, first: str = "Begin.") -> tuple[int, str]:
            body = {"model": "house", "messages": long_history(turns, first=first), "max_tokens": 2_500}
            answer = served.ask("POST", "/v1/chat/completions", json=body)
            return answer.status_code, answer.headers["x-compact-compaction"]

        entry = {"provider": "compatible", "model": "house", "max_input": 8_192}
        assert ask(2) == (200, "none")
        assert served.ask("POST", "/api/models", json=entry).status_code == 201
        for turns in range(16, 26, 3):
            assert ask(turns) == (200, "applied")
        assert {received.status for received in vendor.requests} == {200}
        sessions_of(served.state).preferences.delete_model("compatible:house")
        sessions_of(served.state).preferences.detected([ModelConfig("unknown", "house", 90_000)])
        assert ask(16, "After it was told.") == (200, "none")
        sessions_of(served.state).preferences.reset_model("unknown:house")
        assert ask(16, "After a reset.") == (200, "none")


def test_of_the_windows_that_are_set_the_configurations_goes_first_and_a_profiles_before_what_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = Profile(name="own", vendor="compatible", model="house", url="http://localhost:9", context_window=9_000)
    told = ModelConfig("unknown", "house", 7_000, source="api")
    by_hand = replace(told, source="manual")
    for stored, window in ((by_hand, 7_000), (told, 9_000)):
        made = Managers(tmp_path, stored=StoredModels({"house": stored}.get))
        with closing(made), made.using("house", profile) as manager:
            assert manager.window == window
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "5000")
    made = Managers(tmp_path, stored=StoredModels({"house": by_hand}.get))
    with closing(made), made.using("house", profile) as manager:
        assert manager.window == 5_000
