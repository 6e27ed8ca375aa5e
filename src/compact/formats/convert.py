"""From one wire format to another."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compact.errors import ConversionError
from compact.formats.format import Format, Turn
from compact.formats.registry import format_named, parse, tools_of
from compact.messages import (
    ROLES_NEVER_PRUNED,
    Attachment,
    Block,
    Conversation,
    Image,
    Json,
    Message,
    Opaque,
    Part,
    Place,
    Reasoning,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    merge_meta,
    meta_of,
    pairs,
)

_PORTABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLAIN_ANSWERS = frozenset({"output", "result", "content", "error"})
"""Where Gemini's tools put an answer that is nothing but text."""


def convert(
    conversation: Conversation | Sequence[Json] | Mapping[str, Json],
    to: str,
    *,
    lossy: bool = False,
    note: Callable[[str], object] | None = None,
) -> Conversation:
    """The same conversation, or messages, or whole request, in another format.

    ConversionError names what has no place there: reasoning, which is bound to its vendor, blocks of unknown kinds and
    whatever else the other format lacks. With `lossy` those are left out. `note` is called with a line for everything
    that is left out, and for what is never an error: request options other than the model, and the flag of a failed
    tool result, whose text is kept.
    """
    target = format_named(to)
    if not isinstance(conversation, Conversation):
        conversation = parse(conversation)
    if conversation.format == target.name:
        return conversation
    sieve = _Sieve(target, lossy, note or (lambda _: None))
    messages = conversation.messages
    leading = next((i for i, message in enumerate(messages) if message.role not in ROLES_NEVER_PRUNED), len(messages))
    instructions = [*([conversation.system] if conversation.system else ()), *messages[:leading]]
    prompt = "\n\n".join(text for message in instructions for text in sieve.texts(message))
    wires = target.compose(_joined(_turns(conversation, leading, sieve)))
    system = target.compose_system(prompt) if prompt else None
    if system is not None and not target.system_key:
        wires, system = [system, *wires], None
    kept = _kept_keys(conversation)
    for key in conversation.options:
        if key not in kept:
            sieve.note(f"the request's {key!r}")
    return Conversation(
        target,
        tuple(target.parse_message(wire, str(index)) for index, wire in enumerate(wires)),
        system=None if system is None else target.parse_system(system),
        tools=tuple(target.compose_tools(sieve.tools(tools_of(conversation)))),
        options={key: conversation.options[key] for key in ("model",) if key in conversation.options},
    )


def _kept_keys(conversation: Conversation) -> set[str]:
    source = format_named(conversation.format)
    return {"model", source.messages_key, source.system_key, "system_instruction", source.tools_key}


@dataclass(frozen=True, slots=True)
class _Sieve:
    """Lets through what the target has a place for; the one judge of what is an error and what is a loss."""

    target: Format
    lossy: bool
    note: Callable[[str], object]

    def lose(self, where: str, what: str) -> None:
        if not self.lossy:
            raise ConversionError(
                f"{where} holds {what}; {self.target.title} has no place for it. "
                "Convert with lossy=True (--lossy) to go on without."
            )
        self.note(f"{where}: {what}")

    def texts(self, message: Message) -> Iterator[str]:
        """What instructions say, which are nothing but text everywhere."""
        where = "the system prompt" if message.id == "system" else f"message {message.id}"
        if message.name:
            self.lose(where, f"the name of its speaker, {message.name!r}")
        for block in message.blocks:
            if not isinstance(block, Text):
                self.lose(where, f"{_kind(block)} among its instructions")
            elif block.text:
                yield block.text

    def role(self, message: Message, index: int) -> str:
        if message.role in ROLES_NEVER_PRUNED and "instructions midway" in self.target.lacks:
            self.lose(f"message {index}", f"{message.role} instructions in the middle of the conversation")
            return "user"
        return message.role

    def name(self, message: Message, index: int) -> str:
        # A call or a result has its tool's name there, which is kept with the call.
        if not message.name or message.calls or message.results:
            return ""
        if "names" in self.target.lacks:
            self.lose(f"message {index}", f"the name of its speaker, {message.name!r}")
            return ""
        return message.name

    def call(self, call: ToolCall, index: int) -> ToolCall:
        """The call as a function's; one that takes free text has it as its `input`."""
        raw = {} if call.raw is None else call.raw
        arguments = {} if call.raw is None else call.arguments
        if not _is_function(call):
            self.lose(f"message {index}", f"a call of {call.name!r}, which is no function")
        elif isinstance(arguments, dict) or "free arguments" not in self.target.lacks:
            return replace(call, raw=raw)
        else:
            self.lose(f"message {index}", f"a call of {call.name!r} with arguments that are no JSON object")
        return replace(call, raw=raw if isinstance(raw, dict) else {"input": raw})

    def result(self, result: ToolResult, index: int) -> ToolResult:
        if result.error and "error flags" in self.target.lacks:
            self.note(f"message {index}: the flag of a failed tool result")
        return replace(result, parts=tuple(part for part in _told(result) if self.takes(part, index, inside=True)))

    def takes(self, block: Block, index: int, *, inside: bool = False) -> bool:
        """Whether the block, perhaps inside a tool result, is worth anything there."""
        if isinstance(block, Text):
            return bool(block.text)
        media = isinstance(block, Image | Attachment)
        lacking = not media
        if isinstance(block, Image | Attachment):
            elsewhere = block.data is None and block.url is None
            address = isinstance(block, Attachment) and block.data is None and "file addresses" in self.target.lacks
            lacking = elsewhere or address or (inside and "media in results" in self.target.lacks)
        if lacking:
            self.lose(f"message {index}", _kind(block) + (" in a tool result" if inside and media else ""))
        return not lacking

    def tools(self, tools: Iterable[Tool]) -> list[Tool]:
        kept = []
        for tool in tools:
            if tool.schema is None:
                self.lose("the request", f"the tool {tool.name!r}, which is no function")
            else:
                kept.append(tool)
        return kept


