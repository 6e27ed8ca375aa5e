"""What a request makes a model read, and what that costs."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from compact.messages import (
    Attachment,
    Block,
    Conversation,
    Image,
    Json,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from compact.testing.vendors.script import Reply

Count: TypeAlias = Callable[[str], int]

MESSAGE_FRAME: Final = 3
REPLY_FRAME: Final = 3
IMAGE: Final = 85
LIFETIMES: Final = {"5m": 300, "1h": 3600}


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the prompt.

    `label` tells it from others with the same text. `lifetime` is how long, in seconds, what ends here shall be
    cached; 0 where no breakpoint is set.
    """

    label: str
    text: str
    tokens: int
    lifetime: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tools, system prompt and messages, in the order in which a model reads them."""

    pieces: tuple[Piece, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one exchange: `input` is all of the prompt, `cached` and `written` are parts of it."""

    input: int
    cached: int = 0
    written_5m: int = 0
    written_1h: int = 0
    output: int = 0
    reasoning: int = 0


def read(conversation: Conversation, count: Count, *, mark_last: bool = False) -> Prompt:
    """The prompt; with `mark_last`, a breakpoint is set behind everything."""
    found = [_tool(tool, count) for tool in conversation.tools]
    system = (conversation.system,) if conversation.system else ()
    for message in (*system, *_unforgotten(conversation.messages)):
        found += _message(message, count)
    if mark_last and found and not found[-1].lifetime:
        found[-1] = replace(found[-1], lifetime=LIFETIMES["5m"])
    return Prompt(tuple(found), sum(piece.tokens for piece in found) + REPLY_FRAME)


def _unforgotten(messages: Sequence[Message]) -> Sequence[Message]:
    """What is read of the messages: Anthropic leaves out all before its own summary, OpenAI what the model did."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message.wire, dict) and message.wire.get("type") == "compaction":
            told = [one for one in messages[:at] if one.wire.get("role") in ("user", "developer", "system")]
            return (*told, *messages[at:])
        for index, part in reversed(list(enumerate(_wire_parts(message.wire)))):
            if isinstance(part, dict) and part.get("type") == "compaction" and part.get("content"):
                return (replace(message, blocks=message.blocks[index:]), *messages[at + 1 :])
    return messages


def _tool(tool: Json, count: Count) -> Piece:
    bare = {key: value for key, value in tool.items() if key != "cache_control"} if isinstance(tool, dict) else tool
    text = _json(bare)
    return Piece("tool", text, count(text), _lifetime(tool))


def _message(message: Message, count: Count) -> Iterator[Piece]:
    frame = MESSAGE_FRAME + count(message.role) + (1 + count(message.name) if message.name else 0)
    parts = _wire_parts(message.wire)
    if not message.blocks:
        yield Piece(message.role, "", frame)
    for index, block in enumerate(message.blocks):
        label, text, tokens = _block(block, count)
        lifetime = _lifetime(parts[index]) if index < len(parts) else 0
        yield Piece(f"{message.role} {label}", text, tokens + frame, lifetime)
        frame = 0


def _block(block: Block, count: Count) -> tuple[str, str, int]:
    match block:
        case Text(text=text):
            return "text", text, count(text)
        case Reasoning(text=text, sealed=sealed):
            return f"reasoning {sealed}", text, count(text)
        case ToolCall(id=id, name=name, raw=raw):
            text = raw if isinstance(raw, str) else _json(raw)
            return f"call {id} {name}", text, count(name) + count(text)
        case ToolResult(call_id=id, parts=parts):
            inner = [_block(part, count) for part in parts]
            text = "\n".join(text for _, text, _ in inner)
            return f"result {id}", text, sum(tokens for *_, tokens in inner)
        case Image(data=data, url=url):
            return "image", data or url or "", IMAGE
        case Attachment(name=name, data=data, url=url):
            return f"file {name}", data or url or "", count(name)
        case Opaque(kind=kind, value=value):
            text = _json(value)
            return f"other {kind}", text, count(text)


def _wire_parts(wire: Json) -> list[Json]:
    content = wire.get("content") if isinstance(wire, dict) else wire
    return content if isinstance(content, list) else []


def _lifetime(part: Json) -> int:
    """How long a breakpoint on the part, or on one inside a tool's result, shall last."""
    if not isinstance(part, dict):
        return 0
    marker = part.get("cache_control")
    if isinstance(marker, dict) and marker.get("type") == "ephemeral":
        ttl = marker.get("ttl")
        return LIFETIMES.get(ttl if isinstance(ttl, str) else "", LIFETIMES["5m"])
    nested = part.get("content")
    return max(map(_lifetime, nested), default=0) if isinstance(nested, list) else 0


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def within(limit: int | None, reply: Reply, count: Count) -> Reply:
    """The reply as far as a limit on its tokens lets the model speak; thinking counts."""
    if limit is None:
        return reply
    room = limit - count(reply.reasoning)
    if room >= count(reply.text) + _call_tokens(reply, count):
        return reply
    if room >= count(reply.text):
        return replace(reply, calls=(), stop="length")
    length = bisect_right(range(len(reply.text)), room, key=lambda size: count(reply.text[:size])) - 1
    return replace(reply, text=reply.text[: max(length, 0)], calls=(), stop="length")


def with_output(usage: Usage, reply: Reply, count: Count) -> Usage:
    reasoning = count(reply.reasoning)
    return replace(usage, output=reasoning + count(reply.text) + _call_tokens(reply, count), reasoning=reasoning)


def _call_tokens(reply: Reply, count: Count) -> int:
    return sum(count(name) + count(_json(arguments)) for name, arguments in reply.calls)
