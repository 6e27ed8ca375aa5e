"""The floor of a conversation: what no compaction can go below."""

from __future__ import annotations

import pytest

from compact.engine import floor_of
from compact.engine.floor import Floor
from compact.formats import parse
from compact.messages import Conversation, untouchable
from tests.providers.conversations import LONG, assistant, gauge_for, step, user


def conversation(*, protected: bool) -> Conversation:
    called, answered = step("c1", "read", {"path": "src/a.py", "note": LONG}, "ok")
    answer = {**answered, "meta": {"protected": True}} if protected else answered
    return parse([user("Begin."), called, answer, assistant("Read."), *step("c2", "read", {}, LONG), user("Go on.")])


def test_a_call_stays_with_a_result_that_must_stay() -> None:
    before, after = (conversation(protected=protected) for protected in (False, True))
    gauge = gauge_for(after)
    freely, bound = floor_of(before, gauge), floor_of(after, gauge)
    call, result = map(gauge.message, after.messages[1:3])
    assert (bound.count, bound.messages) == (freely.count + 2, freely.messages + call + result)


@pytest.mark.parametrize(
    ("floor", "told"),
    [
        (Floor(10, 2000, 1), "2,010 tokens {}: 10 {}, 2,000 in 1 message that must stay as it is"),
        (Floor(0, 5, 0), "5 tokens {}: 0 {}, 5 in 0 messages that must stay as they are"),
        (Floor(40, 60, 2, 50), "100 tokens {}: 40 {}, 60 in 2 messages that must stay as they are"),
        (Floor(40, 60, 2, 51), "100 tokens {}: 40 {}, 60 in 2 messages that must stay as they are, 51 {}"),
    ],
)
def test_the_floor_is_told_in_a_sentence(floor: Floor, told: str) -> None:
    words = "cannot be condensed", "of system prompt and tools", "of them with what tools answered last"
    assert str(floor) == told.format(*words)
    assert floor.total == floor.frame + floor.messages


def test_what_tools_answered_last_is_told_apart() -> None:
    messages = [user("Begin."), assistant("Gladly."), user("Go on."), *step("c1", "read", {}, LONG)]
    talk = parse(messages, system="Be brief.")
    gauge = gauge_for(talk)
    floor = floor_of(talk, gauge)
    assert floor.answered == gauge.message(talk.messages[-1]) > 0
    assert floor.frame == gauge.conversation(talk.with_messages(()))
    fixed = untouchable(talk)
    assert floor.messages == sum(gauge.message(one) for one in talk.messages if one.id in fixed)
    assert floor.count == len(fixed)
