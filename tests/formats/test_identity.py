"""When two wire messages are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import FORMATS
from compact.formats.identity import with_cache_marks, without_cache_marks
from compact.messages import Json

MARK: Json = {"cache_control": {"type": "ephemeral"}}
TEXT: Json = {"type": "text", "text": "Run it."}
CALL: Json = {"type": "tool_use", "id": "t", "name": "Read", "input": {"path": "a.py"}}


def result(content: Json, **more: Json) -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": content, **more}]}


BLOCKS = ("anthropic-messages", "openai-chat")
SAME: list[tuple[tuple[str, ...], str, Json, Json]] = [
    (BLOCKS, "a mark on a block", {"role": "user", "content": [{**TEXT, **MARK}]}, {"role": "user", "content": [TEXT]}),
    (BLOCKS, "a mark on the message", {"role": "user", "content": "a", **MARK}, {"role": "user", "content": "a"}),
    (BLOCKS, "a lone text", {"role": "user", "content": [TEXT]}, {"role": "user", "content": "Run it."}),
    (BLOCKS, "the order of keys", {"role": "user", "content": "a"}, {"content": "a", "role": "user"}),
    (BLOCKS[:1], "a mark inside a result", result([{**TEXT, **MARK}]), result([TEXT])),
    (BLOCKS[:1], "a mark on a result", result([TEXT], **MARK), result([TEXT])),
    (BLOCKS[:1], "a lone text inside a result", result([TEXT]), result("Run it.")),
    (
        ("openai-responses",),
        "id and status of a message",
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": "a"},
        {"type": "message", "role": "assistant", "content": "a"},
    ),
    (
        ("openai-responses",),
        "id and status of a call",
        {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "c", "name": "n", "arguments": "{}"},
        {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"},
    ),
    (
        ("openai-responses",),
        "a lone text of a result",
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "a"}]},
        {"type": "function_call_output", "call_id": "c", "output": "a"},
    ),
    (
        ("google-gemini",),
        "the spelling of names",
        {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a_b": 1}}, "thought_signature": "x"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a_b": 1}}, "thoughtSignature": "x"}]},
    ),
    (
        ("google-gemini",),
        "the spelling inside a part",
        {"parts": [{"inline_data": {"mime_type": "image/png", "data": "AA"}}]},
        {"parts": [{"inlineData": {"mimeType": "image/png", "data": "AA"}}]},
    ),
    (
        ("google-gemini",),
        "the spelling inside the parts of a result",
        {
            "parts": [
                {"function_response": {"name": "f", "response": {}, "parts": [{"inline_data": {"mime_type": "x"}}]}}
            ]
        },
        {"parts": [{"functionResponse": {"name": "f", "response": {}, "parts": [{"inlineData": {"mimeType": "x"}}]}}]},
    ),
    (
        ("google-gemini",),
        "the spelling inside pieces of what a call is given",
        {"parts": [{"function_call": {"name": "f", "partial_args": [{"json_path": "$.a_b", "string_value": "x"}]}}]},
        {"parts": [{"functionCall": {"name": "f", "partialArgs": [{"jsonPath": "$.a_b", "stringValue": "x"}]}}]},
    ),
]


@pytest.mark.parametrize(
    ("formats", "one", "other"), [(row[0], *row[2:]) for row in SAME], ids=[row[1] for row in SAME]
)
def test_they_are_the_same(formats: tuple[str, ...], one: Json, other: Json) -> None:
    for name in formats:
        assert FORMATS[name].identity(one) == FORMATS[name].identity(other)
        assert FORMATS[name].key(one) == FORMATS[name].key(other)


DIFFERENT: list[tuple[str, str, Json, Json]] = [
    (
        "anthropic-messages",
        "a mark in what a tool is given",
        {"role": "assistant", "content": [{**CALL, "input": {"path": "a.py", **MARK}}]},
        {"role": "assistant", "content": [CALL]},
    ),
    (
        "anthropic-messages",
        "a lone text in what a tool is given",
        {"role": "assistant", "content": [{**CALL, "input": {"content": [TEXT]}}]},
        {"role": "assistant", "content": [{**CALL, "input": {"content": "Run it."}}]},
    ),
    ("anthropic-messages", "two texts", {"role": "user", "content": [TEXT, TEXT]}, {"role": "user", "content": [TEXT]}),
    (
        "anthropic-messages",
        "a text with citations",
        {"role": "user", "content": [{**TEXT, "citations": []}]},
        {"role": "user", "content": [TEXT]},
    ),
    ("anthropic-messages", "an error", result([TEXT], is_error=True), result([TEXT])),
    (
        "openai-chat",
        "a number and a truth",
        {"role": "user", "content": "", "n": 1},
        {"role": "user", "content": "", "n": True},
    ),
    ("openai-chat", "two numbers", {"role": "user", "content": "", "n": 1}, {"role": "user", "content": "", "n": 1.0}),
    (
        "openai-responses",
        "reasoning, which the vendor binds",
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "reasoning", "id": "rs_2", "summary": []},
    ),
    (
        "openai-responses",
        "a reference",
        {"type": "item_reference", "id": "msg_1"},
        {"type": "item_reference", "id": "msg_2"},
    ),
    (
        "openai-responses",
        "a result that failed",
        {"type": "function_call_output", "call_id": "c", "output": "a", "status": "incomplete"},
        {"type": "function_call_output", "call_id": "c", "output": "a", "status": "completed"},
    ),
    (
        "google-gemini",
        "the spelling of what a call is given",
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a_b": 1}}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"aB": 1}}}]},
    ),
    (
        "google-gemini",
        "the spelling of what a call answers",
        {"parts": [{"functionResponse": {"name": "f", "response": {"found": [{"a_b": 1}]}}}]},
        {"parts": [{"functionResponse": {"name": "f", "response": {"found": [{"aB": 1}]}}}]},
    ),
    (
        "google-gemini",
        "the spelling of what a client keeps with a part",
        {"parts": [{"text": "a", "partMetadata": {"a_b": 1}}]},
        {"parts": [{"text": "a", "partMetadata": {"aB": 1}}]},
    ),
]


@pytest.mark.parametrize(
    ("format", "one", "other"), [(row[0], *row[2:]) for row in DIFFERENT], ids=[row[1] for row in DIFFERENT]
)
def test_they_differ(format: str, one: Json, other: Json) -> None:
    assert FORMATS[format].key(one) != FORMATS[format].key(other)


def test_keys_are_the_same_on_every_machine_and_in_every_version() -> None:
    key = FORMATS["anthropic-messages"].key({"role": "user", "content": "Grüße \ud800"})
    assert key.hex() == "14ddee4100f95c76c922176b65caa4c5"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
MESSAGES = st.dictionaries(
    st.sampled_from(["role", "content", "parts", "type", "output", "id", "status"]) | st.text(), JSON
)


@given(MESSAGES, MESSAGES)
def test_keys_are_equal_where_identities_are(one: dict[str, Any], other: dict[str, Any]) -> None:
    for format in FORMATS.values():
        same = repr(sorted_keys(format.identity(one))) == repr(sorted_keys(format.identity(other)))
        assert (format.key(one) == format.key(other)) == same
        assert format.identity(format.identity(one)) == format.identity(one)


def sorted_keys(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


def test_marks_are_taken_off_and_put_on_again() -> None:
    message: Json = {
        "role": "user",
        "content": [{**result([TEXT, {**TEXT, **MARK}])["content"][0]}, {**TEXT, **MARK}],
        **MARK,
    }
    plain = without_cache_marks(message)
    assert "cache_control" not in repr(plain)
    assert with_cache_marks(plain, message) == message
    assert without_cache_marks(plain) is plain
    assert with_cache_marks(plain, plain) is plain
    cut = {"role": "user", "content": [TEXT, {**TEXT, "text": "cut"}]}
    assert with_cache_marks(cut, {"role": "user", "content": [TEXT, {**TEXT, **MARK}]})["content"][1] == {
        **TEXT,
        "text": "cut",
        **MARK,
    }
    assert with_cache_marks(cut, {"role": "user", "content": [{**TEXT, **MARK}]}) is cut
