"""The floor of a conversation: what no compaction can go below."""

from __future__ import annotations

from compact.engine import floor_of
from compact.formats import parse
from compact.messages import Conversation
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
