from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.engine import Outcome, floor_of
from compact.formats import FORMATS, parse, render, violations
from compact.messages import (
    AccountItem,
    Conversation,
    EditKind,
    Fold,
    Message,
    Pass,
    Plan,
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
    version_of,
)
from compact.messages.seals import count_of, is_removed_marker
from compact.providers.auto import AutoProvider, AutoSettings
from compact.providers.auto.excerpts import is_excerpt
from compact.providers.provider import TAGGED
from compact.summaries.accounts import read_items
from compact.testing import check_provider
from compact.testing.generate import random_body
from compact.testing.generate.anthropic import BINDING
from tests.providers.conversations import assistant, gauge_for, numbered_lines, step, tokens_of, user
from tests.providers.sessions import fill, session

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


def accounts(conversation: Conversation) -> list[Message]:
    """The accounts, and the markers that stand in the place of single exchanges."""
    return [message for message in conversation.messages if is_summary(message)]


def account(outcome: Outcome) -> str:
    (only,) = (message for message in accounts(outcome.conversation) if not is_removed_marker(message.text))
    return body_of(only)


def whole(before: Conversation, after: Conversation) -> set[str]:
    same = set(map(id, before.messages))
    return {message.id for message in after.messages if id(message) in same}


def talk(turns: int, size: int = 60) -> list[dict[str, object]]:
    """Turns with a name of their own each."""
    return [
        message
        for number in range(turns)
        for message in (
            user(f"Please build part{number}_x now. " + "and so on " * size),
            assistant(f"I built part{number}_y. " + "with care " * size),
        )
    ]


def test_it_is_a_provider_like_others() -> None:
    check_provider(AutoProvider())


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


@given(SEEDS, EVERY)
def test_the_target_is_met_by_requests_of_every_shape(seed: int, format: str) -> None:
    before = generated(seed, format)
    for target in goals(before):
        if not (is_bound(before) or must_begin_with_thinking(before)):
            assert tokens_of(fill(before, target).conversation) <= target


@given(SEEDS, TURNS, EVERY)
def test_what_is_whole_stays_whole_with_a_larger_target(seed: int, turns: int, format: str) -> None:
    before = session(seed, turns, format)
    shown = [whole(before, fill(before, target).conversation) for target in goals(before)]
    assert all(less <= more for less, more in pairwise(shown))


@given(SEEDS, TURNS, EVERY)
def test_a_second_run_changes_nothing_and_the_same_input_gives_the_same_bytes(
    seed: int, turns: int, format: str
) -> None:
    before = session(seed, turns, format)
    for target in goals(before)[:3]:
        outcome = fill(before, target)
        assert fill(session(seed, turns, format), target).plan == outcome.plan
        assert fill(outcome.conversation, target).plan == ()


@given(SEEDS, TURNS, EVERY)
def test_a_plan_that_was_written_down_does_the_same_again(seed: int, turns: int, format: str) -> None:
    before = session(seed, turns, format)
    for target in goals(before)[:2]:
        outcome = fill(before, target)
        written: Plan = plan_from_json(json.loads(json.dumps(plan_to_json(outcome.plan))))
        assert [step.edits for step in written] == [step.edits for step in outcome.plan]
        assert all(step.ahead for step in written)
        assert render(apply_plan(before, written)[0]) == render(outcome.conversation)


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


def spoken(turns: int) -> list[dict[str, object]]:
    """Short orders, and long answers that name what was done."""
    return [
        message
        for number in range(turns)
        for message in (
            user(f"Please build part{number}_x now."),
            assistant(f"I built part{number}_y. " + "Well. " * 90),
        )
    ]


