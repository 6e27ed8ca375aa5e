"""The texts of a conversation, in order, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

from compact.messages.blocks import Text, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Message
from compact.messages.edits import Where


def texts(conversation: Conversation) -> Iterator[tuple[Where, str]]:
    """Every readable text an edit could address: what was said, what tools answered, strings in calls' arguments."""
    for message in conversation.messages:
        yield from message_texts(message)


def mentions(conversation: Conversation, sign: str) -> bool:
    """Whether any of the texts contains the sign; faster than to look at each with its place."""
    for message in conversation.messages:
        for block in message.blocks:
            if isinstance(block, Text):
                if sign in block.text:
                    return True
            elif isinstance(block, ToolResult):
                if any(sign in part.text for part in block.parts if isinstance(part, Text)):
                    return True
            elif isinstance(block, ToolCall) and any(sign in text for _, text in block.strings):
                return True
    return False


def message_texts(message: Message) -> Iterator[tuple[Where, str]]:
    """The texts of one message."""
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
