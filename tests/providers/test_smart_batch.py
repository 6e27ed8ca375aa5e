"""Batch mode of the smart provider: one summary for many messages, and what happens without it."""

from __future__ import annotations

import re

import pytest

from compact.formats import parse, render
from compact.messages import Conversation, Fold, Pass, restore
from compact.messages.seals import is_summary
from compact.ports import Answer, Completion, Failure, Refusal
from compact.providers.presets import find_preset, validate
from tests.providers.conversations import (
    LONG,
    assistant,
    bundled,
    contents,
    drive,
    gauge_for,
    task_for,
    tokens_of,
    user,
)
from tests.providers.test_smart import PROVIDER, beyond_events, questions, session, smart


def test_a_batch_becomes_one_summary() -> None:
    conversation = session()
    settings = smart({"mode": "batch", "selection": {"keep_recent": 2}, "batch": {"keep_first": 2, "max_tokens": 300}})
    steps = PROVIDER.condense(task_for(conversation), settings)
    (ask,) = questions(steps)
    assert ask.sources == ("0", "3", "4", "5", "6", "7")
    assert ask.max_tokens == 300
    assert LONG in ask.material
    assert "at most 300 tokens" in ask.instructions
    proposed = beyond_events(steps, steps.send((Completion("They wrote a file and ran it."),)))
    assert isinstance(proposed, Pass)
    (fold,) = proposed.edits
    assert isinstance(fold, Fold)
    assert fold.messages == ask.sources[1:]  # the first request is only read
    assert "They wrote a file and ran it." in fold.text


@pytest.mark.parametrize(
    ("answer", "asked", "why"),
    [
        (Refusal("I must not"), 2, "no summary: I must not"),
        (Failure("connection lost"), 1, "no summary: connection lost"),
        (Completion(""), 1, "no summary: the model answered with nothing"),
        (Completion(LONG * 9), 3, "no summary: "),
    ],
)
def test_without_a_usable_answer_a_batch_stays_as_it_is(answer: Answer, asked: int, why: str) -> None:
    conversation = session()
    settings = smart({"mode": "batch", "name": "Everything", "selection": {"keep_recent": 2}})
    outcome = drive(PROVIDER, settings, conversation, ask=lambda asks: (answer,))
    assert outcome.conversation == conversation
    (report,) = outcome.passes
    assert (report.name, report.asked) == ("Everything", asked)
    assert report.skipped.startswith(why)


def test_without_a_usable_answer_a_batch_may_go_or_be_summarized_offline() -> None:
    for policy, beginning in (
        ("prune", "[7 earlier messages removed here]"),
        ("offline", "[Account "),
    ):
        settings = smart({"mode": "batch", "selection": {"keep_recent": 2}, "batch": {"on_failure": policy}})
        outcome = drive(PROVIDER, settings, session(), ask=lambda asks: (Failure("connection lost"),))
        assert contents(outcome.conversation)[1].startswith(beginning)
        assert "connection lost" in outcome.passes[0].notes[-1]
        assert restore(outcome.conversation, outcome.plan) == session()
        assert (
            drive(PROVIDER, settings, outcome.conversation, ask=lambda asks: (Failure("connection lost"),)).plan == ()
        )


def test_a_summary_is_not_summarized_again_and_counts_as_what_it_stands_for() -> None:
    conversation = parse([user("go"), *[assistant(f"{n} {LONG}") for n in range(18)], user("so?")])
    settings = smart({"mode": "batch", "selection": {"type": "preserve_percent", "keep_percentage": 50}})
    outcome = drive(PROVIDER, settings, conversation, 10)
    assert [is_summary(message) for message in outcome.conversation.messages].count(True) == 1
    assert len(outcome.conversation) == 12
    assert drive(PROVIDER, settings, outcome.conversation, 10).plan == ()


def chat(turns: int) -> Conversation:
    return parse([message for n in range(turns) for message in (user(f"{n}? {LONG}"), assistant(f"{n}! {LONG}"))])


