"""The format is told from whatever only that format has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConversation, UnknownFormat
from compact.formats import FORMATS, detect, format_named, parse, recognise
from compact.messages import Json
from compact.testing.strategies import bodies, hostile_json, hostile_messages

PLAIN = {"role": "user", "content": "Hello"}
DECISIVE: dict[str, list[Json]] = {
    "openai-chat": [
        {"role": "tool", "tool_call_id": "a", "content": "x"},
        {"role": "function", "name": "f", "content": "x"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "file", "file": {}}]},
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]},
    ],
    "openai-responses": [
        {"type": "message", "role": "user", "content": "x"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "x"},
        {"type": "reasoning", "summary": []},
        {"type": "something_new"},
        {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
        {"role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
    ],
    "anthropic-messages": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "x"}]},
        {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]},
        {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "x"}}]},
        {"role": "user", "content": [{"type": "document", "source": {}}]},
        {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]},
        {"type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "text"}], "stop_reason": "end_turn"},
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": "a", "name": "f", "input": {}}]},
    ],
    "google-gemini": [
        {"role": "user", "parts": [{"text": "x"}]},
        {"role": "model", "parts": []},
        {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
        {"parts": "x"},
    ],
}


@pytest.mark.parametrize(("name", "message"), [(name, message) for name in DECISIVE for message in DECISIVE[name]])
def test_one_telling_message_decides(name: str, message: Json) -> None:
    assert detect([message]).name == name
    assert detect([message, PLAIN]).name == name
    if name != "google-gemini":
        assert detect([PLAIN, PLAIN, message]).name == name
        assert detect([PLAIN, message], system="Be brief.").name == name


@pytest.mark.parametrize("name", sorted(FORMATS))
@given(st.data())
def test_a_valid_request_is_recognised_if_anything_in_it_is_telling(name: str, data: st.DataObject) -> None:
    body = data.draw(bodies(name))
    format = FORMATS[name]
    messages = body[format.messages_key]
    telling = [message for message in messages if is_telling(name, message)]
    if telling:
        assert detect(messages).name == name
        assert parse(body).format == name


def is_telling(name: str, message: dict[str, Json]) -> bool:
    """Whether only one format has such a message, judged by keys and types and not by the code under test."""
    content = message.get("content")
    kinds = {part["type"] for part in content} if isinstance(content, list) else set()
    match name:
        case "google-gemini":
            return True
        case "openai-responses":
            return "type" in message or any(kind.startswith(("input_", "output_")) for kind in kinds)
        case "openai-chat":
            return bool({"tool_calls", "tool_call_id"} & set(message) or {"image_url", "file", "input_audio"} & kinds)
    return bool({"tool_use", "tool_result", "thinking", "image", "document"} & kinds)


@given(st.data())
def test_the_key_that_holds_the_messages_decides_first(data: st.DataObject) -> None:
    for name in ("openai-responses", "google-gemini"):
        assert parse({FORMATS[name].messages_key: data.draw(hostile_messages(name, size=2))}).format == name


def test_plain_turns_beside_a_system_prompt_are_anthropics() -> None:
    assert parse([PLAIN]).format == "openai-chat"
    assert parse([PLAIN], system="Be brief.").format == "anthropic-messages"
    assert parse({"messages": [PLAIN], "system": "Be brief."}).format == "anthropic-messages"
    assert parse({"messages": [PLAIN]}).format == "openai-chat"
    assert parse([]).format == "openai-chat"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_named_format_is_never_guessed(name: str) -> None:
    message = {"role": "user", "parts": [], "content": "x"}
    assert parse([message], format=name).format == name
    assert format_named(name) is FORMATS[name]


def test_what_cannot_be_told_is_refused_with_a_remedy() -> None:
    with pytest.raises(UnknownFormat, match='A request holds them under "messages", "input" or "contents"'):
        parse({"model": "x"})
    with pytest.raises(UnknownFormat, match="Use one of: openai-chat"):
        parse([PLAIN], format="cohere")
    with pytest.raises(InvalidConversation, match=r"messages\[1\]: a message must be a JSON object, not int"):
        parse([PLAIN, 3])
    with pytest.raises(InvalidConversation, match="contents: must be a list, not str"):
        parse({"contents": "x"})
    with pytest.raises(InvalidConversation, match="messages: is missing"):
        parse({"model": "x"}, format="openai-chat")


CACHED: Json = {"role": "user", "content": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]}
TYPED: Json = {"type": "message", "role": "assistant", "content": "x"}
CALLING: Json = {"role": "assistant", "content": None, "tool_calls": []}
USING: Json = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}


@pytest.mark.parametrize("hint", [CACHED, TYPED, {"role": "system", "content": "x"}])
@pytest.mark.parametrize(("proof", "name"), [(CALLING, "openai-chat"), (USING, "anthropic-messages")])
def test_proof_outranks_what_others_write_too_wherever_it_stands(hint: Json, proof: Json, name: str) -> None:
    for messages in ([hint, proof], [proof, hint], [PLAIN, hint, PLAIN, proof]):
        assert detect(messages).name == name
        assert parse({"messages": messages, "system": "x"}).format == name
        assert (found := recognise(messages)) is not None
        assert found.name == name
    assert recognise([hint, PLAIN]) is None


def test_a_cached_prompt_after_a_system_message_is_chats() -> None:
    instructions = CACHED | {"role": "system"}
    assert detect([instructions, PLAIN]).name == "openai-chat"
    assert detect([{"role": "system", "content": "x"}, CACHED]).name == "openai-chat"
    assert detect([{"role": "system", "content": "x"}, TYPED]).name == "openai-responses"


TOOLS: dict[str, Json] = {
    "openai-chat": {"type": "function", "function": {"name": "f"}},
    "anthropic-messages": {"name": "f", "input_schema": {"type": "object"}},
}


@pytest.mark.parametrize("name", sorted(TOOLS))
@pytest.mark.parametrize("message", [PLAIN, CACHED])
def test_tools_tell_the_format_of_plain_turns(name: str, message: Json) -> None:
    assert parse({"tools": [None, TOOLS[name]], "messages": [message]}).format == name
    assert parse([message], tools=[TOOLS[name]]).format == name
    other = CALLING if name == "anthropic-messages" else USING
    assert parse({"tools": [TOOLS[name]], "messages": [message, other]}).format != name


def test_messages_under_their_own_key_are_not_called_responses_by_a_mere_sign() -> None:
    assert parse({"messages": [TYPED]}).format == "openai-chat"
    assert parse({"messages": [PLAIN], "tools": [{"type": "function", "name": "f"}]}).format == "openai-chat"


@pytest.mark.parametrize("value", ["json", {"type": "object"}, "", None])
def test_a_format_that_is_none_of_ours_is_an_option(value: Json) -> None:
    body = {"format": value, "messages": [PLAIN]}
    assert parse(body).format == "openai-chat"
    assert parse(body).options["format"] == value
    assert parse({"format": "anthropic-messages", "messages": [PLAIN]}).format == "anthropic-messages"


@given(st.lists(hostile_json(), max_size=3), hostile_json(), hostile_json())
def test_hostile_parts_roles_and_types_are_no_evidence_and_no_crash(parts: list[Json], role: Json, kind: Json) -> None:
    content = [{"type": part, "source": part} for part in [{}, *parts]]
    message = {"role": role, "type": kind, "content": content}
    assert detect([message]).name in FORMATS
    assert detect([{"role": "user", "content": content}], tools=parts).name == "openai-chat"
