"""Settings and models of stored sessions: what holds, where it comes from, and what is refused."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compact.engine.stored.preferences import Preferences, default_config
from compact.errors import InvalidConfiguration, NotFound
from compact.policies.threshold import OwnThreshold
from compact.ports import ModelConfig, StoredSession
from compact.sessions import open_store

MINE = ModelConfig("mine", "local-1", 8000, 1000)


@pytest.fixture
def preferences(sqlite_file: Path, tmp_path: Path) -> Iterator[Preferences]:
    path = tmp_path / "sessions.db"
    shutil.copy(sqlite_file, path)
    store = open_store(path)
    yield Preferences(store)
    store.close()


def test_the_nearest_setting_holds_and_tells_where_it_comes_from(preferences: Preferences) -> None:
    preferences.change({"threshold": 0.9, "retention_tokens": 500, "notify": False})
    preferences.change({"threshold": 0.8, "retention_tokens": 400, "automatic": False}, "team")

    def held(workspace: str, model: ModelConfig, **session: Any) -> dict[str, tuple[Any, str]]:
        found = preferences.resolve(workspace, model, session)
        names = ("threshold", "retention_tokens", "notify", "automatic")
        return {name: (getattr(found.settings, name), found.origins[name]) for name in names}

    assert held("", MINE) == {
        "threshold": (0.9, "global"),
        "retention_tokens": (500, "global"),
        "notify": (False, "global"),
        "automatic": (True, "default"),
    }
    assert held("team", MINE) == {
        "threshold": (0.8, "workspace"),
        "retention_tokens": (400, "workspace"),
        "notify": (False, "global"),
        "automatic": (False, "workspace"),
    }
    assert held("team", replace(MINE, threshold=0.7, retention=0), automatic=True) == {
        "threshold": (0.7, "model"),
        "retention_tokens": (0, "model"),
        "notify": (False, "global"),
        "automatic": (True, "session"),
    }
    preferences.profile_threshold = lambda model: OwnThreshold("profile", 0.6, model)
    assert held("team", MINE)["threshold"] == (0.6, "profile")


def test_what_is_set_for_a_session_itself_goes_before_all(preferences: Preferences) -> None:
    session = StoredSession(id="a", model="gpt-4o", format="openai-chat")
    assert preferences.effective(session).origins["automatic"] == "default"
    own = preferences.effective(replace(session, automatic=False))
    assert (own.settings.automatic, own.origins["automatic"]) == (False, "session")
    assert own.model.id == default_config("gpt-4o").id


@pytest.mark.parametrize(
    ("settings", "threshold", "target", "origin"),
    [
        ({}, None, 0.5, "default"),
        ({"target": 0.3}, None, 0.3, "global"),
        ({"target": 0.3}, 0.31, 0.3, "global"),
        ({"target": 0.3}, 0.3, 0.176, "threshold"),
        ({}, 0.2, 0.118, "threshold"),
    ],
)
def test_a_target_that_is_not_below_the_threshold_follows_it(
    preferences: Preferences, settings: dict[str, Any], threshold: float | None, target: float, origin: str
) -> None:
    preferences.change(settings)
    found = preferences.resolve("", replace(MINE, threshold=threshold))
    assert (found.settings.target, found.threshold.target, found.origins["target"]) == (target, target, origin)


def test_the_window_is_what_a_person_set_else_what_the_profile_gives(preferences: Preferences) -> None:
    assert preferences.resolve("", MINE).window == 8000
    preferences.profile_window = lambda model: 5000 if model == "local-1" else None
    assert preferences.resolve("", MINE).window == 5000
    assert preferences.resolve("", replace(MINE, source="manual")).window == 8000
    assert preferences.resolve("", replace(MINE, model="other")).window == 8000


def test_settings_are_changed_by_name_and_none_goes_back(preferences: Preferences) -> None:
    checked: list[Any] = []
    preferences.check_names = checked.append
    assert preferences.change({"threshold": 0.9, "notify": False}) == {"threshold": 0.9, "notify": False}
    assert preferences.change({"threshold": -1, "notify": None}) == {}
    assert (
        preferences.change({"retention_tokens": 5}, "team") == preferences.settings("team") == {"retention_tokens": 5}
    )
    assert preferences.settings() == {}
    assert checked == [
        {"threshold": 0.9, "notify": False},
        {"threshold": None, "notify": None},
        {"retention_tokens": 5},
    ]
    with pytest.raises(InvalidConfiguration, match=r"^nonsense: is no setting.*Known settings: .*threshold"):
        preferences.change({"nonsense": 1})
    with pytest.raises(InvalidConfiguration, match="retention_tokens"):
        preferences.change({"retention_tokens": -1})
    assert preferences.settings() == {}


def test_a_model_is_stored_when_it_is_first_seen(preferences: Preferences) -> None:
    assert preferences.known_model("gpt-4o") is None
    found = preferences.model("gpt-4o")
    assert (found.id, found.source) == ("openai:gpt-4o", "default")
    assert preferences.known_model("gpt-4o") == preferences.known_model("openai:gpt-4o") == found
    assert preferences.model("nobody-knows-it").max_input == 128_000
    assert default_config("gpt-4o", "azure").id == "azure:gpt-4o"


def test_whose_word_on_a_model_counts_most(preferences: Preferences) -> None:
    preferences.model("gpt-4o")
    told = ModelConfig("azure", "gpt-4o", 7000)
    preferences.detected([told])
    assert preferences.model("gpt-4o").id == "azure:gpt-4o"
    assert preferences.model("openai:gpt-4o").id == "openai:gpt-4o"
    preferences.put_model(ModelConfig("openrouter", "gpt-4o", 6000))
    assert preferences.model("gpt-4o").id == "openrouter:gpt-4o"
    preferences.put_model(ModelConfig("openai", "gpt-4o", 5000))
    assert preferences.model("gpt-4o").id == "openai:gpt-4o"


def test_what_a_vendor_tells_is_stored_unless_a_person_has_set_it(preferences: Preferences) -> None:
    told = ModelConfig("mine", "local-1", 8000)
    (first,) = preferences.detected([told])
    assert (first.max_input, first.source) == (8000, "api")
    assert preferences.detected([told]) == [first]
    assert preferences.detected([replace(told, max_input=9000)])[0].max_input == 9000
    mine = preferences.put_model(replace(told, max_input=7000, threshold=-1))
    assert (mine.source, mine.threshold) == ("manual", None)
    assert preferences.detected([told]) == []
    assert preferences.model("mine:local-1") == mine


def test_a_model_can_be_reset_and_deleted(preferences: Preferences) -> None:
    preferences.put_model(ModelConfig("azure", "gpt-4o", 5000, threshold=0.5))
    reset = preferences.reset_model("azure:gpt-4o")
    assert (reset.source, reset.max_input, reset.threshold) == ("default", default_config("gpt-4o").max_input, None)
    preferences.delete_model("azure:gpt-4o")
    assert preferences.known_model("azure:gpt-4o") is None
    with pytest.raises(NotFound, match="there is no model azure:gpt-4o"):
        preferences.reset_model("azure:gpt-4o")


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        (replace(MINE, provider=""), "model: must not be empty"),
        (replace(MINE, model=""), "model: must not be empty"),
        (replace(MINE, max_input=999), "max_input: 999 tokens are too few"),
        (replace(MINE, threshold=0.04), "threshold: must be a share from 0.05 to 1"),
        (replace(MINE, threshold=1.01), "threshold: must be a share from 0.05 to 1"),
        (replace(MINE, retention=-1), "retention: must not be negative"),
    ],
)
def test_what_a_model_cannot_be_is_refused(preferences: Preferences, config: ModelConfig, problem: str) -> None:
    with pytest.raises(InvalidConfiguration, match=f"^{problem}"):
        preferences.put_model(config)
    stored = preferences.put_model(replace(MINE, max_input=1000, threshold=0.05, retention=0))
    assert (stored.max_input, stored.threshold, stored.retention) == (1000, 0.05, 0)
