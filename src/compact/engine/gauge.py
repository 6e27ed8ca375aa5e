"""Measuring conversations that differ from each other by a few messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import is_

from compact.messages import Conversation, Message, Tool, seen, visible, without_meta
from compact.tokens import Counter

_REMEMBERED = 3
"""Of how many conversations the total is kept."""


class Gauge:
    """A `Measure` that counts each message once, however many conversations it stands in."""

    def __init__(self, counter: Counter, tools: Sequence[Tool]) -> None:
        self._counter = counter
        self._tools = tools
        self._frame: int | None = None
        self._known: dict[int, tuple[Message, int]] = {}
        self._sizes: dict[int, tuple[Message, int]] = {}
        self._added: tuple[tuple[Message, ...], Mapping[str, int]] = ((), {})
        self._totals: tuple[tuple[tuple[Message, ...], int], ...] = ()

    def text(self, text: str, /) -> int:
        return self._counter.text(text)

    def message(self, message: Message, /) -> int:
        known = self._known.get(id(message))
        if known is None:
            # The message is kept beside its count, so its id cannot come to mean another one.
            known = self._known[id(message)] = (message, self._counter.message(message))
        return known[1]

    def conversation(self, conversation: Conversation, /) -> int:
        messages = conversation.messages
        for known, total in self._totals:
            if known is messages:
                return total
        total = self.frame(conversation) + sum(map(self.message, seen(messages)))
        # A pass is judged by what was before and after it, again and again.
        self._totals = ((messages, total), *self._totals[: _REMEMBERED - 1])
        return total

    def size(self, conversation: Conversation, /) -> int:
        """The bytes of the messages as they are sent."""
        return sum(map(self._size, conversation.messages))

    def _size(self, message: Message) -> int:
        known = self._sizes.get(id(message))
        if known is None:
            size = len(
                json.dumps(without_meta(message.wire), ensure_ascii=False, separators=(",", ":")).encode(
                    errors="replace"
                )
            )
            known = self._sizes[id(message)] = (message, size)
        return known[1]

    def frame(self, conversation: Conversation, /) -> int:
        """The tokens around the messages: system prompt, tools, and what asks the model to answer."""
        if self._frame is None:
            self._frame = self._counter.frame(conversation, self._tools)
        return self._frame

    def roles(self, conversation: Conversation, /) -> Mapping[str, int]:
        """The tokens of the messages by role; where the conversation only grew, only the new ones are added up."""
        messages = visible(conversation).messages
        before, added = self._added
        if len(before) > len(messages) or not all(map(is_, before, messages)):
            before, added = (), {}
        if len(before) < len(messages):
            totals = dict(added)
            for message in messages[len(before) :]:
                totals[message.role] = totals.get(message.role, 0) + self.message(message)
            # Set in one go: another thread may be reading.
            self._added = (messages, totals)
            return totals
        return added
