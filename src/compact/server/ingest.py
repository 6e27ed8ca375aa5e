"""Traces: what Compact's tracing, or any program that speaks Ariadne's protocol, sends to `/ingest`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from operator import itemgetter
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, Final, Literal, TypeAlias

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from compact.errors import StorageError
from compact.messages import Json
from compact.ports.spans import Span
from compact.redaction import Redactor
from compact.server.state import ServerState, state_of
from compact.tracing import Tracer
from compact.tracing.written import span_to_json, trace_to_json

MOST_EVENTS: Final = 50_000
"""Spans and traces that are kept; the oldest go first."""
_SPARE: Final = 1_000
_BUSY_SECONDS: Final = 5.0
_TABLES: Final = """
CREATE TABLE IF NOT EXISTS event (
    number INTEGER PRIMARY KEY AUTOINCREMENT, trace TEXT NOT NULL, span TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (trace, span)
);
"""

Name: TypeAlias = Annotated[str, Field(max_length=4096)]
Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=256)]
Instant: TypeAlias = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$")]


class TraceEvent(BaseModel):
    """A trace: what it is called and when it was."""

    type: Literal["trace"]
    trace_id: Id
    name: Name = ""
    group_id: Name = ""
    started_at: Instant = Field(default="", validate_default=False)
    ended_at: Instant = Field(default="", validate_default=False)
    metadata: dict[str, str] = {}


class SpanEvent(BaseModel):
    """A span of a trace."""

    type: Literal["span"]
    trace_id: Id
    span_id: Id
    parent_id: Name = ""
    kind: Name = ""
    name: Name = ""
    started_at: Instant = Field(default="", validate_default=False)
    ended_at: Instant = Field(default="", validate_default=False)
    data: dict[str, Any] = {}
    status: Literal["ok", "error"] = "ok"


TracedEvent: TypeAlias = Annotated[TraceEvent | SpanEvent, Field(discriminator="type")]


class Batch(BaseModel):
    """Several at once; one that is wrong rejects them all."""

    batch: Annotated[list[TracedEvent], Field(max_length=10_000)]


class Ingested(BaseModel):
    """How many were taken."""

    success: bool
    count: int


class Traces:
    """The last traces, in a file; may be used from many threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._database: sqlite3.Connection | None = None
        self._added = 0

    def add(self, events: Sequence[TraceEvent | SpanEvent]) -> None:
        """Keep the events, a later one of a span in place of the earlier; they survive the end of the process."""
        rows = [(one.trace_id, getattr(one, "span_id", ""), one.model_dump_json()) for one in events]
        with self._transaction() as database:
            database.executemany("INSERT OR REPLACE INTO event (trace, span, body) VALUES (?, ?, ?)", rows)
            self._added += len(rows)
            if self._added >= _SPARE:
                self._added = 0
                database.execute("DELETE FROM event WHERE number <= (SELECT MAX(number) FROM event) - ?", [MOST_EVENTS])

    def last(self, limit: int) -> list[dict[str, Json]]:
        """The traces that were heard of last, the newest first, each with its spans in the order they began."""
        chosen = "SELECT trace FROM event GROUP BY trace ORDER BY MAX(number) DESC LIMIT ?"
        with self._transaction() as database:
            names = [name for (name,) in database.execute(chosen, [limit])]
            return [self._trace(database, name) for name in names]

    def find(self, trace_id: str) -> dict[str, Json] | None:
        """One trace; None where there is none of that id."""
        with self._transaction() as database:
            found = self._trace(database, trace_id)
        return found if found["spans"] or found["name"] else None

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _trace(self, database: sqlite3.Connection, name: str) -> dict[str, Json]:
        bodies = database.execute("SELECT body FROM event WHERE trace = ? ORDER BY number", [name])
        events = [json.loads(body) for (body,) in bodies]
        own: dict[str, Json] = next((event for event in events if event["type"] == "trace"), {})
        spans = sorted((event for event in events if event["type"] == "span"), key=itemgetter("started_at"))
        return {
            "trace_id": name,
            "name": own.get("name", ""),
            "group_id": own.get("group_id", ""),
            "started_at": min((event["started_at"] for event in events if event["started_at"]), default=""),
            "ended_at": own.get("ended_at") or max((span["ended_at"] for span in spans), default=""),
            "metadata": own.get("metadata", {}),
            "status": "error" if any(span["status"] == "error" for span in spans) else "ok",
            "spans": spans,
        }

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            if self._database is None:
                self._database = _open(self._path)
            try:
                with self._database:
                    yield self._database
            except sqlite3.Error as error:
                problem = f"the traces cannot be read or written: {error}. Make room, or move the file."
                raise StorageError(problem) from error


class Keeping:
    """Keeps spans of this process beside those of other programs."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    def emit(self, span: Span) -> None:
        trace = TraceEvent.model_validate(trace_to_json(span, span.started_at))
        self._traces.add([trace, SpanEvent.model_validate(span_to_json(span))])

    def flush(self, deadline: float) -> bool:  # noqa: ARG002 - what was emitted is written by then
        return True

    def close(self) -> None:
        """The traces are the server's, and closed with it."""


def _open(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        database = sqlite3.connect(path, timeout=_BUSY_SECONDS, check_same_thread=False)
        with closing(database.execute("PRAGMA journal_mode=WAL")):
            database.executescript(f"PRAGMA synchronous=NORMAL;{_TABLES}")
    except (OSError, sqlite3.Error) as error:
        raise StorageError(f"{path.name} cannot be opened: {error}. Check the folder's permissions.") from error
    return database


def store_of(state: ServerState) -> Traces:
    """The server's traces."""
    return state.service("traces", lambda state: Traces(state.home / "traces.sqlite"))


def open_tracer(state: ServerState) -> Tracer:
    """Return a tracer that keeps events as spans of each session's trace."""
    return Tracer([Keeping(store_of(state))], Redactor().json)


router = APIRouter(tags=["traces"])


@router.post("/ingest")
def ingest(payload: Batch | TracedEvent, request: Request) -> Ingested:
    """Take traces and spans, one or a batch."""
    state = state_of(request)
    events = payload.batch if isinstance(payload, Batch) else [payload]
    store_of(state).add(events)
    for trace in dict.fromkeys(event.trace_id for event in events):
        state.events.publish("traces", {"trace_id": trace})
    return Ingested(success=True, count=len(events))
