"""Spans as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from json import JSONEncoder
from typing import Final

from compact.messages import Json
from compact.ports.spans import Span

SESSION: Final = "session_id"
"""The property that names the session, in every span."""
encode = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def span_to_json(span: Span) -> dict[str, Json]:
    """The span as an object that Ariadne takes: times end in Z, and what is not there is left out."""
    written: dict[str, Json] = {"type": "span", "trace_id": span.trace_id, "span_id": span.span_id}
    if span.parent_id is not None:
        written["parent_id"] = span.parent_id
    times = {"started_at": instant(span.started_at), "ended_at": instant(span.ended_at)}
    return written | {"kind": span.kind, "name": span.name, **times, "status": span.status, "data": dict(span.data)}


def trace_to_json(span: Span, began: datetime) -> dict[str, Json]:
    """The trace that the span is in, as an object that Ariadne takes: it is called what its session is called."""
    named = span.data.get(SESSION)
    session = named if isinstance(named, str) and named else f"session {span.trace_id[:8]}"
    title = {"type": "trace", "trace_id": span.trace_id, "name": session, "group_id": session}
    return title | {"started_at": instant(began), "metadata": {"agent_name": "compact", "agent_id": "compact"}}


def flatten(data: Mapping[str, Json], above: str = "") -> Iterator[tuple[str, Json]]:
    """The values of objects within objects, by dotted names."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def instant(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
