"""Random plans over a conversation, and what they must come to, worked out the slow way."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator

from hypothesis import strategies as st

from compact.formats import FORMATS
from compact.messages import (
    Attachment,
    Conversation,
    Drop,
    Edit,
    EditKind,
    Fold,
    Image,
    Json,
    Message,
    Pass,
    Path,
    Reasoning,
    Replace,
    Text,
    ToolCall,
    ToolResult,
    Where,
    apply,
    exchanges,
    protect,
)
from compact.testing.strategies import conversations, hostile_text

short_text = hostile_text().filter(lambda text: len(text) < 200)


@st.composite
def any_conversation(draw: st.DrawFn) -> Conversation:
    """A valid conversation in any format, with any of its messages protected."""
    conversation = draw(st.sampled_from(sorted(FORMATS)).flatmap(lambda name: conversations(name, size=8)))
    return protect(conversation, draw(st.sets(st.integers(0, max(0, len(conversation) - 1)), max_size=3)))


def leaves(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Every value inside the arguments of a call that holds no other."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    elif path:
        yield path, value


def sites(message: Message) -> Iterator[tuple[Where, str | None]]:
    """Every place where an edit may put something else, and the text that stands there, if it is text."""
    for position, block in enumerate(message.blocks):
        if isinstance(block, Text):
            yield Where(message.id, position), block.text
        elif isinstance(block, Image | Attachment):
            yield Where(message.id, position), None
        elif isinstance(block, ToolCall):
            for path, value in leaves(block.arguments):
                yield Where(message.id, position, path), value if isinstance(value, str) else None
        elif isinstance(block, ToolResult):
            for index, part in enumerate(block.parts):
                if isinstance(part, Text | Image | Attachment):
                    yield Where(message.id, position, (index,)), part.text if isinstance(part, Text) else None


@st.composite
def passes(draw: st.DrawFn, conversation: Conversation) -> Pass:
    """A pass whose edits do not get in each other's way."""
    groups = exchanges(conversation.messages)
    fate = draw(st.lists(st.sampled_from("kkkkeef"), min_size=len(groups), max_size=len(groups)))
    folded = [
        [conversation.messages[i].id for i in group] for group, what in zip(groups, fate, strict=True) if what == "f"
    ]
    edits: list[Edit] = []
    if folded:
        cut = draw(st.integers(0, len(folded)))
        for part in (folded[:cut], folded[cut:]):
            if part:
                ids = tuple(id for group in part for id in group)
                role = draw(st.sampled_from(("assistant", "user")))
                edits.append(Fold(ids, draw(st.none() | short_text), EditKind.OTHER, role))
    for group, what in zip(groups, fate, strict=True):
        for index in group if what == "e" else ():
            edits += draw(_edits(conversation.messages[index]))
    return Pass("test", tuple(draw(st.permutations(edits))) if len(edits) < 6 else tuple(edits))


@st.composite
def _edits(draw: st.DrawFn, message: Message) -> list[Edit]:
    edits: list[Edit] = []
    for where, text in sites(message):
        how = draw(st.sampled_from(("keep", "whole", "lines")))
        if how == "whole":
            edits.append(Replace(where, draw(short_text), EditKind.OTHER))
        elif how == "lines" and text is not None:
            for lines in draw(_spans(text.count("\n") + 1)):
                span = Where(where.message, where.block, where.path, lines)
                edits.append(Replace(span, draw(short_text), EditKind.OTHER))
    for position, block in enumerate(message.blocks):
        if isinstance(block, Reasoning) and draw(st.booleans()):
            edits.append(Drop(Where(message.id, position), EditKind.OTHER))
    return edits


@st.composite
def _spans(draw: st.DrawFn, count: int) -> list[tuple[int, int]]:
    ends = draw(st.lists(st.integers(0, count), unique=True, max_size=4).map(sorted))
    return list(zip(ends[::2], ends[1::2], strict=False))


@st.composite
def plans(draw: st.DrawFn) -> tuple[Conversation, Conversation, tuple[Pass, ...]]:
    """A conversation, what became of it, and the plan that did it."""
    conversation = draw(any_conversation())
    current, done = conversation, []
    for _ in range(draw(st.integers(1, 3))):
        current, step = apply(current, draw(passes(current)))
        done.append(step)
    return conversation, current, tuple(done)


def edited_by_hand(format: str, message: Message, edits: list[Replace | Drop]) -> Json:
    """The wire object with the edits made one by one in a deep copy; None where nothing is left.

    Encoded arguments are decoded, for there are many ways to write them.
    """
    wire = decoded(message, message.wire)
    replaces = [edit for edit in edits if isinstance(edit, Replace)]
    for edit in sorted(replaces, key=lambda edit: edit.where.lines or (0, 0), reverse=True):
        block = message.blocks[edit.where.block]
        path = block.path
        if isinstance(block, ToolCall):
            path += edit.where.path
        elif isinstance(block, ToolResult):
            path = block.parts[int(edit.where.path[0])].path
        wire = _set(wire, path, _rewritten(format, message, edit, _get(wire, path)))
    for path in sorted(
        (message.blocks[edit.where.block].path for edit in edits if isinstance(edit, Drop)), reverse=True
    ):
        if not path:
            return None
        del _get(wire, path[:-1])[path[-1]]
    if format == "openai-responses":
        wire.pop("id", None)
    return None if wire.get("content") == [] else wire


def decoded(message: Message, wire: Json) -> Json:
    """A deep copy of the message's wire object, or of one made from it, with encoded arguments decoded."""
    wire = copy.deepcopy(wire)
    for call in message.calls:
        if isinstance(call.raw, str) and call.arguments is not None:
            _set(wire, call.path, json.loads(_get(wire, call.path)))
    return wire


def _rewritten(format: str, message: Message, edit: Replace, old: Json) -> Json:
    if edit.where.lines is not None:
        lines = old.split("\n")
        lines[slice(*edit.where.lines)] = [edit.with_]
        return "\n".join(lines)
    if isinstance(message.blocks[edit.where.block], ToolCall) or isinstance(old, str):
        return edit.with_
    kind = {"openai-responses": "output_text" if message.role == "assistant" else "input_text"}.get(format, "text")
    return {"text": edit.with_} if format == "google-gemini" else {"type": kind, "text": edit.with_}


def _get(value: Json, path: Path) -> Json:
    for step in path:
        value = value[step]
    return value


def _set(value: Json, path: Path, new: Json) -> Json:
    if not path:
        return new
    _get(value, path[:-1])[path[-1]] = new
    return value
