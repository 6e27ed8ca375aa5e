"""Messages that belong together stay together."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import FORMATS, parse
from compact.messages import (
    Conversation,
    Json,
    Message,
    Place,
    Reasoning,
    ToolCall,
    ToolResult,
    current_step,
    exchanges,
    pairs,
    untouchable,
)
from compact.testing.strategies import conversations, hostile_messages

BY_ID = sorted(FORMATS.keys() - {"google-gemini"})


@st.composite
def any_conversation(draw: st.DrawFn, formats: Sequence[str] = (*BY_ID, "google-gemini")) -> Conversation:
    name = draw(st.sampled_from(formats))
    if draw(st.booleans()):
        return draw(conversations(name))
    return parse(draw(hostile_messages(name)), format=name)


def places(messages: tuple[Message, ...], kind: type) -> list[Place]:
    return [
        (i, j)
        for i, message in enumerate(messages)
        for j, block in enumerate(message.blocks)
        if isinstance(block, kind)
    ]


def pairs_by_hand(messages: tuple[Message, ...]) -> dict[Place, Place]:
    """For each result in turn: of the unanswered calls of its id before it, those in the nearest message; the first."""
    answers: dict[Place, Place] = {}
    for at in places(messages, ToolResult):
        result = messages[at[0]].blocks[at[1]]
        assert isinstance(result, ToolResult)
        open_calls = [
            place
            for place in places(messages, ToolCall)
            if place < at and place not in answers.values() and messages[place[0]].blocks[place[1]].id == result.call_id  # type: ignore[union-attr] # it is a call
        ]
        if open_calls:
            nearest = max(place[0] for place in open_calls)
            answers[at] = min(place for place in open_calls if place[0] == nearest)
    return answers


@given(any_conversation(BY_ID))
def test_a_result_answers_the_nearest_unanswered_call_of_its_id(conversation: Conversation) -> None:
    assert pairs(conversation.messages) == pairs_by_hand(conversation.messages)


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(st.data())
def test_in_a_valid_conversation_every_call_has_its_result(format: str, data: st.DataObject) -> None:
    messages = data.draw(conversations(format)).messages
    answers = pairs(messages)
    assert sorted(answers) == places(messages, ToolResult)
    assert sorted(answers.values()) == places(messages, ToolCall)


@given(any_conversation())
def test_exchanges_partition_the_messages_in_order(conversation: Conversation) -> None:
    groups = exchanges(conversation.messages)
    assert sorted(index for group in groups for index in group) == list(range(len(conversation)))
    assert all(list(group) == sorted(group) for group in groups)
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)


@given(any_conversation())
def test_no_exchange_splits_a_call_from_its_result(conversation: Conversation) -> None:
    home = {index: group for group in exchanges(conversation.messages) for index in group}
    for (result, _), (call, _) in pairs(conversation.messages).items():
        assert home[result] == home[call]


@pytest.mark.parametrize("format", sorted(FORMATS))
@given(st.data())
def test_an_exchange_without_calls_is_one_message_unless_reasoning_leads_to_more(
    format: str, data: st.DataObject
) -> None:
    messages = data.draw(conversations(format)).messages
    for group in exchanges(messages):
        members = [messages[index] for index in group]
        if len(group) > 1 and not any(member.calls for member in members):
            assert any(isinstance(block, Reasoning) for block in members[0].blocks)
            assert {member.role for member in members} == {"assistant"}


@given(conversations("openai-responses"))
def test_reasoning_stays_with_what_it_led_to(conversation: Conversation) -> None:
    messages = conversation.messages
    home = {index: group for group in exchanges(messages) for index in group}
    for index, message in enumerate(messages):
        if any(isinstance(block, Reasoning) for block in message.blocks):
            assert home[index] == home[index + 1]


@given(any_conversation())
def test_what_may_not_be_touched_holds_the_first_and_last_user_message_and_the_current_step(
    conversation: Conversation,
) -> None:
    messages = conversation.messages
    fixed = untouchable(conversation)
    people = [message.id for message in messages if message.from_user]
    assert set(people[:1] + people[-1:]) <= fixed
    assert {message.id for message in messages if message.protected} <= fixed
    assert {messages[index].id for index in current_step(messages)} <= fixed


@given(any_conversation())
def test_the_current_step_is_the_last_exchange_with_calls_and_nobody_spoke_since(conversation: Conversation) -> None:
    messages = conversation.messages
    step = current_step(messages)
    calling = [index for index, message in enumerate(messages) if message.calls]
    spoken = [index for index, message in enumerate(messages) if message.from_user and not message.results]
    if calling and (not spoken or calling[-1] > spoken[-1]):
        assert calling[-1] in step
        assert step in exchanges(messages)
    else:
        assert step == ()


def chat(*messages: Json) -> tuple[Message, ...]:
    return parse(list(messages), format="openai-chat").messages


def asks(*ids: str) -> Json:
    calls = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def says(role: str) -> Json:
    return {"role": role, "content": "x"}


def answers(id: str) -> Json:
    return {"role": "tool", "tool_call_id": id, "content": "x"}


def test_an_id_used_again_in_a_later_turn_is_answered_there() -> None:
    messages = chat(says("user"), asks("a"), answers("a"), says("user"), asks("a"), answers("a"))
    assert exchanges(messages) == ((0,), (1, 2), (3,), (4, 5))


def test_a_call_that_was_never_answered_waits_behind_a_later_one_of_its_id() -> None:
    messages = chat(says("user"), asks("a"), says("user"), asks("a"), answers("a"))
    assert pairs(messages) == {(4, 0): (3, 0)}
    assert exchanges(messages) == ((0,), (1,), (2,), (3, 4))


class Wire(dict[str, Json]):
    """A wire object that can be watched."""


def test_what_was_read_of_messages_does_not_keep_them() -> None:
    wire = Wire(says("user"))
    conversation = parse([wire, asks("a"), answers("a")])
    assert exchanges(conversation.messages) is exchanges(conversation.messages)
    seen = weakref.ref(wire)
    del wire, conversation
    gc.collect()
    assert seen() is None


def test_an_id_used_twice_in_one_message_is_answered_in_order() -> None:
    assert pairs(chat(asks("a", "a"), answers("a"), answers("a"))) == {(1, 0): (0, 0), (2, 0): (0, 1)}


def test_a_result_with_no_call_left_is_an_exchange_of_its_own() -> None:
    assert exchanges(chat(asks("a"), answers("a"), answers("a"), answers("b"))) == ((0, 1), (2,), (3,))


def test_interleaved_results_still_belong_to_their_calls() -> None:
    messages = chat(asks("a"), says("user"), asks("b"), says("user"), answers("a"), answers("b"))
    assert exchanges(messages) == ((0, 4), (1,), (2, 5), (3,))


def test_calls_written_as_several_messages_are_one_step() -> None:
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "output": "x"}
    items = [
        {"role": "user", "content": "x"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {**call, "call_id": "a"},
        {**call, "call_id": "b"},
        {**output, "call_id": "b"},
        {**output, "call_id": "a"},
        {**call, "call_id": "c"},
        {**call, "call_id": "d"},
        {**output, "call_id": "c"},
        {**output, "call_id": "d"},
    ]
    assert exchanges(parse(items, format="openai-responses").messages) == ((0,), (1, 2, 3, 4, 5), (6, 7, 8, 9))


def test_a_user_message_of_results_only_is_nobody_speaking() -> None:
    content = [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]
    messages = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": content},
    ]
    conversation = parse(messages, format="anthropic-messages")
    assert [message.from_user for message in conversation.messages] == [True, False, False]
    assert untouchable(conversation) == {"0", "1", "2"}
    spoken = parse([*messages[:2], {"role": "user", "content": [*content, {"type": "text", "text": "and"}]}])
    assert [message.from_user for message in spoken.messages] == [True, False, True]


def test_who_speaks_in_the_message_with_the_results_does_not_end_the_step() -> None:
    result, call = {"type": "tool_result", "tool_use_id": "a", "content": "x"}, {"type": "tool_use", "id": "a"}
    messages = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": [{**call, "name": "f", "input": {}}]},
        {"role": "user", "content": [result, {"type": "text", "text": "And mind the tests."}]},
    ]
    assert current_step(parse(messages, format="anthropic-messages").messages) == (1, 2)
    spoken = [*messages, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And the docs."}]
    assert current_step(parse(spoken, format="anthropic-messages").messages) == ()


def test_what_the_vendor_keeps_stays_with_the_answers_that_follow_it() -> None:
    def refer(id: str) -> Json:
        return {"type": "item_reference", "id": id}

    def answer(id: str) -> Json:
        return {"type": "function_call_output", "call_id": id, "output": "done"}

    items: list[Json] = [
        {"role": "user", "content": "Go."},
        *(refer("rs_1"), refer("fc_1"), refer("fc_2"), answer("1"), answer("2")),
        *(refer("fc_3"), answer("3")),
        {"role": "user", "content": "And?"},
    ]
    assert exchanges(parse(items).messages) == ((0,), (1, 2, 3, 4, 5), (6, 7), (8,))


def test_an_approval_stays_with_what_it_approves() -> None:
    asked = {"server_label": "files", "name": "delete", "arguments": '{"path": "a"}'}
    items: list[Json] = [
        {"role": "user", "content": "Go."},
        {"type": "mcp_approval_request", "id": "mcpr_1", **asked},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ]
    assert exchanges(parse(items).messages) == ((0,), (1, 2))


def gemini(*contents: tuple[str, ...]) -> tuple[Message, ...]:
    """Contents such as ("model", "read", "bash#1"): calls of the model, else responses; what follows # is an id."""

    def part(role: str, spelled: str) -> Json:
        name, _, id = spelled.partition("#")
        if name == "text":
            return {"text": "x"}
        key = "functionCall" if role == "model" else "functionResponse"
        return {key: {"name": name, **({"id": id} if id else {})}}

    wires = [{"role": role, "parts": [part(role, one) for one in parts]} for role, *parts in contents]
    return parse(wires, format="google-gemini").messages


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        pytest.param(
            [("model", "a", "b"), ("user", "f", "f")], {(1, 0): (0, 0), (1, 1): (0, 1)}, id="other names: in order"
        ),
        pytest.param([("model", "a", "b"), ("user", "b", "a")], {(1, 0): (0, 1), (1, 1): (0, 0)}, id="names tell"),
        pytest.param([("model", "a", "b"), ("user", "b", "f")], {(1, 0): (0, 1), (1, 1): (0, 0)}, id="one name tells"),
        pytest.param([("model", "a", "a"), ("user", "a", "a")], {(1, 0): (0, 0), (1, 1): (0, 1)}, id="same names"),
        pytest.param(
            [("model", "a#1", "b#2"), ("user", "f#2", "f#1")], {(1, 0): (0, 1), (1, 1): (0, 0)}, id="ids before order"
        ),
        pytest.param([("model", "a#1", "b#2"), ("user", "b", "f")], {(1, 0): (0, 1), (1, 1): (0, 0)}, id="lost ids"),
        pytest.param([("model", "a#1"), ("user", "f#9")], {(1, 0): (0, 0)}, id="other ids"),
        pytest.param(
            [("model", "a", "b"), ("user", "f"), ("function", "f")],
            {(1, 0): (0, 0), (2, 0): (0, 1)},
            id="answered in several contents",
        ),
        pytest.param(
            [("model", "a"), ("model", "b"), ("user", "f", "f")],
            {(2, 0): (0, 0), (2, 1): (1, 0)},
            id="called in several contents",
        ),
        pytest.param([("model", "a", "b"), ("user", "f")], {(1, 0): (0, 0)}, id="partly answered"),
        pytest.param([("model", "a"), ("user", "f", "f")], {(1, 0): (0, 0)}, id="one answer too many"),
        pytest.param(
            [("model", "a"), ("user", "text"), ("model", "b"), ("user", "f")], {(3, 0): (2, 0)}, id="nearest turn"
        ),
        pytest.param(
            [("model", "a#1"), ("user", "text"), ("model", "b#2"), ("user", "a#1")],
            {(3, 0): (0, 0)},
            id="id of an earlier turn",
        ),
        pytest.param(
            [("model", "a"), ("user", "text"), ("model", "text"), ("user", "a", "f")],
            {(3, 0): (0, 0)},
            id="name of an earlier turn",
        ),
        pytest.param([("user", "f"), ("model", "a")], {}, id="an answer before its call is none"),
    ],
)
def test_where_ids_do_not_tell_results_answer_the_calls_of_their_turn_in_order(
    contents: list[tuple[str, ...]], expected: dict[Place, Place]
) -> None:
    assert pairs(gemini(*contents)) == expected


def test_a_current_step_with_other_names_is_whole() -> None:
    messages = gemini(("user", "text"), ("model", "a"), ("user", "f"), ("model", "a", "b"), ("user", "f", "f"))
    assert exchanges(messages) == ((0,), (1, 2), (3, 4))
    assert current_step(messages) == (3, 4)
