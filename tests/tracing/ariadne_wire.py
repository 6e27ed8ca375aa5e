"""What Ariadne takes at `/ingest`, told apart from the stand-in and from the exporter.

It is as the viewer's version 1.0.0 was seen to answer (commit 284187be, October 2025).
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

LARGEST: Final = 262_144
_ID: Final = {"type": "string", "minLength": 1}
_TIMES: Final = {
    key: {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$"}
    for key in ("started_at", "ended_at")
}
TRACE: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "type": {"const": "trace"},
        "trace_id": _ID,
        "name": {"type": "string"},
        "group_id": {"type": "string"},
        **_TIMES,
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["type", "trace_id"],
}
SPAN: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "type": {"const": "span"},
        "trace_id": _ID,
        "span_id": _ID,
        "parent_id": {"type": "string"},
        "kind": {"type": "string"},
        "name": {"type": "string"},
        **_TIMES,
        "data": {"type": "object"},
        "status": {"enum": ["ok", "error"]},
    },
    "required": ["type", "trace_id", "span_id"],
}
_BATCH: Final = {"properties": {"batch": {"type": "array", "items": {"anyOf": [TRACE, SPAN]}}}, "required": ["batch"]}
_PAYLOAD: Final = {"type": "object", "if": {"required": ["batch"]}, "then": _BATCH, "else": {"anyOf": [TRACE, SPAN]}}


def problems(body: bytes) -> list[str]:
    """What the viewer would refuse a body for; nothing where it would take it."""
    if len(body) > LARGEST:
        return ["too large"]
    payload = json.loads(body.decode())
    found = [error.message for error in Draft202012Validator(_PAYLOAD).iter_errors(payload)]
    return found or [problem for event in events_of(body) if (problem := _problem_of_times(event))]


def events_of(body: bytes) -> list[dict[str, Any]]:
    """The traces and spans of a body that is valid."""
    payload = json.loads(body)
    return list(payload.get("batch", [payload]))


def unknown_fields(event: dict[str, Any]) -> set[str]:
    """Those that the viewer drops without a word."""
    return set(event) - set((TRACE if event["type"] == "trace" else SPAN)["properties"])


def _problem_of_times(event: dict[str, Any]) -> str:
    times = [event[key] for key in ("started_at", "ended_at") if key in event]
    try:
        # By the millisecond, for more the viewer does not know.
        instants = [datetime.fromisoformat(time).isoformat(timespec="milliseconds") for time in times]
    except ValueError:
        return f"{times} are not on the calendar"
    return "" if instants == sorted(instants) else f"{times}: it ends before it began"
