"""All formats: finding the right one, parsing and rendering with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from compact.errors import InvalidConversation, UnknownFormat
from compact.formats.anthropic import FORMAT as ANTHROPIC
from compact.formats.format import Evidence, Format, Request, require_object
from compact.formats.gemini import FORMAT as GEMINI
from compact.formats.openai_chat import FORMAT as OPENAI_CHAT
from compact.formats.openai_responses import FORMAT as OPENAI_RESPONSES
from compact.messages import (
    Conversation,
    Json,
    Message,
    Tool,
    Violation,
    dump_objects,
    turns_of,
    wires_of,
    without_meta,
)
from compact.messages.conversation import once

FORMATS: Mapping[str, Format] = {format.name: format for format in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI)}


_READ: Json = ...
"""Stands in a conversation's options for what was read into the conversation: it keeps the place of the key."""


def format_named(name: str) -> Format:
    """The format of that name."""
    try:
        return FORMATS[name]
    except KeyError:
        raise UnknownFormat(
            f"{name!r} is unknown", field="format", remedy=f"Use one of: {', '.join(FORMATS)}."
        ) from None


def detect(messages: Sequence[Json], *, system: Json = None, tools: Json = None) -> Format:
    """The format the messages are in.

    What only one format has decides wherever it stands, in the messages before the tools; then what is usual in one.
    Plain text turns look the same in Chat Completions and Anthropic Messages; they count as the latter when a system
    prompt comes beside them, else as the former.
    """
    return _decide(messages, system, tools, FORMATS.values())


def recognise(messages: Sequence[Json]) -> Format | None:
    """The one format the messages can be in; None where they would do for several."""
    format, evidence = _weigh(messages, ())
    return format if evidence is Evidence.PROOF else None


def _decide(messages: Sequence[Json], system: Json, tools: Json, candidates: Collection[Format]) -> Format:
    """The format of a request; short of proof in its messages, one of the candidates."""
    format, evidence = _weigh(messages, candidates)
    if evidence is not Evidence.PROOF:
        offered = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list | tuple) else []
        owners = (one for tool in offered for one in candidates if one.owns_tool(tool))
        format = next(owners, format)
    return format or (OPENAI_CHAT if system is None else ANTHROPIC)


def _weigh(messages: Sequence[Json], candidates: Collection[Format]) -> tuple[Format | None, Evidence]:
    """The format with the strongest evidence, the first of equals; only candidates count with less than proof."""
    best, most = None, Evidence.NOTHING
    for index, wire in enumerate(messages):
        message = require_object(wire, str(index))
        for format in FORMATS.values():
            found = format.evidence(message)
            if found is Evidence.PROOF:
                return format, found
            if found > most and format in candidates:
                best, most = format, found
    return best, most


def parse(
    messages: Sequence[Json] | Mapping[str, Json],
    *,
    format: str | None = None,
    system: Json = None,
    tools: Sequence[Json] | None = None,
) -> Conversation:
    """The conversation that the messages, or a whole request body, hold.

    Dicts are kept, not copied: do not change them afterwards. Objects of the vendors' libraries are dumped.
    """
    if isinstance(messages, Mapping):
        return _parse_body(messages, format)
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        raise InvalidConversation(
            f"must be a list of messages, not {type(messages).__name__}",
            field="messages",
            remedy="Decode JSON first, and pass the list.",
        )
    wires: Sequence[Json] = dump_objects(messages)
    system, tools = dump_objects(system), dump_objects(tools)
    chosen = format_named(format) if format else detect(wires, system=system, tools=tools)
    return _parse(chosen, wires, system, tools)


def parts_of(body: Mapping[str, Json], name: str | None = None) -> tuple[Format, list[Json], Json, Json]:
    """The format of a request body, its messages, its system prompt and its tools."""
    body = dump_objects(body)
    chosen = format_named(name) if name else _detect_body(body)
    messages = body.get(chosen.messages_key)
    if chosen is OPENAI_RESPONSES and isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if not isinstance(messages, list):
        raise InvalidConversation(
            "is missing" if messages is None else f"must be a list, not {type(messages).__name__}",
            field=chosen.messages_key,
            remedy=f"Requests of {chosen.title} hold their messages there.",
        )
    system = body.get(_spelling(body, chosen.system_key)) if chosen.system_key else None
    return chosen, messages, system, body.get(chosen.tools_key)


def _parse_body(body: Mapping[str, Json], name: str | None) -> Conversation:
    chosen, messages, system, tools = parts_of(body, name)
    conversation = _parse(chosen, messages, system, tools)
    read = {chosen.messages_key}
    read |= set() if conversation.system is None else {_spelling(body, chosen.system_key)}
    read |= {chosen.tools_key} if conversation.tools else set()
    return replace(conversation, options={key: _READ if key in read else value for key, value in body.items()})


