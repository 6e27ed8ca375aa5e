"""The threshold that is in force, at the entry points of the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from compact import CompactConfig, CompactManager
from compact.app.profiles import examine, find_profile
from compact.app.stored import StoredSessions
from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import Policy, StorageSettings
from compact.ports import Completion, Event, ModelConfig, StoredSession
from compact.settings.profiles import load_profiles, save_profiles
from tests.app.stored.conftest import turn, user


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[StoredSessions]:
    def answer(asks: object) -> tuple[Completion, ...]:
        return tuple(Completion("What was said, in short.", trusted=True) for _ in asks)  # type: ignore[attr-defined]

    with StoredSessions(tmp_path / "chats.db", ask=answer) as made:
        yield made


def write_profiles(home: Path, *profiles: str) -> None:
    (home / "profiles.yaml").write_text("profiles:\n" + "".join(f"- {{{profile}}}\n" for profile in profiles))


def config(policy: Policy | None = None, model: str = "gpt-4o") -> CompactConfig:
    storage = StorageSettings(adapter="none")
    return CompactConfig(
        model=model, max_context_tokens=4000, policy=policy or Policy(), storage=storage, profile="offline"
    )


def said(turns: int) -> list[Json]:
    return [message for number in range(turns) for message in turn(number)]


def test_a_manager_compacts_from_a_trigger_below_the_usual_target_and_then_rests(home: Path) -> None:
    policy = Policy(trigger_pct=0.4, hard_cap_buffer=0)
    with CompactManager(config(policy)) as manager:
        messages = said(35)
        done = manager.prepare("s", messages)
        assert done.compacted
        assert done.tokens_after <= 0.24 * 4000 < 0.4 * 4000 <= done.tokens_before
        again = manager.prepare("s", [*done.messages, user("Go on.")])
        assert not again.compacted


def test_a_profiles_threshold_holds_for_a_manager_with_its_model(home: Path) -> None:
    write_profiles(home, "name: work, vendor: openai, model: gpt-4o, threshold: 40")
    events: list[Event] = []
    with CompactManager(config(Policy(trigger_pct=0.9)), observe=events.append) as manager:
        assert (manager.threshold.share, manager.threshold.target) == (0.4, 0.235)
        assert manager.config.policy.trigger_pct == 0.4
        assert manager.prepare("s", said(35)).compacted
    told = next(event for event in events if event.name == "compact.trigger_decision").properties["policy"]
    assert told["trigger_pct"] == 0.4
    assert told["target_pct"] == 0.235
    assert told["trigger_from"] == "profile work"
    with CompactManager(config(Policy(trigger_pct=0.9), "gpt-4.1")) as other:
        assert (other.threshold.share, other.threshold.origin) == (0.9, "global")
    with CompactManager(config(model="gpt-4.1")) as plain:
        assert (plain.threshold.share, plain.threshold.origin) == (0.85, "default")


def test_a_profile_that_only_condenses_sets_no_threshold(home: Path) -> None:
    write_profiles(home, "name: cheap, vendor: openai, model: gpt-4o, use: condensation, threshold: 40")
    with CompactManager(config()) as manager:
        assert manager.threshold.share == 0.85
    assert any("threshold is not used" in remark for remark in examine(find_profile("cheap")).remarks)


@pytest.mark.parametrize(("wrong", "shown"), [("500", "500%"), ("3", "3%"), ("0", "0%"), ("0.4", "0.4%")])
def test_a_wrong_threshold_in_the_file_of_profiles_is_a_warning_and_stays(
    home: Path, wrong: str, shown: str, caplog: pytest.LogCaptureFixture
) -> None:
    write_profiles(
        home,
        f"name: wrong, vendor: openai, model: gpt-4o, threshold: {wrong}",
        "name: right, vendor: openai, model: gpt-4.1, threshold: 60",
    )
    warning = f"profile wrong: threshold {shown} is outside 5% to 100% and is not used"
    with CompactManager(config(Policy(trigger_pct=0.7))) as manager:
        assert (manager.threshold.share, manager.threshold.source) == (0.7, "global")
    assert warning in caplog.text
    with CompactManager(config(model="gpt-4.1")) as manager:
        assert manager.threshold.share == 0.6
    assert warning in examine(find_profile("wrong")).remarks
    save_profiles(load_profiles())
    assert load_profiles().profiles[0].threshold == float(wrong)


def test_a_profile_that_is_made_with_a_wrong_threshold_is_refused(home: Path) -> None:
    from compact.policies import Profile

    with pytest.raises(InvalidConfiguration, match=r"^threshold: must be from 5 to 100, or -1"):
        Profile(name="a", vendor="openai", model="gpt-4o", threshold=500)
    write_profiles(home, "name: a, vendor: openai, model: gpt-4o, threshold: .inf")
    with pytest.raises(InvalidConfiguration, match=r"profiles\.0\.threshold: should be a finite number"):
        load_profiles()


def test_a_profiles_threshold_holds_for_stored_sessions_with_its_model_at_once(
    home: Path, sessions: StoredSessions
) -> None:
    sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", 4000))
    session = sessions.create(StoredSession(id="a", model="gpt-4o", format="openai-chat", workspace="w"))
    sessions.append("a", said(45))
    sessions.preferences.change({"threshold": 0.9}, "w")
    assert sessions.prepare("a").compression is None
    write_profiles(home, "name: work, vendor: openai, model: gpt-4o, threshold: 40")
    effective = sessions.preferences.effective(session)
    assert (effective.settings.threshold, effective.origins["threshold"]) == (0.4, "profile")
    assert effective.threshold.origin == "profile work"
    done = sessions.prepare("a", [user("Go on.")])
    assert done.compression is not None
    assert done.tokens < 0.24 * 4000
    sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", 4000, threshold=0.8))
    assert sessions.preferences.effective(session).threshold.origin == "model openai:gpt-4o"


def test_a_profiles_window_holds_for_stored_sessions_unless_the_models_own_was_set(
    home: Path, sessions: StoredSessions
) -> None:
    session = sessions.create(StoredSession(id="a", model="house-model", format="openai-chat"))
    assert sessions.preferences.effective(session).window == 128_000
    profile = "name: work, vendor: compatible, model: house-model, url: 'http://localhost:1/v1', context_window: 4000"
    write_profiles(home, profile)
    assert sessions.preferences.effective(session).window == 4_000
    sessions.append("a", said(60))
    assert sessions.prepare("a", [user("Go on.")]).tokens < 4_000
    write_profiles(home, f"{profile}, use: condensation")
    assert sessions.preferences.effective(session).window == 128_000
    write_profiles(home, profile)
    sessions.preferences.put_model(ModelConfig("unknown", "house-model", 6_000))
    assert sessions.preferences.effective(session).window == 6_000


def test_a_broken_file_of_profiles_does_not_stop_a_session(home: Path, sessions: StoredSessions) -> None:
    session = sessions.create(StoredSession(id="a", model="gpt-4o", format="openai-chat"))
    (home / "profiles.yaml").write_text("profiles: [{name: broken}]")
    effective = sessions.preferences.effective(session)
    assert effective.settings.threshold == 0.95
    assert "thresholds of profiles are not used" in effective.threshold.warnings[0]


@pytest.mark.parametrize("target", [None, 0.5])
def test_a_session_with_a_threshold_below_the_target_is_compressed_once(
    sessions: StoredSessions, target: float | None
) -> None:
    if target:
        sessions.preferences.change({"target": target})
    sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", 8000, threshold=0.3))
    sessions.create(StoredSession(id="a", model="gpt-4o", format="openai-chat"))
    sessions.append("a", said(50))
    done = sessions.prepare("a", [user("Go on.")])
    assert done.compression is not None
    assert done.tokens < 0.2 * 8000
    sessions.append("a", [user("Go on."), {"role": "assistant", "content": "Done."}])
    assert sessions.prepare("a", [user("And now?")]).compression is None
    effective = sessions.preferences.effective(sessions.session("a"))
    assert effective.origins["target"] == "threshold"


def test_thresholds_of_sessions_have_the_same_range_and_minus_one_inherits(sessions: StoredSessions) -> None:
    preferences = sessions.preferences
    preferences.change({"threshold": 0.8})
    preferences.change({"threshold": 0.6}, "w")
    session = sessions.create(StoredSession(id="a", model="gpt-4o", format="openai-chat", workspace="w"))
    preferences.put_model(ModelConfig("openai", "gpt-4o", 4000, threshold=0.05))
    assert preferences.effective(session).settings.threshold == 0.05
    preferences.put_model(ModelConfig("openai", "gpt-4o", 4000, threshold=-1))
    assert preferences.effective(session).threshold.origin == "workspace w"
    preferences.change({"threshold": -1}, "w")
    assert preferences.settings("w") == {}
    assert preferences.effective(session).threshold.origin == "global"
    for wrong in (0.01, 0, 2, 95):
        with pytest.raises(InvalidConfiguration, match=r"^threshold: must be a share from 0\.05 to 1"):
            preferences.change({"threshold": wrong})
        with pytest.raises(InvalidConfiguration, match=r"^threshold: must be a share from 0\.05 to 1"):
            preferences.put_model(ModelConfig("openai", "gpt-4o", 4000, threshold=wrong))
    with pytest.raises(InvalidConfiguration, match=r"^target: must lie below threshold \(0\.8\)"):
        preferences.change({"target": 0.8})


def test_settings_that_earlier_versions_accepted_are_read(sessions: StoredSessions) -> None:
    session = sessions.create(StoredSession(id="a", model="gpt-4o", format="openai-chat"))
    sessions.store.set("global", {"threshold": 0.3, "target": 0.5})
    settings = sessions.preferences.effective(session).settings
    assert (settings.threshold, settings.target) == (0.3, 0.176)
    sessions.store.set("global", {"threshold": 0.01, "target": 1})
    effective = sessions.preferences.effective(session)
    assert (effective.settings.threshold, effective.settings.target) == (0.95, 0.5)
    assert effective.threshold.warnings == ("global: threshold 1% is outside 5% to 100% and is not used",)


def test_limits_that_a_person_sets_hold_at_once_under_any_vendors_name(sessions: StoredSessions) -> None:
    session = sessions.create(StoredSession(id="a", model="llama-local", format="openai-chat"))
    assert sessions.preferences.effective(session).window == 128_000
    sessions.preferences.put_model(ModelConfig("ollama", "llama-local", 8_000, threshold=0.5))
    effective = sessions.preferences.effective(session)
    assert (effective.window, effective.settings.threshold) == (8_000, 0.5)


def test_detection_never_goes_before_what_a_person_set(sessions: StoredSessions) -> None:
    sessions.preferences.put_model(ModelConfig("ollama", "llama-local", 6_000))
    session = sessions.create(StoredSession(id="a", model="llama-local", format="openai-chat"))
    sessions.preferences.detected([ModelConfig("unknown", "llama-local", 32_768)])
    assert sessions.preferences.effective(session).window == 6_000
    sessions.preferences.delete_model("ollama:llama-local")
    assert sessions.preferences.effective(session).window == 32_768
    sessions.preferences.delete_model("unknown:llama-local")
    assert sessions.preferences.effective(session).window == 128_000


def test_a_session_that_names_the_vendor_has_that_vendors_limits(sessions: StoredSessions) -> None:
    sessions.preferences.put_model(ModelConfig("azure", "gpt-4o", 9_000))
    named = sessions.create(StoredSession(id="a", model="openai:gpt-4o", format="openai-chat"))
    other = sessions.create(StoredSession(id="b", model="azure:gpt-4o", format="openai-chat"))
    plain = sessions.create(StoredSession(id="c", model="gpt-4o", format="openai-chat"))
    windows = [sessions.preferences.effective(session).window for session in (named, other, plain)]
    assert windows == [111_616, 9_000, 9_000]
    sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", 7_000))
    assert sessions.preferences.effective(plain).window == 7_000
