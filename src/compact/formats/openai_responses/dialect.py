"""OpenAI Responses: reading and writing. Every item is a message of its own."""

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
    system_message,
    text_of,
)
from compact.formats.identity import join_lone_text
from compact.formats.openai_responses.rules import RULES, VARIANTS
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
    State,
    Text,
    Tool,
    ToolCall,
    ToolResult,
)

_ARGUMENT_KEYS = ("arguments", "input", "action", "operation")
_PARTS_ONLY_HERE = frozenset({"input_text", "output_text", "input_image", "input_file"})
_ORDINARY_PARTS = frozenset(
    {"", "text", "refusal", "input_audio", "output_audio", "summary_text", "reasoning_text", *_PARTS_ONLY_HERE}
)
_TEXTS = ("input_text", "output_text")
_ORDINARY_ITEMS = frozenset(
    {
        *("item_reference", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"),
        *("mcp_call", "computer_call", "local_shell_call", "shell_call", "apply_patch_call", "function_call"),
        *("custom_tool_call", "local_shell_call_output", "shell_call_output", "apply_patch_call_output"),
        *("computer_call_output", "function_call_output", "custom_tool_call_output"),
    }
)
"""What else is said and done; items of other kinds hold tools, settings or state."""
_UNBOUND_ITEMS = frozenset(
    {
        *("", "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"),
        *("local_shell_call_output", "shell_call", "shell_call_output", "apply_patch_call", "apply_patch_call_output"),
    }
)
"""Items that the vendor takes with another id than it gave them, or with none."""
_UNFAILED = ("in_progress", "completed", None)
_COMPACTIONS = ("compaction", "compaction_summary")
# To be read again, `/responses/compact` hands out what users said before its item; what the model did it never does.
_MODELS_OWN = frozenset({"assistant", "tool"})


def parse_message(wire: Json, id: str) -> Message:
    wire = require_object(wire, id)
    kind = text_of(wire.get("type"))
    if kind in ("", "message"):
        return read_message(wire, id, require_role(wire, id), read_parts(wire.get("content"), ("content",), _part))
    if kind == "reasoning":
        return read_message(wire, id, "assistant", (_reasoning(wire),))
    if kind == "mcp_approval_request":  # to which the application's answer refers
        asked, name = text_of(wire.get("id")), text_of(wire.get("name")) or kind
        return read_message(wire, id, "assistant", (ToolCall(asked, name, wire.get("arguments"), ("arguments",)),))
    if kind == "mcp_approval_response":
        return read_message(wire, id, "tool", (ToolResult(text_of(wire.get("approval_request_id")), (), False, ()),))
    pinned = kind not in _ORDINARY_ITEMS
    if "call_id" in wire and kind.endswith("_output"):
        failed = wire.get("status") in ("failed", "incomplete")
        result = ToolResult(text_of(wire["call_id"]), tuple(_answered(wire)), failed, ())
        return read_message(wire, id, "tool", (result,), pinned=pinned)
    if "call_id" in wire:
        call = _call(wire, kind)
        rest = (Opaque(kind, wire, ()),) if call.raw is None and pinned else ()
        return read_message(wire, id, "assistant", (call, *rest), pinned=pinned)
    block = Opaque(kind, wire, (), _state(wire) if pinned else None)
    return read_message(wire, id, text_of(wire.get("role")) or "assistant", (block,))


def _answered(wire: dict[str, Json]) -> Iterator[Part]:
    """What a tool answered, and what else the vendor or the application did: tools that were found, say."""
    if "tools" in wire or "output" not in wire:
        yield Opaque(text_of(wire.get("type")), wire, (), _state(wire))
    yield from read_parts(wire.get("output"), ("output",), _part)


def _state(wire: dict[str, Json]) -> State:
    """What an item holds that only the vendor can read, or that says which tools there are."""
    if wire.get("type") in _COMPACTIONS:
        return State(sealed=text_of(wire.get("encrypted_content")), forgets=_MODELS_OWN)
    tools = wire.get("tools")
    return State(tools=read_tools(tools)) if isinstance(tools, list) else State()


def parse_system(wire: Json) -> Message:
    return system_message(wire, read_parts(wire, (), _part))


def _call(wire: dict[str, Json], kind: str) -> ToolCall:
    key = next((key for key in _ARGUMENT_KEYS if key in wire), None)
    name = text_of(wire.get("name")) or kind
    if key is None:
        return ToolCall(text_of(wire["call_id"]), name, None, ("arguments",))
    return ToolCall(text_of(wire["call_id"]), name, wire[key], (key,))


def _reasoning(wire: dict[str, Json]) -> Reasoning:
    texts = [
        text_of(part.get("text"))
        for key in ("summary", "content")
        if isinstance(parts := wire.get(key), list)
        for part in parts
        if isinstance(part, dict)
    ]
    return Reasoning("\n".join(texts), text_of(wire.get("encrypted_content")), ())


def _part(part: Json, path: Path) -> Part:
    if not isinstance(part, dict):
        return Opaque("", part, path)
    kind = text_of(part.get("type"))
    if kind in ("input_text", "output_text", "text") and isinstance(part.get("text"), str):
        return Text(part["text"], (*path, "text"))
    if kind == "refusal" and isinstance(part.get("refusal"), str):
        return Text(part["refusal"], (*path, "refusal"))
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return image(part["image_url"], part.get("detail"), path)
    if kind == "input_file":
        name = text_of(part.get("filename")) or text_of(part.get("file_id"))
        return attachment(name, "", (part.get("file_data"), part.get("file_url")), path)
    return opaque(kind, part, path, _ORDINARY_PARTS)


def read_tools(tools: Sequence[Json]) -> tuple[Tool, ...]:
    """The tools, those of a namespace behind it."""
    found: list[Tool] = []
    for tool in tools:
        if isinstance(tool, dict):
            name, described = text_of(tool.get("name")) or text_of(tool.get("type")), text_of(tool.get("description"))
            inner = tool.get("tools") if tool.get("type") == "namespace" else None
            if isinstance(inner, list):
                found += (Tool(name, described, None, {"type": "namespace"}), *read_tools(inner))
            else:
                nothing = tool.get("parameters") is None and owns_tool(tool)
                found.append(Tool(name, described, NO_PARAMETERS if nothing else tool.get("parameters"), tool))
    return tuple(found)


def evidence(wire: Mapping[str, Json]) -> Evidence:
    kinds = part_kinds(wire)
    if not _PARTS_ONLY_HERE.isdisjoint(kinds) or (isinstance(wire.get("type"), str) and "role" not in wire):
        return Evidence.PROOF
    # Anthropic's SDK types its messages too, but their text parts are of a type that Responses does not have.
    return Evidence.SIGN if wire.get("type") == "message" and "text" not in kinds else Evidence.NOTHING


def owns_tool(tool: Mapping[str, Json]) -> bool:
    return tool.get("type") == "function" and not isinstance(tool.get("function"), dict)


def text_part(text: str, role: str) -> Json:
    return {"type": "output_text" if role == "assistant" else "input_text", "text": text}


def edited(wire: Json) -> Json:
    """An item id names what the vendor stored; edited content is not that."""
    return {key: value for key, value in wire.items() if key != "id"} if "id" in wire else wire


def identity(wire: Json) -> Json:
    """The item without the id and the status that the vendor gave it, where it does not need them."""
    if not isinstance(wire, dict) or text_of(wire.get("type")) not in _UNBOUND_ITEMS:
        return wire
    kept = {key: value for key, value in wire.items() if key != "id" and (key != "status" or value not in _UNFAILED)}
    return join_lone_text(join_lone_text(kept, "content", _TEXTS), "output", _TEXTS)


def compose(turns: Sequence[Turn]) -> list[Json]:
    out: list[Json] = []
    for turn in turns:
        parts: list[Json] = []
        for block in turn.blocks:
            match block:
                case ToolCall(id=id, name=name, raw=raw):
                    arguments = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
                    out += _message(turn, parts)
                    parts = []
                    call = {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}
                    out.append(marked(call, turn))
                case ToolResult(call_id=id, parts=inner):
                    output = shortest([_compose(part, "user") for part in inner])
                    out.append(marked({"type": "function_call_output", "call_id": id, "output": output}, turn))
                case _:
                    parts.append(_compose(block, turn.role))
        out += _message(turn, parts)
    return out


def _message(turn: Turn, parts: list[Json]) -> list[Json]:
    return [marked({"role": turn.role, "content": shortest(parts)}, turn)] if parts else []


def _compose(block: Block, role: str) -> Json:
    match block:
        case Text(text=text):
            return text_part(text, role)
        case Image(media_type=media_type, data=data, url=url, detail=detail):
            address = data_url(media_type, data) if data is not None else url
            return {"type": "input_image", "image_url": address, "detail": detail or "auto"}
        case Attachment(name=name, media_type=media_type, data=data, url=url):
            if data is not None:
                return {"type": "input_file", "filename": name or "file", "file_data": data_url(media_type, data)}
            if url is not None:
                return {"type": "input_file", "file_url": url}
    raise ConversionError(f"Responses has no place for a {type(block).__name__}.")


def compose_tools(tools: Sequence[Tool]) -> list[Json]:
    return [
        {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema}
        for tool in tools
    ]


FORMAT = Format(
    name="openai-responses",
    title="OpenAI Responses",
    messages_key="input",
    system_key="instructions",
    tools_key="tools",
    variants=VARIANTS,
    parse_message=parse_message,
    parse_system=parse_system,
    read_tools=read_tools,
    evidence=evidence,
    owns_tool=owns_tool,
    text_part=text_part,
    edited=edited,
    identity=identity,
    compose=compose,
    compose_tools=compose_tools,
    rules=RULES,
    lacks=frozenset({"error flags", "names"}),
    answer_paths=(("max_output_tokens",),),
)
