"""The floor of a conversation: what no condensation can go below."""

from __future__ import annotations

from dataclasses import dataclass

from compact.messages import Conversation, exchanges, untouchable, visible
from compact.ports import Measure


@dataclass(frozen=True, slots=True)
class Floor:
    """The tokens no condensation can remove: system prompt and tools, and messages that must stay as they are."""

    frame: int
    messages: int
    count: int
    answered: int = 0
    """How many of them are in what tools answered."""

    @property
    def total(self) -> int:
        return self.frame + self.messages

    def __str__(self) -> str:
        return (
            f"{self.total:,} tokens cannot be condensed: {self.frame:,} of system prompt and tools, "
            f"{self.messages:,} in {self.count} message{'s' * (self.count != 1)} that must stay as "
            f"{'they are' if self.count != 1 else 'it is'}{self._answered()}"
        )

    def _answered(self) -> str:
        return f", {self.answered:,} of them with what tools answered last" if 2 * self.answered > self.total else ""


def floor_of(conversation: Conversation, measure: Measure) -> Floor:
    """The floor of the conversation."""
    conversation = visible(conversation)
    fixed = untouchable(conversation) | _called_for_fixed(conversation)
    kept = [message for message in conversation.messages if message.id in fixed]
    frame = measure.conversation(conversation.with_messages(()))
    sizes = [(measure.message(message), bool(message.results)) for message in kept]
    return Floor(frame, sum(size for size, _ in sizes), len(kept), sum(size for size, answers in sizes if answers))


def _called_for_fixed(conversation: Conversation) -> set[str]:
    """The ids of messages with calls whose results are fixed: an exchange stays or goes as a whole."""
    messages = conversation.messages
    if not any(message.fixed and message.results for message in messages):
        return set()
    stay = (group for group in exchanges(messages) if any(messages[at].fixed for at in group))
    return {messages[at].id for group in stay for at in group if messages[at].calls}
