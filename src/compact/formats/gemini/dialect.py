"""Google Gemini contents: reading and writing.

Keys come in camelCase on the wire and in snake_case from Google's Python SDK; both are read, and kept as they came.
A function call without an id is known by its name, and by its place among the calls: a response's name may be another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compact.errors import ConversionError
from compact.formats.format import (
    NO_PARAMETERS,
    Evidence,
    Format,
    Turn,
    attachment,
    marked,
    opaque,
    read_message,
    require_object,
    summary_role,
    system_message,
    text_of,
)
from compact.formats.gemini.rules import RULES, VARIANTS
from compact.messages import (
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
    Text,
    Tool,
    ToolCall,
    ToolResult,
)

_ROLES = {"model": "assistant", "function": "tool"}
_BESIDE = frozenset(
    {
        *("thought", "thoughtSignature", "thought_signature", "partMetadata", "part_metadata"),
        *("videoMetadata", "video_metadata", "mediaResolution", "media_resolution"),
    }
)
"""What a part may say of itself, beside what it holds."""
_FREE = frozenset({"args", "response", "partMetadata"})
"""Fields with names of their own: arguments of a call, its response, and a client's notes on a part."""
_ORDINARY = frozenset(
    {
        *("", "text", "functionCall", "function_call", "functionResponse", "function_response"),
        *("inlineData", "inline_data", "fileData", "file_data", "executableCode", "executable_code"),
        *("codeExecutionResult", "code_execution_result", "toolCall", "tool_call", "toolResponse", "tool_response"),
        *("audioTranscription", "audio_transcription", "mediaProcessing", "media_processing"),
        *("speechMetadata", "speech_metadata"),
    }
)
"""What is said and done; parts of other kinds may hold anything."""


def parse_message(wire: Json, id: str) -> Message:
    wire = require_object(wire, id)
    role = text_of(wire.get("role")) or "user"
    return read_message(wire, id, _ROLES.get(role, role), _blocks(wire.get("parts"), ("parts",)))


def parse_system(wire: Json) -> Message:
    if isinstance(wire, dict):
        return system_message(wire, _blocks(wire.get("parts"), ("parts",)))
    return system_message(wire, _blocks(wire, ()))


def _blocks(parts: Json, path: Path) -> Iterator[Block]:
    if isinstance(parts, str):
        yield Text(parts, path)
    elif isinstance(parts, dict):
        yield _block(parts, path)
    elif isinstance(parts, list):
        for index, part in enumerate(parts):
            yield _block(part, (*path, index))
    elif parts is not None:
        yield Opaque("parts", parts, path)


def _block(part: Json, path: Path) -> Block:
    if isinstance(part, str):
        return Text(part, path)
    if not isinstance(part, dict):
        return Opaque("", part, path)
    if isinstance(text := part.get("text"), str):
        if part.get("thought") is True:
            return Reasoning(text, text_of(_get(part, "thoughtSignature")[1]), path)
        return Text(text, (*path, "text"), signed=_is_signed(part))
    for key, read in _READERS.items():
        found, inner = _get(part, key)
        if isinstance(inner, dict):
            return read(inner, (*path, found), part)
    return opaque(next((key for key in part if key not in _BESIDE), ""), part, path, _ORDINARY)


def _is_signed(part: Mapping[str, Json]) -> bool:
    return bool(_get(part, "thoughtSignature")[1])


def _get(part: Mapping[str, Json], key: str) -> tuple[str, Json]:
    """The value under the key in either spelling, and the spelling that was used."""
    if key in part:
        return key, part[key]
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
    return snake, part.get(snake)


def _call(inner: dict[str, Json], path: Path, part: Json) -> Block:
    name = text_of(inner.get("name"))
    id = text_of(inner.get("id")) or name
    return ToolCall(id, name, inner.get("args"), (*path, "args"), by_order=True, signed=_is_signed(part))


def _result(inner: dict[str, Json], path: Path, part: Json) -> Block:
    name = text_of(inner.get("name"))
    response = inner.get("response")
    parts: list[Part] = []
    if isinstance(response, dict):
        texts = {key: value for key, value in response.items() if isinstance(value, str)}
        parts += [Text(value, (*path, "response", key)) for key, value in texts.items()]
        frame = {key: "" if key in texts else value for key, value in response.items()}
        parts.append(Opaque("response", frame, (*path, "response")))
    elif response is not None:
        parts.append(Opaque("response", response, (*path, "response")))
    if isinstance(media := inner.get("parts"), list):
        parts += [Opaque("part", item, (*path, "parts", index)) for index, item in enumerate(media)]
    failed = isinstance(response, dict) and "error" in response
    return ToolResult(text_of(inner.get("id")) or name, tuple(parts), failed, path[:-1], by_order=True)


def _media(inner: dict[str, Json], path: Path, part: Json) -> Block:
    media_type = text_of(_get(inner, "mimeType")[1])
    data, url = inner.get("data"), _get(inner, "fileUri")[1]
    if media_type.startswith("image/"):
        return Image(media_type, text_of(data) or None, text_of(url) or None, None, path[:-1])
    return attachment(text_of(_get(inner, "displayName")[1]), media_type, (data, url), path[:-1])


_READERS = {"functionCall": _call, "functionResponse": _result, "inlineData": _media, "fileData": _media}


