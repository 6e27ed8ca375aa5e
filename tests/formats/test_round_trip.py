"""What is read and not edited is sent as it came."""

from __future__ import annotations

import json
import weakref
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConversation
from compact.formats import FORMATS, parse, render, request_body, tools_of, violations
from compact.messages import Json
from compact.testing.strategies import bodies, hostile_json, hostile_messages

every_format = pytest.mark.parametrize("name", sorted(FORMATS))


@every_format
@given(st.data())
def test_a_valid_request_comes_back_as_it_was(name: str, data: st.DataObject) -> None:
    body = data.draw(bodies(name))
    before = json.dumps(body)
    conversation = parse(body, format=name)
    assert json.dumps(request_body(conversation)) == before
    assert json.dumps(body) == before
    messages = body[FORMATS[name].messages_key]
    assert all(sent is given for sent, given in zip(render(conversation), messages, strict=True))


@every_format
@given(st.data())
def test_hostile_messages_come_back_as_they_were(name: str, data: st.DataObject) -> None:
    messages = data.draw(hostile_messages(name))
    before = json.dumps(messages)
    sent = render(parse(messages, format=name))
    assert json.dumps(messages) == before
    assert json.dumps(sent) == json.dumps([without_our_meta(message) for message in messages])
    for now, then in zip(sent, messages, strict=True):
        assert now is then or "meta" in then


def without_our_meta(message: dict[str, Json]) -> Json:
    meta = message.get("meta")
    ours = isinstance(meta, dict) and "protected" in meta
    return {key: value for key, value in message.items() if key != "meta" or not ours}


@every_format
@given(st.data())
def test_every_block_says_where_its_content_stands(name: str, data: st.DataObject) -> None:
    messages = data.draw(hostile_messages(name))
    for message in parse(messages, format=name).messages:
        for block in message.blocks:
            value: Any = message.wire
            for step in block.path[:-1]:
                value = value[step]
            # Arguments that are missing have a place too; everything else was read from where it stands.
            assert not block.path or isinstance(value, dict | list)


@every_format
@given(st.data())
def test_parts_of_unknown_shape_are_kept_and_never_lost(name: str, data: st.DataObject) -> None:
    """Every item of a content list is one block: nothing is dropped, nothing is counted twice."""
    key = "parts" if name == "google-gemini" else "content"
    content = data.draw(st.lists(hostile_json(), max_size=5))
    (message,) = parse([{"role": "user", key: content}], format=name).messages
    assert [block.path[:2] for block in message.blocks] == [(key, index) for index in range(len(content))]


@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
@every_format
@given(st.data())
def test_a_hostile_body_is_sent_as_it_came_or_refused(name: str, data: st.DataObject) -> None:
    format = FORMATS[name]
    body = {
        "model": data.draw(hostile_json()),
        format.messages_key: data.draw(hostile_messages(name, size=2) | hostile_json()),
        format.tools_key: data.draw(hostile_json()),
        format.system_key or "system": data.draw(hostile_json()),
        **data.draw(st.dictionaries(st.text(max_size=3), hostile_json(), max_size=2)),
    }
    before = json.dumps(body)
    try:
        conversation = parse(body, format=name)
        tools_of(conversation)
    except InvalidConversation:
        return
    finally:
        assert json.dumps(body) == before
    sent = request_body(conversation)
    messages = body[format.messages_key]
    expected = (
        [without_our_meta(message) for message in messages] if isinstance(messages, list) else sent[format.messages_key]
    )
    assert json.dumps(sent) == json.dumps({**body, format.messages_key: expected})


@every_format
@pytest.mark.parametrize("tools", [5, "abc", {"name": "f"}, [5, None, "x"]])
def test_tools_that_are_no_list_of_objects_are_sent_as_they_came_or_refused(name: str, tools: Json) -> None:
    format = FORMATS[name]
    body = {format.messages_key: [], format.tools_key: tools}
    try:
        conversation = parse(body, format=name)
    except InvalidConversation:
        return
    assert request_body(conversation) == body
    tools_of(conversation)


