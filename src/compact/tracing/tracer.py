"""Events on their way to exporters."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context, copy_context
from typing import Final, NamedTuple

from compact.messages import Json
from compact.ports import Event
from compact.ports.spans import Exporter, Span
from compact.tracing.capture import capture, repaired, writable
from compact.tracing.complaints import Complaints
from compact.tracing.line import LINGER, Line
from compact.tracing.tree import Tree

PATIENCE: Final = 2.0
"""Seconds that closing, also at the end of the program, waits for what has not left yet."""
_UNREADABLE: Final = "compact.unreadable"


class _Taken(NamedTuple):
    """An event as it was, unread: reading it is not done in the caller's time."""

    at: float
    session_id: str
    name: str
    properties: object
    seconds: float
    failed: bool
    context: Context


class Tracer:
    """Makes spans of events and hands them to every exporter.

    `emit` copies the event and returns: redaction, ids and export happen on a thread of the tracer's own. `redact` gets
    all properties of an event and returns what may leave. The tracer owns its exporters: they are closed with it.
    """

    def __init__(self, exporters: Sequence[Exporter], redact: Callable[[Json], Json] | None = None) -> None:
        self._exporters = tuple(exporters)
        self._redact = redact
        self._tree = Tree()
        self._complaints = Complaints("[compact] tracing:")
        self._line: Line[_Taken] = Line("compact tracing", self._deliver, linger=LINGER)
        self._dropped = 0
        self._closed = False
        atexit.register(self.close)

    def emit(self, session_id: str, event: Event) -> None:
        """Take note of an event that has just ended; neither waits nor raises."""
        now, context = time.time(), copy_context()
        try:
            copy = capture(event.properties)
            self._line.put(_Taken(now, session_id, event.name, copy, event.seconds, event.failed, context))
        except Exception as error:  # noqa: BLE001 - a door: whatever is wrong with the event, the caller goes on
            self._line.put(_Taken(now, "", _UNREADABLE, {"error_type": type(error).__name__}, 0.0, True, context))

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
            self._export(self._tree.unfinished(), copy_context())
        if left := self._line.close():
            self._complaints.failed("the end came before all events were exported", left)
        self.flush(until - time.monotonic())
        for exporter in self._exporters:
            exporter.close()
        self._complaints.close()

    def _deliver(self, batch: list[_Taken]) -> None:
        dropped, self._dropped = self._line.dropped - self._dropped, self._line.dropped
        if dropped > 0:
            self._complaints.failed("events come faster than they can be exported: the oldest are dropped", dropped)
        for taken in batch:
            session, event = self._read(taken)
            self._export(self._tree.spans(session, event, taken.at), taken.context)

    def _read(self, taken: _Taken) -> tuple[str, Event]:
        try:
            name, session = repaired(str(taken.name)), str(taken.session_id)
            seconds, failed, properties = float(taken.seconds), bool(taken.failed), writable(taken.properties)
        except Exception as error:  # noqa: BLE001 - a door, as in `emit`: the caller goes on
            return "", Event(_UNREADABLE, {"error_type": type(error).__name__}, failed=True)
        return session, Event(name, self._leaving(name, properties), seconds, failed)

    def _leaving(self, name: str, properties: Json) -> dict[str, Json]:
        """What may be told of an event."""
        try:
            left = properties if self._redact is None else self._redact(properties)
            if left is not properties:
                left = writable(left)
        except Exception as error:  # noqa: BLE001 - somebody else's code; unredacted nothing leaves
            self._complaints.failed(f"redaction failed ({type(error).__name__}), so {name} goes without data")
            return {"redaction_failed": type(error).__name__}
        return left if isinstance(left, dict) else {"value": left}

    def _export(self, spans: Iterable[Span], context: Context) -> None:
        for span in spans:
            for exporter in self._exporters:
                try:
                    context.run(exporter.emit, span)
                except Exception as error:  # noqa: BLE001 - somebody else's code; the other exporters go on
                    name = type(exporter).__name__
                    self._complaints.failed(f"{name} failed ({type(error).__name__}: {error})", 1)
                else:
                    self._complaints.worked()
