from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.engine import floor_of
from compact.formats import FORMATS, parse, render, violations
from compact.messages import (
    AccountItem,
    Conversation,
    EditKind,
    Fold,
    Pass,
    Plan,
    Reasoning,
    apply_plan,
    body_of,
    frame_account,
    is_pruned,
    is_summary,
    plan_from_json,
    plan_to_json,
    protect,
    removed_marker,
    restore,
    stands_for,
    untouchable,
)
from compact.messages.seals import is_removed_marker
from compact.providers.auto import AutoProvider, AutoSettings
from compact.providers.auto.excerpts import is_excerpt
from compact.testing import check_provider
from compact.testing.generate import random_body
from compact.testing.generate.anthropic import BINDING
from tests.providers.conversations import assistant, gauge_for, numbered_lines, step, tokens_of, user
from tests.providers.sessions import account, accounts, fill, session, spoken, talk

SHARES = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85)
SEEDS = st.integers(0, 2**32)
TURNS = st.sampled_from((2, 4, 8, 14))
EVERY = st.sampled_from(sorted(FORMATS))


def generated(seed: int, format: str) -> Conversation:
    return parse(random_body(random.Random(seed), format, size=40), format=format)


def goals(conversation: Conversation) -> list[int]:
    """Targets that can be met, the smallest first."""
    tokens, floor = tokens_of(conversation), floor_of(conversation, gauge_for(conversation)).total
    return [target for share in SHARES if (target := int(tokens * share)) >= floor + 200]


def is_bound(conversation: Conversation) -> bool:
    """Whether what the model thought is bound to all that precedes it: then there are edits that cannot be made."""
    return conversation.options.get("model") == BINDING


def whole(before: Conversation, after: Conversation) -> set[str]:
    same = set(map(id, before.messages))
    return {message.id for message in after.messages if id(message) in same}


def test_it_is_a_provider_like_others() -> None:
    check_provider(AutoProvider())


@pytest.mark.laws
@given(SEEDS, TURNS, EVERY)
def test_the_target_is_met_and_what_is_left_can_be_taken_back(seed: int, turns: int, format: str) -> None:
    before = session(seed, turns, format)
    for target in goals(before):
        outcome = fill(before, target)
        assert tokens_of(outcome.conversation) <= target
        assert render(restore(outcome.conversation, outcome.plan)) == render(before)
        known = {violation.rule for violation in violations(before)}
        assert {violation.rule for violation in violations(outcome.conversation, origin=before)} <= known


def must_begin_with_thinking(conversation: Conversation) -> bool:
    """Whether an open loop begins with thinking and instructions stand in it: no account may stand in either role."""
    thinking = conversation.options.get("thinking")
    enabled = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    return enabled and any(message.role == "system" for message in conversation.messages)


@pytest.mark.laws
@given(SEEDS, EVERY)
def test_the_target_is_met_by_requests_of_every_shape(seed: int, format: str) -> None:
    before = generated(seed, format)
    for target in goals(before):
        if not (is_bound(before) or must_begin_with_thinking(before)):
            assert tokens_of(fill(before, target).conversation) <= target


@pytest.mark.laws
@given(SEEDS, TURNS, EVERY)
def test_what_is_whole_stays_whole_with_a_larger_target(seed: int, turns: int, format: str) -> None:
    before = session(seed, turns, format)
    shown = [whole(before, fill(before, target).conversation) for target in goals(before)]
    assert all(less <= more for less, more in pairwise(shown))


@pytest.mark.laws
@given(SEEDS, TURNS, EVERY)
def test_a_second_run_changes_nothing_and_the_same_input_gives_the_same_bytes(
    seed: int, turns: int, format: str
) -> None:
    before = session(seed, turns, format)
    for target in goals(before)[:3]:
        outcome = fill(before, target)
        assert fill(session(seed, turns, format), target).plan == outcome.plan
        assert fill(outcome.conversation, target).plan == ()


@pytest.mark.laws
@given(SEEDS, TURNS, EVERY)
def test_a_plan_that_was_written_down_does_the_same_again(seed: int, turns: int, format: str) -> None:
    before = session(seed, turns, format)
    for target in goals(before)[:2]:
        outcome = fill(before, target)
        written: Plan = plan_from_json(json.loads(json.dumps(plan_to_json(outcome.plan))))
        assert [step.edits for step in written] == [step.edits for step in outcome.plan]
        assert render(apply_plan(before, written)[0]) == render(outcome.conversation)


