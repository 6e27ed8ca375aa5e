"""A profile's prompt and strategy, and the prompt called `default`, hold wherever a model is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app.stored import StoredSessions
from compact.errors import InvalidConfiguration
from compact.policies import Profile, Profiles
from compact.ports import Ask, Completion, StoredSession
from compact.server.gateway.managers import Managers
from compact.settings.profiles import save_profiles, save_prompt
from compact.testing.vendors import FakeVendors
from tests.app.tables import SUMMARY, conversation, home, vendor

__all__ = ["home", "vendor"]

WORDS, OWN = "Write it as the log of a ship.", "Write it as a letter."
Compact = Callable[[Path, str], object]


def configure(vendor: FakeVendors, **values: object) -> None:
    given = {"name": "cheap", "vendor": "openai", "model": "gpt-4o-mini", "url": f"{vendor.url}/v1", **values}
    save_profiles(Profiles(profiles=(Profile.model_validate(given),)))


def by_condense(_: Path, recipe: str) -> object:
    return compact.condense(conversation(), recipe=recipe, target=0.2, ask="cheap")


def by_manager(tmp_path: Path, recipe: str) -> object:
    values = {"model": "gpt-4o", "max_context_tokens": 8_000, "storage": {"path": str(tmp_path / "kept")}}
    config = CompactConfig.model_validate({**values, "policy": {"recipe": recipe}})
    with CompactManager(config) as manager:
        return manager.manual_compact("s", conversation())


def by_gateway(tmp_path: Path, recipe: str) -> object:
    config = tmp_path / "home" / "compact.yaml"
    config.write_text(f"model: gpt-4o\nmax_context_tokens: 8000\npolicy: {{recipe: {recipe}}}\n")
    managers = Managers(tmp_path / "home")
    try:
        with managers.using("gpt-4o", None) as manager:
            return manager.manual_compact("s", conversation())
    finally:
        managers.close()


def by_sessions(tmp_path: Path, recipe: str, **settings: object) -> object:
    with StoredSessions(tmp_path / "db.sqlite") as sessions:
        sessions.preferences.change({"recipe": recipe, **settings})
        id = sessions.create(StoredSession("", "gpt-4o", format="openai-chat")).id
        sessions.append(id, conversation())
        return sessions.compress(id)


ENTRIES = pytest.mark.parametrize("run", [by_condense, by_manager, by_gateway, by_sessions])
RECIPES = pytest.mark.parametrize("recipe", ["auto", "native", "layers", "balanced"])


@ENTRIES
@RECIPES
def test_a_profiles_own_prompt_is_sent_at_every_entry_point(
    tmp_path: Path, vendor: FakeVendors, run: Compact, recipe: str
) -> None:
    configure(vendor, prompt=WORDS, strategy="decision_log")
    run(tmp_path, recipe)
    assert vendor.requests
    sent = [str(request.body) for request in vendor.requests]
    assert all(WORDS in text for text in sent)
    assert all("Decisions" in text for text in sent)  # a section of that strategy


@ENTRIES
def test_the_prompt_called_default_is_sent_where_the_profile_says_nothing(
    tmp_path: Path, vendor: FakeVendors, run: Compact
) -> None:
    configure(vendor)
    save_prompt("default", WORDS)
    run(tmp_path, "auto")
    assert vendor.requests
    assert all(WORDS in str(request.body) for request in vendor.requests)


@RECIPES
def test_the_prompt_of_a_session_comes_before_the_profiles(tmp_path: Path, vendor: FakeVendors, recipe: str) -> None:
    configure(vendor, prompt=WORDS)
    by_sessions(tmp_path, recipe, prompt=OWN)
    assert vendor.requests
    assert all(OWN in str(request.body) and WORDS not in str(request.body) for request in vendor.requests)


def test_what_is_set_for_the_recipe_comes_before_the_profiles(vendor: FakeVendors) -> None:
    configure(vendor, prompt=WORDS)
    compact.condense(conversation(), target=0.2, ask="cheap", config={"prompt": OWN})
    assert vendor.requests
    assert all(OWN in str(request.body) and WORDS not in str(request.body) for request in vendor.requests)


def test_a_callback_gets_the_prompt_called_default() -> None:
    save_prompt("default", WORDS)
    asked: list[Ask] = []

    def ask(asks: Any) -> tuple[Completion, ...]:
        asked.extend(asks)
        return tuple(Completion(SUMMARY) for _ in asks)

    compact.condense(conversation(), target=0.2, ask=ask)
    assert asked
    assert all(WORDS in one.instructions for one in asked)


def test_a_prompt_called_default_that_cannot_be_used_is_an_error_that_says_so(
    tmp_path: Path, vendor: FakeVendors
) -> None:
    configure(vendor)
    save_prompt("default", "Summarize {everything}.")
    with pytest.raises(InvalidConfiguration, match=r"\{everything\} is not a placeholder"):
        by_manager(tmp_path, "auto")


def test_the_length_set_for_summaries_of_a_session_is_asked_for_in_passes_too(
    tmp_path: Path, vendor: FakeVendors
) -> None:
    configure(vendor)
    by_sessions(tmp_path, "balanced", summary_tokens=300)
    assert vendor.requests
    assert max(request.body["max_completion_tokens"] for request in vendor.requests) <= 300
