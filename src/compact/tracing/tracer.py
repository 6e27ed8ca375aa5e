"""Events on their way to exporters."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context
from functools import partial
from typing import Any, Final

from compact.messages import Json
from compact.ports import Event
from compact.ports.spans import Exporter, Span
from compact.tracing.capture import capture, repaired, writable
from compact.tracing.complaints import Complaints
from compact.tracing.line import LINGER, Line
from compact.tracing.tree import Tree
from compact.tracing.written import SESSION

PATIENCE: Final = 2.0
"""Seconds that closing, also at the end of the program, waits for what has not left yet."""


class Tracer:
    """Makes spans of events and hands them to every exporter.

    `emit` copies the event and returns: redaction, ids and export happen on a thread of the tracer's own. `redact` gets
    all properties of an event and returns what may leave. The tracer owns its exporters: they are closed with it.
    """

    def __init__(self, exporters: Sequence[Exporter], redact: Callable[[Json], Json] | None = None) -> None:
        self._exporters = tuple(exporters)
        self._redact = redact
        self._tree = Tree()
        self.complaints = Complaints("[compact] tracing:")
        self._line: Line[Callable[[], None]] = Line("compact tracing", self._deliver, linger=LINGER)
        self._dropped = 0
        self._closed = False
        atexit.register(self.close)

    def emit(self, session_id: str, event: Event) -> None:
        """Take note of an event that has just ended; neither waits nor raises."""
        now = time.time()
        try:
            copy: Any = capture(event.properties)
            # Its other fields are read on the tracer's thread: they may be anything.
            taken = Event(event.name, copy, event.seconds, event.failed)
        except Exception as error:  # noqa: BLE001 - a door: whatever is wrong with the event, the caller goes on
            session_id, taken = "", _unreadable(error)
        self.put(partial(copy_context().run, self._export_event, now, session_id, taken))

    def put(self, work: Callable[[], None]) -> None:
        """Have something done on the tracer's thread, such as `export`; neither waits nor raises."""
        self._line.put(work)

    def flush(self, deadline: float) -> bool:
        """Wait at most so many seconds until all events have left; whether they have."""
        until = time.monotonic() + deadline
        done = self._line.flush(deadline)
        for exporter in self._exporters:
            done = exporter.flush(max(0.0, until - time.monotonic())) and done
        return done

    def close(self) -> None:
        """Send what is left, for two seconds at most, and let go of everything."""
        if self._closed:
            return
        self._closed = True
        atexit.unregister(self.close)
        until = time.monotonic() + PATIENCE
        if self._line.flush(PATIENCE):
            self.export(self._tree.unfinished())
        if left := self._line.close():
            self.complaints.failed("the end came before all events were exported", left)
        self.flush(until - time.monotonic())
        for exporter in self._exporters:
            exporter.close()
        self.complaints.close()

    def _deliver(self, batch: list[Callable[[], None]]) -> None:
        dropped, self._dropped = self._line.dropped - self._dropped, self._line.dropped
        if dropped > 0:
            self.complaints.failed("events come faster than they can be exported: the oldest are dropped", dropped)
        for work in batch:
            work()

    def _export_event(self, at: float, session_id: str, taken: Event) -> None:
        try:
            session = str(session_id)
            event = self._read(session, taken)
        except Exception as error:  # noqa: BLE001 - a door, as in `emit`: the caller goes on
            session, event = "", _unreadable(error)
        self.export(self._tree.spans(session, event, at))

    def _read(self, session: str, taken: Event) -> Event:
        name, facts = repaired(str(taken.name)), writable(taken.properties)
        if session and isinstance(facts, dict):
            facts.setdefault(SESSION, repaired(session))
        told = self._leaving(name, facts)
        return Event(name, told, float(taken.seconds), bool(taken.failed))

    def _leaving(self, name: str, properties: Json) -> dict[str, Json]:
        """What may be told of an event."""
        try:
            left = properties if self._redact is None else self._redact(properties)
            if left is not properties:
                left = writable(left)
        except Exception as error:  # noqa: BLE001 - somebody else's code; unredacted nothing leaves
            self.complaints.failed(f"redaction failed ({type(error).__name__}), so {name} goes without data")
            return {"redaction_failed": type(error).__name__}
        return left if isinstance(left, dict) else {"value": left}

    def export(self, spans: Iterable[Span]) -> None:
        """Hand spans to every exporter; what one of them raises is reported."""
        for span in spans:
            for exporter in self._exporters:
                try:
                    exporter.emit(span)
                except Exception as error:  # noqa: BLE001 - somebody else's code; the other exporters go on
                    name = type(exporter).__name__
                    self.complaints.failed(f"{name} failed ({type(error).__name__}: {error})", 1)
                else:
                    self.complaints.worked()


def _unreadable(error: Exception) -> Event:
    return Event("compact.unreadable", {"error_type": type(error).__name__}, failed=True)
