"""OpenAI Chat Completions: reading and writing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from compact.errors import ConversionError
from compact.formats.format import (
    NO_PARAMETERS,
    Evidence,
    Format,
    Turn,
    attachment,
    data_url,
    image,
    marked,
    opaque,
    part_kinds,
    read_message,
    read_parts,
    require_object,
    require_role,
    shortest,
    text_of,
)
from compact.formats.openai_chat.compatibles import ALTERNATIONS
from compact.formats.openai_chat.rules import RULES, VARIANTS
from compact.messages import (
    Attachment,
    Block,
    Image,
    Json,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)

_REASONING_KEYS = ("reasoning_content", "reasoning")
_PARTS_ONLY_HERE = frozenset({"image_url", "input_audio", "file"})
_ORDINARY = frozenset(
    {
        *("", "text", "refusal", "image_url", "input_audio", "file"),
        # What compatible servers and routers take beside them.
        *("thinking", "redacted_thinking", "reasoning", "reference", "search_result"),
        *("audio_url", "video_url", "document_url", "image", "video", "document", "input_image", "input_file"),
    }
)
"""Parts that say something; parts of other kinds may hold anything."""


def parse_message(wire: Json, id: str) -> Message:
    wire = require_object(wire, id)
    role = require_role(wire, id)
    if role in ("tool", "function"):
        call_id = text_of(wire.get("tool_call_id")) or text_of(wire.get("name"))
        return read_message(wire, id, "tool", (ToolResult(call_id, tuple(_parts(wire)), False, ()),))
    return read_message(wire, id, role, _blocks(wire))


def parse_system(wire: Json) -> Message:
    """A system prompt given beside the messages is sent as the first of them."""
    return parse_message({"role": "system", "content": wire}, "system")


def _blocks(wire: dict[str, Json]) -> Iterator[Block]:
    for key in _REASONING_KEYS:
        if isinstance(thought := wire.get(key), str):
            yield Reasoning(thought, "", (key,))
    yield from _parts(wire)
    if isinstance(refusal := wire.get("refusal"), str):
        yield Text(refusal, ("refusal",))
    if audio := wire.get("audio"):
        yield Opaque("audio", audio, ("audio",))
    calls = wire.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        yield _call(call, ("tool_calls", index))
    if isinstance(legacy := wire.get("function_call"), dict):
        name = text_of(legacy.get("name"))
        yield ToolCall(name, name, legacy.get("arguments"), ("function_call", "arguments"))


def _call(call: Json, path: Path) -> Block:
    if isinstance(call, dict):
        for kind, field in (("function", "arguments"), ("custom", "input")):
            if isinstance(inner := call.get(kind), dict):
                name = text_of(inner.get("name"))
                return ToolCall(text_of(call.get("id")), name, inner.get(field), (*path, kind, field))
    return Opaque("tool_call", call, path)


def _parts(wire: dict[str, Json]) -> Iterator[Part]:
    return read_parts(wire.get("content"), ("content",), _part)


def _part(part: Json, path: Path) -> Part:
    if not isinstance(part, dict):
        return Opaque("", part, path)
    kind = text_of(part.get("type"))
    inner = part.get(kind)
    if kind in ("text", "refusal") and isinstance(inner, str):
        return Text(inner, (*path, kind))
    if kind == "image_url" and isinstance(inner, dict) and isinstance(inner.get("url"), str):
        return image(inner["url"], inner.get("detail"), path)
    if kind == "input_audio" and isinstance(inner, dict):
        return attachment("audio", f"audio/{text_of(inner.get('format'))}", (inner.get("data"), None), path)
    if kind == "file" and isinstance(inner, dict):
        name = text_of(inner.get("filename")) or text_of(inner.get("file_id"))
        return attachment(name, "", (inner.get("file_data"), None), path)
    return opaque(kind, part, path, _ORDINARY)


def read_tools(tools: Sequence[Json]) -> tuple[Tool, ...]:
    found = []
    for tool in tools:
        if isinstance(tool, dict):
            inner = tool.get("function", tool)
            inner = inner if isinstance(inner, dict) else tool
            name = text_of(inner.get("name")) or text_of(tool.get("type"))
            schema = inner.get("parameters")
            if schema is None and text_of(tool.get("type")) in ("", "function"):
                schema = NO_PARAMETERS
            found.append(Tool(name, text_of(inner.get("description")), schema, tool))
    return tuple(found)


def evidence(wire: Mapping[str, Json]) -> Evidence:
    if "tool_calls" in wire or "tool_call_id" in wire or not _PARTS_ONLY_HERE.isdisjoint(part_kinds(wire)):
        return Evidence.PROOF
    if wire.get("role") in ("tool", "function") and "parts" not in wire:
        return Evidence.PROOF
    return Evidence.HINT if wire.get("role") in ("system", "developer") else Evidence.NOTHING


def owns_tool(tool: Mapping[str, Json]) -> bool:
    return isinstance(tool.get("function"), dict)


def compose(turns: Sequence[Turn]) -> list[Json]:
    """Each result is a message of its own; calls ride on the assistant message."""
    out: list[Json] = []
    for turn in turns:
        calls = [_compose_call(block) for block in turn.blocks if isinstance(block, ToolCall)]
        parts = [_compose(block) for block in turn.blocks if not isinstance(block, ToolCall | ToolResult)]
        for block in turn.blocks:
            if isinstance(block, ToolResult):
                content = shortest([_compose(part) for part in block.parts])
                out.append(marked({"role": "tool", "tool_call_id": block.call_id, "content": content}, turn))
        if calls:
            content = shortest(parts) if parts else None
            out.append(marked({"role": "assistant", "content": content, "tool_calls": calls}, turn))
        elif parts:
            wire = {"role": turn.role, "content": shortest(parts)}
            out.append(marked(wire | ({"name": turn.name} if turn.name else {}), turn))
    return out


def _compose_call(call: ToolCall) -> Json:
    raw = call.raw if isinstance(call.raw, str) else json.dumps(call.raw, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": raw}}


def _compose(block: Block) -> Json:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(media_type=media_type, data=data, url=url, detail=detail):
            inner = {"url": data_url(media_type, data) if data is not None else url}
            return {"type": "image_url", "image_url": inner | ({"detail": detail} if detail else {})}
        case Attachment(name=name, media_type=media_type, data=str(data)):
            return {"type": "file", "file": {"filename": name or "file", "file_data": data_url(media_type, data)}}
    raise ConversionError(f"Chat Completions has no place for a {type(block).__name__}.")


def compose_system(text: str) -> Json:
    return {"role": "system", "content": text}


def compose_tools(tools: Sequence[Tool]) -> list[Json]:
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
        }
        for tool in tools
    ]


FORMAT = Format(
    name="openai-chat",
    title="OpenAI Chat Completions",
    messages_key="messages",
    system_key="",
    tools_key="tools",
    variants=VARIANTS,
    parse_message=parse_message,
    parse_system=parse_system,
    read_tools=read_tools,
    evidence=evidence,
    owns_tool=owns_tool,
    compose=compose,
    compose_system=compose_system,
    compose_tools=compose_tools,
    rules=RULES,
    alternations=ALTERNATIONS,
    lacks=frozenset({"error flags", "file addresses"}),
    answer_paths=(("max_completion_tokens",), ("max_tokens",)),
    thinking_path=("thinking", "budget_tokens"),  # as LiteLLM and OpenRouter pass it on to Anthropic
)
