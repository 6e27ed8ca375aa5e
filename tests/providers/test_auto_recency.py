"""What is recent: it is whole before anything older is shown, and begins with what a person said."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.app.recipes import resolve_recipe
from compact.engine import Goal, Inputs, Outcome, compact, floor_of
from compact.formats import parse
from compact.messages import Conversation, Message, is_pruned, is_summary, untouchable
from compact.messages.seals import is_removed_marker
from compact.ports import Answer, Ask, Failure
from compact.providers import Recipe
from compact.providers.auto import AutoProvider, AutoSettings
from compact.summaries.accounts import NO_ROOM
from tests.providers.conversations import WINDOW, assistant, gauge_for, measured, step, tokens_of, user
from tests.providers.sessions import account, fill, session, talk

SEEDS = st.integers(0, 2**32)
TREES = ["oak", "ash", "elm", "fir", "yew", "bay", "fig", "gum", "box", "may", "tea", "nut"]


def printed(seed: int, count: int) -> str:
    """So many lines of a tool's output, all different."""
    rng = random.Random(seed)
    return "\n".join(f"{at} " + " ".join(rng.choice(TREES) for _ in range(16)) for at in range(count))


def steps(count: int, lines: int = 40) -> list[dict[str, Any]]:
    return [each for at in range(count) for each in step(f"c{at}", "run", {"part": at}, printed(at, lines))]


def kept(before: Conversation, after: Conversation) -> list[int]:
    """The positions of the messages that stand as they were."""
    place = {id(message): at for at, message in enumerate(before.messages)}
    return [place[id(message)] for message in after.messages if id(message) in place]


def notes(outcome: Outcome) -> str:
    return "; ".join(note for done in outcome.passes for note in done.notes)


@pytest.mark.parametrize("share", [0.35, 0.4, 0.5, 0.6])
def test_the_last_results_are_whole_before_any_older_one_is_shown(share: float) -> None:
    before = parse([user("Fix it."), *steps(14), assistant("I have read all of it."), user("Continue please.")])
    after = fill(before, int(tokens_of(before) * share)).conversation
    results = [at for at in kept(before, after) if before.messages[at].results]
    assert set(results) >= {22, 24, 26, 28}


@pytest.mark.parametrize("share", [0.4, 0.5, 0.6, 0.7, 0.8])
@pytest.mark.parametrize("count", [60, 120, 250])
def test_a_large_recent_result_is_whole_before_any_older_turn(count: int, share: float) -> None:
    """It is larger than the other recent exchanges together; where it does not fit beside them, they stay."""
    turns = [
        each
        for at in range(40)
        for each in (user(f"Please look at part {at}."), assistant(f"Part {at} is done.\n{printed(at, 6)}"))
    ]
    read = step("large", "read_file", {"path": "SPEC.md"}, printed(99, count))
    last = [
        *read,
        *step("small", "run", {"part": 1}, printed(98, 4)),
        assistant("I have read both."),
        user("Write it."),
    ]
    before = parse([user("Begin."), assistant("Ready."), *turns, user("Read SPEC.md and the notes."), *last])
    outcome = fill(before, int(tokens_of(before) * share))
    places, large = set(kept(before, outcome.conversation)), len(before) - len(last) + 1
    recent = set(range(len(before) - len(last) - 11, len(before)))
    assert large in places or not places & set(range(1, min(recent)))
    assert places >= recent - {large}
    missing = "1 of the last 14 exchanges did not fit into the target"
    assert (missing in notes(outcome)) is (large not in places)
    needed = tokens_of(before.with_messages(before.messages[min(recent) :]))
    if tokens_of(before) * share > 2 * needed + 1_000:
        assert large in places


def plan_of(count: int, form: str = "{}.") -> str:
    rng = random.Random(count)
    words = (" ".join(rng.choice(TREES) for _ in range(12)) for _ in range(count))
    items = (f"{form.format(at)} {each} part{at * 7}" for at, each in enumerate(words, 1))
    return "Here is the plan.\n" + "\n".join(items)


