"""Anthropic Messages: reading and writing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from compact.errors import ConversionError
from compact.formats.anthropic.rules import RULES, VARIANTS
from compact.formats.format import (
    EACH_IN_TURN,
    NO_PARAMETERS,
    Evidence,
    Format,
    Turn,
    attachment,
    marked,
    opaque,
    part_kinds,
    read_message,
    read_parts,
    require_object,
    require_role,
    shortest,
    summary_role,
    system_message,
    text_of,
)
from compact.messages import (
    Alternation,
    Attachment,
    Block,
    Image,
    Json,
    Message,
    Neighbours,
    Opaque,
    Part,
    Path,
    Reasoning,
    State,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)

_ONLY_HERE = frozenset(
    {
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "server_tool_use",
        "document",
        "search_result",
        "compaction",
    }
)
_ORDINARY = frozenset(
    {
        *("", "text", "image", "document", "search_result", "container_upload", "server_tool_use", "mcp_tool_use"),
        *("mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "advisor_tool_result"),
        *("code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result"),
    }
)
"""What else is said and done; blocks of other kinds hold tools or state."""
_EVERYONE = frozenset({"user", "assistant", "system"})


def parse_message(wire: Json, id: str) -> Message:
    wire = require_object(wire, id)
    return read_message(wire, id, require_role(wire, id), read_parts(wire.get("content"), ("content",), _block))


def parse_system(wire: Json) -> Message:
    return system_message(wire, read_parts(wire, (), _block))


def _block(part: Json, path: Path) -> Block:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "tool_use":
        return ToolCall(text_of(part.get("id")), text_of(part.get("name")), part.get("input"), (*path, "input"))
    if kind == "tool_result":
        parts = tuple(read_parts(part.get("content"), (*path, "content"), _part))
        return ToolResult(text_of(part.get("tool_use_id")), parts, bool(part.get("is_error")), path)
    if kind == "thinking":
        return Reasoning(text_of(part.get("thinking")), text_of(part.get("signature")), path)
    if kind == "redacted_thinking":
        return Reasoning("", text_of(part.get("data")), path)
    return _part(part, path)


def _part(part: Json, path: Path) -> Part:
    if not isinstance(part, dict):
        return Opaque("", part, path)
    kind = text_of(part.get("type"))
    if kind == "text" and isinstance(part.get("text"), str):
        return Text(part["text"], (*path, "text"))
    source = part.get("source")
    if kind in ("image", "document") and isinstance(source, dict) and source.get("type") in ("base64", "url"):
        media_type = text_of(source.get("media_type"))
        if kind == "image":
            data, url = source.get("data"), source.get("url")
            return Image(media_type, text_of(data) or None, text_of(url) or None, None, path)
        return attachment(text_of(part.get("title")), media_type, (source.get("data"), source.get("url")), path)
    if kind == "compaction":
        return Opaque(kind, part, path, _compacted(part))
    if kind == "fallback":  # it marks a place, and the model does not read it
        return Opaque(kind, part, path, State(text=""))
    if kind == "server_tool_use" and text_of(part.get("name")).startswith("tool_search_tool"):
        return Opaque(kind, part, path, State())
    return opaque(kind, part, path, _ORDINARY)


def _compacted(part: dict[str, Json]) -> State:
    """What the API wrote for all that came before; without content it wrote nothing, and leaves nothing out."""
    text, sealed = text_of(part.get("content")), text_of(part.get("encrypted_content"))
    if not text and not sealed:
        return State(text="")
    if changes := part.get("tool_changes"):
        text += json.dumps(changes, ensure_ascii=False)
    return State(text, sealed, forgets=_EVERYONE)


def read_tools(tools: Sequence[Json]) -> tuple[Tool, ...]:
    return tuple(
        Tool(
            text_of(tool.get("name")) or text_of(tool.get("type")),
            text_of(tool.get("description")),
            NO_PARAMETERS if tool.get("input_schema") is None and _is_function(tool) else tool.get("input_schema"),
            tool,
        )
        for tool in tools
        if isinstance(tool, dict)
    )


def _is_function(tool: Mapping[str, Json]) -> bool:
    return text_of(tool.get("type")) in ("", "custom")


def evidence(wire: Mapping[str, Json]) -> Evidence:
    kinds = part_kinds(wire)
    if not _ONLY_HERE.isdisjoint(kinds) or (wire.get("type") == "message" and "stop_reason" in wire):
        return Evidence.PROOF
    parts = [part for part in wire["content"] if isinstance(part, dict)] if kinds else ()
    if "image" in kinds and any(part.get("type") == "image" and "source" in part for part in parts):
        return Evidence.PROOF
    # Routers take the marks of Anthropic's cache on Chat messages too.
    return Evidence.HINT if any("cache_control" in part for part in parts) else Evidence.NOTHING


def owns_tool(tool: Mapping[str, Json]) -> bool:
    return "input_schema" in tool


def summary(text: str, role: str, neighbours: Neighbours) -> Sequence[Json]:
    # What the system says between messages must be followed by the model.
    follows_system = neighbours[0] is not None and neighbours[0].role == "system"
    return [{"role": "assistant" if follows_system else summary_role(role, neighbours), "content": text}]


def compose(turns: Sequence[Turn]) -> list[Json]:
    """Results of one step stand together, first in the user message that follows the calls."""
    out: list[Json] = []
    answering = False
    for turn in turns:
        results = [_compose(block) for block in turn.blocks if isinstance(block, ToolResult)]
        others = [_compose(block) for block in turn.blocks if not isinstance(block, ToolResult)]
        role = "assistant" if turn.role == "assistant" else "user"
        if results and answering:
            out[-1] = marked({**out[-1], "content": [*out[-1]["content"], *results]}, turn)
            results = []
        if results or others:
            out.append(marked({"role": role, "content": shortest([*results, *others])}, turn))
        answering = not others and any(isinstance(block, ToolResult) for block in turn.blocks)
    if out and out[0]["role"] == "assistant":
        raise ConversionError("Anthropic Messages begins with the user; put the user's first words before the model's.")
    return out


def _compose(block: Block) -> Json:
    match block:
        case Text(text=text):
            return {"type": "text", "text": text}
        case ToolCall(id=id, name=name, arguments=arguments):
            return {"type": "tool_use", "id": id, "name": name, "input": arguments}
        case ToolResult(call_id=id, parts=parts, error=error):
            content = shortest([_compose(part) for part in parts])
            return {"type": "tool_result", "tool_use_id": id, "content": content} | (
                {"is_error": True} if error else {}
            )
        case Image(media_type=media_type, data=data, url=url):
            return {"type": "image", "source": _source(media_type, data, url)}
        case Attachment(name=name, media_type=media_type, data=data, url=url):
            return {"type": "document", "title": name or "document", "source": _source(media_type, data, url)}
    raise ConversionError(f"Anthropic Messages has no place for a {type(block).__name__}.")


def _source(media_type: str, data: str | None, url: str | None) -> Json:
    if data is not None:
        return {"type": "base64", "media_type": media_type, "data": data}
    return {"type": "url", "url": url}


def compose_tools(tools: Sequence[Tool]) -> list[Json]:
    return [{"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools]


FORMAT = Format(
    name="anthropic-messages",
    title="Anthropic Messages",
    messages_key="messages",
    system_key="system",
    tools_key="tools",
    variants=VARIANTS,
    parse_message=parse_message,
    parse_system=parse_system,
    read_tools=read_tools,
    evidence=evidence,
    owns_tool=owns_tool,
    summary=summary,
    compose=compose,
    compose_tools=compose_tools,
    rules=RULES,
    forgets_reasoning=True,
    alternations=dict.fromkeys(("bedrock", "strict"), Alternation(lambda message: message.role, EACH_IN_TURN)),
    lacks=frozenset({"free arguments", "instructions midway", "names"}),
    answer_paths=(("max_tokens",),),
    thinking_path=("thinking", "budget_tokens"),
)
