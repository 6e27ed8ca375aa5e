"""The texts of a conversation, in order, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

from compact.messages.blocks import Json, Path, Text, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Message
from compact.messages.edits import Where


def texts(conversation: Conversation) -> Iterator[tuple[Where, str]]:
    """Every readable text an edit could address: what was said, what tools answered, strings in calls' arguments."""
    for message in conversation.messages:
        yield from message_texts(message)


def message_texts(message: Message) -> Iterator[tuple[Where, str]]:
    """The texts of one message."""
    for index, block in enumerate(message.blocks):
        if isinstance(block, Text):
            yield Where(message.id, index), block.text
        elif isinstance(block, ToolResult):
            for position, part in enumerate(block.parts):
                if isinstance(part, Text):
                    yield Where(message.id, index, (position,)), part.text
        elif isinstance(block, ToolCall) and (arguments := block.arguments) is not None:
            for path, text in _strings(arguments, ()):
                yield Where(message.id, index, path), text


def _strings(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    """The strings inside a JSON value, however deep, in the order they are written."""
    pending: list[tuple[Path, Json]] = [(path, value)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            if path:
                yield path, value
        elif isinstance(value, dict):
            pending += [((*path, key), item) for key, item in reversed(value.items())]
        elif isinstance(value, list):
            pending += [((*path, index), item) for index, item in reversed(list(enumerate(value)))]