@pytest.mark.parametrize("preset", ["balanced", "cost"])
@pytest.mark.parametrize("share", [0.95, 0.8, 0.5, 0.2])
def test_no_more_is_folded_than_the_target_needs(preset: str, share: float) -> None:
    conversation = chat(40)
    target = int(tokens_of(conversation) * share)
    settings = smart(
        *(each for each in validate(find_preset(preset)).model_dump()["passes"] if each["mode"] == "batch")
    )
    outcome = drive(PROVIDER, settings, conversation, target)
    assert 0.8 * target <= tokens_of(outcome.conversation) <= target
    assert drive(PROVIDER, settings, outcome.conversation, target).plan == ()
    left = {message.id for message in outcome.conversation.messages}
    gone = [message for message in conversation.messages if message.id not in left]
    # The oldest answers go first, and what people said only when there are no more of them to go.
    answers = [message for message in conversation.messages[:-5] if not message.from_user]
    people = [message for message in conversation.messages[1:-5] if message.from_user]
    assert sorted(map(conversation.messages.index, gone)) == sorted(
        map(conversation.messages.index, [*answers, *people][: len(gone)])
    )
    assert any(message.from_user for message in gone) == (share <= 0.5)


def test_what_an_account_calls_answered_stays_behind_it() -> None:
    conversation = chat(40)
    settings = smart({"mode": "batch", "selection": {"keep_recent": 5}})
    tokens = tokens_of(conversation)
    once = drive(PROVIDER, settings, conversation, int(0.6 * tokens)).conversation
    (told,) = re.findall(r"The user's next (\d+) messages were answered", once.messages[1].text)
    twice = drive(PROVIDER, settings, once, int(0.1 * tokens)).conversation
    accounts = [at for at, message in enumerate(twice.messages) if is_summary(message)]
    assert accounts[0] == 1
    behind = twice.messages[2 : accounts[1] if len(accounts) > 1 else len(twice)]
    asked = [message for message in conversation.messages[1:] if message.from_user][: int(told)]
    assert [message.id for message in behind if message.from_user][: int(told)] == [message.id for message in asked]
    assert tokens_of(twice) < tokens_of(once)


def test_a_target_out_of_reach_takes_all_that_is_selected() -> None:
    conversation = chat(6)
    settings = smart({"mode": "batch", "selection": {"keep_recent": 4}})
    steps = PROVIDER.condense(task_for(conversation, 10), settings)
    (ask,) = questions(steps)
    assert ask.sources == tuple(message.id for message in conversation.messages[:-4])
    assert ask.max_tokens == 2000


def test_the_summary_of_a_part_may_be_as_long_as_the_target_allows() -> None:
    conversation = chat(20)
    tokens = tokens_of(conversation)
    settings = smart({"mode": "batch", "selection": {"keep_recent": 4}})
    (ask,) = questions(PROVIDER.condense(task_for(conversation, tokens - 3000), settings))
    folded = sum(map(gauge_for(conversation).message, (m for m in conversation.messages[1:] if m.id in ask.sources)))
    assert ask.max_tokens == folded // 4
    assert tokens - folded + ask.max_tokens <= tokens - 3000


def test_what_comes_back_to_messages_that_refer_to_the_folded_ones_is_reckoned_with() -> None:
    conversation = bundled()
    target = tokens_of(conversation) // 6
    outcome = drive(PROVIDER, validate(find_preset("balanced")), conversation, target)
    assert [report.asked for report in outcome.passes if report.name == "Summarize"] == [1]
    assert 0.8 * target <= tokens_of(outcome.conversation) <= target


@pytest.mark.parametrize("share", [0.0, 0.4, 0.7])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (tuple(range(1, 18, 2)), tuple(range(2, 18, 2))),
        ((7, 12, 14, 16, 17), (1, 2, 4, 8, 10, 11)),
        ((2, 7, 12, 15, 16), (5, 8, -4, 10, 11, 17)),
    ],
)
def test_passes_that_name_interleaved_messages_find_nothing_the_second_time(
    one: tuple[int, ...], other: tuple[int, ...], share: float
) -> None:
    conversation = parse([user("go"), *[assistant(f"{n} {LONG}") for n in range(18)], user("so?")])
    settings = smart(*({"mode": "batch", "selection": {"type": "custom", "indices": each}} for each in (one, other)))
    target = int(tokens_of(conversation) * share)
    outcome = drive(PROVIDER, settings, conversation, target)
    assert outcome.plan
    again = parse(render(outcome.conversation))
    assert drive(PROVIDER, settings, again, target).plan == ()
