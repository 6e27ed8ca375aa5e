"""The texts of a conversation, in order, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

from compact.messages.blocks import Block, Text, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Message
from compact.messages.edits import Where
from compact.messages.references import fingerprint, has_mark, may_have_mark


def texts(conversation: Conversation) -> Iterator[tuple[Where, str]]:
    """Every readable text an edit could address: what was said, what tools answered, strings in calls' arguments."""
    for message in conversation.messages:
        yield from message_texts(message)


def message_texts(message: Message) -> tuple[tuple[Where, str], ...]:
    """The texts of one message."""
    if message.kept_texts is None:
        object.__setattr__(message, "kept_texts", tuple(_read(message)))
    return message.kept_texts or ()


def fingerprints(message: Message) -> tuple[str, ...]:
    """The fingerprints of the texts of one message."""
    if message.kept_prints is None:
        object.__setattr__(message, "kept_prints", tuple(fingerprint(text) for _, text in message_texts(message)))
    return message.kept_prints or ()


def is_marked(message: Message) -> bool:
    """Whether any of the texts of one message may hold a reference."""
    marked = message.kept_marked
    if marked is None:
        marked = False
        for block in message.blocks:
            marked = marked or _mentions_mark(block)
        object.__setattr__(message, "kept_marked", marked)
    return marked


def _mentions_mark(block: Block) -> bool:
    if isinstance(block, Text):
        return has_mark(block.text)
    if isinstance(block, ToolResult):
        for part in block.parts:
            if isinstance(part, Text) and has_mark(part.text):
                return True
    if not isinstance(block, ToolCall):
        return False
    # Encoded arguments need not be decoded where it cannot stand in them: JSON writes it as it is or by code.
    absent = isinstance(block.raw, str) and not may_have_mark(block.raw) and "\\u" not in block.raw
    return not absent and any(has_mark(text) for _, text in block.strings)


def _read(message: Message) -> Iterator[tuple[Where, str]]:
    id = message.id
    for index, block in enumerate(message.blocks):
        if isinstance(block, Text):
            yield Where(id, index), block.text
        elif isinstance(block, ToolResult):
            for position, part in enumerate(block.parts):
                if isinstance(part, Text):
                    yield Where(id, index, (position,)), part.text
        elif isinstance(block, ToolCall):
            for path, text in block.strings:
                yield Where(id, index, path), text
