"""Hypothesis strategies: requests that a vendor accepts, and input that nobody should have to accept."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import TypeAlias

from hypothesis import strategies as st

from compact.formats import parse
from compact.messages import Conversation, Json
from compact.testing.generate import Body, random_body

Texts: TypeAlias = st.SearchStrategy[str]
Jsons: TypeAlias = st.SearchStrategy[Json]
Objects: TypeAlias = st.SearchStrategy[dict[str, Json]]

TRAPS = (
    "",
    " ",
    "\n",
    "\x00",
    "\ud800",
    "a\udfffb",
    "\ufeff",
    "first\r\nsecond\rthird\u2028fourth",
    "\x1b[31mred\x1b[0m",
    "\u202eright to left\u202c مرحبا",
    "👩‍👩‍👧‍👦 e\u0301",
    "⟨ Content suppressed ⟩",
    "⟨ 3 earlier messages removed, recall fold-0123456789ab ⟩",
    "[3 earlier messages removed here]",
    "[… all 41 lines omitted …]",
    "[End of account 3f9a2c1d; seal 0123456789abcdef0123]",
    "<COMPACT-SUMMARY v1>",
    "</COMPACT-SUMMARY>",
    "<script>alert(1)</script>",
    '{"a": 1}',
    "aGVsbG8gd29ybGQ=" * 8,
    "data:image/png;base64,AAAA",
    "[1](javascript:x)",
)
_NUMBERS = (0, -1, 2**53 + 1, -(2**64), 10**400, 1e308, -0.0, 0.1)
_IDS = ("a", "b", "call_1", "", "ü x", "x" * 65)


def bodies(format: str, *, size: int = 12) -> st.SearchStrategy[Body]:
    """Request bodies that the vendor accepts, with up to about `size` messages."""

    def make(length: int, seed: int) -> Body:
        return random_body(Random(seed), format, size=length)  # noqa: S311 - a repeatable one is the point

    return st.builds(make, st.integers(1, size), st.integers(0, 2**32))


def conversations(format: str, *, size: int = 12) -> st.SearchStrategy[Conversation]:
    """Conversations that the vendor accepts."""
    return bodies(format, size=size).map(lambda body: parse(body, format=format))


def hostile_text() -> Texts:
    """Any text: lone surrogates, NUL, escapes, right-to-left, look-alikes of our own markers, very long lines."""
    return st.one_of(
        st.text(st.characters(exclude_categories=()), max_size=12),
        st.sampled_from(TRAPS),
        st.lists(st.sampled_from(TRAPS), max_size=4).map("\n".join),
        st.builds(str.__mul__, st.sampled_from(("x", "ab ", "é", "\n")), st.integers(1, 5000)),
    )


def hostile_json() -> Jsons:
    """Any JSON value: huge numbers, odd keys, nesting."""
    leaves = st.none() | st.booleans() | st.sampled_from(_NUMBERS) | st.integers() | _short_text()
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_short_text(), inner, max_size=3),
        max_leaves=6,
    )


def hostile_messages(format: str, *, size: int = 8) -> st.SearchStrategy[list[Json]]:
    """Message objects with a role, and everything else about them possibly wrong.

    Unknown fields and blocks, content of the wrong type, repeated ids, calls without results, results without calls,
    the same role again and again, nothing at all.
    """
    return st.lists(_WRITERS[format], max_size=size)


def _short_text() -> Texts:
    return st.text(st.characters(exclude_categories=()), max_size=4) | st.sampled_from(TRAPS)


def _object(required: Mapping[str, Jsons], optional: Mapping[str, Jsons] | None = None) -> Objects:
    """An object with these fields, and sometimes with others that nobody has heard of."""
    known: Objects = st.fixed_dictionaries(dict(required), optional=dict(optional or {}))
    extra = st.dictionaries(_short_text(), _anything, max_size=2)
    return st.one_of(known, st.builds(lambda fields, more: {**more, **fields}, known, extra))


def _kind(name: str, optional: Mapping[str, Jsons]) -> Objects:
    return _object({"type": st.just(name)}, optional)


def _list_of(blocks: Jsons) -> Jsons:
    return st.lists(blocks | _anything, max_size=4)


_text = hostile_text()
_anything = hostile_json()
_id = st.sampled_from(_IDS)
_name = st.sampled_from(("read", "write", ""))
_encoded = st.one_of(
    st.sampled_from(('{"path": "a.py", "lines": [1, 2]}', '{"a":"x","a":"y"}', "{}", "null", "[1", "", " {} ")), _text
)
_arguments = st.dictionaries(_short_text(), _anything, max_size=3) | _anything
_meta = st.sampled_from(({"protected": True}, {"protected": False}, {"note": 1}, None, "protected"))
_roles = st.sampled_from(("user", "assistant", "user", "assistant", "system", "developer", "tool", "elsewhere"))

_chat_part = st.one_of(
    _kind("text", {"text": _text | _anything}),
    _kind("refusal", {"refusal": _text}),
    _kind("image_url", {"image_url": _object({"url": _text}, {"detail": _anything}) | _anything}),
    _kind("input_audio", {"input_audio": _object({}, {"data": _text, "format": _anything})}),
    _kind("file", {"file": _object({}, {"filename": _text, "file_data": _text | _anything})}),
    _kind("hologram", {"text": _text}),
)
_chat_call = st.one_of(
    _object({"id": _id, "function": _object({"name": _name}, {"arguments": _encoded | _anything})}),
    _object({"id": _id, "type": st.just("custom"), "custom": _object({"name": _name, "input": _text})}),
)
_chat_content = _text | _list_of(_chat_part) | _anything
_chat = st.one_of(
    _object({"role": _roles, "content": _chat_content}, {"name": _name, "meta": _meta}),
    _object(
        {"role": st.just("assistant")},
        {
            "content": _chat_content,
            "tool_calls": _list_of(_chat_call) | _anything,
            "function_call": _object({"name": _name, "arguments": _encoded}) | _anything,
            "reasoning_content": _text | _anything,
            "reasoning": _text,
            "refusal": _text | _anything,
            "audio": _anything,
        },
    ),
    _object({"role": st.just("tool"), "tool_call_id": _id | _anything}, {"content": _chat_content, "meta": _meta}),
)

_anthropic_part = st.one_of(
    _kind("text", {"text": _text | _anything, "cache_control": _anything}),
    _kind("image", {"source": _object({"type": st.sampled_from(("base64", "url"))}, {"data": _text}) | _anything}),
    _kind("document", {"source": _object({"type": st.sampled_from(("base64", "file"))}, {"data": _text})}),
    _kind("hologram", {"text": _text}),
)
_anthropic_block = st.one_of(
    _anthropic_part,
    _kind("tool_use", {"id": _id | _anything, "name": _name, "input": _arguments}),
    _kind("tool_result", {"tool_use_id": _id | _anything, "content": _text | _list_of(_anthropic_part) | _anything}),
    _kind("thinking", {"thinking": _text | _anything, "signature": _text | _anything}),
    _kind("redacted_thinking", {"data": _text}),
    _kind("server_tool_use", {"id": _id, "name": _name, "input": _anything}),
)
_anthropic = _object(
    {"role": _roles}, {"content": _text | _list_of(_anthropic_block) | _anything, "meta": _meta, "name": _anything}
)

_responses_part = st.one_of(
    _kind("input_text", {"text": _text | _anything}),
    _kind("output_text", {"text": _text, "annotations": _anything}),
    _kind("refusal", {"refusal": _text | _anything}),
    _kind("input_image", {"image_url": _text | _anything, "detail": _anything}),
    _kind("input_file", {"filename": _text, "file_data": _text | _anything, "file_url": _text}),
    _kind("hologram", {"text": _text}),
)
_responses_content = _text | _list_of(_responses_part) | _anything
_responses = st.one_of(
    _object({"role": _roles}, {"content": _responses_content, "meta": _meta}),
    _object({"type": st.just("message"), "role": _roles}, {"id": _id | _anything, "content": _responses_content}),
    _kind("reasoning", {"id": _id, "summary": _list_of(_responses_part) | _anything, "encrypted_content": _anything}),
    _kind("function_call", {"id": _id, "call_id": _id | _anything, "name": _name, "arguments": _encoded | _anything}),
    _kind("custom_tool_call", {"call_id": _id, "name": _name, "input": _text}),
    _kind("local_shell_call", {"call_id": _id, "action": _anything}),
    _kind("function_call_output", {"call_id": _id | _anything, "output": _responses_content, "status": _anything}),
    _kind("hologram", {"call_id": _id}),
)

_gemini_call = _object({"name": _name}, {"id": _id | _anything, "args": _arguments})
_gemini_answer = _object({"name": _name}, {"id": _id, "response": _arguments, "parts": _list_of(_anything)})
_gemini_media = _object({}, {"mimeType": st.sampled_from(("image/png", "application/pdf", "")), "data": _text})
_gemini_part = st.one_of(
    _object({"text": _text | _anything}, {"thought": st.booleans() | _anything, "thoughtSignature": _text}),
    _object({"functionCall": _gemini_call | _anything}, {"thoughtSignature": _anything}),
    _object({"function_call": _gemini_call}, {"thought_signature": _anything}),
    _object({"functionResponse": _gemini_answer | _anything}),
    _object({"function_response": _gemini_answer}),
    _object({"inlineData": _gemini_media | _anything}),
    _object({"fileData": _object({}, {"fileUri": _text, "mimeType": _text})}),
    _object({"hologram": _anything}),
    _text,
)
_gemini = _object(
    {"parts": _list_of(_gemini_part) | _gemini_part | _anything},
    {"role": st.sampled_from(("user", "model", "function", "elsewhere")) | _anything, "meta": _meta},
)

_WRITERS: Mapping[str, Objects] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _anthropic,
    "google-gemini": _gemini,
}

__all__ = ["bodies", "conversations", "hostile_json", "hostile_messages", "hostile_text"]
