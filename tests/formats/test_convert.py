"""A conversation says the same in every format, or the conversion says what has no place there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import ConversionError
from compact.formats import FORMATS, convert, parse, render, request_body, tools_of, violations
from compact.messages import (
    Attachment,
    Conversation,
    Image,
    Json,
    Message,
    Opaque,
    Reasoning,
    ToolCall,
    ToolResult,
)
from compact.testing.strategies import conversations, hostile_messages
from tests.formats.contents import blocks, calls, leading, results, said, texts

PAIRS = list(permutations(sorted(FORMATS), 2))
OBJECTS_ONLY = ("anthropic-messages", "google-gemini")
"""Where arguments are objects and the system prompt stands outside the messages."""
SPEAKS_FIRST = "an assistant that speaks first"
"""A request that is wrong there, whatever is left out."""

every_pair = pytest.mark.parametrize(("source", "target"), PAIRS)


def obstacles(conversation: Conversation, target: str, *, lossy: bool) -> set[str]:
    """What the target has no place for: what it lacks, unless loss is allowed, and what is no loss but an error."""
    found = set()
    if not lossy:
        found |= {what for message in conversation.messages for what in lacking(message, target)}
        found |= {"a tool that is no function" for tool in tools_of(conversation) if tool.schema is None}
        after = conversation.messages[leading(conversation) :]
        if target in OBJECTS_ONLY and {"system", "developer"} & {message.role for message in after}:
            found.add("instructions in the middle")
    if target == "anthropic-messages" and conversation.messages[leading(conversation)].role == "assistant":
        found.add(SPEAKS_FIRST)
    return found


def lacking(message: Message, target: str) -> Iterator[str]:
    if message.role in ("user", "assistant", "system") and "role" in message.wire and "name" in message.wire:
        if not message.calls:
            yield "a name"
    for block in message.blocks:
        if isinstance(block, Reasoning | Opaque):
            yield "reasoning or an unknown block"
        if isinstance(block, ToolCall):
            if "custom" in block.path or message.wire.get("type", "function_call") != "function_call":
                yield "a call that is no function's"
            if target in OBJECTS_ONLY and block.raw is not None and not isinstance(block.arguments, dict):
                yield "arguments that are no object"
        if isinstance(block, ToolResult):
            for part in block.parts:
                if isinstance(part, Image | Attachment) and target == "google-gemini":
                    yield "a picture in a result"
                if isinstance(part, Opaque) and part.kind != "response":
                    yield "reasoning or an unknown block"
        if isinstance(block, Attachment) and block.data is None and (target == "openai-chat" or block.url is None):
            yield "a file without content"


@every_pair
@pytest.mark.parametrize("lossy", [False, True])
@given(st.data())
def test_what_a_conversation_says_survives_and_is_valid_there(
    source: str, target: str, lossy: bool, data: st.DataObject
) -> None:
    before = data.draw(conversations(source))
    untouched = json.dumps(request_body(before))
    expected = obstacles(before, target, lossy=lossy)
    try:
        after = convert(before, target, lossy=lossy)
    except ConversionError:
        assert expected
        return
    finally:
        assert json.dumps(request_body(before)) == untouched
    assert expected <= {SPEAKS_FIRST}
    assert after.format == target
    if not obstacles(before, target, lossy=False) - {SPEAKS_FIRST, "a name", "reasoning or an unknown block"}:
        assert said(after) == said(before)
    assert violations(after) == []
    again = parse(request_body(after), format=target)
    assert (render(again), again.system, again.tools) == (render(after), after.system, after.tools)
    assert [message.blocks for message in again.messages] == [message.blocks for message in after.messages]


@every_pair
@given(st.data())
def test_there_and_back_says_the_same(source: str, target: str, data: st.DataObject) -> None:
    before = data.draw(conversations(source))
    if obstacles(before, target, lossy=False) - {"a name", "reasoning or an unknown block"}:
        return
    there = convert(before, target, lossy=True)
    if obstacles(there, source, lossy=False):
        return
    assert said(convert(there, source)) == said(before)


@every_pair
@given(st.data())
def test_lossy_leaves_out_reasoning_and_unknown_blocks_and_nothing_else(
    source: str, target: str, data: st.DataObject
) -> None:
    before = data.draw(conversations(source))
    if obstacles(before, target, lossy=False):
        return
    assert convert(before, target, lossy=True) == convert(before, target)


@every_pair
@given(st.data())
def test_hostile_messages_are_converted_or_refused(source: str, target: str, data: st.DataObject) -> None:
    before = parse(data.draw(hostile_messages(source)), format=source)
    for lossy in (False, True):
        try:
            after = convert(before, target, lossy=lossy)
        except ConversionError:
            continue
        assert after.messages == parse([message.wire for message in after.messages], format=target).messages


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(st.data())
def test_the_same_format_is_the_same_conversation(name: str, data: st.DataObject) -> None:
    conversation = data.draw(conversations(name))
    assert convert(conversation, name) is conversation


def test_what_has_no_place_is_named_with_the_remedy() -> None:
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    conversation = parse([{"role": "assistant", "content": [thinking, {"type": "text", "text": "so"}]}])
    with pytest.raises(ConversionError, match=r"message 0 holds reasoning.*lossy=True"):
        convert(conversation, "openai-chat")
    assert render(convert(conversation, "openai-chat", lossy=True)) == [{"role": "assistant", "content": "so"}]
    unknown = parse([{"type": "web_search_call", "id": "ws_1"}])
    with pytest.raises(ConversionError, match="a 'web_search_call' block"):
        convert(unknown, "openai-chat")


def test_ids_that_repeat_or_that_another_vendor_refuses_become_unique_on_both_sides() -> None:
    def step(id: str) -> list[Json]:
        call = {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": "x"},
        ]

    messages = [{"role": "user", "content": "go"}, *step("call:1"), *step("call:1"), *step("fine"), *step("fine")]
    conversation = parse(messages, format="openai-chat")
    after = convert(conversation, "anthropic-messages")
    made = [block.id for block in blocks(after) if isinstance(block, ToolCall)]
    answered = [block.call_id for block in blocks(after) if isinstance(block, ToolResult)]
    assert made == answered
    assert len(set(made)) == 4
    assert "fine" in made
    assert violations(after) == []
    assert convert(conversation, "anthropic-messages") == after


PARALLEL = [
    {"role": "user", "content": "go"},
    {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
    {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "a", "output": "1"},
    {"type": "function_call_output", "call_id": "b", "output": "2"},
]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic-messages", "google-gemini"])
def test_parallel_calls_written_as_items_are_one_step_elsewhere(target: str) -> None:
    after = convert(parse(PARALLEL), target)
    assert violations(after) == []
    assert calls(after) == [("f", {}), ("g", {})]
    assert results(after) == ["1", "2"]


@pytest.mark.parametrize("target", ["openai-chat", "openai-responses", "anthropic-messages"])
def test_a_call_without_arguments_has_empty_ones(target: str) -> None:
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]},
    ]
    after = convert(parse(contents), target)
    assert [block.arguments for block in blocks(after) if isinstance(block, ToolCall)] == [{}]


@pytest.mark.parametrize("source", ["openai-chat", "openai-responses", "anthropic-messages"])
def test_a_picture_by_address_is_still_a_picture_in_gemini(source: str) -> None:
    url = "https://example.org/cat.png"
    part = {
        "openai-chat": {"type": "image_url", "image_url": {"url": url}},
        "openai-responses": {"type": "input_image", "image_url": url},
        "anthropic-messages": {"type": "image", "source": {"type": "url", "url": url}},
    }[source]
    after = convert(parse([{"role": "user", "content": [part]}], format=source), "google-gemini")
    assert [(type(block), block.url) for block in blocks(after) if isinstance(block, Image | Attachment)] == [
        (Image, url)
    ]


@pytest.mark.parametrize("target", ["anthropic-messages", "google-gemini"])
def test_a_file_known_to_its_vendor_only_has_no_place_elsewhere(target: str) -> None:
    conversation = parse([{"role": "user", "content": [{"type": "input_file", "file_id": "file-1"}]}])
    with pytest.raises(ConversionError, match="message 0 holds a file that its vendor keeps"):
        convert(conversation, target)
    assert convert(conversation, target, lossy=True).messages == ()


@pytest.mark.parametrize("target", ["anthropic-messages", "google-gemini"])
@pytest.mark.parametrize(
    "before",
    [
        [],
        [{"role": "user", "content": "hi"}],
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
    ],
)
def test_a_result_after_a_message_that_says_nothing_stays_with_the_user(target: str, before: list[Json]) -> None:
    messages = [*before, {"role": "user", "content": ""}, {"role": "tool", "tool_call_id": "a", "content": "x"}]
    after = convert(parse(messages, format="openai-chat"), target)
    assert [message.role for message in after.messages if message.results] == ["user"]
    assert texts(after) == [message["content"] for message in before]


def test_messages_and_requests_are_converted_as_they_are() -> None:
    messages = [{"role": "user", "content": "hi"}]
    wanted = render(convert(parse(messages), "google-gemini"))
    assert render(convert(messages, "google-gemini")) == wanted
    assert render(convert({"messages": messages}, "google-gemini")) == wanted
