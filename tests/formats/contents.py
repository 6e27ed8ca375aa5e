"""What a conversation says, read independently of the code that converts it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from compact.formats import tools_of
from compact.messages import Attachment, Block, Conversation, Image, Json, Text, ToolCall, ToolResult


def blocks(conversation: Conversation) -> Iterator[Block]:
    for message in conversation.messages:
        yield from message.blocks


def leading(conversation: Conversation) -> int:
    """How many messages at the beginning are instructions."""
    roles = [message.role for message in conversation.messages]
    return next((index for index, role in enumerate(roles) if role not in ("system", "developer")), len(roles))


def instructions(conversation: Conversation) -> str:
    system = [conversation.system] if conversation.system else []
    texts = [
        block.text
        for message in [*system, *conversation.messages[: leading(conversation)]]
        for block in message.blocks
        if isinstance(block, Text)
    ]
    return "\n\n".join(text for text in texts if text)


def texts(conversation: Conversation) -> list[str]:
    after = conversation.messages[leading(conversation) :]
    return [block.text for message in after for block in message.blocks if isinstance(block, Text) and block.text]


def calls(conversation: Conversation) -> list[tuple[str, Json]]:
    return [
        (block.name, {} if block.raw is None else block.arguments)
        for block in blocks(conversation)
        if isinstance(block, ToolCall)
    ]


def results(conversation: Conversation) -> list[str]:
    return [
        answer(message.wire, block)
        for message in conversation.messages
        for block in message.blocks
        if isinstance(block, ToolResult)
    ]


def answer(wire: Json, result: ToolResult) -> str:
    """The result's text; an object, as Gemini's tools give, is the text only where it holds nothing else."""
    if "parts" not in wire:
        return result.text
    part = wire["parts"][result.path[1]]
    response = part.get("functionResponse", part.get("function_response"))["response"]
    if response and not (len(response) == 1 and {"output", "result", "content", "error"} & set(response)):
        return json.dumps(response, ensure_ascii=False)
    return result.text


def media(conversation: Conversation) -> list[tuple[str | None, str | None]]:
    """Pictures and files by content or address; one that only its vendor can find is no part of what is said."""
    found = [block for block in blocks(conversation) if isinstance(block, Image | Attachment)]
    return [(block.data, block.url) for block in found if block.data or block.url]


def said(conversation: Conversation) -> Json:
    """Everything that must survive, in order."""
    return {
        "instructions": instructions(conversation),
        "texts": texts(conversation),
        "calls": calls(conversation),
        "results": [text.strip("\n") for text in results(conversation)],
        "media": media(conversation),
        "tools": [(tool.name, tool.description, tool.schema) for tool in tools_of(conversation)],
    }
