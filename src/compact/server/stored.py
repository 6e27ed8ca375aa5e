"""The server's stored sessions: opened once, one answer at a time in each, and what happens to them is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Annotated, Final

from fastapi import Depends, HTTPException

from compact.app.analysing import STORED
from compact.app.stored import StoredSessions
from compact.messages import Json
from compact.ports import Event
from compact.ports.spans import Span
from compact.redaction import Redactor
from compact.server.ingest import SpanEvent, TraceEvent, Traces, store_of
from compact.server.state import ServerState, state_of
from compact.settings import database, home
from compact.tracing import Tracer
from compact.tracing.written import span_to_json

TOPIC: Final = "sessions"
"""Under which the server's events tell what happens to sessions."""
_STARTED, _FINISHED, _FAILED = (f"compact.compression_{end}" for end in ("started", "finished", "failed"))


class Turns:
    """Who is answering in which session: one at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: dict[str, object] = {}

    def take(self, session: str) -> Callable[[], None]:
        """Be the only one who answers in the session; 409 where somebody does so already. Gives what ends the turn."""
        turn = object()
        with self._lock:
            if session in self._taken:
                raise HTTPException(409, "the session is answering already. Wait until it is done.")
            self._taken[session] = turn

        def end() -> None:
            with self._lock:
                if self._taken.get(session) is turn:
                    del self._taken[session]

        return end


class Told:
    """Is told what happens to sessions, and passes it on to whoever listens and to the traces."""

    def __init__(self, state: ServerState) -> None:
        self._events = state.events
        self._tracer = state.service("tracer", _tracer)

    def __call__(self, session: str, event: Event) -> None:
        self._events.publish(
            TOPIC,
            {
                "session": session,
                "name": event.name,
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "seconds": event.seconds,
                "failed": event.failed,
                "properties": dict(event.properties),
            },
        )
        self._tracer.emit(session, _traced(session, event))


class _Keeper:
    """Puts spans where the ones from other programs are."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    def emit(self, span: Span) -> None:
        written = SpanEvent.model_validate(span_to_json(span))
        session = str(span.data.get("session", ""))
        named = TraceEvent(type="trace", trace_id=span.trace_id, name=f"session {session[:12]}", group_id=session)
        self._traces.add([named, written])

    def flush(self, deadline: float) -> bool:  # noqa: ARG002 - what was emitted is written by then
        return True

    def close(self) -> None:
        """The traces are the server's own."""


def _tracer(state: ServerState) -> Tracer:
    return Tracer([_Keeper(store_of(state))], Redactor().json)


def _traced(session: str, event: Event) -> Event:
    """The event in the words of a manager's traces, by which what belongs to one compression is found."""
    facts: dict[str, Json] = {"session": session, **event.properties}
    if event.name == _STARTED:
        return Event("compact.trigger_decision", {**facts, "triggered": True})
    if event.name in (_FINISHED, _FAILED):
        return Event("compact.condensed", _result(facts), event.seconds, event.failed)
    return Event(event.name, facts, event.seconds, event.failed)


def _result(facts: Mapping[str, Json]) -> dict[str, Json]:
    sizes = {"tokens_before": facts.get("tokens"), "tokens_after": facts.get("after")}
    kept = {key: value for key, value in facts.items() if key not in ("tokens", "after")}
    known = {key: value for key, value in sizes.items() if value is not None}
    return {**kept, **known, "provider": STORED, "automatic": facts.get("trigger") == "automatic"}


def sessions_of(state: Annotated[ServerState, Depends(state_of)]) -> StoredSessions:
    """The server's stored sessions; a dependency of routes."""
    return state.service("sessions", _open)


def turns_of(state: ServerState) -> Turns:
    """Who is answering in which session."""
    return state.service("turns", lambda _: Turns())


def _open(state: ServerState) -> StoredSessions:
    chosen = database()
    # A server may have been given another folder than the usual one.
    usual = chosen == str(home() / "sessions.db")
    return StoredSessions(state.home / "sessions.db" if usual else chosen, observe=Told(state))
