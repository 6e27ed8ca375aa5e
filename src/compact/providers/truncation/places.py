"""Where a conversation may be shortened without anybody's words being lost for good: its texts, one by one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from compact.messages import (
    ROLES_NEVER_PRUNED,
    Conversation,
    EditKind,
    Message,
    Path,
    Replace,
    Text,
    ToolCall,
    ToolResult,
    Where,
    exchanges,
    has_mark,
    is_signed,
    message_texts,
    pairs,
    untouchable,
    with_handle,
)
from compact.messages.paths import can_splice
from compact.messages.resolve import Link
from compact.messages.seals import is_summary
from compact.ports import Measure
from compact.providers.truncation.cutting import SUPPRESSED, is_condensed, is_cut

Kind: TypeAlias = Literal["text", "parameter", "result"]

# Finding a value in encoded arguments means reading them from the start, so that a call with thousands of texts would
# take quadratic time. No tool is called with so many long ones.
_MOST_VALUES = 64

KINDS: tuple[Kind, ...] = ("text", "parameter", "result")
_KINDS: dict[type, Kind] = {Text: "text", ToolCall: "parameter", ToolResult: "result"}
# No marker pays in place of a text that is shorter than the shortest one.
_ANY: Mapping[Kind, int] = dict.fromkeys(KINDS, len(SUPPRESSED))

_FIRST: Path = (0,)
_NONE: Mapping[str, Message] = {}

_SURE = 500
"""So many characters fewer are fewer tokens, whatever marker stands for them."""

_quote, _escape = (json.JSONEncoder(ensure_ascii=ascii_only).encode for ascii_only in (False, True))


@dataclass(frozen=True, slots=True)
class Place:
    """A text that may be replaced: what was said, what a tool answered, or a string in the arguments of a call.

    `position` is its message's; `tool` the tool that was called; `escaped` whether the call is written in ASCII only.
    Where references stand for lines of the text, `shown` is the text with them and `links` are these. With
    `handles`, whatever replaces it says by which handle it can be recalled.
    """

    where: Where
    kind: Kind
    text: str
    position: int
    tool: str = ""
    escaped: bool = False
    shown: str = ""
    links: tuple[Link, ...] = ()
    handles: bool = False
    _now: int | None = field(default=None, init=False, repr=False, compare=False)

    def marked(self, text: str) -> str:
        """What stands here in place of the text, with the handle of that if there are handles."""
        return with_handle(text, self.text) if self.handles else text

    def tokens(self, text: str, measure: Measure) -> int:
        """What a text takes in this place: arguments are sent as JSON."""
        if self.kind == "parameter":
            # Of ASCII both make the same, but for one character that nobody writes; the first is faster.
            text = _escape(text) if self.escaped or text.isascii() else _quote(text)
        return measure.text(text)

    def tokens_now(self, measure: Measure) -> int:
        """What stands there now takes; it is asked for again and again."""
        if self._now is None:
            object.__setattr__(self, "_now", self.tokens(self.shown or self.text, measure))
        return self._now or 0

    def whole_tokens(self, measure: Measure) -> int:
        """What the text takes where no reference stands for any of it."""
        return self.tokens(self.text, measure) if self.shown else self.tokens_now(measure)


@dataclass(frozen=True, slots=True)
class Shortening:
    """A place, what shall stand there, and what kind of edit that is."""

    place: Place
    text: str
    kind: EditKind
    measure: Measure = field(repr=False)
    _saved: int | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def saved(self) -> int:
        """How many tokens that saves: counted when somebody asks, which who cuts everything does not."""
        if self._saved is None:
            saved = self.place.tokens_now(self.measure) - self.place.tokens(self.text, self.measure)
            object.__setattr__(self, "_saved", saved)
        return self._saved or 0

    @property
    def edit(self) -> Replace:
        return Replace(self.place.where, self.text, self.kind)


def shorten(place: Place, text: str, measure: Measure, kind: EditKind) -> Shortening | None:
    """The place with that text, if it saves anything."""
    text = place.marked(text)
    fewer = len(place.shown or place.text) - len(text)
    if fewer <= 0:
        return None
    done = Shortening(place, text, kind, measure)
    return done if fewer > _SURE or done.saved > 0 else None


def older(messages: Sequence[Message], recent: int) -> list[int]:
    """The positions between the first message and the recent ones, which are widened to whole exchanges."""
    start = len(messages) - recent
    kept = {index for group in exchanges(messages) if group[-1] >= start for index in group}
    return [index for index in range(1, len(messages)) if index not in kept]


def places(
    conversation: Conversation,
    positions: Collection[int],
    *,
    least: Mapping[Kind, int] = _ANY,
    handles: bool = False,
    originals: Mapping[str, Message] = _NONE,
) -> Iterator[Place]:
    """The texts of these messages that may be replaced, in order: those of more characters than `least` says.

    Left out are kinds it does not name, messages that no edit may touch, and texts condensed before; of those whose
    message is among the `originals` the text as it was at first is given, to be cut anew. What refers to other texts is
    not left out: `separate` tells it from the rest.
    """
    fixed = untouchable(conversation)
    messages = conversation.messages
    answers = pairs(messages)
    for position in positions:
        message = messages[position]
        if message.id in fixed or message.role in ROLES_NEVER_PRUNED or is_summary(message):
            continue
        for index, block in enumerate(message.blocks):
            kind = _KINDS.get(type(block))
            if kind is None or (shortest := least.get(kind)) is None or is_signed(block):
                continue
            if isinstance(block, Text):
                where = Where(message.id, index)
                if len(block.text) > shortest and (source := _source(block.text, where, originals)) is not None:
                    shown = block.text if source is not block.text else ""
                    yield Place(where, "text", source, position, shown=shown, handles=handles)
            elif isinstance(block, ToolResult):
                for at, part in enumerate(block.parts):
                    where = Where(message.id, index, (at,) if at else _FIRST)
                    if not (isinstance(part, Text) and len(part.text) > shortest):
                        continue
                    if (source := _source(part.text, where, originals)) is not None:
                        tool = _tool(messages, answers.get((position, index)))
                        shown = part.text if source is not part.text else ""
                        yield Place(where, "result", source, position, tool, shown=shown, handles=handles)
            elif isinstance(block, ToolCall):
                for path, text, source in _arguments(block, shortest, Where(message.id, index), originals):
                    escaped = isinstance(block.raw, str) and block.raw.isascii() and not source.isascii()
                    shown, where = text if source is not text else "", Where(message.id, index, path)
                    yield Place(where, "parameter", source, position, block.name, escaped, shown, handles=handles)


def _source(text: str, where: Where, originals: Mapping[str, Message]) -> str | None:
    """What a text is cut from: itself, or what it was before it was cut; None where it was condensed otherwise."""
    if not is_condensed(text):
        return text
    original = originals.get(where.message) if is_cut(text) else None
    found = dict(message_texts(original)).get(where) if original is not None else None
    return None if found is None or found == text or has_mark(found) else found


def _arguments(
    call: ToolCall, shortest: int, at: Where, originals: Mapping[str, Message]
) -> Iterator[tuple[Path, str, str]]:
    """The strings in the arguments of a call that may be replaced, each with what it is cut from."""
    # Nothing is longer than the text it is written in.
    if isinstance(call.raw, str) and len(call.raw) <= shortest:
        return
    tried = 0
    for path, text in call.walk():
        source = _source(text, at._replace(path=path), originals) if len(text) > shortest else None
        if source is not None:
            tried += 1
            if tried > _MOST_VALUES:
                return
            if can_splice(call, path):
                yield path, text, source


def _tool(messages: Sequence[Message], place: tuple[int, int] | None) -> str:
    """The name of the tool that was called there."""
    call = messages[place[0]].blocks[place[1]] if place else None
    return call.name if isinstance(call, ToolCall) else ""


def all_tried(conversation: Conversation, found: Sequence[Place]) -> bool:
    """Whether nothing was passed over that another round would find: in calls with too many values, or odd ones."""
    calls = Counter((place.position, place.where.block) for place in found if place.kind == "parameter")
    for (position, index), values in calls.items():
        call = conversation.messages[position].blocks[index]
        if values >= _MOST_VALUES or not (isinstance(call, ToolCall) and call.regular):
            return False
    return True