@pytest.mark.laws
@given(SEEDS, TURNS, EVERY)
def test_what_went_is_told_in_one_account_or_by_a_marker_in_its_place(seed: int, turns: int, format: str) -> None:
    before = session(seed, turns, format)
    for target in goals(before):
        after = fill(before, target).conversation
        kept = [message for message in after.messages if not is_summary(message) and not is_pruned(message)]
        told = [message for message in after.messages if is_summary(message) or is_pruned(message)]
        assert sum(not is_removed_marker(message.text) for message in accounts(after)) <= 1
        assert sum(map(stands_for, told)) == len(before) - len(kept)
        assert not any(map(is_pruned, told))


@pytest.mark.laws
@given(SEEDS, EVERY)
def test_requests_of_every_shape_keep_an_account(seed: int, format: str) -> None:
    before = generated(seed, format)
    for target in goals(before):
        outcome = fill(before, target)
        if not is_bound(before):
            assert not any(fold.kind is EditKind.PRUNED for fold in folds(outcome.plan)), outcome.passes


@pytest.mark.parametrize("seed", [25, 33, 58])
def test_instructions_between_turns_do_not_cost_the_account(seed: int) -> None:
    before = generated(seed, "anthropic-messages")
    for target in goals(before):
        assert account(fill(before, target))


def folds(plan: Plan) -> list[Fold]:
    return [edit for step in plan for edit in step.edits if isinstance(edit, Fold)]


@pytest.mark.laws
@given(SEEDS, TURNS, EVERY, st.sets(st.integers(0, 30), max_size=4))
def test_what_must_stay_stays_and_calls_are_never_changed(seed: int, turns: int, format: str, pinned: set[int]) -> None:
    before = session(seed, turns, format)
    chosen = {message.id for at, message in enumerate(before.messages) if at in pinned}
    before = protect(before, lambda message: message.id in chosen)
    fixed = untouchable(before)
    given = {message.id: message for message in before.messages}
    for target in (1, *goals(before)):
        after = fill(before, target).conversation
        now = {message.id: message for message in after.messages}
        assert all(now[id] is given[id] for id in fixed)
        for id in now.keys() & given.keys():
            assert now[id].role == given[id].role
            assert [call.raw for call in now[id].calls] == [call.raw for call in given[id].calls]


def test_people_and_the_current_step_are_left_as_they_are() -> None:
    messages = [*talk(12), user("Fix the parser."), *step("a", "read", {"path": "x.py"}, numbered_lines(400))]
    before = parse(messages)
    after = render(fill(before, 1).conversation)
    assert after[0] == messages[0]
    assert after[-3:] == messages[-3:]


def test_a_conversation_within_its_target_is_left_alone() -> None:
    before = parse(talk(4))
    assert fill(before, tokens_of(before)).plan == ()


