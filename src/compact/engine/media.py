"""Images and files for which a request has too many bytes: the oldest go first, and a few words take their place."""

from __future__ import annotations

from collections.abc import Iterator

from compact.messages import (
    Attachment,
    Conversation,
    EditKind,
    Image,
    Message,
    Pass,
    Replace,
    ToolResult,
    Where,
    untouchable,
)
from compact.quantities import counted

PASS = "Images and files"  # noqa: S105 - a pass of a plan


def drop_media(conversation: Conversation, excess: int) -> Pass | None:
    """The pass that takes out so many bytes of images and files, or all that may go; None where none may."""
    fixed = untouchable(conversation)
    edits: list[Replace] = []
    freed = 0
    for message in conversation.messages:
        for where, medium in _media(message) if message.id not in fixed else ():
            if freed >= excess:
                break
            freed += len(medium.data or "")
            edits.append(Replace(where, _words(medium), EditKind.OVER_LIMIT))
    note = f"{counted(len(edits), 'piece')} of {freed / 1e6:,.1f} MB taken out"
    return Pass(PASS, tuple(edits), (note,)) if edits else None


def _media(message: Message) -> Iterator[tuple[Where, Image | Attachment]]:
    """Yield the media that a message holds by value, with their places."""
    for at, block in enumerate(message.blocks):
        if isinstance(block, Image | Attachment) and block.data:
            yield Where(message.id, at), block
        elif isinstance(block, ToolResult):
            for part, each in enumerate(block.parts):
                if isinstance(each, Image | Attachment) and each.data:
                    yield Where(message.id, at, (part,)), each


def _words(medium: Image | Attachment) -> str:
    if isinstance(medium, Image):
        return "[an image was here]"
    return f"[{medium.name or 'a file'} was here]"