def _detect_body(body: Mapping[str, Json]) -> Format:
    # Other software writes other things under "format": Ollama the shape of the answer.
    if isinstance(stated := body.get("format"), str) and stated in FORMATS:
        return FORMATS[stated]
    if "contents" in body:
        return GEMINI
    if "input" in body:
        return OPENAI_RESPONSES
    messages = body.get("messages")
    if isinstance(messages, list):
        return _decide(messages, body.get("system"), body.get("tools"), (OPENAI_CHAT, ANTHROPIC))
    raise UnknownFormat(
        "no messages found",
        remedy='A request holds them under "messages", "input" or "contents"; or pass the list itself.',
    )


def _spelling(body: Mapping[str, Json], key: str) -> str:
    """The key as this body writes it: Google's SDK writes Gemini's in snake case."""
    return "system_instruction" if key == GEMINI.system_key and "system_instruction" in body else key


def _parse(format: Format, messages: Sequence[Json], system: Json, tools: Sequence[Json] | None) -> Conversation:
    if tools is not None and not isinstance(tools, list | tuple):
        raise InvalidConversation(
            f"must be a list, not {type(tools).__name__}", field="tools", remedy="Give a list of tool definitions."
        )
    parsed: tuple[Message, ...] = tuple(format.parse_message(wire, str(index)) for index, wire in enumerate(messages))
    return Conversation(
        format,
        parsed,
        system=None if system is None else format.parse_system(system),
        tools=tuple(tools or ()),
    )


def render(conversation: Conversation) -> list[Json]:
    """The messages as they are sent: untouched ones are the very objects they were read from.

    Two exceptions: a `meta` key that says what is protected is ours, and taken off; and messages that are joined are
    sent as one.
    """
    return [without_meta(wire) for wire in wires_of(conversation)]


def request_body(conversation: Conversation) -> dict[str, Json]:
    """The conversation as a request body, with the options it was read with."""
    format = format_named(conversation.format)
    body = dict(conversation.options)
    messages = render(conversation)
    if conversation.system is not None:
        if format.system_key:
            body[_spelling(body, format.system_key)] = conversation.system.wire
        else:
            messages = [conversation.system.wire, *messages]
    if conversation.tools:
        body[format.tools_key] = list(conversation.tools)
    body[format.messages_key] = messages
    return {key: value for key, value in body.items() if value is not _READ}


@once
def _sent(conversation: Conversation) -> Request:
    """The request, kept with what rules read of it: a conversation is judged as one pass's end and the next's start."""
    return Request({**conversation.assumed, **request_body(conversation)})


def tools_of(conversation: Conversation) -> tuple[Tool, ...]:
    """The tools the conversation offers, read."""
    return format_named(conversation.format).read_tools(conversation.tools)


def violations(
    conversation: Conversation,
    variant: str = "",
    origin: Conversation | None = None,
    only: Collection[str] | None = None,
) -> list[Violation]:
    """What the vendor would reject, were the conversation sent; `origin` is what it was condensed from.

    `variant` is the deployment that it is sent to, by default the conversation's own. `only` are the ids of the rules
    to look at, by default all of them.
    """
    format = format_named(conversation.format)
    sent = _sent(conversation)
    if origin is not None and any(rule.compares for rule in format.rules):
        before = _sent(origin)
        sent = replace(sent, origin=before.body, origin_memo=before.memo)
    switch = None if only is None else {rule.id: False for rule in format.rules if rule.id not in only}
    found = format.violations(sent, variant or conversation.variant, switch)
    places = _places(conversation, led=conversation.system is not None and not format.system_key)
    return found if places is None else [replace(hit, index=places.get(hit.index)) for hit in found]


def _places(conversation: Conversation, *, led: bool) -> dict[int | None, int] | None:
    """Where what is sent at a position begins in the conversation; None where all is sent in its own place.

    A system prompt that led the messages sent is none of the conversation's.
    """
    joined = any(message.joined for message in conversation.messages)
    if not joined and not led:
        return None
    sizes = [len(turn) for turn in turns_of(conversation.messages)]
    return {at + led: sum(sizes[:at]) for at in range(len(sizes))}


def reject(before: Conversation, after: Conversation, only: Collection[str] | None = None) -> list[Violation]:
    """What the vendor would reject of a conversation that was condensed from another: the rules a pass is held to."""
    return violations(after, origin=before, only=only)