def _joined(turns: Iterable[Turn]) -> list[Turn]:
    """The turns, with what the model said after a call and before its result joined to the call.

    OpenAI writes parallel calls as items of their own; everywhere else they are one message.
    """
    out: list[Turn] = []
    for turn in turns:
        before = out[-1] if out else None
        if before and before.role == turn.role == "assistant" and any(isinstance(b, ToolCall) for b in before.blocks):
            meta = merge_meta(before.meta, turn.meta)
            out[-1] = replace(before, blocks=before.blocks + turn.blocks, meta=meta)
        else:
            out.append(turn)
    return out


def _turns(conversation: Conversation, start: int, sieve: _Sieve) -> Iterator[Turn]:
    ids = _unique_ids(conversation)
    for index, message in enumerate(conversation.messages[start:], start):
        blocks: list[Block] = []
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                blocks.append(sieve.call(replace(block, id=ids[index, position]), index))
            elif isinstance(block, ToolResult):
                blocks.append(sieve.result(replace(block, call_id=ids[index, position]), index))
            elif sieve.takes(block, index):
                blocks.append(block)
        if not blocks:
            yield Turn(message.role, ())
            continue
        role = sieve.role(message, index)
        yield Turn(role, tuple(blocks), sieve.name(message, index), _meta(message, role))


def _meta(message: Message, role: str) -> Mapping[str, Json] | None:
    """The message's own `meta`; one that says so where the message is protected without it, and would not be there."""
    own = meta_of(message.wire)
    if not message.protected or role in ROLES_NEVER_PRUNED:
        return own
    return {**(own or {}), "protected": True}


def _told(result: ToolResult) -> tuple[Part, ...]:
    """The result's parts, with a structured answer of Gemini's written as JSON."""
    frame = next((part for part in result.parts if isinstance(part, Opaque) and part.kind == "response"), None)
    if frame is None:
        return result.parts
    texts = {part.path[-1]: part.text for part in result.parts if isinstance(part, Text)}
    others = tuple(part for part in result.parts if part is not frame and not isinstance(part, Text))
    response: Json = frame.value
    if isinstance(response, dict):
        response = {key: texts.get(key, value) for key, value in response.items()}
        plain = len(response) == len(texts) == 1 and texts.keys() <= _PLAIN_ANSWERS
        if plain or not response:
            return (*(Text(text, frame.path) for text in texts.values()), *others)
    return (Text(json.dumps(response, ensure_ascii=False), frame.path), *others)


def _is_function(call: ToolCall) -> bool:
    """Whether the call is a function's, told by where its arguments stand; only Anthropic's are an `input`."""
    return call.path[-1] in ("arguments", "args") or call.path[0] == "content"


def _kind(block: Block) -> str:
    match block:
        case Reasoning():
            return "reasoning, which only its own vendor accepts"
        case Image(data=None, url=None) | Attachment(data=None, url=None):
            return "a file that its vendor keeps"
        case Image():
            return "a picture"
        case Attachment(data=None):
            return "a file by its address"
        case Attachment():
            return "a file"
        case Opaque(kind=kind):
            return f"a {kind!r} block"
    return f"a {type(block).__name__}"


def _unique_ids(conversation: Conversation) -> dict[Place, str]:
    """An id for every call and its result that every vendor accepts and no other call has."""
    answers = pairs(conversation.messages)
    taken: set[str] = set()
    ids: dict[Place, str] = {}
    for index, message in enumerate(conversation.messages):
        for position, block in enumerate(message.blocks):
            place = (index, position)
            if isinstance(block, ToolCall):
                ids[place] = _unique(block.id, place, taken)
            elif isinstance(block, ToolResult):
                ids[place] = ids[answers[place]] if place in answers else _unique(block.call_id, place, taken)
            else:
                continue
            taken.add(ids[place])
    return ids


def _unique(id: str, place: Place, taken: set[str]) -> str:
    if _PORTABLE_ID.fullmatch(id) and id not in taken:
        return id
    digest = hashlib.sha256(f"{id}\0{place}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"call_{digest[:24]}"
