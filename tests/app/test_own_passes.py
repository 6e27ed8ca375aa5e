"""Passes that a person wrote: which of them run, down to what, and what the report says of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app.bulk.jobs import options_for
from compact.app.condensing import Condensation
from compact.app.presets import keep_presets
from compact.app.recipes import resolve_recipe
from compact.app.stored import StoredSessions
from compact.engine import Report
from compact.formats import parse
from compact.policies import Policy, Profile, Profiles, StorageSettings
from compact.ports import Answer, Ask, Completion, ModelConfig, StoredSession
from compact.providers.presets import Preset, find_preset
from compact.settings.presets import own_presets
from compact.settings.profiles import save_profiles

NAMES = ["Truncate old results", "Suppress very old", "Summarize if needed"]
FIRST = {"tool_results": {"operation": "truncate", "max_lines": 3}}
SECOND = {"tool_results": {"operation": "suppress"}}


def passes(threshold: int = 40_000) -> list[dict[str, Any]]:
    """The specification's example: two passes that always run, and a summary above a number of tokens."""
    first, second, third = NAMES
    return [
        {"id": "one", "name": first, "selection": {"keep_recent": 4}, "individual": {"defaults": FIRST}},
        {"id": "two", "name": second, "selection": {"keep_recent": 12}, "individual": {"defaults": SECOND}},
        {
            "id": "three",
            "name": third,
            "mode": "batch",
            "selection": {"keep_recent": 4},
            "execution": {"type": "conditional", "token_threshold": threshold},
        },
    ]


def session(pages: int = 12) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Compare the pages."}]
    for number in range(pages):
        call = {
            "id": f"c{number}",
            "type": "function",
            "function": {"name": "fetch", "arguments": f'{{"n": {number}}}'},
        }
        text = "\n".join(f"page {number}, line {line}: something that the page says" for line in range(150))
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
        messages.append({"role": "assistant", "content": f"Page {number} is about something. " * 8})
    return [*messages, {"role": "user", "content": "So which one is best?"}]


def written(threshold: int = 40_000) -> dict[str, Any]:
    return {"lossless_prelude": {"enabled": False}, "passes": passes(threshold)}


def model(asks: Sequence[Ask]) -> tuple[Answer, ...]:
    return tuple(Completion("- Each page is about something.") for _ in asks)


def told(report: Report) -> dict[str, str]:
    """Why each pass did not run, by its name; nothing where it ran."""
    return {done.name: done.skipped for done in report.passes}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    return tmp_path


def keep_mine(threshold: int = 40_000, **more: Any) -> None:
    keep_presets([Preset("mine", "Passes of my own.", "smart", {**written(threshold), **more})])


def test_without_a_target_every_pass_runs_that_always_does() -> None:
    report = compact.condense(session(), recipe="smart", config=written()).report
    assert report.target is None
    first, second, third = report.passes
    assert [done.name for done in report.passes] == NAMES
    assert first.tokens_after < 0.5 * report.tokens_before  # enough for the half that nobody asked for
    assert second.tokens_after < first.tokens_after
    assert third.skipped == f"{second.tokens_after:,} tokens do not exceed its threshold of 40,000"


def test_without_a_target_a_condition_decides_by_its_own_threshold() -> None:
    result = compact.condense(session(), recipe="smart", config=written(1_000), ask=model)
    assert list(told(result.report).values()) == ["", "", ""]
    assert result.report.written_by
    assert compact.restore(result) == session()


def test_with_a_target_the_passes_end_there_and_those_left_are_listed() -> None:
    report = compact.condense(session(), recipe="smart", config=written(0), target=0.5).report
    assert report.target_met
    first, *others = report.passes
    assert (first.skipped, [done.name for done in others]) == ("", NAMES[1:])
    why = f"{report.tokens_after:,} tokens are within the target of {report.target:,}"
    assert [done.skipped for done in others] == [why, why]
    assert f" - {NAMES[2]}: skipped, {why}\n" in str(report)
    assert [done["skipped"] for done in report.to_json()["passes"]] == ["", why, why]


def test_passes_that_follow_a_prelude_which_is_enough_are_listed() -> None:
    config = {"passes": passes(0), "lossless_prelude": {"level": "verbatim"}}
    twice = [*session()[:-1], *session()]
    report = compact.condense(twice, recipe="smart", config=config, target=0.8).report
    assert [name for name, why in told(report).items() if "are within the target of" in why] == NAMES


def test_a_conversation_within_its_target_says_so() -> None:
    report = compact.condense(session(), recipe="smart", config=written(), target=1_000_000).report
    (only,) = report.passes
    assert only.skipped == f"{report.tokens_before:,} tokens are within the target of 1,000,000"
    assert f"skipped, {only.skipped}" in str(report)


@pytest.mark.parametrize("named", [{"recipe": "mine"}, {"recipe": "balanced", "config": written()}])
def test_passes_of_ones_own_have_no_target_wherever_they_stand(named: dict[str, Any]) -> None:
    keep_mine()
    report = compact.condense(session(), **named).report
    assert report.target is None
    assert [name for name, why in told(report).items() if not why] == NAMES[:2]


