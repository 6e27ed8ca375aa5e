"""What a model said, read from a vendor's answer: which of our tools it calls, and what to send back for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from compact.app.recall_tools import RECALL, SEARCH
from compact.formats import FORMATS
from compact.messages import Json

OURS: Final = frozenset({RECALL, SEARCH})


@dataclass(frozen=True, slots=True)
class Called:
    """A call of one of our tools."""

    id: str
    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class Turn:
    """The model's turn, as it goes back into the conversation with nothing but our calls in it."""

    calls: tuple[Called, ...]
    wires: tuple[Json, ...] = field(repr=False)

    def answered(self, format: str, answers: list[str]) -> list[Json]:
        """The turn, and what our tools say to it."""
        pairs = list(zip(self.calls, answers, strict=True))
        if format == "anthropic-messages":
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in pairs]
            return [*self.wires, {"role": "user", "content": results}]
        if format == "openai-responses":
            outputs = [{"type": "function_call_output", "call_id": call.id, "output": text} for call, text in pairs]
            return [*self.wires, *outputs]
        return [*self.wires, *({"role": "tool", "tool_call_id": call.id, "content": text} for call, text in pairs)]


def read_turn(format: str, content: bytes, *, stream: bool) -> Turn | None:
    """The model's turn where it calls a tool of ours; None where it does not, or where the answer cannot be read."""
    try:
        told = _assembled(format, content) if stream else json.loads(content)
        return _READERS[format](told)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None


def offers(format: str, tools: Json) -> bool:
    """Whether tools of ours could be added to the client's, whose own must not be mistaken for them."""
    if tools is not None and not isinstance(tools, list):
        return False
    names = {tool.name for tool in FORMATS[format].read_tools([one for one in tools or [] if isinstance(one, dict)])}
    return not names & OURS


def no_calls(format: str) -> Json:
    """The choice of tools that lets the model call none."""
    return {"type": "none"} if format == "anthropic-messages" else "none"


def _chat(told: Mapping[str, Any]) -> Turn | None:
    message = told["choices"][0]["message"]
    calls = [call for call in message.get("tool_calls") or () if call.get("function", {}).get("name") in OURS]
    called = tuple(Called(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls)
    wire = {"role": "assistant", "content": message.get("content"), "tool_calls": calls}
    return Turn(called, (wire,)) if called else None


def _responses(told: Mapping[str, Any]) -> Turn | None:
    calls = [item for item in told["output"] if item.get("type") == "function_call" and item.get("name") in OURS]
    called = tuple(Called(item["call_id"], item["name"], item["arguments"]) for item in calls)
    # Reasoning stays with what it led to; the vendor numbers items itself where it did not keep them.
    kept = [item for item in told["output"] if item in calls or item.get("type") == "reasoning"]
    return Turn(called, tuple(kept)) if called else None


def _messages(told: Mapping[str, Any]) -> Turn | None:
    ours = [block for block in told["content"] if block["type"] == "tool_use" and block["name"] in OURS]
    called = tuple(Called(block["id"], block["name"], block["input"]) for block in ours)
    kept = [block for block in told["content"] if block["type"] != "tool_use" or block in ours]
    return Turn(called, ({"role": "assistant", "content": kept},)) if called else None


_READERS: Final = {"openai-chat": _chat, "openai-responses": _responses, "anthropic-messages": _messages}


def _events(content: bytes) -> Iterator[Mapping[str, Any]]:
    for line in content.replace(b"\r\n", b"\n").split(b"\n"):
        if line.startswith(b"data:") and (data := line[5:].strip()) != b"[DONE]":
            yield json.loads(data)


def _assembled(format: str, content: bytes) -> Mapping[str, Any]:
    """The answer that a stream adds up to, as far as calls are concerned."""
    if format == "openai-responses":
        return next(event["response"] for event in _events(content) if event.get("type") == "response.completed")
    if format == "anthropic-messages":
        return {"content": _assembled_blocks(content)}
    message: dict[str, Any] = {"content": "", "tool_calls": []}
    calls: dict[int, dict[str, Any]] = {}
    for event in _events(content):
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            message["content"] += delta.get("content") or ""
            for piece in delta.get("tool_calls") or ():
                _add_call(calls, piece)
    message["content"] = message["content"] or None
    message["tool_calls"] = list(calls.values())
    return {"choices": [{"message": message}]}


def _add_call(calls: dict[int, dict[str, Any]], piece: Mapping[str, Any]) -> None:
    function = piece.get("function") or {}
    call = calls.setdefault(piece["index"], {"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
    call["id"] = piece.get("id") or call["id"]
    call["function"]["name"] += function.get("name") or ""
    call["function"]["arguments"] += function.get("arguments") or ""


def _assembled_blocks(content: bytes) -> list[dict[str, Any]]:
    blocks: dict[int, dict[str, Any]] = {}
    arguments: dict[int, str] = {}
    for event in _events(content):
        if event.get("type") == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event.get("type") == "content_block_delta":
            delta, block = event["delta"], blocks[event["index"]]
            for kind in ("text", "thinking", "signature"):
                if f"{kind}_delta" == delta["type"]:
                    block[kind] = block.get(kind, "") + delta[kind]
            if delta["type"] == "input_json_delta":
                arguments[event["index"]] = arguments.get(event["index"], "") + delta["partial_json"]
    for index, text in arguments.items():
        blocks[index]["input"] = json.loads(text or "{}")
    return [blocks[index] for index in sorted(blocks)]
