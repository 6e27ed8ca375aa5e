"""Batch mode of the smart provider: one summary for many messages, and what happens without it."""

from __future__ import annotations

import pytest

from compact.formats import parse
from compact.messages import Fold, Pass, restore
from compact.messages.seals import is_summary
from compact.ports import Answer, Completion, Failure, Refusal
from tests.providers.conversations import LONG, assistant, contents, drive, task_for, user
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
        ("prune", "⟨ 7 earlier messages removed"),
        ("offline", "⟨ Summary of 7 earlier messages"),
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
