"""Counting whole conversations."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from compact.errors import TokenCountError
from compact.messages import (
    Attachment,
    Block,
    Conversation,
    Image,
    Json,
    Message,
    Opaque,
    Reasoning,
    State,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    seen,
)
from compact.tokens.images import image_size, image_tokens
from compact.tokens.overheads import overheads_for, tool_tokens

_BINARY = re.compile(r"[A-Za-z0-9+/_-]{1000,}={0,2}")
_ALL_OF = tuple(map(re.compile, ("[A-Z]", "[a-z]", "[0-9]")))
"""What base64 of some length is made of: no vendor reads that as text."""

_SAID_BEFORE = ("name", "description", "type")

Precision: TypeAlias = Literal["exact", "calibrated", "estimate"]


@dataclass(frozen=True, slots=True)
class Meter:
    """How a model's tokens are counted.

    `factor` turns tokens of `encoding` into the model's own: 1 where the encoding is the model's, learned or assumed
    where the vendor keeps its tokenizer to itself.
    """

    model: str
    vendor: str
    encoding: str
    factor: float = 1.0
    precision: Precision = "exact"


@dataclass(frozen=True, slots=True)
class Count:
    """How many tokens a conversation takes, by whom it was said and by kind of content.

    `precision` is "exact" when the model's own tokenizer counted everything, "calibrated" when a factor learned from
    the vendor's own counts was applied, else "estimate"; `estimated` says what had to be guessed.
    """

    total: int
    by_role: dict[str, int]
    by_kind: dict[str, int]
    meter: Meter
    precision: Precision
    estimated: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    kinds: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    guesses: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))


class Counter:
    """Counts messages and conversations for one model.

    `count_text` counts in the meter's encoding, and had better remember. Counts are additive: a conversation is the
    sum of its messages, its system prompt, its tools and the frame of the reply.
    """

    def __init__(self, meter: Meter, count_text: Callable[[str], int]) -> None:
        self.meter = meter
        self.count_text = count_text
        self._overheads = overheads_for(meter.vendor, meter.model)

    def text(self, text: str) -> int:
        """The tokens of a text of its own."""
        return self._scaled(self.count_text(text))

    def message(self, message: Message) -> int:
        """The tokens of one message, its frame included."""
        tally = _Tally()
        self._measure(message, tally)
        return sum(tally.kinds.values())

    def tools(self, tools: Sequence[Tool]) -> int:
        """The tokens of the tool definitions."""
        lines = self._overheads.schemas == "lines"
        entries = [(tool.name, tool.description, _schema(tool, lines=lines)) for tool in tools]
        return tool_tokens(self._overheads, entries, self.text)

    def frame(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> int:
        """The tokens around the messages: system prompt, tool definitions, and what asks the model to answer."""
        system = self.message(conversation.system) if conversation.system else 0
        return system + self.tools(tools) + self._overheads.reply

    def conversation(self, conversation: Conversation, tools: Sequence[Tool] = ()) -> Count:
        """The tokens of the conversation as it would be sent."""
        tally = _Tally()
        roles: defaultdict[str, int] = defaultdict(int)
        system = (conversation.system,) if conversation.system else ()
        for message in (*system, *seen(conversation.messages)):
            before = sum(tally.kinds.values())
            self._measure(message, tally)
            roles[message.role] += sum(tally.kinds.values()) - before
        if tools:
            tally.kinds["tools"] += self.tools(tools)
        tally.kinds["frame"] += self._overheads.reply
        estimated = tuple(f"{what} ({times})" for what, times in tally.guesses.items())
        precision: Precision = "estimate" if estimated and self.meter.precision == "exact" else self.meter.precision
        return Count(sum(tally.kinds.values()), dict(roles), dict(tally.kinds), self.meter, precision, estimated)

    def _measure(self, message: Message, tally: _Tally) -> None:
        if not message.joined:  # else it stands in the frame of the one before it
            tally.kinds["frame"] += self._overheads.message + self.count_text(message.role)
        if message.name and not message.joined:
            tally.kinds["frame"] += self._overheads.name + self.text(message.name)
        for block in _read_blocks(message):
            try:
                self._block(block, tally)
            except (RecursionError, ValueError, TypeError) as error:
                raise TokenCountError(
                    f"message {message.id}: a {type(block).__name__} cannot be written as JSON ({error}). "
                    "Shorten or flatten it, then count again."
                ) from error

    def _block(self, block: Block, tally: _Tally) -> None:
        match block:
            case Text(text=text):
                tally.kinds["text"] += self.text(text)
            case ToolCall(name=name, raw=raw):
                tally.kinds["tool calls"] += self.text(name) + self.text(_serialized(raw))
            case ToolResult(parts=parts):
                inner = _Tally(guesses=tally.guesses)
                for part in parts:
                    self._block(part, inner)
                tally.kinds["tool results"] += sum(inner.kinds.values())
            case Reasoning(text=text, sealed=sealed):
                if text or not sealed:
                    tally.kinds["reasoning"] += self.text(text)
                else:
                    tally.guesses["reasoning that only its vendor can read"] += 1
                    tally.kinds["reasoning"] += _sealed_tokens(sealed)
            case Image():
                tally.kinds["images"] += self._image(block, tally)
            case Attachment(name=name, media_type=media_type, size=size):
                tally.guesses["attachments, by their metadata alone"] += 1
                tally.kinds["attachments"] += self.text(f"{name} {media_type} {size or ''}".strip())
            case Opaque(state=State() as state) if state != State():
                self._state(state, tally)
            case Opaque(kind=kind, value=value):
                if kind != "response":
                    tally.guesses["blocks of unknown kinds"] += 1
                tally.kinds["other"] += self.text(_BINARY.sub(_shown, _serialized(value)))

    def _state(self, state: State, tally: _Tally) -> None:
        tally.kinds["tools"] += self.tools(state.tools)
        tally.kinds["other"] += self.text(state.text or "")
        if state.sealed and not state.text:
            tally.guesses["state that only its vendor can read"] += 1
            tally.kinds["other"] += _sealed_tokens(state.sealed)

    def _image(self, image: Image, tally: _Tally) -> int:
        size = image_size(image.data) if image.data else None
        found = image_tokens(size, vendor=self.meter.vendor, model=self.meter.model, detail=image.detail)
        if not found.exact:
            tally.guesses["images of unknown size or price"] += 1
        return found.tokens

    def _scaled(self, tokens: int) -> int:
        return tokens if self.meter.factor == 1.0 else round(tokens * self.meter.factor)


def _read_blocks(message: Message) -> Sequence[Block]:
    """The blocks that the vendor reads: from its own compaction on, where the message holds one."""
    start = 0
    if message.forgets:
        for index, block in enumerate(message.blocks):
            if isinstance(block, Opaque) and block.state and block.state.forgets:
                start = index
    return message.blocks[start:]


def _sealed_tokens(sealed: str) -> int:
    """About how many tokens the vendor reads where it sent base64."""
    return len(sealed) * 3 // 16


def _serialized(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _shown(run: re.Match[str]) -> str:
    """What is counted of a long run without a blank: nothing of base64, all of anything else."""
    return "…" if all(one.search(run[0]) for one in _ALL_OF) else run[0]


def _schema(tool: Tool, *, lines: bool) -> Json:
    """What defines the tool beside its name: its schema, else all of it; as text where schemas are read as lines."""
    if tool.schema is not None:
        return tool.schema
    if not lines or not isinstance(tool.wire, dict):
        return tool.wire
    rest = {key: value for key, value in tool.wire.items() if key not in _SAID_BEFORE}
    return _serialized(rest) if rest else None
