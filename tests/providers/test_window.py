"""The sliding window: the oldest messages go."""

from __future__ import annotations

from compact.app import counter_for
from compact.engine import Gauge, Judge, Outcome, run
from compact.formats import parse, reject, render
from compact.messages import Conversation, Fold, restore
from compact.providers import Task
from compact.providers.native import slide
from tests.providers.conversations import in_short
from tests.providers.test_native import talk, texts


def sliding(conversation: Conversation, target: int) -> Outcome:
    gauge = Gauge(counter_for("gpt-4o"), ())
    judge = Judge(conversation, gauge, reject)
    return run(slide(Task(conversation, judge.tokens, target, 128_000, gauge)), judge, in_short)


def test_the_window_slides_no_further_than_the_target() -> None:
    messages = talk(12)
    conversation = parse(messages)
    gauge = Gauge(counter_for("gpt-4o"), ())
    # Two messages are more than is needed, and one is not enough.
    target = gauge.conversation(conversation) - gauge.message(conversation.messages[1])
    outcome = sliding(conversation, target)
    assert render(outcome.conversation)[2:] == messages[3:]
    assert texts(outcome.conversation)[1].startswith("⟨ 2 earlier messages removed, recall fold-")
    assert len(outcome.plan) == 1


def test_the_window_slides_over_at_most_half_of_the_messages_as_an_even_number() -> None:
    # Eleven follow the first; half of that is five, and the next even number below is four.
    outcome = sliding(parse(talk(12)), 800)
    (first,) = outcome.plan[0].edits
    assert isinstance(first, Fold)
    assert len(first.messages) == 4


def test_the_window_slides_on_until_the_target_is_met_or_nothing_is_left() -> None:
    messages = talk(12)
    met = sliding(parse(messages), 800)
    assert len(met.plan) > 1
    assert met.passes[-1].tokens_after <= 800
    least = sliding(parse(messages), 1)
    assert texts(least.conversation)[0] == messages[0]["content"]
    assert texts(least.conversation)[1].startswith("⟨ 10 earlier messages removed")
    assert least.conversation.messages[-1].text == messages[-2]["content"]  # the last that a person said
    assert render(restore(least.conversation, least.plan)) == messages
