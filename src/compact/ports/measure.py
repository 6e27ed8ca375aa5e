"""How large something is, in the model's tokens."""

from __future__ import annotations

from typing import Protocol

from compact.messages import Conversation, Message


class Measure(Protocol):
    """Counts tokens; fast for what was counted before."""

    def text(self, text: str, /) -> int: ...

    def message(self, message: Message, /) -> int: ...

    def conversation(self, conversation: Conversation, /) -> int:
        """Everything that is sent: messages, system prompt, tools."""
        ...
