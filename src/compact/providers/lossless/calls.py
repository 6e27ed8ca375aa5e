"""What calls are called in words, and which of their values may be edited."""

from __future__ import annotations

from typing import TypeAlias

from compact.messages import Conversation, Message, ToolCall, ToolResult, Where, pairs

_TELLING = ("file_path", "path", "filePath", "filename", "file", "command", "cmd", "pattern", "query", "url")
_LONGEST = 24
_OWN_SIGNS = {ord(sign): None for sign in "⟨⟩"}

Place: TypeAlias = tuple[str, int]
"""A block, as (id of its message, position in it)."""


class Names:
    """The names of a conversation's texts: the tool and what it was called with, or who spoke."""

    def __init__(self, conversation: Conversation) -> None:
        messages = conversation.messages
        self._messages: dict[str, Message] = {message.id: message for message in messages}
        self._calls: dict[Place, Place] = {
            (messages[result].id, position): (messages[call].id, block)
            for (result, position), (call, block) in pairs(messages).items()
        }
        self._names: dict[Place, str] = {}

    def call(self, where: Where) -> Place:
        """The block of the call that a text answers or belongs to; its own block if there is none."""
        place = where.message, where.block
        return self._calls.get(place, place)

    def of(self, where: Where) -> str:
        place = self.call(where)
        if place not in self._names:
            self._names[place] = self._name(place)
        return self._names[place]

    def _name(self, place: Place) -> str:
        message = self._messages.get(place[0])
        if message is None:
            return "system prompt"
        block = message.blocks[place[1]]
        if isinstance(block, ToolCall):
            return name_call(block)
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
    plain = f"{call.name} {value}".strip().translate(_OWN_SIGNS)
    if not plain.isprintable():
        plain = "".join(char if char.isprintable() else " " for char in plain)
    return plain[:80] or "a call"
