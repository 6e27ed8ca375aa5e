"""Which strategy holds, and how providers are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compact.app.recipes import resolve_recipe
from compact.app.strategies import choose_strategy, takes_strategy, with_strategy
from compact.errors import InvalidConfiguration
from compact.policies import Profile
from compact.settings.profiles import save_prompt
from compact.summaries.model.strategy import NAMES, find_strategy


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def profile(**values: Any) -> Profile:
    return Profile.model_validate({"name": "p", "vendor": "openai", "model": "gpt-4o-mini", **values})


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_strategy_is_found_by_name(name: str) -> None:
    assert choose_strategy(name, profile(strategy="brief", prompt="Mine.")) == find_strategy(name)


def test_nothing_said_leaves_it_to_the_provider() -> None:
    assert choose_strategy() is None
    assert choose_strategy("", profile()) is None


def test_a_prompt_of_ones_own_takes_the_place_of_the_words_and_keeps_the_sections() -> None:
    save_prompt("handover", "Write a handover.")
    found = choose_strategy("handover", profile(strategy="code_delta"))
    assert found is not None
    assert (found.prompt, found.custom) == ("Write a handover.", True)
    assert found.sections == find_strategy("code_delta").sections


def test_the_profile_comes_before_the_prompt_for_all() -> None:
    save_prompt("default", "For all.")
    everybodys = choose_strategy()
    assert everybodys is not None
    assert everybodys.prompt == "For all."
    own = choose_strategy("", profile(prompt="For this one.", strategy="brief"))
    assert own is not None
    assert (own.prompt, own.name) == ("For this one.", "brief")
    assert choose_strategy("", profile(strategy="brief")) == find_strategy("brief")


@pytest.mark.parametrize("prompt", ["  \n", "x" * 20_001, "Summarize {everything}."])
def test_a_prompt_that_cannot_work_is_refused(prompt: str) -> None:
    save_prompt("bad", prompt)
    with pytest.raises(InvalidConfiguration, match="prompt: "):
        choose_strategy("bad")


def test_an_unknown_strategy_is_told_with_the_known_ones_and_ones_own() -> None:
    save_prompt("handover", "Write a handover.")
    with pytest.raises(InvalidConfiguration, match=r"'nope'. Known: task_state, .*native, handover"):
        choose_strategy("nope")


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("auto", True),
        ("layers", True),
        ("native", True),
        ("balanced", True),
        ("cost", True),
        ("v3", False),
        ("v2", False),
    ],
)
def test_who_takes_a_strategy(name: str, takes: bool) -> None:
    recipe = resolve_recipe(name)
    assert takes_strategy(recipe.settings) is takes
    if takes:
        assert "brief" in repr(with_strategy(recipe, find_strategy("brief"), "concise").settings)


def test_a_custom_prompt_reaches_the_settings() -> None:
    save_prompt("handover", "Write a handover.")
    strategy = choose_strategy("handover")
    assert strategy is not None
    native: Any = with_strategy(resolve_recipe("native"), strategy).settings
    assert native.prompt == "Write a handover."
    balanced: Any = with_strategy(resolve_recipe("balanced"), strategy).settings
    assert balanced.passes[-1].batch.prompt == "Write a handover."


def test_the_native_sections_are_for_the_native_provider_alone() -> None:
    strategy = choose_strategy("native")
    assert strategy is not None
    native: Any = with_strategy(resolve_recipe("native"), strategy).settings
    assert native.strategy == "native"
    with pytest.raises(InvalidConfiguration, match="native"):
        with_strategy(resolve_recipe("balanced"), strategy)
