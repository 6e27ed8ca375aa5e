"""What the vendors' own SDKs say a request is, and what their guides say of calls and results.

Nothing here comes from Compact, so that a mistake in its rules cannot hide in the judge.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Required

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator
from typing_extensions import TypedDict

_TYPES = {
    "openai-chat": ("openai.types.chat.completion_create_params", "CompletionCreateParamsNonStreaming"),
    "openai-responses": ("openai.types.responses.response_create_params", "ResponseCreateParamsNonStreaming"),
    "anthropic-messages": ("anthropic.types.beta.message_create_params", "MessageCreateParamsNonStreaming"),
    "google-gemini": ("google.genai.types", "Content"),
}


@dataclass(frozen=True, slots=True)
class Unknown:
    """A shape that the vendor takes although its SDK has no type for it: why, and the same as the SDK knows it."""

    reason: str
    fits: Callable[[Mapping[str, Any]], bool]
    known: Callable[[Mapping[str, Any]], dict[str, Any]]


UNKNOWN: Mapping[str, Sequence[Unknown]] = {
    "openai-chat": [
        Unknown(
            "DeepSeek gives reasoning_content with an answer and wants it back; OpenAI's SDK lets it pass untyped.",
            lambda each: each.get("role") == "assistant" and "reasoning_content" in each,
            lambda each: {key: value for key, value in each.items() if key != "reasoning_content"},
        ),
    ],
    "openai-responses": [
        Unknown(
            "The API sets strict itself where a tool leaves it out; the SDK's type requires the key.",
            lambda each: each.get("type") == "function" and "parameters" in each and "strict" not in each,
            lambda each: {**each, "strict": None},
        ),
        Unknown(
            "What the model said may be sent without the id it came with; the SDK's type requires id and status.",
            lambda each: each.get("role") == "assistant" and isinstance(each.get("content"), list) and "id" not in each,
            lambda each: {**each, "id": "msg_1", "status": "completed"},
        ),
        Unknown(
            "The API gives a status with a custom tool call and takes it back; the SDK's type of input has none.",
            lambda each: each.get("type") == "custom_tool_call" and "status" in each,
            lambda each: {key: value for key, value in each.items() if key != "status"},
        ),
        Unknown(
            "Like every item, a call of the local shell may be sent without its id; the SDK's type requires it.",
            lambda each: each.get("type") == "local_shell_call" and "id" not in each,
            lambda each: {**each, "id": "lsh_1"},
        ),
        Unknown(
            "The API pairs the local shell's output by call_id, as its errors say; the SDK's type calls that id.",
            lambda each: each.get("type") == "local_shell_call_output" and "call_id" in each,
            lambda each: {("id" if key == "call_id" else key): value for key, value in each.items() if key != "id"},
        ),
        Unknown(
            "The generator makes an item of a kind that does not exist yet, which must be passed on all the same.",
            lambda each: each.get("type") == "from_next_year",
            lambda each: {"type": "item_reference", "id": each["state"]},
        ),
    ],
    "anthropic-messages": [],
    "google-gemini": [
        Unknown(
            "Google reads fields in camel and in snake case; the SDK's models do, and this one is beside them.",
            lambda each: "system_instruction" in each,
            lambda each: {
                ("systemInstruction" if key == "system_instruction" else key): value for key, value in each.items()
            },
        ),
    ],
}


def as_known(format: str, value: Any, shapes: Sequence[Unknown] | None = None) -> Any:
    """The body with the shapes that the SDK does not know written as it knows them."""
    shapes = UNKNOWN[format] if shapes is None else shapes
    if isinstance(value, list):
        return [as_known(format, each, shapes) for each in value]
    if not isinstance(value, dict):
        return value
    for shape in shapes:
        if shape.fits(value):
            value = shape.known(value)
    return {key: as_known(format, each, shapes) for key, each in value.items()}


def type_problems(format: str, body: Mapping[str, Any]) -> list[str]:
    """Where the body is not what the SDK's types say, and why."""
    try:
        # Google's models read bytes and enumerations from strings.
        _validator(format).validate_python(body, strict=format != "google-gemini")
    except ValidationError as error:
        return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
    return []


