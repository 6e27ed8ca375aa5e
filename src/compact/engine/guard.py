"""What keeps condensing from going round in circles: the floor nothing can go below, and an end to vain attempts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compact.errors import CondensationStalled
from compact.messages import Conversation, untouchable
from compact.ports import Measure

ATTEMPTS = 3
COOLDOWN = 300.0
LEAST_PROGRESS = 0.1


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
    fixed = untouchable(conversation)
    kept = [message for message in conversation.messages if message.id in fixed]
    frame = measure.conversation(conversation.with_messages(()))
    sizes = [(measure.message(message), bool(message.results)) for message in kept]
    return Floor(frame, sum(size for size, _ in sizes), len(kept), sum(size for size, answers in sizes if answers))


@dataclass(frozen=True, slots=True)
class Progress:
    """What a condensation set out to do, and what it did; `enough` when it need not be repeated at once."""

    before: int
    after: int
    target: int
    floor: Floor
    enough: bool

    @property
    def failed(self) -> bool:
        """Whether it freed less than a tenth of what it could have, or would have to be repeated at once."""
        wanted = self.before - max(self.target, self.floor.total)
        return not self.enough or wanted <= 0 or self.before - self.after < LEAST_PROGRESS * wanted


class LoopGuard:
    """Counts attempts in vain; after three in a row a conversation is left alone for a while."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._vain: dict[str, tuple[int, float]] = {}

    def admits(self, session: str) -> bool:
        """Whether the conversation may be condensed; else it is to be left alone."""
        attempts, until = self._vain.get(session, (0, 0.0))
        return attempts < ATTEMPTS or self._clock() >= until

    def record(self, session: str, progress: Progress) -> CondensationStalled | None:
        """Take note of an attempt; gives what to report if it is the third in vain, or one more after that."""
        if not progress.failed:
            self._vain.pop(session, None)
            return None
        attempts = self._vain.get(session, (0, 0.0))[0] + 1
        self._vain[session] = (attempts, self._clock() + COOLDOWN)
        if attempts < ATTEMPTS:
            return None
        freed, wanted = progress.before - progress.after, progress.before - progress.target
        text = (
            f"{attempts} times in a row condensing freed {freed:,} tokens where {wanted:,} were to be freed "
            f"({progress.before:,} now, target {progress.target:,}); {progress.floor}. Raise the target, protect fewer "
            "messages, shorten the system prompt or the tools, use a model with a larger window, or switch to another "
            f"provider; the next attempt is made in {COOLDOWN:.0f} s at the earliest."
        )
        return CondensationStalled(text, attempts=attempts, retry_after=COOLDOWN)
