"""What a model said, read from a vendor's answer: which of our tools it calls, and what to send back for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from compact.app.recall_tools import RECALL, SEARCH, recall_tools
from compact.formats import FORMATS
from compact.formats.format import Format, Turn
from compact.messages import Json, Text, ToolCall, ToolResult

OURS: Final = frozenset({RECALL, SEARCH})


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's turn, as it goes back into the conversation with no other calls in it than ours."""

    format: Format = field(repr=False)
    wires: tuple[Json, ...] = field(repr=False)
    calls: tuple[ToolCall, ...]

    def answered(self, answers: Sequence[str]) -> list[Json]:
        """The turn, and what our tools say to it."""
        results = [
            ToolResult(call.id, (Text(text, ()),), error=False, path=())
            for call, text in zip(self.calls, answers, strict=True)
        ]
        return [*self.wires, *self.format.compose([Turn("user", tuple(results))])]


def read_reply(format: str, content: bytes, *, stream: bool) -> Reply | None:
    """The model's turn where it calls a tool of ours; None where it does not, or where the answer cannot be read."""
    known = FORMATS[format]
    try:
        told = _assembled(format, content) if stream else json.loads(content)
        wires = tuple(_READERS[format](told))
        calls = tuple(call for wire in wires for call in known.parse_message(wire, "").calls)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    return Reply(known, wires, calls) if calls else None


def with_recall_tools(format: str, tools: Json) -> list[Json]:
    """The client's tools and ours; none at all where its own could be mistaken for them."""
    if tools is not None and not isinstance(tools, list):
        return []
    names = {tool.name for tool in FORMATS[format].read_tools([one for one in tools or [] if isinstance(one, dict)])}
    return [] if names & OURS else [*(tools or []), *recall_tools(format)]


def no_calls(format: str) -> Json:
    """The choice of tools that lets the model call none."""
    return {"type": "none"} if format == "anthropic-messages" else "none"


def _chat(told: Mapping[str, Any]) -> list[Json]:
    message = told["choices"][0]["message"]
    calls = [call for call in message.get("tool_calls") or () if call.get("function", {}).get("name") in OURS]
    return [{"role": "assistant", "content": message.get("content"), "tool_calls": calls}]


def _responses(told: Mapping[str, Any]) -> list[Json]:
    # Reasoning stays with what it led to; the vendor numbers items itself where it did not keep them.
    kept = [item for item in told["output"] if item.get("type") in ("reasoning", "function_call")]
    return [item for item in kept if item["type"] == "reasoning" or item.get("name") in OURS]


def _messages(told: Mapping[str, Any]) -> list[Json]:
    kept = [block for block in told["content"] if block["type"] != "tool_use" or block["name"] in OURS]
    return [{"role": "assistant", "content": kept}]


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