@every_format
@pytest.mark.parametrize("message", [None, 3, "text", ["role"], True])
def test_a_message_that_is_no_object_is_refused_with_its_position(name: str, message: Json) -> None:
    good: Json = {"role": "user", "parts": []} if name == "google-gemini" else {"role": "user", "content": "x"}
    with pytest.raises(InvalidConversation, match=r"messages\[1\]: a message must be a JSON object") as caught:
        parse([good, message], format=name)
    assert caught.value.remedy


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic-messages"])
@pytest.mark.parametrize("role", [None, 3, "", ["user"]])
def test_a_message_without_a_role_is_refused(name: str, role: Json) -> None:
    with pytest.raises(InvalidConversation, match=r"messages\[0\].role"):
        parse([{"role": role, "content": "x"}], format=name)


@pytest.mark.parametrize("messages", ["text", b"bytes", 3, None])
def test_what_is_no_list_of_messages_is_refused(messages: Any) -> None:
    with pytest.raises(InvalidConversation, match="must be a list of messages"):
        parse(messages)


def test_a_plain_string_of_input_is_one_user_message() -> None:
    conversation = parse({"model": "gpt-5", "input": "Hello"})
    assert [(message.role, message.text) for message in conversation.messages] == [("user", "Hello")]
    assert request_body(conversation) == {"model": "gpt-5", "input": [{"role": "user", "content": "Hello"}]}


REQUESTS: dict[str, dict[str, Json]] = {
    "openai-chat": {"messages": [{"role": "user", "content": "x"}], "model": "m", "tools": [{"type": "function"}]},
    "openai-responses": {"tools": [{"type": "function"}], "input": [], "model": "m", "instructions": "s"},
    "anthropic-messages": {"system": "s", "messages": [], "model": "m", "tools": [{"name": "f"}], "max_tokens": 1},
    "google-gemini": {"contents": [], "system_instruction": {"parts": []}, "model": "m", "tools": [{"a": {}}]},
}


@every_format
def test_what_is_taken_out_of_a_conversation_does_not_come_back(name: str) -> None:
    body = REQUESTS[name]
    conversation = parse(body, format=name)
    assert json.dumps(request_body(conversation)) == json.dumps(body)
    bare = request_body(replace(conversation, system=None, tools=()))
    kept = {FORMATS[name].messages_key, "model", "max_tokens"}
    assert list(bare.items()) == [(key, value) for key, value in body.items() if key in kept]


@every_format
def test_messages_that_a_conversation_no_longer_holds_are_let_go(name: str) -> None:
    class Wire(dict[str, Json]):
        """A message that can be watched."""

    message = Wire(role="user", content="x", parts=[])
    watched = weakref.ref(message)
    conversation = parse({FORMATS[name].messages_key: [message]}, format=name).with_messages(())
    del message
    assert watched() is None
    assert request_body(conversation) == {FORMATS[name].messages_key: []}


@every_format
def test_a_system_prompt_given_beside_the_messages_is_sent(name: str) -> None:
    message: Json = (
        {"role": "user", "parts": [{"text": "x"}]} if name == "google-gemini" else {"role": "user", "content": "x"}
    )
    conversation = parse([message], format=name, system="Be brief.")
    assert render(conversation) == [message]
    assert conversation.system is not None
    assert conversation.system.text == "Be brief."
    assert "Be brief." in json.dumps(request_body(conversation))
    again = parse(request_body(conversation), format=name)
    assert (again.system or again.messages[0]).text == "Be brief."


def test_chat_has_its_system_prompt_first_among_the_messages_and_rules_count_without_it() -> None:
    orphan = {"role": "tool", "tool_call_id": "a", "content": "x"}
    messages: list[Json] = [{"role": "user", "content": "x"}, orphan]
    conversation = parse(messages, format="openai-chat", system="Be brief.")
    assert request_body(conversation) == {"messages": [{"role": "system", "content": "Be brief."}, *messages]}
    assert [hit.index for hit in violations(conversation)] == [1]
    assert {message.id for message in conversation.messages} == {"0", "1"}


def test_a_nameless_option_is_no_system_prompt() -> None:
    body = {"": "x", "messages": [{"role": "user", "content": "x"}]}
    assert parse(body, format="openai-chat").system is None
    assert request_body(parse(body, format="openai-chat")) == body
