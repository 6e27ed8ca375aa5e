"""Where a conversation may be shortened without anybody's words being lost for good: its texts, one by one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compact.messages import (
    ROLES_NEVER_PRUNED,
    Conversation,
    Message,
    Replace,
    Text,
    ToolCall,
    ToolResult,
    Where,
    exchanges,
    message_texts,
    pairs,
    untouchable,
    with_handle,
)
from compact.messages.paths import can_splice
from compact.messages.seals import is_summary
from compact.ports import Measure
from compact.providers.truncation.cutting import SUPPRESSED, is_condensed

Kind: TypeAlias = Literal["text", "parameter", "result"]

# Finding a value in encoded arguments means reading them from the start, so that a call with thousands of texts would
# take quadratic time. No tool is called with so many long ones.
_MOST_VALUES = 64

_quote, _escape = (json.JSONEncoder(ensure_ascii=ascii_only).encode for ascii_only in (False, True))


@dataclass(frozen=True, slots=True)
class Place:
    """A text that may be replaced: what was said, what a tool answered, or a string in the arguments of a call.

    `position` is its message's; `tool` the tool that was called; `escaped` whether the call is written in ASCII only.
    Where references stand for lines of the text, `shown` is the text with them and `sources` are their hashes. With
    `handles`, whatever replaces it says by which handle it can be recalled.
    """

    where: Where
    kind: Kind
    text: str
    position: int
    tool: str = ""
    escaped: bool = False
    shown: str = ""
    sources: frozenset[str] = frozenset()
    handles: bool = False

    def marked(self, text: str) -> str:
        """What stands here in place of the text, with the handle of that if there are handles."""
        return with_handle(text, self.text) if self.handles else text

    def tokens(self, text: str, measure: Measure) -> int:
        """What a text takes in this place: arguments are sent as JSON."""
        if self.kind == "parameter":
            text = _escape(text) if self.escaped else _quote(text)
        return measure.text(text)

    def tokens_now(self, measure: Measure) -> int:
        return self.tokens(self.shown or self.text, measure)


@dataclass(frozen=True, slots=True)
class Shortening:
    """A place, what shall stand there, and how many tokens that saves."""

    place: Place
    text: str
    saved: int
    why: str

    @property
    def edit(self) -> Replace:
        return Replace(self.place.where, self.text, self.why)


def shorten(place: Place, text: str, measure: Measure, why: str) -> Shortening | None:
    """The place with that text, if it saves anything."""
    text = place.marked(text)
    if len(text) >= len(place.text):
        return None
    saved = place.tokens_now(measure) - place.tokens(text, measure)
    return Shortening(place, text, saved, why) if saved > 0 else None


def older(messages: Sequence[Message], recent: int) -> list[int]:
    """The positions between the first message and the recent ones, which are widened to whole exchanges."""
    start = len(messages) - recent
    kept = {index for group in exchanges(messages) if group[-1] >= start for index in group}
    return [index for index in range(1, len(messages)) if index not in kept]


def places(conversation: Conversation, positions: Collection[int], *, handles: bool = False) -> Iterator[Place]:
    """The texts of these messages that may be replaced, in order.

    Left out are messages nobody may touch, texts condensed before, and those too short for any marker to pay. What
    refers to other texts is not: `separate` tells it from the rest.
    """
    fixed = untouchable(conversation)
    tools = _tools(conversation.messages)
    for position in positions:
        message = conversation.messages[position]
        if message.id in fixed or message.role in ROLES_NEVER_PRUNED or is_summary(message):
            continue
        tried: dict[int, int] = {}
        for where, text in message_texts(message):
            if len(text) <= len(SUPPRESSED) or is_condensed(text):
                continue
            block = message.blocks[where.block]
            if isinstance(block, Text):
                yield Place(where, "text", text, position, handles=handles)
            elif isinstance(block, ToolResult):
                tool = tools.get((position, where.block), "")
                yield Place(where, "result", text, position, tool, handles=handles)
            elif isinstance(block, ToolCall):
                tries = tried[where.block] = tried.get(where.block, 0) + 1
                if tries <= _MOST_VALUES and can_splice(block, where.path):
                    escaped = isinstance(block.raw, str) and block.raw.isascii() and not text.isascii()
                    yield Place(where, "parameter", text, position, block.name, escaped, handles=handles)


def all_tried(conversation: Conversation, found: Sequence[Place]) -> bool:
    """Whether nothing was passed over that another round would find: in calls with too many values, or odd ones."""
    calls = Counter((place.position, place.where.block) for place in found if place.kind == "parameter")
    for (position, index), values in calls.items():
        call = conversation.messages[position].blocks[index]
        if values >= _MOST_VALUES or not (isinstance(call, ToolCall) and call.regular):
            return False
    return True


def _tools(messages: Sequence[Message]) -> dict[tuple[int, int], str]:
    """The name of the tool behind each result."""
    names = {}
    for result, (index, block) in pairs(messages).items():
        call = messages[index].blocks[block]
        names[result] = call.name if isinstance(call, ToolCall) else ""
    return names
