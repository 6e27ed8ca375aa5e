"""The one engine: what recipes do where they miss, the budget that holds in any case, and how recipes are found."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from compact.app.recipes import list_recipes, resolve_recipe
from compact.engine import Gauge, Goal, Inputs, NoModel, Outcome, compact, floor_of
from compact.engine.records import report_of
from compact.engine.report import Report
from compact.errors import InsufficientBudget, InvalidConfiguration
from compact.formats import parse
from compact.messages import Conversation, Pass, is_summary, plan_from_json, plan_to_json, restore
from compact.policies import Policy
from compact.ports import Answer, Ask, Completion, Failure
from compact.providers import Capabilities, Recipe, Steps, Task
from compact.providers.auto import AutoSettings
from compact.settings.recipes import choose_default, default_recipe
from compact.testing.generate import random_body
from tests.conversations import stored
from tests.providers.conversations import LONG, assistant, gauge_for, step, task_for, tokens_of, user

STOPPING = ("v1", "v2", "v3", "layers", "lossless:verbatim", "lossless:formatting", "lossless:superseded")
NAMES = [name for name, _ in list_recipes()]


def work() -> Conversation:
    messages: list[dict[str, Any]] = [user("Begin.")]
    for number in range(16):
        messages += step(f"c{number}", "read", {"path": f"src/m{number}.py"}, f"{number}\n{LONG}")
        messages += [assistant(f"Read number {number}. " + "It is as it was. " * 9), user(f"And {number}? " * 9)]
    return parse([*messages, user("Go on.")])


def inputs(conversation: Conversation, **more: Any) -> Inputs:
    return Inputs(gauge_for(conversation), 128_000, **more)


def failing(asks: Sequence[Ask]) -> tuple[Answer, ...]:
    return tuple(Failure("down") for _ in asks)


class Raising:
    """A provider of others that breaks down."""

    id = "raising"
    name = "Raising"
    description = "Breaks down."
    version = "1"
    capabilities = Capabilities()
    settings = AutoSettings

    def condense(self, task: Task, settings: AutoSettings, /) -> Steps:
        if settings.recent_turns >= 0:
            raise ZeroDivisionError("no luck")
        yield ()


def test_recipes_stop_or_go_on_as_they_say() -> None:
    for name in NAMES:
        assert (resolve_recipe(name).when_missed == "stop") is (name in STOPPING), name


@pytest.mark.parametrize("name", NAMES)
def test_a_target_is_met_by_all_recipes_that_go_on(name: str) -> None:
    before = work()
    target = floor_of(before, gauge_for(before)).total + 600
    after = tokens_of(compact(before, resolve_recipe(name), Goal(target), inputs(before)).conversation)
    if name not in STOPPING:
        assert after <= target
    elif name != "layers":
        assert after > target


@pytest.mark.parametrize("name", [name for name in NAMES if name != "layers"])
def test_a_budget_is_kept_by_every_recipe(name: str) -> None:
    before = work()
    floor = floor_of(before, gauge_for(before)).total
    for target, over in ((None, 600), (floor + 300, 600), (floor // 2, 600), (1, 60), (floor + 30, 60)):
        outcome = compact(before, resolve_recipe(name), Goal(target, floor + over), inputs(before))
        assert tokens_of(outcome.conversation) <= floor + over, (target, over)


@pytest.mark.parametrize("name", NAMES)
def test_a_budget_below_what_must_stay_is_an_error(name: str) -> None:
    before = work()
    floor = floor_of(before, gauge_for(before)).total
    with pytest.raises(InsufficientBudget) as caught:
        compact(before, resolve_recipe(name), Goal(floor // 2, floor - 1), inputs(before))
    assert (caught.value.needed, caught.value.budget) == (floor, floor - 1)


def test_an_overrun_is_reported_before_auto_mends_it() -> None:
    before = work()
    budget = tokens_of(before) // 4
    outcome = compact(before, resolve_recipe("v1"), Goal(None, budget), inputs(before))
    told = [event for event in outcome.events if event.name == "compact.error"]
    assert [(event.properties["error_type"], event.properties["fallback"]) for event in told] == [
        ("OverBudget", "auto")
    ]
    assert tokens_of(outcome.conversation) <= budget


def test_where_a_provider_raises_auto_does_it() -> None:
    before = work()
    recipe = Recipe("mine", Raising(), AutoSettings())
    seen: list[Any] = []
    target = tokens_of(before) // 8
    outcome = compact(before, recipe, Goal(target), inputs(before, observe=seen.append))
    (event,) = outcome.events
    assert seen == [event]
    assert event.failed
    assert event.name == "compact.error"
    assert "ZeroDivisionError: no luck" in event.properties["message"]
    assert tokens_of(outcome.conversation) <= target
    assert sum(map(is_summary, outcome.conversation.messages)) == 1


@pytest.mark.parametrize("name", ["auto", "native"])
def test_a_summary_that_blocks_leaves_everything(name: str) -> None:
    before = work()
    recipe = resolve_recipe(name, config={"on_failure": "block"})
    assert compact(before, recipe, Goal(tokens_of(before) // 8), inputs(before), failing).plan == ()


def test_nothing_is_done_within_the_target() -> None:
    before = work()
    for name in NAMES:
        assert compact(before, resolve_recipe(name), Goal(tokens_of(before)), inputs(before)).plan == ()


def test_settings_are_merged_deep_inside() -> None:
    recipe = resolve_recipe("quality", config={"lossless_prelude": {"handles": True}})
    prelude = recipe.settings.model_dump()["lossless_prelude"]
    assert (prelude["level"], prelude["handles"]) == ("verbatim", True)


@pytest.mark.parametrize(
    ("recipe", "field", "value"),
    [("v1", "on_summary_failure", "block"), ("v2", "keep_recent_turns", 3), ("lossless", "summary_tokens", 500)],
)
def test_fields_of_a_policy_without_a_place_are_errors(recipe: str, field: str, value: object) -> None:
    with pytest.raises(InvalidConfiguration, match=rf"policy\.{field}"):
        resolve_recipe(policy=Policy.model_validate({"recipe": recipe, field: value}))


def test_fields_of_a_policy_become_settings() -> None:
    policy = Policy.model_validate({"keep_recent_turns": 3, "keep_tool_io_pairs": 2, "on_summary_failure": "block"})
    settings = resolve_recipe("auto", policy=policy).settings
    assert isinstance(settings, AutoSettings)
    assert (settings.recent_turns, settings.tool_pairs, settings.on_failure) == (3, 2, "block")


def test_names_that_are_unknown_are_told_with_those_that_are_not() -> None:
    with pytest.raises(InvalidConfiguration, match=r"nonsense.*auto.*layers.*balanced"):
        resolve_recipe("nonsense")
    with pytest.raises(InvalidConfiguration, match="preset"):
        resolve_recipe("auto", preset="balanced")
    with pytest.raises(InvalidConfiguration, match="config"):
        resolve_recipe("auto", config=[])  # type: ignore[arg-type]


def test_the_default_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path))
    monkeypatch.delenv("COMPACT_RECIPE", raising=False)
    assert (default_recipe(), resolve_recipe().name) == ("auto", "auto")
    choose_default("balanced")
    assert resolve_recipe().name == "balanced"
    assert resolve_recipe("v2").name == "v2"
    assert resolve_recipe(policy=Policy.model_validate({"recipe": "layers"})).name == "layers"
    monkeypatch.setenv("COMPACT_RECIPE", "v1")
    assert resolve_recipe().name == "v1"


def test_the_same_gauge_gives_the_same_outcome() -> None:
    def run(gauge: Gauge) -> Outcome:
        before = work()
        return compact(before, resolve_recipe("auto"), Goal(2_000), Inputs(gauge, 128_000))

    shared = gauge_for(work())
    assert run(shared).plan == run(shared).plan == run(gauge_for(work())).plan


@pytest.mark.parametrize("name", ["quality", "lossless:verbatim"])
def test_a_target_is_filled_after_references_were_made(name: str) -> None:
    before = work()
    target = floor_of(before, gauge_for(before)).total + 600
    after = compact(before, resolve_recipe(name), Goal(target, target), inputs(before)).conversation
    assert target // 2 <= tokens_of(after) <= target
    assert sum(map(is_summary, after.messages)) == 1


def test_what_auto_removed_lets_the_recipe_s_passes_go_on() -> None:
    before = stored("thinking-in-open-loop")
    target = tokens_of(before) // 2
    once = compact(before, resolve_recipe("speed"), Goal(target), inputs(before)).conversation
    assert tokens_of(once) <= target  # thinking in an open loop forbade to cut until auto had removed it
    assert compact(once, resolve_recipe("speed"), Goal(target), inputs(once)).conversation == once


def test_auto_goes_on_where_reasoning_went_with_what_it_was_bound_to() -> None:
    before = stored("thinking-bound")
    target = tokens_of(before) // 2
    once = compact(before, resolve_recipe("auto"), Goal(target), inputs(before)).conversation
    assert tokens_of(once) <= target  # what had to stay was counted with its reasoning
    assert compact(once, resolve_recipe("auto"), Goal(target), inputs(once)).conversation == once


def test_an_account_stands_ahead_of_system_messages_where_only_there_it_is_valid() -> None:
    body = random_body(random.Random("41000018 0"), "anthropic-messages", size=20)  # one answer, and it thinks
    before = parse(body, format="anthropic-messages")
    target = tokens_of(before) // 2
    outcome = compact(before, resolve_recipe("auto"), Goal(target), inputs(before))
    assert tokens_of(outcome.conversation) <= target
    first, account, system = outcome.conversation.messages[:3]
    assert (first.role, account.role, is_summary(account), system.role) == ("user", "user", True, "system")
    read = plan_from_json(plan_to_json(outcome.plan))
    assert [getattr(edit, "first", False) for edit in read[0].edits].count(True) == 1
    assert restore(outcome.conversation, outcome.plan) == before


@pytest.mark.parametrize(
    ("goal", "ceiling"),
    [
        (Goal(100, 1000, 500), 300),
        (Goal(100, 400, 500), 250),
        (Goal(100, None, 500), 300),
        (Goal(600, 1000, 500), 600),
        (Goal(None, 1000, 500), None),
        (Goal(100, 1000, None), None),
    ],
)
def test_the_ceiling_lies_halfway_from_the_target_to_where_it_would_begin_again(
    goal: Goal, ceiling: int | None
) -> None:
    task = replace(task_for(work(), goal.target), budget=goal.budget, trigger=goal.trigger)
    assert task.ceiling == ceiling


def test_a_budget_of_just_what_must_stay_is_enough() -> None:
    before = parse([user("Begin."), assistant(LONG), user("Go on.")])
    floor = floor_of(before, gauge_for(before)).total
    recipe = resolve_recipe("auto")
    with pytest.raises(InsufficientBudget, match=f"the budget is {floor - 1:,} of 128,000") as caught:
        compact(before, recipe, Goal(None, floor - 1), inputs(before))
    assert (caught.value.needed, caught.value.budget) == (floor, floor - 1)
    alone = parse([user("Begin."), user("Go on.")])
    tokens = tokens_of(alone)
    assert floor_of(alone, gauge_for(alone)).total == tokens
    assert compact(alone, recipe, Goal(tokens, tokens), inputs(alone)).conversation.messages == alone.messages


def test_at_the_target_nothing_is_done_and_just_above_it_something_is() -> None:
    before = work()
    tokens = tokens_of(before)
    recipe = resolve_recipe("auto")
    at = compact(before, recipe, Goal(tokens), inputs(before))
    assert at.plan == ()
    assert [done.skipped for done in at.passes] == [f"{tokens:,} tokens are within the target of {tokens:,}"]
    assert compact(before, recipe, Goal(tokens - 1), inputs(before)).plan


def test_why_no_model_wrote_is_told() -> None:
    before = work()
    gauge = gauge_for(before)
    target = floor_of(before, gauge).total + 600
    recipe = resolve_recipe("auto")

    def reported(asker: Any) -> Report:
        outcome = compact(before, recipe, Goal(target), inputs(before), asker)
        return report_of(recipe, before, outcome, gauge, target)

    def named(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(Completion("It was read.", cost=Decimal("0.5"), model="m") for _ in asks)

    assert reported(None).why_offline == "no callback or profile was given"
    assert reported(NoModel("it was late")).why_offline == "it was late"
    failed = reported(failing)
    assert (failed.written_by, "down" in failed.why_offline, failed.cost) == ((), True, None)
    written = reported(named)
    assert (written.written_by, written.why_offline, written.target) == (("m",), "", target)
    assert written.cost == sum(done.cost for done in written.passes if done.cost is not None)
    assert written.tokens_before == tokens_of(before)
    assert written.kept_prefix >= gauge.conversation(before.with_messages(before.messages[:1]))
    assert (written.recipe, written.provider) == (recipe.name, recipe.provider.name)


class Failing:
    """`auto`, but with an error of its own, or of ours."""

    def __init__(self, error: Exception, id: str) -> None:
        self.error, self.id = error, id

    name, description, version, capabilities, settings = "Failing", "Fails.", "1", Capabilities(), AutoSettings

    def condense(self, _task: Task, _settings: AutoSettings, /) -> Steps:
        yield Pass("Nothing", ())
        raise self.error


@pytest.mark.parametrize(
    ("error", "id"), [(ZeroDivisionError("no luck"), "auto"), (InsufficientBudget("no", needed=2, budget=1), "other")]
)
def test_an_error_of_auto_and_one_of_ours_go_on_to_the_caller(error: Exception, id: str) -> None:
    before = work()
    with pytest.raises(type(error)) as caught:
        compact(before, Recipe("mine", Failing(error, id), AutoSettings()), Goal(1000), inputs(before))
    assert caught.value is error


def test_a_provider_that_yields_something_else_is_told() -> None:
    class Wrong(Raising):
        def condense(self, _task: Task, _settings: AutoSettings, /) -> Steps:
            yield 3  # type: ignore[misc]

    before = work()
    outcome = compact(before, Recipe("mine", Wrong(), AutoSettings()), Goal(tokens_of(before) - 1), inputs(before))
    messages = [str(event.properties.get("message")) for event in outcome.events if event.failed]
    why = "TypeError: a provider yields a Pass, an Event or a tuple of Asks, not 3"
    assert messages == [f"Raising failed: {why}; auto did the work"]
