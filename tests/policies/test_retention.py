"""What is kept."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from compact.formats import FORMATS, parse
from compact.messages import Conversation, Message, exchanges, untouchable
from compact.policies import Retention, select
from compact.testing.generate import random_body


def call(id: str) -> dict[str, Any]:
    function = {"name": "read", "arguments": "{}"}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}


def result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "text"}


def turns(count: int) -> list[dict[str, Any]]:
    return [{"role": role, "content": f"{role} {index}"} for index in range(count) for role in ("user", "assistant")]


def kept(conversation: Conversation, retention: Retention) -> list[int]:
    chosen = select(conversation, retention, lambda message: 300)
    return sorted(index for group in chosen.kept for index in group)


def test_the_last_six_turns_stay() -> None:
    conversation = parse(turns(20))
    assert kept(conversation, Retention(recent_turns=6)) == [0, *range(28, 40)]


def test_the_last_tool_pairs_stay() -> None:
    messages = [{"role": "user", "content": "go"}]
    for index in range(10):
        messages += [call(f"c{index}"), result(f"c{index}")]
    assert kept(parse(messages), Retention(tool_pairs=4)) == [0, *range(13, 21)]


def test_as_many_messages_as_fit_the_tokens() -> None:
    conversation = parse(turns(5))
    assert kept(conversation, Retention(first_message=False, recent_tokens=1000)) == [0, 7, 8, 9]


def test_recent_messages_take_their_other_half_along() -> None:
    messages = [*turns(3), call("c"), result("c"), {"role": "user", "content": "thanks"}]
    assert kept(parse(messages), Retention(recent_messages=2)) == [0, 6, 7, 8]


def test_rules_combine_and_say_why() -> None:
    messages = [*turns(10), call("c"), result("c"), *turns(2)]
    chosen = select(parse(messages), Retention(recent_share=0.1, tool_pairs=1), lambda message: 1)
    assert chosen.reasons[20] == "recent tool calls"
    assert chosen.reasons[23] == "recent share"
    assert chosen.reasons[0] == "first, last or current"
    assert [group for group in chosen.older if 5 in group] == [(5,)]


@given(
    st.sampled_from(sorted(FORMATS)),
    st.integers(0, 2**32),
    st.builds(
        Retention,
        first_message=st.booleans(),
        recent_messages=st.none() | st.integers(0, 20),
        recent_turns=st.none() | st.integers(0, 5),
        tool_pairs=st.none() | st.integers(0, 5),
        recent_tokens=st.none() | st.integers(0, 2000),
        recent_share=st.none() | st.floats(0, 1),
    ),
)
def test_every_cut_is_between_exchanges_and_spares_what_is_untouchable(
    format: str, seed: int, retention: Retention
) -> None:
    conversation = parse(random_body(random.Random(seed), format))
    chosen = select(conversation, retention, _length)
    assert sorted(chosen.kept + chosen.older) == sorted(exchanges(conversation.messages))
    older = {conversation.messages[index].id for group in chosen.older for index in group}
    assert older.isdisjoint(untouchable(conversation))
    assert set(chosen.reasons) == {index for group in chosen.kept for index in group}


def _length(message: Message) -> int:
    return len(str(message.wire))