@pytest.mark.parametrize("recipe", ["auto", "speed", "quality", "cost", "balanced", "smart"])
def test_recipes_without_passes_of_ones_own_come_down_to_half(recipe: str) -> None:
    report = compact.condense(session(), recipe=recipe, config={}).report
    assert report.target == report.tokens_before // 2


def test_a_copy_of_a_preset_comes_down_to_what_the_preset_does() -> None:
    keep_presets(replace(find_preset(name), name=f"my-{name}") for name in ("quality", "cost", "balanced"))
    for name in ("quality", "cost", "balanced"):
        reports = [compact.condense(session(), recipe=recipe).report for recipe in (name, f"my-{name}")]
        assert len({(report.target, report.tokens_after) for report in reports}) == 1
        assert find_preset(f"my-{name}", own_presets()).settings["target_reduction"] == 0.5


@pytest.mark.parametrize("recipe", ["balanced", "smart"])
def test_a_preset_removes_the_share_that_is_set(recipe: str) -> None:
    report = compact.condense(session(), recipe=recipe, config={"target_reduction": 0.3}).report
    assert report.target == int(0.7 * report.tokens_before)
    assert report.tokens_after > report.tokens_before // 2


def test_a_target_reduction_ends_passes_of_ones_own_early() -> None:
    report = compact.condense(session(), recipe="smart", config={**written(0), "target_reduction": 0.5}).report
    half = report.tokens_before // 2
    assert 0.97 * half < report.tokens_after <= half
    assert all(f"are within the target of {half:,}" in why for why in list(told(report).values())[1:])


def test_a_job_keeps_that_its_passes_have_no_target() -> None:
    recipe = options_for(resolve_recipe("smart", config=written())).to_recipe()
    report = Condensation(parse(session()), None, None).run(recipe).report
    assert (report.target, list(told(report).values())[:2]) == (None, ["", ""])


def manager_report(folder: Path, **policy: Any) -> Report:
    keep_mine()
    used = compact.count_tokens(session())
    config = CompactConfig(
        model="gpt-4o",
        max_context_tokens=int(used / 0.86),
        policy=Policy(recipe="mine", hard_cap_buffer=100, **policy),
        storage=StorageSettings(path=str(folder)),
        profile="offline",
    )
    with CompactManager(config) as manager:
        done = manager.prepare("s", session())
    assert done.report is not None
    return done.report


def test_a_manager_runs_passes_of_ones_own_to_their_end_unless_a_target_is_set(tmp_path: Path) -> None:
    report = manager_report(tmp_path / "free")
    assert report.target is None
    assert [name for name, why in told(report).items() if not why] == NAMES[:2]
    with_target = manager_report(tmp_path / "aimed", target_pct=0.5)
    assert with_target.target is not None
    assert [name for name, why in told(with_target).items() if not why] == NAMES[:1]


def test_what_the_trigger_starts_makes_room_once_the_passes_have_run(tmp_path: Path) -> None:
    keep_mine(1_000_000)
    settings = {"model": "gpt-4o", "max_context_tokens": 16_000, "storage": {"path": str(tmp_path / "kept")}}
    config = CompactConfig.model_validate({**settings, "profile": "offline", "policy": {"recipe": "mine"}})
    made: list[Report] = []
    with CompactManager(config) as manager:
        for pages in range(1, 90):
            done = manager.prepare("s", {"messages": session(pages)[:-1], "max_tokens": 500})
            made += [done.report] if done.report else []
        by_hand = manager.compact_now("s", {"messages": session(90)[:-1], "max_tokens": 500}).report
    assert 2 < len(made) < 30
    assert all(report.tokens_after <= 8_000 for report in made)
    assert all([done.name for done in report.passes][:3] == NAMES for report in made)
    assert any("Fill the target" in told(report) for report in made)
    assert by_hand is not None
    assert "Fill the target" not in told(by_hand)


def test_a_threshold_of_ones_own_is_no_target(tmp_path: Path) -> None:
    save_profiles(Profiles(profiles=(Profile(name="work", vendor="openai", model="gpt-4o", threshold=70),)))
    for policy in ({}, {"trigger_pct": 0.8}):
        assert manager_report(tmp_path / str(len(policy)), **policy).target is None


def test_a_stored_session_runs_passes_of_ones_own_to_their_end_unless_a_target_is_set(tmp_path: Path) -> None:
    keep_mine()
    used = compact.count_tokens(session())
    with StoredSessions(f"sqlite:///{tmp_path / 'sessions.sqlite'}") as sessions:
        sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", used, 1000))
        reports = {}
        for id, settings in (("free", {}), ("aimed", {"target": 0.5})):
            sessions.preferences.change({"recipe": "mine", "profile": "offline", **settings})
            sessions.create(StoredSession(id=id, model="gpt-4o", format="openai-chat"))
            sessions.append(id, session())
            done = sessions.prepare(id).compression
            assert done is not None
            reports[id] = done.report
    assert reports["free"].target is None
    assert [name for name, why in told(reports["free"]).items() if not why] == NAMES[:2]
    assert reports["aimed"].target == used // 2
    assert [name for name, why in told(reports["aimed"]).items() if not why] == NAMES[:1]
