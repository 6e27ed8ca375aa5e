"""What calls are called in words, and which of their values may be edited."""

from __future__ import annotations

from compact.errors import EditError
from compact.messages import Conversation, Message, Path, ToolCall, ToolResult, Where, pairs
from compact.messages.paths import splice

_TELLING = ("file_path", "path", "filePath", "filename", "file", "command", "cmd", "pattern", "query", "url")
_LONGEST = 24


class Names:
    """The names of a conversation's texts: the tool and what it was called with, or who spoke."""

    def __init__(self, conversation: Conversation) -> None:
        self._messages: dict[str, Message] = {message.id: message for message in conversation.messages}
        self._calls: dict[tuple[str, int], ToolCall] = {}
        for (result, position), (call, block) in pairs(conversation.messages).items():
            called = conversation.messages[call].blocks[block]
            if isinstance(called, ToolCall):
                self._calls[conversation.messages[result].id, position] = called

    def of(self, where: Where) -> str:
        message = self._messages.get(where.message)
        if message is None:
            return "system prompt"
        block = message.blocks[where.block]
        call = block if isinstance(block, ToolCall) else self._calls.get((where.message, where.block))
        if call is not None:
            return name_call(call)
        return "a result" if isinstance(block, ToolResult) else f"{message.role} message"


def name_call(call: ToolCall) -> str:
    """The tool's name and the argument that tells most, on one line without our own signs."""
    arguments = call.arguments
    value = ""
    if isinstance(arguments, dict):
        value = next((arguments[key] for key in _TELLING if isinstance(arguments.get(key), str)), "")
    value = " ".join(value.split())
    if len(value) > _LONGEST:
        value = f"{value[: _LONGEST - 1]}…" if " " in value else f"…{value[1 - _LONGEST :]}"
    plain = f"{call.name} {value}".strip().translate({ord(sign): None for sign in "⟨⟩"})
    return "".join(char if char.isprintable() else " " for char in plain)[:80] or "a call"


def can_edit(call: ToolCall, path: Path) -> bool:
    """Whether the value may be replaced: in encoded arguments, only one that is written the way we would write it."""
    if not isinstance(call.raw, str):
        return True
    try:
        splice(call.raw, path, "")
    except EditError:
        return False
    return True
