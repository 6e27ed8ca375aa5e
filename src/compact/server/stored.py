"""The server's stored sessions: opened once, with one answer at a time in each, and with events for listeners."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock
from typing import Annotated, Final, TypeAlias

from fastapi import Depends, HTTPException

from compact.app.counting import counter_for
from compact.app.responding import responder_for
from compact.app.stored import StoredSessions
from compact.errors import CompactError
from compact.policies import OwnThreshold, Profile
from compact.ports import Event, ModelConfig
from compact.server.ingest import open_tracer
from compact.server.state import ServerState, State
from compact.settings import database, home
from compact.tokens import Counter

_log = logging.getLogger("compact.server")
TOPIC: Final = "sessions"
"""The topic of events about sessions."""


class Turns:
    """The sessions in which an answer is under way: one answer at a time in each."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._taken: dict[str, object] = {}

    def take(self, session: str) -> Callable[[], None]:
        """Reserve the session for one answer, and give the function that ends this; 409 while there is another."""
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


class StoredModels:
    """The stored models; `changes` grows with each change in this server."""

    def __init__(
        self, find: Callable[[str], ModelConfig | None], usual: Callable[[], OwnThreshold] | None = None
    ) -> None:
        self._find = find
        self._usual = usual
        self.changes = 0

    def changed(self) -> None:
        self.changes += 1

    def find(self, name: str) -> ModelConfig | None:
        """Return the limits that a person or a vendor set; None where there are none or the database is unreadable."""
        try:
            found = self._find(name)
        except CompactError as error:
            _log.warning("what is stored of the model %s does not count: %s", name[:80], error)
            return None
        return None if found is None or found.source == "default" else found

    def usual_threshold(self) -> OwnThreshold:
        """The threshold that is set for all sessions; none where the database cannot be read."""
        try:
            return self._usual() if self._usual else OwnThreshold("global", None)
        except CompactError as error:
            return OwnThreshold("global", None, problem=f"the threshold of all sessions is not used: {error}")


class Forwarder:
    """Passes what happens to sessions on to the listeners of the server's events, and to the traces."""

    def __init__(self, state: ServerState) -> None:
        self._events = state.events
        self._tracer = state.service("tracer", open_tracer)

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
        self._tracer.emit(session, event)


def sessions_of(state: State) -> StoredSessions:
    """The server's stored sessions; a dependency of routes."""
    return state.service("sessions", _open)


Sessions: TypeAlias = Annotated[StoredSessions, Depends(sessions_of)]
"""The parameter of a route that needs them."""


def turns_of(state: ServerState) -> Turns:
    """The answers that are under way; one object for the whole server."""
    return state.service("turns", lambda _: Turns())


def models_of(state: ServerState) -> StoredModels:
    """Return the stored models; one object for the whole server."""

    def find(name: str) -> ModelConfig | None:  # opens the database only when a model is looked up
        return sessions_of(state).preferences.known_model(name)

    def usual() -> OwnThreshold:
        return sessions_of(state).preferences.usual_threshold()

    return state.service("models", lambda _: StoredModels(find, usual))


def _open(state: ServerState) -> StoredSessions:
    chosen = database()
    # A server may have been given another folder than the usual one.
    usual = chosen == str(home() / "sessions.db")
    made = StoredSessions(state.home / "sessions.db" if usual else chosen, observe=Forwarder(state))
    made.preferences.answering_profile = _answering
    made.preferences.changed = models_of(state).changed
    made.reader.counter_for = _counter
    return made


def _answering(model: str) -> Profile | None:
    return responder_for(model).profile


def _counter(model: str) -> Counter:
    """Return what counts for the model that answers, which may be another than the session's."""
    profile = _answering(model)
    return counter_for(model if profile is None or profile.serves(model) else profile.catalogue_name)