def planned(between: Sequence[dict[str, Any]] = (), form: str = "{}.") -> Conversation:
    turns = [
        each
        for at in range(12)
        for each in (user(f"Please look at part {at}."), assistant(f"Part {at} is done.\n{printed(at, 6)}"))
    ]
    asked = [user("Make a plan of 100 steps."), assistant(plan_of(100, form)), *between, user("Do step 77 of it.")]
    return parse([*turns, *asked])


@pytest.mark.parametrize("share", [0.15, 0.2, 0.3, 0.45, 0.55, 0.7])
@pytest.mark.parametrize("between", [[], [user("Is it long?"), assistant("It has a hundred steps.")]])
def test_the_plan_that_the_request_points_at_is_cut_last(share: float, between: list[dict[str, Any]]) -> None:
    before = planned(between)
    target = int(tokens_of(before) * share)
    after = fill(before, target).conversation
    item = next(line for line in plan_of(100).splitlines() if line.startswith("77."))
    assert any(item in message.text for message in after.messages if not is_summary(message))
    if not any(message.text == plan_of(100) for message in after.messages):
        assert not [at for at in kept(before, after) if 0 < at < 24]


@pytest.mark.parametrize("share", [0.3, 0.5, 0.6, 0.7, 0.8])
def test_the_plan_is_cut_last_where_messages_in_front_could_stay_cached(share: float) -> None:
    first = parse([*talk(24, 6), user("Go on.")])
    shorter = fill(first, tokens_of(first) // 2).conversation
    added = parse(
        [assistant("Done."), user("Make a plan of 100 steps."), assistant(plan_of(100)), user("Do step 77 of it.")]
    )
    before = shorter.with_messages(
        (*shorter.messages, *(replace(each, id=f"later-{each.id}") for each in added.messages))
    )
    after = fill(before, int(tokens_of(before) * share)).conversation
    assert any("77. " in message.text for message in after.messages if not is_summary(message))
    if not any(message.text == plan_of(100) for message in after.messages):
        assert not [at for at in kept(before, after) if 1 < at < len(shorter)]


@pytest.mark.parametrize("form", ["Step {}:", "{}:", "{})", "#{}", "- {}:", "### Step {}:"])
def test_items_are_known_by_their_numbers_however_these_are_written(form: str) -> None:
    between = [user("Is it long?"), assistant("It has a hundred steps.")]
    before = planned(between, form)
    after = fill(before, tokens_of(before) // 5).conversation
    item = next(line for line in plan_of(100, form).splitlines() if line.startswith(form.format(77)))
    assert any(item in message.text for message in after.messages if not is_summary(message))


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("written", [False, True])
def test_a_small_file_that_the_request_names_is_cut_last(share: float, written: bool) -> None:
    plan = plan_of(30) if written else plan_of(100)
    turns = [
        each
        for at in range(20)
        for each in (user(f"Please look at part {at}."), assistant(f"Part {at} is done.\n{printed(at, 10)}"))
    ]
    shown = step("plan", "read_file", {"path": "PLAN.md"}, plan)
    if written:
        shown = step("plan", "write_file", {"path": "PLAN.md", "content": plan}, "Written.")
    begun = [user("See to the plan."), *shown, *steps(5, 8), assistant("The plan is there.")]
    before = parse([*turns, *begun, user("Do step 27 of PLAN.md.")])
    after = fill(before, int(tokens_of(before) * share)).conversation
    item = next(line for line in plan.splitlines() if line.startswith("27."))
    assert any(item in str(message.blocks) for message in after.messages if not is_summary(message))
    if 41 not in kept(before, after):
        assert not [at for at in kept(before, after) if 0 < at < 40]


def first_shown(before: Conversation, after: Conversation) -> Message | None:
    """The first message behind the account that nothing pins to its place."""
    ours = [message for message in after.messages if is_summary(message)]
    at = next((at for at, one in enumerate(after.messages) if one in ours and not is_removed_marker(one.text)), None)
    fixed = untouchable(before)
    behind = after.messages[at + 1 :] if at is not None else ()
    return next((message for message in behind if message.id not in fixed), None)


@pytest.mark.laws
@given(SEEDS, st.sampled_from((4, 8, 14)), st.sampled_from((0.1, 0.25, 0.4, 0.55, 0.7)))
def test_what_is_shown_never_begins_with_an_answer_whose_question_went(seed: int, turns: int, share: float) -> None:
    before = session(seed, turns)
    target = int(tokens_of(before) * share)
    if target > floor_of(before, gauge_for(before)).total + 200:
        first = first_shown(before, fill(before, target).conversation)
        assert first is None or first.from_user or first.calls


def test_what_a_person_has_set_yields_only_to_the_hard_budget_oldest_first() -> None:
    before = parse([user("Fix it."), *steps(12), user("Continue please.")])
    tokens = tokens_of(before)
    for budget, wanted in ((tokens - 1, 6), (tokens * 3 // 5, 6), (tokens * 2 // 5, 4)):
        outcome = run(before, Goal(tokens // 5, budget), tool_pairs=6)
        results = [at for at in kept(before, outcome.conversation) if before.messages[at].results]
        assert results == list(range(26 - 2 * wanted, 25, 2))
        assert tokens_of(outcome.conversation) <= budget
        assert "tool_pairs: what is set to stay takes more than the target" in notes(outcome)
        assert ("tool_pairs: 2 exchanges did not fit into the budget" in notes(outcome)) is (wanted == 4)


def test_what_a_person_has_set_does_not_yield_to_the_trigger() -> None:
    before = parse([user("Fix it."), *steps(12), user("Continue please.")])
    tokens = tokens_of(before)
    outcome = run(before, Goal(tokens // 5, tokens * 3 // 4, tokens // 3), tool_pairs=6)
    results = [at for at in kept(before, outcome.conversation) if before.messages[at].results]
    assert results == list(range(14, 25, 2))


def test_what_is_usual_yields_to_the_target() -> None:
    before = parse([user("Fix it."), *steps(12), user("Continue please.")])
    tokens = tokens_of(before)
    for share, whole in ((0.5, 4), (0.35, 3), (0.2, 1)):
        outcome = run(before, Goal(int(tokens * share), tokens))
        assert tokens_of(outcome.conversation) <= tokens * share
        results = [at for at in kept(before, outcome.conversation) if before.messages[at].results]
        assert len([at for at in results if at > 16]) == whole
        less = f"{4 - whole} of the last 4 exchanges did not fit into the target"
        assert (less in notes(outcome)) is (whole < 4)


def test_a_call_that_must_stay_counts_as_cut_where_its_result_is() -> None:
    messages = [user("Fix it."), *steps(12), user("Continue please.")]
    for at in (17, 23):
        messages[at] = {**messages[at], "meta": {"protected": True}}
    before = parse(messages)
    outcome = run(before, Goal(tokens_of(before) * 3 // 10, tokens_of(before)))
    assert [at for at in kept(before, outcome.conversation) if before.messages[at].results] == [20, 22]
    assert "2 of the last 4 exchanges did not fit into the target" in notes(outcome)


def run(before: Conversation, goal: Goal, **settings: Any) -> Outcome:
    """What `auto` makes of it where a person has set these settings."""
    recipe = Recipe("auto", AutoProvider(), AutoSettings(**settings))
    return compact(before, recipe, goal, Inputs(gauge_for(before), WINDOW))


@pytest.mark.parametrize("later", [2, 6])
@pytest.mark.parametrize("count", [6, 7])
def test_calls_that_are_set_begin_with_their_request_where_it_is_near(count: int, later: int) -> None:
    asked = [user("Mend the parser."), *steps(count, 20), assistant("The parser is mended.")]
    before = parse([*talk(30), *asked, *talk(later), user("What next?")])
    outcome = run(before, Goal(tokens_of(parse(asked)) + 300, tokens_of(before)), tool_pairs=6)
    places = kept(before, outcome.conversation)
    assert set(places) >= set(range(61 + 2 * (count - 6), 61 + 2 * count))
    first = first_shown(before, outcome.conversation)
    assert first is not None
    assert first.text == "Mend the parser."
    far = parse([*talk(30), user("Mend the parser."), *steps(20, 20), *talk(later), user("What next?")])
    first = first_shown(far, run(far, Goal(tokens_of(far) // 5, tokens_of(far)), tool_pairs=6).conversation)
    assert first is not None
    assert first.calls


def test_turns_that_are_set_stay_with_their_answers_and_begin_with_a_question() -> None:
    before = parse([*talk(20), user("Go on.")])
    outcome = run(before, Goal(tokens_of(before) // 10, tokens_of(before)), recent_turns=5)
    assert kept(before, outcome.conversation) == [0, *range(30, 41)]


LARGE = {"role": "system", "content": printed(99, 500)}


@pytest.mark.parametrize("lines", [10, 26, 60])
@pytest.mark.parametrize("pairs", [1, 3, None, 6])
@pytest.mark.parametrize("share", [0.7, 1.1, 1.3])
def test_beside_a_large_fixed_part_the_room_is_filled(share: float, pairs: int | None, lines: int) -> None:
    """Below what is fixed, the default of four yields; what is set is kept, and room is left for the next steps."""
    before = parse([LARGE, user("Survey the parts."), *steps(20, lines)])
    fixed, trigger = tokens_of(parse([LARGE])), tokens_of(before) - 100
    outcome = run(before, Goal(int(fixed * share), trigger, trigger), **({"tool_pairs": pairs} if pairs else {}))
    whole = [at for at in kept(before, outcome.conversation) if before.messages[at].results]
    left = tokens_of(outcome.conversation)
    assert len(whole) >= (pairs or 1)
    assert 0.9 * fixed * share <= left < trigger - (trigger - fixed) // 10
    if pairs is None and fixed * share > tokens_of(parse([LARGE, *steps(5, lines)])):
        assert len(whole) >= 4


@pytest.mark.parametrize("above", [-50, 20, 100, 500])
def test_a_target_that_what_is_fixed_nearly_reaches_is_raised(above: int) -> None:
    before = parse([LARGE, user("Survey the parts."), *steps(20, 26)])
    fixed, trigger = floor_of(before, gauge_for(before)).total, tokens_of(before) - 100
    outcome = run(before, Goal(fixed + above, trigger, trigger))
    assert tokens_of(outcome.conversation) >= fixed + 0.18 * (trigger - fixed)
    assert len([at for at in kept(before, outcome.conversation) if before.messages[at].results]) == 3


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3])
def test_a_target_with_room_beside_what_is_fixed_is_met_however_far_the_trigger_is(share: float) -> None:
    before = parse([user("Survey the parts."), *steps(20, 26), user("Go on.")])
    target = int(tokens_of(before) * share)
    outcome = run(before, Goal(target, 20 * tokens_of(before), 20 * tokens_of(before)))
    assert 0.9 * target <= tokens_of(outcome.conversation) <= target


def test_a_target_near_what_is_fixed_still_compacts_a_conversation_far_below_its_trigger() -> None:
    before = parse([LARGE, user("Survey the parts."), *steps(20, 26), user("Go on.")])
    fixed, trigger = floor_of(before, gauge_for(before)).total, 20 * tokens_of(before)
    left = tokens_of(run(before, Goal(fixed + 50, trigger, trigger)).conversation)
    assert left <= fixed + 0.25 * (tokens_of(before) - fixed)


@pytest.mark.parametrize("share", [0.3, 0.4, 0.5, 0.6])
def test_long_lines_of_answers_do_not_take_the_room_of_the_last_turns(share: float) -> None:
    turns = [each for at in range(20) for each in (user(f"Go on with part {at}."), assistant(measured(at)))]
    before = parse([user("Begin."), assistant("Ready."), *turns, user("And now?")])
    target = int(tokens_of(before) * share)
    places = kept(before, fill(before, target).conversation)
    shown = sum(tokens_of(before.with_messages([before.messages[at]])) for at in places)
    turn = tokens_of(before.with_messages(before.messages[-3:-1]))
    recent = tokens_of(before.with_messages(before.messages[-11:]))
    assert shown > min(recent, (target - 1_000) // 2) - turn


def test_short_turns_are_whole_at_a_small_target_too() -> None:
    before = parse([user("Begin."), *steps(80), assistant("I have looked at all."), *talk(6, 4), user("Go on.")])
    outcome = fill(before, 1_000)
    assert set(kept(before, outcome.conversation)) >= set(range(len(before) - 11, len(before)))


@pytest.mark.parametrize(
    ("name", "role"), [("preserve_user_messages", "user"), ("preserve_assistant_text", "assistant")]
)
def test_what_truncation_was_told_to_preserve_is_kept_where_auto_goes_on(name: str, role: str) -> None:
    before = parse([*talk(20), user("Go on.")])
    recipe = resolve_recipe("truncation", config={name: True})
    outcome = compact(before, recipe, Goal(tokens_of(before) // 4), Inputs(gauge_for(before), WINDOW))
    said = {at for at, message in enumerate(before.messages) if message.role == role}
    assert outcome.plan
    assert said <= set(kept(before, outcome.conversation))
    assert f"{name}: what is set to stay takes more than the target" in notes(outcome)


def remarked(count: int) -> Conversation:
    """Calls whose results stand in one message of Anthropic with a person's words, some with a program's."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Begin the survey."}]
    for at in range(count):
        beside = f"Remark {at}: never touch part {at}." if at % 2 else "<system-reminder>Be brief.</system-reminder>"
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": printed(at, 30)}
        call = {"type": "tool_use", "id": f"t{at}", "name": "run", "input": {"part": at}}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [result, {"type": "text", "text": beside}]})
    return parse([*messages, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "What next?"}])


def remarks(outcome: Outcome) -> list[int]:
    """The remarks that stand in messages."""
    texts = [message.text for message in outcome.conversation.messages if not is_summary(message)]
    return [at for at in range(1, 20, 2) if any(f"Remark {at}: never touch part {at}." in text for text in texts)]


def test_what_people_said_beside_a_result_is_preserved_and_the_result_cut() -> None:
    before = remarked(20)
    tokens, said = tokens_of(before), list(range(1, 20, 2))
    for share in (0.5, 0.3, 0.08):
        outcome = run(before, Goal(int(tokens * share), tokens), preserve_user_messages=True)
        assert remarks(outcome) == said
        above = tokens_of(outcome.conversation) > tokens * share
        assert above is (share < 0.1)
        assert ("preserve_user_messages: what is set to stay takes more than the target" in notes(outcome)) is above


@pytest.mark.parametrize("share", [0.35, 0.5])
def test_the_last_results_come_first_where_words_beside_them_are_preserved(share: float) -> None:
    before = remarked(20)
    outcome = run(before, Goal(int(tokens_of(before) * share), tokens_of(before)), preserve_user_messages=True)
    assert set(kept(before, outcome.conversation)) >= set(range(33, 43))


def test_what_people_said_beside_a_result_yields_to_the_budget_oldest_first() -> None:
    before = remarked(20)
    budget = tokens_of(before) // 10
    outcome = run(before, Goal(budget // 2, budget), preserve_user_messages=True)
    left = remarks(outcome)
    assert left == list(range(20 - 2 * len(left) + 1, 20, 2))
    assert 3 <= len(left) < 10
    assert "preserve_user_messages: 3 exchanges did not fit into the budget" in notes(outcome)
    assert tokens_of(outcome.conversation) <= budget


def failing(asks: Sequence[Ask]) -> tuple[Answer, ...]:
    return tuple(Failure("down") for _ in asks)


@pytest.mark.parametrize("messages", [[user("Fix it."), *steps(12), user("Go on.")], [*talk(40), user("Go on.")]])
def test_without_a_summary_prune_fills_the_target_with_what_is_recent(messages: list[dict[str, Any]]) -> None:
    before = parse(messages)
    target = tokens_of(before) // 5
    outcome = fill(before, target, failing, AutoSettings(on_failure="prune"))
    after = outcome.conversation
    assert 0.9 * target <= tokens_of(after) <= target
    (marker,) = (message for message in after.messages if is_pruned(message))
    assert NO_ROOM not in marker.text
    places = kept(before, after)
    assert places[-3:] == list(range(len(before) - 3, len(before)))
    assert "no summary: down" in notes(outcome)


def test_there_is_no_room_to_tell_of_messages_only_where_there_is_none() -> None:
    before = parse([*talk(20), user("Go on.")])
    least = floor_of(before, gauge_for(before)).total
    assert NO_ROOM in "".join(message.text for message in fill(before, least + 40).conversation.messages)
    assert NO_ROOM not in account(fill(before, least + 200))
