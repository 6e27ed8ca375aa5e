"""Which settings and which model's configuration hold for a session, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from compact.engine.stored.preferences import GLOBAL, Preferences, default_config
from compact.errors import InvalidConfiguration, NotFound
from compact.models import find_model
from compact.policies import Profile
from compact.policies.stored import StoredSettings
from compact.policies.threshold import OwnThreshold
from compact.ports import ModelConfig, StoredSession
from compact.sessions import open_store
from compact.sessions.store import DatabaseStore
from tests.sessions.conftest import sqlite_file

__all__ = ["sqlite_file"]

MINE = ModelConfig("mine", "local-1", 8000)


@pytest.fixture
def store(sqlite_file: Path, tmp_path: Path) -> Iterator[DatabaseStore]:
    (tmp_path / "sessions.db").write_bytes(sqlite_file.read_bytes())
    with open_store(tmp_path / "sessions.db") as opened:
        yield opened


@pytest.fixture
def preferences(store: DatabaseStore) -> Preferences:
    return Preferences(store)


def told(config: ModelConfig) -> ModelConfig:
    """The configuration without its times."""
    return replace(config, updated="", created="")


def test_a_session_goes_before_its_model_before_its_workspace_before_all(preferences: Preferences) -> None:
    assert preferences.change({"threshold": 0.7, "retention_tokens": 1, "strategy": "brief", "automatic": False}) == {
        "threshold": 0.7, "retention_tokens": 1, "strategy": "brief", "automatic": False,
    }  # fmt: skip
    preferences.change({"threshold": 0.6, "retention_tokens": 2}, "w")
    model = preferences.put_model(replace(MINE, retention=3))
    held = preferences.effective(StoredSession("a", "local-1", "openai-chat", workspace="w", automatic=True))
    assert held.model == model
    assert held.window == 8000
    assert held.settings == StoredSettings(
        threshold=0.6, target=0.353, retention_tokens=3, strategy="brief", automatic=True
    )
    own = {"threshold": "workspace", "retention_tokens": "model", "strategy": "global", "automatic": "session"}
    assert held.origins == {**dict.fromkeys(StoredSettings.model_fields, "default"), **own, "target": "threshold"}
    alone = preferences.effective(StoredSession("a", "local-1", "openai-chat"))
    assert (alone.settings.threshold, alone.origins["threshold"]) == (0.7, "global")
    assert (alone.settings.automatic, alone.origins["automatic"]) == (False, "global")


def test_without_any_word_the_defaults_hold(preferences: Preferences) -> None:
    held = preferences.resolve("", MINE)
    assert held.settings == StoredSettings(threshold=0.95, target=0.5)
    assert held.origins == dict.fromkeys(StoredSettings.model_fields, "default")
    assert (held.threshold.share, held.threshold.origin) == (0.95, "default")


@pytest.mark.parametrize(
    ("model", "profile", "workspace", "everywhere", "share", "source", "name"),
    [
        (0.5, 0.6, 0.7, 0.8, 0.5, "model", "mine:local-1"),
        (None, 0.6, 0.7, 0.8, 0.6, "profile", "p"),
        (None, None, 0.7, 0.8, 0.7, "workspace", "w"),
        (None, None, None, 0.8, 0.8, "global", ""),
        (None, None, None, None, 0.95, "default", ""),
    ],
)
def test_the_threshold_of_what_is_nearest_holds(
    preferences: Preferences,
    model: float | None,
    profile: float | None,
    workspace: float | None,
    everywhere: float | None,
    share: float,
    source: str,
    name: str,
) -> None:
    preferences.change({"threshold": workspace}, "w")
    preferences.change({"threshold": everywhere})
    asked = []

    def threshold(named: str) -> OwnThreshold | None:
        asked.append(named)
        return None if profile is None else OwnThreshold("profile", profile, "p")

    preferences.profile_threshold = threshold
    held = preferences.resolve("w", replace(MINE, threshold=model))
    assert asked == ["local-1"]
    assert (held.settings.threshold, held.threshold.source, held.origins["threshold"]) == (share, source, source)
    assert name in held.threshold.origin


def test_a_target_that_was_set_stays_while_it_lies_below_the_threshold(preferences: Preferences) -> None:
    preferences.change({"target": 0.4})
    below, above = (preferences.resolve("", replace(MINE, threshold=share)) for share in (0.5, 0.3))
    assert (below.settings.target, below.origins["target"]) == (0.4, "global")
    assert (above.settings.target, above.origins["target"]) == (0.176, "threshold")


def test_a_persons_window_goes_before_the_profiles_before_what_is_known(preferences: Preferences) -> None:
    assert preferences.resolve("", MINE).window == 8000
    profile = Profile(name="p", vendor="compatible", model="local-1", url="http://localhost:9", context_window=5000)
    preferences.serving_profile = {"local-1": profile}.get
    assert preferences.resolve("", MINE).window == 5000
    assert preferences.resolve("", replace(MINE, source="api")).window == 5000
    assert preferences.resolve("", replace(MINE, source="manual")).window == 8000


@pytest.mark.parametrize(
    ("config", "window", "total"),
    [
        # The answer comes on top of a maximum input, up to the window.
        (ModelConfig("openai", "gpt-4o", 8_000), None, 128_000),
        (ModelConfig("openai", "gpt-4o", 8_000), 9_000, 9_000),
        (ModelConfig("openai", "gpt-4o", 8_000), 6_000, 8_000),
        (ModelConfig("openai", "gpt-4o", 200_000), None, 200_000),
        (ModelConfig("mine", "local-1", 8_000), None, 8_000),  # nobody knows the window
        (ModelConfig("mine", "local-1", 8_000), 9_000, 9_000),
        (ModelConfig("google", "gemini-2.5-flash", 8_000), None, None),
    ],
)
def test_the_window_around_a_maximum_input_that_a_person_set(
    preferences: Preferences, config: ModelConfig, window: int | None, total: int | None
) -> None:
    profile = Profile(name="p", vendor="compatible", model=config.model, url="http://localhost:9")
    preferences.serving_profile = {config.model: profile.model_copy(update={"context_window": window})}.get
    limits = preferences.resolve("", preferences.put_model(config)).limits
    assert (limits.window, limits.input, limits.total) == (config.max_input, config.max_input, total)


def test_what_is_none_or_inherits_goes_back_to_what_holds_without_it(
    preferences: Preferences, store: DatabaseStore
) -> None:
    checked: list[Any] = []
    preferences.check_names = checked.append
    preferences.change({"threshold": 0.5, "strategy": "brief", "retention_tokens": 3})
    assert preferences.change({"threshold": -1, "strategy": None}) == {"retention_tokens": 3}
    assert checked[-1] == {"threshold": None, "strategy": None}
    assert store.setting(GLOBAL) == {"retention_tokens": 3}
    store.set(GLOBAL, {"retentionTokens": 4, "of tomorrow": 1, "retention_tokens": None})
    assert preferences.settings() == {"retention_tokens": 4}
    with pytest.raises(InvalidConfiguration, match="retention_tokens"):  # -1 inherits for a threshold alone
        preferences.change({"retention_tokens": -1})


def test_an_unknown_setting_is_named_with_the_known_ones_and_nothing_is_stored(
    preferences: Preferences, store: DatabaseStore
) -> None:
    with pytest.raises(InvalidConfiguration, match=r"is no setting.*Known settings: threshold, ") as caught:
        preferences.change({"strategy": "brief", "speed": 1, "colour": 2})
    assert caught.value.field == "speed"
    with pytest.raises(InvalidConfiguration, match="is no setting"):
        preferences.change({"speed": None})

    def refuse(values: object) -> None:
        raise InvalidConfiguration(str(values), field="strategy", remedy="None.")

    preferences.check_names = refuse
    with pytest.raises(InvalidConfiguration, match="nobody's"):
        preferences.change({"strategy": "nobody's"})
    assert store.setting(GLOBAL) == {}


def test_what_is_stored_and_cannot_be_read_is_named(preferences: Preferences, store: DatabaseStore) -> None:
    store.set(GLOBAL, {"strategy": 5})
    with pytest.raises(InvalidConfiguration) as caught:
        preferences.resolve("", MINE)
    assert caught.value.field == "settings.strategy"


def test_of_several_configurations_of_a_model_a_persons_word_counts_most(
    preferences: Preferences, store: DatabaseStore
) -> None:
    store.put_model(ModelConfig("nobody", "gpt-4o", 1))
    assert preferences.known_model("openai:gpt-4o") is None  # by its whole name, no other vendor's
    store.delete_model("nobody:gpt-4o")
    assert preferences.known_model("gpt-4o") is None
    seen = preferences.model("gpt-4o")
    assert told(seen) == default_config("gpt-4o")
    assert store.models() == [seen]
    listed = store.put_model(ModelConfig("azure", "gpt-4o", 2000, source="api"))
    assert preferences.model("gpt-4o") == listed
    assert preferences.model("openai:gpt-4o") == seen  # that very one
    set_ = store.put_model(ModelConfig("mine", "gpt-4o", 3000, source="manual"))
    assert preferences.model("gpt-4o") == set_
    own = preferences.put_model(replace(seen, max_input=4000))
    assert preferences.model("gpt-4o") == own  # of two words, the one for the vendor that it is known of
    assert preferences.known_model("azure:gpt-4o") == listed
    assert preferences.known_model("gpt-4.1") is None


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"provider": ""}, "model", "must not be empty"),
        ({"model": ""}, "model", "must not be empty"),
        ({"max_input": 999}, "max_input", "999 tokens are too few"),
        ({"threshold": 0.04}, "threshold", "must be a share from 0.05 to 1"),
        ({"threshold": 1.01}, "threshold", "must be a share from 0.05 to 1"),
        ({"retention": -1}, "retention", "must not be negative"),
    ],
)
def test_a_wrong_configuration_is_refused_by_the_field(
    preferences: Preferences, store: DatabaseStore, change: dict[str, Any], field: str, problem: str
) -> None:
    with pytest.raises(InvalidConfiguration, match=problem) as caught:
        preferences.put_model(replace(MINE, **change))
    assert caught.value.field == field
    assert store.models() == []


@pytest.mark.parametrize(
    "change", [{"max_input": 1000}, {"threshold": 0.05}, {"threshold": 1}, {"retention": 0}, {"threshold": None}]
)
def test_what_is_just_right_is_stored_as_a_persons_word(preferences: Preferences, change: dict[str, Any]) -> None:
    given = replace(MINE, **change)
    assert told(preferences.put_model(given)) == replace(given, source="manual")


def test_a_model_that_inherits_has_no_threshold_and_a_reset_one_what_the_catalogue_says(
    preferences: Preferences,
) -> None:
    assert preferences.put_model(replace(MINE, threshold=-1)).threshold is None
    preferences.put_model(ModelConfig("azure", "gpt-4o", 2000, 100, 0.5, 7))
    facts = find_model("gpt-4o")
    reset = preferences.reset_model("azure:gpt-4o")
    assert told(reset) == ModelConfig("azure", "gpt-4o", facts.max_input, facts.max_output)
    with pytest.raises(NotFound, match="there is no model openai:gpt-4o") as caught:
        preferences.reset_model("openai:gpt-4o")
    assert caught.value.field == "model"
    preferences.delete_model("azure:gpt-4o")
    assert preferences.known_model("azure:gpt-4o") is None


def test_what_a_vendor_lists_is_stored_where_it_is_new_and_no_person_has_spoken(
    preferences: Preferences, store: DatabaseStore
) -> None:
    own = preferences.put_model(MINE)
    listed = [ModelConfig("mine", "local-1", 1), ModelConfig("mine", "local-2", 2000, 10)]
    (first,) = preferences.detected(listed)
    assert told(first) == replace(listed[1], source="api")
    (again,) = preferences.detected(listed)
    assert again == first  # its times, too: it is not written again
    (changed,) = preferences.detected([replace(listed[1], max_input=3000)])
    assert (changed.max_input, changed.created) == (3000, first.created)
    assert [one.max_input for one in store.models()] == [own.max_input, 3000]
