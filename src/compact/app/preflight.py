"""One call of a manager: what it gives back, and the events it gave rise to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from compact.app.keeping import Keeper
from compact.engine import Report
from compact.engine.compaction import PROVIDER_FAILED
from compact.engine.events import decision_events, estimate_event, lowered_event, public_events
from compact.engine.projection import BreakCause
from compact.engine.sessions import Session
from compact.errors import InsufficientBudget, InvalidConversation, InvalidInput
from compact.formats import Format
from compact.messages import Json, dump_objects
from compact.policies import AnswerRoom, Decision, EffectiveThreshold, Policy, Room
from compact.policies.room import read_answer_room
from compact.ports import Event


@dataclass(frozen=True, slots=True)
class Preflight:
    """What is to be sent, and what was done to make it so.

    `compacted` says whether this call compacted the conversation. `tokens_before` is the size of the request as it was
    given, `tokens_after` as it is sent; they are equal if no compaction applies. `report` is about the compaction, if
    there was one, and `reach` is how many of the first messages it depends on. `events` are all events of this call.
    `break_cause` says why the request does not begin with all messages of the request before: this or another process
    compacted the conversation, the client rewrote its history, or a compaction was undone. It is empty if it does, or
    if no request was sent before. `max_tokens` is the limit to send for the answer if the request's own does not fit;
    None leaves that. `compaction` is the number by which `undo` takes this compaction back, 0 where there was none;
    `left` is how many tokens there are until the next one, where that is near.
    """

    messages: list[Json]
    compacted: bool
    tokens_before: int
    tokens_after: int
    report: Report | None = None
    reach: int = 0
    events: tuple[Event, ...] = ()
    break_cause: BreakCause = ""
    max_tokens: int | None = None
    compaction: int = 0
    left: int | None = None

    @property
    def failure(self) -> str:
        """How the recipe's own provider failed, and who did its work; empty if it did not fail."""
        failures = (event for event in self.events if event.properties.get("error_type") == PROVIDER_FAILED)
        return next((str(event.properties["message"]) for event in failures), "")


@dataclass(slots=True)
class Call:
    """One call of the manager for a session: its events go to the keeper, and are collected.

    `max_tokens` is the limit of the answer that the caller names beside the request, and `answer` the room that the
    answer asks for; None where no limit is set. `lowers` says whether the caller can be given a lower limit. With
    `only_if_needed`, the request is compacted only if it would not fit otherwise.
    """

    keeper: Keeper
    session: Session
    max_tokens: int | None = None
    lowers: bool = True
    only_if_needed: bool = False
    answer: AnswerRoom | None = None
    events: list[Event] = field(default_factory=list)
    report: Report | None = None

    def __post_init__(self) -> None:
        if self.max_tokens is not None:
            if self.max_tokens < 1:
                raise InvalidInput(
                    f"must be positive, not {self.max_tokens}", field="max_tokens", remedy="Leave it out for none."
                )
            self.answer = AnswerRoom.limited(self.max_tokens)

    def read_limit(self, request: Mapping[str, Json], format: Format) -> None:
        """Take the room of the answer from the limit that the caller or the request names."""
        self.answer = read_answer_room(format, request, self.max_tokens)

    def lower(self, done: Preflight, room: Room) -> Preflight:
        """Return the preflight with a lower limit of the answer, where its own does not fit beside the input."""
        limit, used = room.lowered(done.tokens_after), done.tokens_after
        if limit is None:
            return done
        if self.lowers:
            self.emit(lowered_event(used, room, limit))
            return replace(done, max_tokens=limit, events=tuple(self.events))
        wished, budget = room.answer.limit, room.limits.input_beside(room.answer.limit) - room.buffer
        raise InsufficientBudget(
            f"{used:,} tokens of input leave no room for an answer of {wished:,} in a window of {room.limits.total:,} "
            f"with {room.buffer:,} kept free. Lower the limit of the answer to {limit:,}, or call prepare, which "
            "returns the limit to send.",
            needed=used,
            budget=max(0, budget),
        )

    def emit(self, event: Event) -> None:
        self.events.append(self.keeper.emit(self.session.id, event))

    def emit_estimate(self, model: str, decision: Decision) -> None:
        """Report the size of the request."""
        conversation, gauge = self.session.current.conversation, self.session.gauge
        system = gauge.message(conversation.system) if conversation.system else 0
        frame, roles = gauge.frame(conversation), gauge.roles(conversation)
        self.emit(estimate_event(model, decision, frame, system, roles))

    def emit_decision(self, decision: Decision, policy: Policy, threshold: EffectiveThreshold, note: str = "") -> None:
        """Report whether a compaction begins."""
        names = "hard_cap_buffer", "strategy", "keep_recent_turns", "keep_tool_io_pairs"
        shown = {name: getattr(policy, name) for name in names}
        for event in decision_events(decision, shown, threshold, note):
            self.emit(event)

    def relay(self, event: Event) -> None:
        """Pass on an event of the engine."""
        for public in public_events(event):
            self.emit(public)


def listed(given: Sequence[Json], what: str = "messages") -> list[Json]:
    """Return the items as a list; InvalidConversation where they are none."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InvalidConversation(
            f"must be a list of {what}, not {type(given).__name__}",
            field=what,
            remedy=f"Pass the {what} of the request.",
        )
    items: list[Json] = dump_objects(list(given))
    return items
