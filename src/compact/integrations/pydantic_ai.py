"""For Pydantic AI: a capability that compacts what an agent's model is asked, and leaves the message history alone.

agent = Agent(model, capabilities=[Compact(manager)])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from compact.integrations.sending import Wire, chat_tool, going_on, is_models_own, json_text, usable_id

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        BinaryContent,
        ImageUrl,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        ThinkingPart,
        ToolCallPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.settings import ModelSettings
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: install compact-context[pydantic-ai]", name=error.name) from error

if TYPE_CHECKING:
    from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
    from pydantic_ai.tools import RunContext

    from compact import CompactManager

Place: TypeAlias = tuple[int, int]
"""Where a part stands: its message, and its place there; a response goes as one."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a request, or a whole response, as Chat Completions has it; `plain` if an edit can be put back."""

    place: Place
    wire: Wire
    plain: bool = True


class Compact(AbstractCapability[Any]):
    """Keeps the requests of an agent within the model's window; the message history stays as it is.

    The session is the agent's conversation unless it is named here, by its id or by a function of the run. Where
    compaction fails the request goes as it is, and the error is logged; `strict` raises it. A request or response with
    `metadata={"protected": True}` is never pruned.
    """

    def __init__(
        self,
        manager: CompactManager,
        session_id: str | Callable[[RunContext[Any]], str] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self._manager = manager
        self._session_id = session_id
        self._strict = strict

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Compact what the model is to see in this request."""
        with going_on(self._session_id, strict=self._strict):
            messages = list(request_context.messages)
            pieces = list(to_pieces(messages))
            parameters = request_context.model_request_parameters
            settings = request_context.model_settings or ModelSettings()
            body = _body(parameters, [piece.wire for piece in pieces], settings)
            done = await self._manager.aprepare(self._session(ctx), body, system=_system(parameters))
            request_context.messages = from_wires(done.messages, pieces, messages)
            if done.max_tokens is not None:
                request_context.model_settings = settings | ModelSettings(max_tokens=done.max_tokens)
        return request_context

    def _session(self, ctx: RunContext[Any]) -> str:
        if self._session_id is not None:
            return self._session_id if isinstance(self._session_id, str) else self._session_id(ctx)
        return usable_id(str(ctx.conversation_id or ctx.run_id))


def to_pieces(messages: Sequence[ModelMessage]) -> Iterator[Piece]:
    """The messages as Chat Completions has them: each part of a request, and each response, is one."""
    for number, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            pieces: Iterable[Piece] = [_response(message, (number, 0))]
        else:
            pieces = (_part(part, (number, at)) for at, part in enumerate(message.parts))
        protected = {"meta": {"protected": True}} if (message.metadata or {}).get("protected") else {}
        for piece in pieces:
            wire = {**piece.wire, **protected, "id": f"{number}.{piece.place[1]}"}
            yield Piece(piece.place, wire, piece.plain)


def from_wires(sent: Sequence[Wire], pieces: Sequence[Piece], messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """What is to be sent: the very objects where they are unchanged."""
    known = {piece.wire["id"]: piece for piece in pieces}
    out: list[ModelMessage] = []
    places = [(known.get(wire.get("id", "")), at) for at, wire in enumerate(sent)]
    for number, group in groupby(places, lambda found: found[0].place[0] if found[0] else -1 - found[1]):
        if number < 0:
            out.append(_summary(sent, -1 - number))
        else:
            kept = [(piece, sent[at]) for piece, at in group if piece]
            out.append(_restored(messages[number], kept))
    return out


def _restored(message: ModelMessage, kept: Sequence[tuple[Piece, Wire]]) -> ModelMessage:
    if isinstance(message, ModelResponse):
        return _edited_response(message, *kept[0])
    parts = [_edited_part(message.parts[piece.place[1]], piece, wire) for piece, wire in kept]
    same = len(parts) == len(message.parts) and all(new is old for new, old in zip(parts, message.parts, strict=True))
    return message if same else replace(message, parts=parts)


def _response(response: ModelResponse, place: Place) -> Piece:
    texts: list[str] = []
    thoughts, calls = [], []
    plain = True
    for part in response.parts:
        if isinstance(part, TextPart):
            texts.append(part.content)
        elif isinstance(part, ToolCallPart):
            function = {"name": part.tool_name, "arguments": part.args_as_json_str()}
            calls.append({"id": part.tool_call_id, "type": "function", "function": function})
        elif isinstance(part, ThinkingPart):
            thoughts.append(part.content + (part.signature or ""))
            plain = False
        else:
            texts.append(json_text(vars(part)))
            plain = False
    content: Any = [{"type": "text", "text": text} for text in texts] if len(texts) > 1 else "".join(texts)
    wire: Wire = {"role": "assistant", "content": content}
    wire |= {"tool_calls": calls} if calls else {}
    wire |= {"reasoning_content": "\n".join(thoughts)} if thoughts else {}
    return Piece(place, wire, plain)


def _edited_response(response: ModelResponse, piece: Piece, sent: Wire) -> ModelResponse:
    """The response with what was edited in it.

    One that holds what Chat Completions has no place for goes whole or stays whole: its vendor may have signed it.
    """
    if not piece.plain or not _changed(piece.wire, sent):
        return response
    content = sent.get("content") or ""
    texts = iter([content] if isinstance(content, str) else [part["text"] for part in content])
    arguments = {call["id"]: call["function"]["arguments"] for call in sent.get("tool_calls") or ()}
    parts = [
        replace(part, content=next(texts, ""))
        if isinstance(part, TextPart)
        else replace(part, args=arguments.get(part.tool_call_id, part.args))
        for part in response.parts
        if isinstance(part, TextPart | ToolCallPart)
    ]
    return replace(response, parts=parts)


def _part(part: Any, place: Place) -> Piece:
    match part:
        case SystemPromptPart(content=text):
            return Piece(place, {"role": "system", "content": text})
        case UserPromptPart(content=str(text)):
            return Piece(place, {"role": "user", "content": text})
        case UserPromptPart(content=contents):
            return Piece(place, {"role": "user", "content": [_content(item) for item in contents]}, plain=False)
        case ToolReturnPart(tool_call_id=id):
            wire = {"role": "tool", "tool_call_id": id, "content": part.model_response_str()}
            return Piece(place, wire, plain=isinstance(part.content, str))
    if getattr(part, "tool_name", None):  # the retry of a call, before Pydantic AI made it a return
        return Piece(
            place, {"role": "tool", "tool_call_id": part.tool_call_id, "content": json_text(part.content)}, False
        )
    # Pydantic AI's own notes on the course of the conversation stay where they are.
    return Piece(place, {"role": "user", "content": json_text(vars(part)), "meta": {"protected": True}}, plain=False)


def _content(item: Any) -> Wire:
    if isinstance(item, ImageUrl):
        return {"type": "image_url", "image_url": {"url": item.url}}
    if isinstance(item, BinaryContent):
        address = f"data:{item.media_type};base64,{item.base64}"
        if item.is_image:
            return {"type": "image_url", "image_url": {"url": address}}
        return {"type": "file", "file": {"filename": item.identifier, "file_data": address}}
    return {"type": "text", "text": item if isinstance(item, str) else json_text(vars(item))}


def _edited_part(part: Any, piece: Piece, sent: Wire) -> Any:
    return replace(part, content=sent["content"]) if piece.plain and _changed(piece.wire, sent) else part


def _changed(wire: Wire, sent: Wire) -> bool:
    return sent is not wire and any(wire.get(key) != sent.get(key) for key in ("content", "tool_calls"))


def _summary(sent: Sequence[Wire], at: int) -> ModelMessage:
    """What the manager wrote."""
    text = sent[at]["content"]
    if is_models_own(sent, at):
        return ModelResponse(parts=[TextPart(text)])
    return ModelRequest(parts=[UserPromptPart(text)])


def _body(parameters: ModelRequestParameters, wires: Sequence[Wire], settings: Mapping[str, Any]) -> Wire:
    offered = [*parameters.function_tools, *parameters.output_tools]
    tools = [chat_tool(tool.name, tool.description or "", tool.parameters_json_schema) for tool in offered]
    limits = {"max_tokens": settings.get("max_tokens"), "thinking": settings.get("anthropic_thinking")}
    return {"format": "openai-chat", "messages": wires, "tools": tools} | limits


def _system(parameters: ModelRequestParameters) -> str | None:
    return "\n\n".join(part.content for part in parameters.instruction_parts or ()) or None