def read_tools(tools: Sequence[Json]) -> tuple[Tool, ...]:
    found = []
    for tool in tools:
        if not isinstance(tool, dict):
            continue
        _, declarations = _get(tool, "functionDeclarations")
        if not isinstance(declarations, list):
            found.append(Tool(next(iter(tool), ""), "", None, tool))
            continue
        for one in declarations:
            if isinstance(one, dict):
                schema = one.get("parameters", _get(one, "parametersJsonSchema")[1])
                schema = NO_PARAMETERS if schema is None else schema
                found.append(Tool(text_of(one.get("name")), text_of(one.get("description")), schema, one))
    return tuple(found)


def evidence(wire: Mapping[str, Json]) -> Evidence:
    return Evidence.PROOF if "parts" in wire and "content" not in wire else Evidence.NOTHING


def owns_tool(tool: Mapping[str, Json]) -> bool:
    return isinstance(_get(tool, "functionDeclarations")[1], list)


def text_part(text: str, role: str) -> Json:
    return {"text": text}


def summary(text: str, role: str, neighbours: Neighbours) -> Sequence[Json]:
    chosen = summary_role(role, neighbours)
    return [{"role": "model" if chosen == "assistant" else "user", "parts": [{"text": text}]}]


def compose(turns: Sequence[Turn]) -> list[Json]:
    """Write turns as contents.

    The responses to one step share a content, and follow-up text is in the next one. Text of the model right before its
    calls is in one content with them.
    """
    names = {block.id: block.name for turn in turns for block in turn.blocks if isinstance(block, ToolCall)}
    out: list[Json] = []
    answering = False
    for turn in turns:
        results = [_compose_result(block, names) for block in turn.blocks if isinstance(block, ToolResult)]
        others = [_compose(block) for block in turn.blocks if not isinstance(block, ToolResult)]
        if results and answering:
            out[-1] = marked({**out[-1], "parts": [*out[-1]["parts"], *results]}, turn)
        elif results:
            out.append(marked({"role": "user", "parts": results}, turn))
        role = "model" if turn.role == "assistant" else "user"
        called = any(isinstance(block, ToolCall) for block in turn.blocks)
        if others and called and out and out[-1]["role"] == role == "model" and not _calls_in(out[-1]):
            out[-1] = marked({**out[-1], "parts": [*out[-1]["parts"], *others]}, turn)
        elif others:
            out.append(marked({"role": role, "parts": others}, turn))
        answering = not others and any(isinstance(block, ToolResult) for block in turn.blocks)
    return out


def _calls_in(content: Json) -> bool:
    return any("functionCall" in part for part in content["parts"])


def _compose_result(result: ToolResult, names: Mapping[str, str]) -> Json:
    key = "error" if result.error else "output"
    name = names.get(result.call_id, result.call_id)
    return {"functionResponse": {"id": result.call_id, "name": name, "response": {key: result.text}}}


def _compose(block: Block) -> Json:
    match block:
        case Text(text=text):
            return {"text": text}
        case ToolCall(id=id, name=name, arguments=arguments):
            return {"functionCall": {"id": id, "name": name, "args": arguments}}
        case Image(media_type=media_type, data=data, url=url) | Attachment(media_type=media_type, data=data, url=url):
            if data is not None:
                return {"inlineData": {"mimeType": media_type, "data": data}}
            kind = media_type or ("image/*" if isinstance(block, Image) else "application/octet-stream")
            return {"fileData": {"mimeType": kind, "fileUri": url}}
    raise ConversionError(f"Gemini has no place for a {type(block).__name__}.")


def compose_system(text: str) -> Json:
    return {"parts": [{"text": text}]}


def compose_tools(tools: Sequence[Tool]) -> list[Json]:
    """Gemini refuses an object without properties: a function that takes nothing says nothing of parameters."""
    declarations = [
        {"name": tool.name, "description": tool.description}
        | ({} if tool.schema == NO_PARAMETERS else {"parameters": tool.schema})
        for tool in tools
    ]
    return [{"functionDeclarations": declarations}] if declarations else []


def identity(wire: Json) -> Json:
    """The content with its names in one spelling; what a call is given and answers is left as it is."""
    if not isinstance(wire, dict) or not isinstance(wire.get("parts"), list):
        return wire
    return {**wire, "parts": _in_camel_case(wire["parts"])}


def _in_camel_case(value: Json) -> Json:
    if isinstance(value, list):
        return [_in_camel_case(item) for item in value]
    if not isinstance(value, dict):
        return value
    named = {_camel_case(key): item for key, item in value.items()}
    return {name: item if name in _FREE else _in_camel_case(item) for name, item in named.items()}


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other[:1].upper() + other[1:] for other in others)


FORMAT = Format(
    name="google-gemini",
    title="Google Gemini",
    messages_key="contents",
    system_key="systemInstruction",
    tools_key="tools",
    variants=VARIANTS,
    parse_message=parse_message,
    parse_system=parse_system,
    read_tools=read_tools,
    evidence=evidence,
    owns_tool=owns_tool,
    text_part=text_part,
    identity=identity,
    summary=summary,
    compose=compose,
    compose_system=compose_system,
    compose_tools=compose_tools,
    rules=RULES,
    lacks=frozenset({"free arguments", "instructions midway", "media in results", "names"}),
    answer_paths=tuple(
        (config, limit)
        for config in ("generationConfig", "generation_config")
        for limit in ("maxOutputTokens", "max_output_tokens")
    ),
)