@pytest.mark.parametrize("target", [1, 50, 400])
def test_a_target_that_cannot_be_met_still_leaves_little(target: int) -> None:
    before = parse([user("word " * 500), assistant("well"), *talk(20), user("Go on.")])
    floor = floor_of(before, gauge_for(before)).total
    outcome = fill(before, target)
    assert tokens_of(outcome.conversation) <= floor + max(200, floor // 8)
    assert fill(outcome.conversation, target).plan == ()


@given(st.text(), st.integers(1, 9))
def test_markers_say_what_they_were_given(line: str, count: int) -> None:
    marker = parse([assistant(removed_marker(line, count))]).messages[0]
    assert is_summary(marker)
    assert is_removed_marker(marker.text)
    assert stands_for(marker) == count
    assert body_of(marker).split() == line.split() or "⟨" in line


@pytest.mark.parametrize(
    "text",
    [
        removed_marker("user: hi", 2).replace("hi", "ho"),
        removed_marker("user: hi", 2) + " ",
        frame_account("- user: hi", 2).replace("hi", "ho"),
        frame_account("- user: hi", 2).replace("[End of account", "[End of accounts"),
    ],
)
def test_forged_frames_are_plain_text(text: str) -> None:
    (message,) = parse([assistant(text)]).messages
    assert not is_summary(message)
    assert not is_pruned(message)
    assert stands_for(message) == 1


def test_items_and_references_are_written_down() -> None:
    items = (AccountItem("- one", ("1",)), AccountItem("- two"))
    fold = Fold(("1", "2"), "text", EditKind.SUMMARIZED, items=items, refers_to=("4",))
    plan = (Pass("p", (fold,)), Pass("q", (fold,)))
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


def test_the_settings_say_what_comes_first() -> None:
    before = parse([*spoken(30), user("Go on.")])
    target = tokens_of(before) // 4
    few, many = (fill(before, target, settings=AutoSettings(recent_turns=turns)).conversation for turns in (0, 6))
    assert len(whole(before, few)) < len(whole(before, many))


def test_a_file_that_is_too_large_to_stay_whole_stands_as_an_excerpt() -> None:
    shown = step("c1", "read_file", {"path": "src/app.py"}, numbered_lines(3_000))
    edit = step("c2", "edit_file", {"path": "src/app.py", "old": "x", "new": "y"}, "ok")
    again = step("c3", "read_file", {"path": "src/app.py"}, numbered_lines(3_000))
    before = parse([user("Begin."), *shown, *edit, *again, *spoken(4), user("Go on.")])
    after = fill(before, tokens_of(before) // 12).conversation
    assert any(is_excerpt(result.text) for message in after.messages for result in message.results)


def test_of_a_long_answer_a_good_part_stays() -> None:
    words = "\n".join(f"Point {number} of the report says a little more." for number in range(200))
    before = parse(
        [user("Begin."), assistant(words), *step("c1", "run", {"a": "b"}, words), *spoken(3), user("Go on.")]
    )
    after = fill(before, tokens_of(before) // 3).conversation
    texts = [text for message in after.messages for text in (message.text, *(one.text for one in message.results))]
    sizes = [len(text) for text in texts if is_excerpt(text)]
    assert len(sizes) == 2
    assert sizes[0] > 1_200  # of a result a quarter of that may stay


def thinking_turns(turns: int) -> list[dict[str, object]]:
    """Turns of a question, a call with thinking before it, a long result and an answer; the last one is not over."""
    messages: list[dict[str, object]] = []
    for at in range(turns):
        call = {"type": "tool_use", "id": f"t{at}", "name": "read_file", "input": {"path": f"a{at}.py"}}
        thought = {"type": "thinking", "thinking": f"I wonder about part {at}. " * 20, "signature": f"s{at}"}
        result = {"type": "tool_result", "tool_use_id": f"t{at}", "content": numbered_lines(120)}
        messages += [
            {"role": "user", "content": f"Look at part {at}."},
            {"role": "assistant", "content": [thought, call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": f"Part {at} is fine."}]},
        ]
    return messages[:-1]


def thoughts_of(conversation: Conversation) -> list[str]:
    blocks = (block for message in conversation.messages for block in message.blocks)
    return [block.text[:22] for block in blocks if isinstance(block, Reasoning)]


def test_what_was_thought_in_earlier_turns_stays_only_in_what_is_whole() -> None:
    before = parse(thinking_turns(12), format="anthropic-messages")
    after = fill(before, tokens_of(before) // 3).conversation
    whole_ones = whole(before, after)
    kept = {message.id for message in after.messages if any(isinstance(each, Reasoning) for each in message.blocks)}
    assert kept <= whole_ones
    assert len(kept) < len(thoughts_of(before)) // 2
    assert thoughts_of(after)[-1] == "I wonder about part 11"  # of the turn that is not over
    assert not violations(after, origin=before)


def test_what_was_thought_stays_where_the_vendor_wants_it_back() -> None:
    thought = {"reasoning_content": "I wonder about it. " * 20}
    messages: list[dict[str, object]] = []
    for number in range(12):
        call, result = step(f"c{number}", "read_file", {"path": "a"}, numbered_lines(120))
        messages += [user(f"Look at {number}."), {**call, **thought}, result]
    before = parse(messages, format="openai-chat")
    after = fill(before, tokens_of(before) // 3).conversation
    shown = [message for message in after.messages if message.calls]
    assert shown
    assert len(thoughts_of(after)) == len(shown)
