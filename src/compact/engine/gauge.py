"""Measuring conversations that differ from each other by a few messages."""

from __future__ import annotations

from collections.abc import Sequence

from compact.messages import Conversation, Message, Tool
from compact.tokens import Counter


class Gauge:
    """A `Measure` that counts each message once, however many conversations it stands in."""

    def __init__(self, counter: Counter, tools: Sequence[Tool]) -> None:
        self._counter = counter
        self._tools = tools
        self._frame: int | None = None
        self._known: dict[int, tuple[Message, int]] = {}

    def text(self, text: str, /) -> int:
        return self._counter.text(text)

    def message(self, message: Message, /) -> int:
        known = self._known.get(id(message))
        if known is None:
            # The message is kept beside its count, so its id cannot come to mean another one.
            known = self._known[id(message)] = (message, self._counter.message(message))
        return known[1]

    def conversation(self, conversation: Conversation, /) -> int:
        if self._frame is None:
            self._frame = self._counter.frame(conversation, self._tools)
        return self._frame + sum(map(self.message, conversation.messages))
