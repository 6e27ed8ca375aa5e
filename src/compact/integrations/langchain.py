"""For LangChain: middleware that compacts what an agent's model is asked, and leaves the agent's state alone.

agent = create_agent(model, tools, middleware=[CompactMiddleware(manager)])
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from compact.integrations.sending import Wire, going_on, is_models_own, json_text, usable_id

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain_core.messages import (
        AIMessage,
        AnyMessage,
        BaseMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
        convert_to_openai_messages,
    )
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: install compact-context[langchain]", name=error.name) from error

if TYPE_CHECKING:
    from compact import CompactManager
    from compact.app.preflight import Preflight

Request: TypeAlias = ModelRequest[Any]
Answer: TypeAlias = ModelResponse[Any]

_PARTS = frozenset({"text", "image_url", "input_audio", "file"})
_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens", "num_predict")
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})


class CompactMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Keeps the requests of an agent within the model's window; the messages in its state stay as they are.

    The session is the agent's thread unless it is named here, by its id or by a function of the request. Where
    compaction fails the request goes as it is, and the error is logged; `strict` raises it.
    """

    def __init__(
        self,
        manager: CompactManager,
        session_id: str | Callable[[Request], str] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        super().__init__()
        self._manager = manager
        self._session_id = session_id
        self._strict = strict

    def wrap_model_call(self, request: Request, handler: Callable[[Request], Answer]) -> Answer:
        """Compact, then ask the model."""
        with going_on(self._session_id, strict=self._strict):
            wires = to_wires(request.messages)
            session, body = self._session(request), _body(request, wires)
            request = _changed(request, wires, self._manager.prepare(session, body, system=_system(request)))
        return handler(request)

    async def awrap_model_call(self, request: Request, handler: Callable[[Request], Awaitable[Answer]]) -> Answer:
        """Compact, then ask the model."""
        with going_on(self._session_id, strict=self._strict):
            wires = to_wires(request.messages)
            session, body = self._session(request), _body(request, wires)
            request = _changed(request, wires, await self._manager.aprepare(session, body, system=_system(request)))
        return await handler(request)

    def _session(self, request: Request) -> str:
        if self._session_id is not None:
            return self._session_id if isinstance(self._session_id, str) else self._session_id(request)
        thread = getattr(getattr(request.runtime, "execution_info", None), "thread_id", None)
        # Without a thread nothing outlasts the run, in which the first message keeps the id it was given.
        return usable_id(str(thread or request.messages[0].id))


def to_wires(messages: Sequence[BaseMessage]) -> list[Wire]:
    """The messages as Chat Completions has them, each with its place under `id`."""
    return [_wire(message) | {"id": str(place)} for place, message in enumerate(messages)]


def from_wires(sent: Sequence[Wire], wires: Sequence[Wire], messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """What is to be sent: the very objects where they are unchanged."""
    places = {wire["id"]: place for place, wire in enumerate(wires)}
    out: list[AnyMessage] = []
    for at, wire in enumerate(sent):
        place = places.get(wire.get("id", ""))
        if place is None:
            out.append((AIMessage if is_models_own(sent, at) else HumanMessage)(wire["content"]))
        else:
            out.append(_edited(messages[place], wires[place], wire))
    return out


def _wire(message: BaseMessage) -> Wire:
    wire: Wire = {"role": _role(message), "content": message.content}
    if not isinstance(message.content, str):
        parts = convert_to_openai_messages(message, text_format="block").get("content") or []
        wire |= _readable(parts)
    if isinstance(message, ToolMessage):
        wire["tool_call_id"] = message.tool_call_id
    if isinstance(message, AIMessage) and (calls := [*message.tool_calls, *message.invalid_tool_calls]):
        wire["tool_calls"] = [_call(call) for call in calls]
    if isinstance(meta := message.additional_kwargs.get("meta"), dict):
        wire["meta"] = meta
    return wire


def _role(message: BaseMessage) -> str:
    if isinstance(message, AIMessage):
        return "assistant"
    if isinstance(message, ToolMessage):
        return "tool"
    return "system" if isinstance(message, SystemMessage) else "user"


def _readable(parts: Sequence[Any]) -> Wire:
    """The parts, with those that Chat Completions does not know as text, so that they count."""
    blocks = [part if isinstance(part, dict) else {"type": "text", "text": str(part)} for part in parts]
    known = [
        block if block.get("type") in _PARTS else {"type": "text", "text": json_text(block)}
        for block in blocks
        if block.get("type") not in _THOUGHTS
    ]
    thoughts = [json_text(block) for block in blocks if block.get("type") in _THOUGHTS]
    return {"content": known} | ({"reasoning_content": "\n".join(thoughts)} if thoughts else {})


def _call(call: Any) -> Wire:
    arguments = call["args"] if isinstance(call["args"], str) else json_text(call["args"])
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}


def _edited(message: AnyMessage, wire: Wire, sent: Wire) -> AnyMessage:
    """The message with what was edited in it.

    One that holds what Chat Completions has no place for goes whole or stays whole: its vendor may have signed it.
    """
    if sent is wire:
        return message
    changed = {key for key in wire.keys() | sent.keys() if wire.get(key) != sent.get(key)} - {"meta"}
    if not changed or wire["content"] != message.content:
        return message
    update: dict[str, Any] = {"content": sent.get("content") or ""}
    if "tool_calls" in changed and isinstance(message, AIMessage):
        written = {call["id"]: call["function"]["arguments"] for call in sent.get("tool_calls") or ()}
        update["tool_calls"] = [
            {**call, "args": json.loads(written[call["id"]])} for call in message.tool_calls if call["id"] in written
        ]
    return message.model_copy(update=update)


def _changed(request: Request, wires: Sequence[Wire], done: Preflight) -> Request:
    """The request with what is sent in its place: the messages, and the limit of the answer where that is set."""
    request = request.override(messages=from_wires(done.messages, wires, request.messages))
    if done.max_tokens is None:
        return request
    if named := _limits(request.model_settings):
        lower = {name: min(limit, done.max_tokens) for name, limit in named.items()}
        return request.override(model_settings={**request.model_settings, **lower})
    lower = {name: min(limit, done.max_tokens) for name, limit in _limits(vars(request.model)).items()}
    return request.override(model=request.model.model_copy(update=lower))


def _limits(settings: Mapping[str, Any]) -> dict[str, int]:
    """The limit of the answer under each name that it has in the settings of a call, or of a model."""
    return {name: limit for name in _LIMITS if isinstance(limit := settings.get(name), int) and limit > 0}


def _body(request: Request, wires: Sequence[Wire]) -> Wire:
    fields = vars(request.model)
    thinking = request.model_settings.get("thinking", fields.get("thinking"))
    limits = _limits(request.model_settings) or _limits(fields)
    return {
        "format": "openai-chat",
        "messages": wires,
        "tools": [_tool(tool) for tool in request.tools],
        "max_tokens": next(iter(limits.values()), None),
        "thinking": thinking if isinstance(thinking, dict) else None,
    }


def _system(request: Request) -> str | None:
    return None if request.system_message is None else request.system_message.text


def _tool(tool: Any) -> Wire:
    # A vendor's own tool, such as a web search, is a dictionary that says everything by its type.
    return tool if isinstance(tool, dict) else convert_to_openai_tool(tool)