@cache
def _validator(format: str) -> SchemaValidator:
    """Every list is read to its end, and a field that the SDK does not know is refused."""
    module, name = _TYPES[format]
    try:
        types = _gemini() if format == "google-gemini" else getattr(importlib.import_module(module), name)
    except ImportError as error:
        pytest.fail(f"{module} is not installed (make setup), so nothing independent judges {format}: {error}")
    return SchemaValidator(_closed(TypeAdapter(types).core_schema))


def _gemini() -> Any:
    """The SDK has models of the parts of a request; the request itself it writes by hand."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the SDK has escapes in its texts that Python warns of
        from google.genai import types

    known: dict[str, Any] = {
        "model": str,
        "contents": Required[list[types.Content]],
        "systemInstruction": types.Content,
        "tools": list[types.Tool],
        "toolConfig": types.ToolConfig,
        "generationConfig": types.GenerationConfig,
    }
    return TypedDict("Body", known, total=False)  # type: ignore[operator]  # made from what the SDK has


def _closed(schema: Any) -> Any:
    if isinstance(schema, dict):
        closed = {key: _closed(value) for key, value in schema.items()}
        if closed.get("type") == "generator":  # read only when somebody asks for it, so nothing in it is judged
            closed["type"] = "list"
        if closed.get("type") in ("typed-dict", "model-fields") and "extras_schema" not in closed:
            closed["extra_behavior"] = "forbid"
        return closed
    return [_closed(each) for each in schema] if isinstance(schema, list) else schema


def pairing_problems(format: str, body: Mapping[str, Any]) -> list[str]:
    """Where a call has no result or a result no call, by what the vendors' guides say in a sentence each."""
    return _PAIRINGS[format](body)


def _chat(body: Mapping[str, Any]) -> list[str]:
    """OpenAI: tool messages with the ids of its calls directly follow an assistant message."""
    found: list[str] = []
    waiting: list[str] = []
    for message in [*body["messages"], {"role": "end"}]:
        if message["role"] == "tool":
            if message["tool_call_id"] in waiting:
                waiting.remove(message["tool_call_id"])
            else:
                found.append(f"{message['tool_call_id']} answers no call before it")
            continue
        found += [f"{id} is not answered" for id in waiting]
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
    return found


def _responses(body: Mapping[str, Any]) -> list[str]:
    """OpenAI: an output follows the call with its call_id, and no call is without."""
    found: list[str] = []
    waiting: list[tuple[str, str]] = []
    for item in body["input"] if isinstance(body["input"], list) else ():
        kind = str(item.get("type", ""))
        # A search of tools that the vendor runs itself has no call_id.
        if kind.endswith("_call") and item.get("call_id"):
            answer = "tool_search_output" if kind == "tool_search_call" else f"{kind}_output"
            waiting.append((answer, item["call_id"]))
        elif kind.endswith("_output") and item.get("call_id"):
            if (kind, id := item.get("call_id")) in waiting:
                waiting.remove((kind, id))
            else:
                found.append(f"{id} answers no call before it")
    return [*found, *(f"{id} is not answered" for _, id in waiting)]


def _anthropic(body: Mapping[str, Any]) -> list[str]:
    """Anthropic: each tool_use has its tool_result in the next turn; neighbours of one role are one turn."""
    turns: list[tuple[str, list[Any]]] = []
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        if not turns or turns[-1][0] != message["role"]:
            turns.append((message["role"], []))
        turns[-1][1].extend(blocks)
    found: list[str] = []
    waiting: list[str] = []
    for _, blocks in [*turns, ("end", [])]:
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(waiting):
            found.append(f"{waiting} were called, {results} answered")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
    return found


def _gemini_turns(body: Mapping[str, Any]) -> list[str]:
    """Google: a turn with function calls is followed by one with as many function responses."""
    found: list[str] = []
    calls = 0
    for content in [*body["contents"], {"parts": []}]:
        parts = content.get("parts", [])
        answers = sum("functionResponse" in part or "function_response" in part for part in parts)
        if answers != calls:
            found.append(f"{calls} calls, {answers} responses")
        calls = sum("functionCall" in part or "function_call" in part for part in parts)
    return found


_PAIRINGS: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _anthropic,
    "google-gemini": _gemini_turns,
}
