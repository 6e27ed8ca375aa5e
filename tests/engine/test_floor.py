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
    sizes = []
    for protected in (False, True):
        whole = conversation(protected=protected)
        floor = floor_of(whole, gauge_for(whole))
        sizes.append((floor.count, floor.messages))
    call = gauge_for(whole).message(whole.messages[1])
    result = gauge_for(whole).message(whole.messages[2])
    assert sizes[1] == (sizes[0][0] + 2, sizes[0][1] + call + result)
