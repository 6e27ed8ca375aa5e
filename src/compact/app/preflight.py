"""One call of a manager: what it gives back, and the events it gave rise to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from compact.app.keeping import Keeper
from compact.engine import Report
from compact.engine.projection import BreakCause
from compact.engine.sessions import Session
from compact.errors import InvalidConversation
from compact.messages import Json
from compact.ports import Event


@dataclass(frozen=True, slots=True)
class Preflight:
    """What is to be sent, and what was done to make it so.

    `compacted` says whether this call compacted the conversation. `tokens_before` is the size of the request as it was
    given, `tokens_after` as it is sent; they are equal if no compaction applies. `report` is about the compaction, if
    there was one, and `reach` is how many of the first messages it depends on. `events` are all events of this call.
    `break_cause` says why the request does not begin with all messages of the request before: this or another process
    compacted the conversation, the client rewrote its history, or a compaction was undone. It is empty if it does, or
    if no request was sent before.
    """

    messages: list[Json]
    compacted: bool
    tokens_before: int
    tokens_after: int
    report: Report | None = None
    reach: int = 0
    events: tuple[Event, ...] = ()
    break_cause: BreakCause = ""


@dataclass(slots=True)
class Call:
    """One call of the manager for a session: its events go to the keeper, and are collected."""

    keeper: Keeper
    session: Session
    events: list[Event] = field(default_factory=list)
    report: Report | None = None

    def emit(self, event: Event) -> None:
        self.events.append(self.keeper.emit(self.session.id, event))

    def relay(self, event: Event) -> None:
        """Pass on an event of the engine."""
        for translated in self.keeper.translated(event):
            self.emit(translated)


def listed(given: Sequence[Json], what: str = "messages") -> list[Json]:
    """Return the items as a list; InvalidConversation where they are none."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InvalidConversation(
            f"must be a list of {what}, not {type(given).__name__}",
            field=what,
            remedy=f"Pass the {what} of the request.",
        )
    return list(given)