@pytest.mark.parametrize("share", [2, 3, 4, 6])
def test_an_account_tells_of_everything_in_order(share: int) -> None:
    before = parse([*spoken(30), user("Go on.")])
    after = fill(before, tokens_of(before) // share).conversation
    shown = " ".join(message.text for message in after.messages)
    places = [shown.find(f"part{number}_x") for number in range(30)]
    assert -1 not in places
    assert places == sorted(places)


def test_the_lines_of_an_earlier_account_are_taken_over_word_for_word() -> None:
    before = parse([*spoken(24), user("Go on.")])
    first = fill(before, tokens_of(before) // 2)
    told = [item.text for item in read_items(account(first)) if not item.text.startswith("- (")]
    assert len(told) > 5
    more = parse([*render(first.conversation), assistant("Gone on."), *talk(10), user("And now?")])
    second = fill(more, tokens_of(more) // 2)
    kept = [line for line in account(second).split("\n") if line in told]
    assert [line for line in told if line in kept] == kept
    assert {line for line in told if line.startswith("- user")} <= set(kept)


def test_the_account_counts_all_messages_that_ever_went() -> None:
    conversation = parse([*talk(24), user("Go on.")])
    total = len(conversation)
    for round_ in range(4):
        outcome = fill(conversation, 1_500)
        (only,) = accounts(outcome.conversation)
        assert count_of(only) + len(outcome.conversation) - 1 == total
        extra = [assistant("Gone on."), *talk(6), user(f"And {round_}?")]
        total += len(extra)
        conversation = parse([*render(outcome.conversation), *extra])


def nearly(messages: list[dict[str, object]], **inputs: object) -> Outcome:
    """Little has to go: there is room for everything that is told."""
    before = parse(messages)
    return fill(before, tokens_of(before) - 600, **inputs)  # type: ignore[arg-type]


def test_the_marker_of_a_bulky_exchange_is_taken_over_without_state() -> None:
    marker = removed_marker("assistant: wrote src/big_file.py", 2)
    outcome = nearly([user("Begin."), assistant("Well."), assistant(marker), *talk(12), user("Go on.")])
    assert "- assistant: wrote src/big_file.py" in account(outcome).split("\n")


def test_a_marker_that_tells_nothing_becomes_no_statement() -> None:
    before = parse([*talk(12), user("Go on.")])
    floor = floor_of(before, gauge_for(before)).total
    first = fill(before, floor + 30)
    assert tokens_of(first.conversation) <= floor + 30
    outcome = nearly([*render(first.conversation), assistant("Gone on."), *talk(12), user("And?")])
    assert "no room to tell" not in account(outcome)


def test_stored_items_come_before_what_can_be_read() -> None:
    messages = [user("Begin."), assistant(frame_account("- what is read", 3)), *talk(12), user("Go on.")]
    text = account(nearly(messages, items={"1": (AccountItem("- what was stored", ("x",)),)}))
    assert "- what was stored" in text.split("\n")
    assert "- what is read" not in text


def test_lines_are_written_from_the_originals() -> None:
    messages = [user("Begin."), assistant("Cut words. " * 200), *talk(12), user("Go on.")]
    full = parse([user("Begin."), assistant("The reason was the ledger_limit of 4021. " + "Cut words. " * 200)])
    text = account(nearly(messages, originals={"1": full.messages[1]}))
    assert "ledger_limit of 4021" in text


def test_tagged_accounts_count_their_versions() -> None:
    conversation = parse([*talk(24), user("Go on.")])
    for version in (1, 2, 3):
        after = fill(conversation, 1_500, account=TAGGED).conversation
        assert [version_of(message) for message in accounts(after)] == [version]
        conversation = parse([*render(after), assistant("Gone on."), *talk(8), user("And?")])


@pytest.mark.parametrize("target", [1, 50, 400])
def test_a_target_that_cannot_be_met_still_leaves_little(target: int) -> None:
    before = parse([user("word " * 500), assistant("well"), *talk(20), user("Go on.")])
    floor = floor_of(before, gauge_for(before)).total
    outcome = fill(before, target)
    assert tokens_of(outcome.conversation) <= floor + max(200, floor // 8)
    assert fill(outcome.conversation, target).plan == ()


def test_lines_do_not_come_under_the_last_heading_of_an_earlier_summary() -> None:
    body = "## Done\n- Raised the limits.\n## Pending tasks\n- Write the docs."
    text = account(nearly([user("Begin."), assistant(frame_account(body, 9)), *talk(12), user("Go on.")]))
    assert "(unverified)\n- Done: Raised the limits.\n- Pending tasks: Write the docs.\n## After that\n- user: " in text
    assert "part0_x" in text


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


def test_items_and_the_view_ahead_are_written_down() -> None:
    fold = Fold(("1", "2"), "text", "summarized", items=(AccountItem("- one", ("1",)), AccountItem("- two")))  # type: ignore[arg-type]
    plan = (Pass("p", (fold,), ahead=True), Pass("q", (fold,)))
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


def test_the_settings_say_what_comes_first() -> None:
    before = parse([*spoken(30), user("Go on.")])
    target = tokens_of(before) // 4
    few, many = (fill(before, target, settings=AutoSettings(recent_turns=turns)).conversation for turns in (0, 6))
    assert len(whole(before, few)) < len(whole(before, many))


def test_what_was_answered_below_gets_its_answer_when_that_goes() -> None:
    conversation = parse([user("Begin."), *spoken(20), user("Go on.")])
    for number in range(5):
        after = fill(conversation, 1_200).conversation
        told = [line for message in accounts(after) for line in body_of(message).split("\n")]
        assert sum(line.endswith("answered below") for line in told) <= 1
        conversation = parse([*render(after), assistant("Gone on."), *spoken(6), user(f"And {number}?")])


@pytest.mark.parametrize("share", [3, 4])
def test_what_stands_is_not_left_without_what_took_its_place(share: int) -> None:
    order, instead = user("Use libalpha for all dates."), user("Actually, use libomega instead of libalpha.")
    others = [said for number in range(25) for said in (user(f"Never touch module{number}_x."), assistant("Noted."))]
    before = parse([order, assistant("Noted."), instead, assistant("Noted."), *others, user("Go on.")])
    after = fill(before, tokens_of(before) // share).conversation
    assert after.messages[0] == before.messages[0]
    assert "libomega" in "\n".join(message.text for message in after.messages)


def test_texts_of_one_message_stand_beside_each_other_as_what_they_are() -> None:
    blocks = [
        {"type": "text", "text": "First, a look at the billing code."},
        {"type": "text", "text": "Then the tests."},
    ]
    before = parse([user("Begin."), {"role": "assistant", "content": blocks}, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 2).conversation)
    assert '"First, a look at the billing code."; assistant: "Then the tests."' in body_of(account)


def test_files_that_were_only_read_stand_on_one_line() -> None:
    files = [(f"c{number}", {"path": f"src/part{number}.py"}) for number in range(5)]
    reads = [wire for id, given in files for wire in step(id, "read_file", given, "x = 1\n" * 80)]
    before = parse([user("Begin."), *reads, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 2).conversation)
    assert "- read src/part0.py; src/part1.py; src/part2.py; src/part3.py; src/part4.py\n" in body_of(account)


def test_what_asks_for_nothing_is_not_told_as_answered() -> None:
    said = [user("I went to the lake yesterday, and it rained."), assistant("Sounds wet. " * 60)]
    before = parse([user("Begin."), *said, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 8).conversation)
    told = next((line for line in body_of(account).split("\n") if "lake" in line), "")
    assert told.endswith('rained."')


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


def test_a_rule_alone_waits_for_no_answer_but_a_request_does() -> None:
    said = [
        user("Never touch module_x."),
        assistant("Noted. " * 60),
        user("Rename part_x, please."),
        assistant("Well. " * 60),
    ]
    before = parse([user("Begin."), *said, *spoken(20), user("Go on.")])
    (account,) = accounts(fill(before, tokens_of(before) // 8).conversation)
    lines = body_of(account).split("\n")
    assert '- user: "Never touch module_x."' in lines
    assert any(line.startswith('- user: "Rename part_x, please." → ') for line in lines)
