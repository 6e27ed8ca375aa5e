"""A stand-in for Ariadne, the trace viewer: it takes what the real one takes, and refuses what that refuses.

One thing it is stricter in: `data` that is no object the real one takes and garbles.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Final

from compact.messages import Json
from compact.testing.vendors.server import Arrived, Fake
from compact.testing.vendors.wire import Answer, decode

LIMIT: Final = 256 * 1024
_LONGEST_NAME: Final = 1024
_LONGEST_VALUE: Final = 100 * 1024
_INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Received:
    """A request and the status it was answered with; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class ShownSpan:
    """A span in the viewer's tree, with those below it by the millisecond in which they began."""

    name: str
    children: tuple[ShownSpan, ...]


@dataclass(frozen=True, slots=True)
class ShownTrace:
    """A trace in the viewer's tree."""

    label: str
    spans: tuple[ShownSpan, ...]


@dataclass(frozen=True, slots=True)
class ShownAgent:
    """An agent in the viewer's tree, with its traces, that which was told of last first."""

    label: str
    traces: tuple[ShownTrace, ...]


class FakeAriadne(Fake):
    """An `/ingest` at an address of this machine, from `with` to its end.

    `respond`, where it is given and returns a status, answers instead of the rules.
    """

    def __init__(self, respond: Callable[[bytes], int | None] | None = None) -> None:
        self._respond = respond
        self._lock = Lock()
        self._requests: list[Received] = []
        self._events: list[dict[str, Json]] = []
        super().__init__(self._answer)

    @property
    def requests(self) -> list[Received]:
        """What was received, in order."""
        with self._lock:
            return list(self._requests)

    @property
    def spans(self) -> list[dict[str, Json]]:
        """The spans that were taken, without the fields the viewer does not know."""
        with self._lock:
            return [event for event in self._events if event["type"] == "span"]

    @property
    def traces(self) -> list[dict[str, Json]]:
        """The traces that were taken."""
        with self._lock:
            return [event for event in self._events if event["type"] == "trace"]

    def shown(self) -> list[ShownAgent]:
        """What the viewer's page shows of what was taken: agents, their traces, the trees of their spans."""
        with self._lock:
            events = self._events[::-1]  # the page puts what comes in front of what it has
        agents: dict[str, tuple[str, list[ShownTrace]]] = {}
        for trace_id in dict.fromkeys(event["trace_id"] for event in events):
            own = [event for event in events if event["trace_id"] == trace_id]
            title = next((event for event in reversed(own) if event["type"] == "trace"), {})  # the first that came
            id, label = _agent_of(title, trace_id)
            spans = [event for event in own if event["type"] == "span"]
            name = str(title.get("name") or "").strip() or trace_id
            agents.setdefault(id, (label, []))[1].append(ShownTrace(name, _below(spans, None)))
        return [ShownAgent(label, tuple(traces)) for label, traces in agents.values()]

    def _answer(self, arrived: Arrived) -> Answer:
        if (arrived.method, arrived.target) != ("POST", "/ingest"):
            return _answered(404, {"error": "Not found"})
        status = self._respond(arrived.body) if self._respond else None
        events, problem = ([], "as told") if status else ingest(arrived.body)
        status = status or problem_status(problem)
        with self._lock:
            self._requests.append(Received(status, arrived.headers, arrived.body))
            self._events += events
        return _answered(status, {"error": problem} if problem else {"success": True, "count": len(events)})


def ingest(body: bytes) -> tuple[list[dict[str, Json]], str]:
    """The events of a body as the viewer keeps them, and what is wrong with it: then it keeps none."""
    if len(body) > LIMIT:
        return [], "Payload too large"
    try:
        payload = decode(body.decode("utf-8-sig", "replace").encode())
    except ValueError:
        return [], "Internal server error"
    if isinstance(payload, list):
        return [], "Validation failed: a bare array"
    if not isinstance(payload, dict) or not isinstance(payload.get("batch", []), list):
        return [], "Internal server error"
    sent = payload.get("batch", [payload])
    if any(isinstance(event, dict) and not _can_be_cut(event.get("name")) for event in sent):
        return [], "Internal server error"
    events = [_cut(event) for event in sent]
    problems = [f"{number}: {problem}" for number, event in enumerate(events) if (problem := _wrong_with(event))]
    if problems:
        return [], "Validation failed: " + "; ".join(problems)
    return [{key: value for key, value in event.items() if key in _FIELDS[event["type"]]} for event in events], ""


def problem_status(problem: str) -> int:
    """The status that the viewer answers with."""
    if not problem:
        return 200
    if problem == "Payload too large":
        return 413
    return 400 if problem.startswith("Validation failed") else 500


def _text(value: Json) -> bool:
    return isinstance(value, str)


def _id(value: Json) -> bool:
    return isinstance(value, str) and value != ""


def _instant(value: Json) -> bool:
    if not isinstance(value, str) or not _INSTANT.fullmatch(value):
        return False
    try:
        _moment(value)
    except ValueError:
        return False
    return True


def _record(value: Json) -> bool:
    return isinstance(value, dict)


def _record_of_text(value: Json) -> bool:
    return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())


def _status(value: Json) -> bool:
    return value in ("ok", "error")


_FIELDS: Final[Mapping[str, Mapping[str, Callable[[Json], bool]]]] = {
    "trace": {
        "type": _text,
        "trace_id": _id,
        "name": _text,
        "group_id": _text,
        "started_at": _instant,
        "ended_at": _instant,
        "metadata": _record_of_text,
    },
    "span": {
        "type": _text,
        "trace_id": _id,
        "span_id": _id,
        "parent_id": _text,
        "kind": _text,
        "name": _text,
        "started_at": _instant,
        "ended_at": _instant,
        "data": _record,
        "status": _status,
    },
}
_NEEDED: Final = {"trace": ("trace_id",), "span": ("trace_id", "span_id")}


def _wrong_with(event: Json) -> str:
    kind = event.get("type") if isinstance(event, dict) else None
    if kind not in ("trace", "span"):
        return "type is neither trace nor span"
    for key in _NEEDED[kind]:
        if key not in event:
            return f"{key} is missing"
    # A field may be missing but not null.
    for key, holds in _FIELDS[kind].items():
        if key in event and not holds(event[key]):
            return f"{key} is invalid"
    if "started_at" in event and "ended_at" in event and _moment(event["ended_at"]) < _moment(event["started_at"]):
        return "ended_at is before started_at"
    return ""


def _moment(instant: str) -> datetime:
    moment = datetime.fromisoformat(instant)
    # JavaScript knows no less than milliseconds.
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _answered(status: int, said: Json) -> Answer:
    return Answer(status, {"content-type": "application/json"}, (json.dumps(said).encode(),))


def _can_be_cut(name: Json) -> bool:
    """Whether the viewer gets as far as to look at the name: at numbers and objects it fails before."""
    return isinstance(name, str | list) or name in (None, False, 0)


def _cut(event: Json) -> Json:
    """The event with its long texts cut, which the viewer does before it looks at anything else."""
    if not isinstance(event, dict):
        return event
    cut = dict(event)
    if isinstance(event.get("name"), str):
        cut["name"] = _cut_text(event["name"], _LONGEST_NAME)
    if event.get("type") == "span" and isinstance(event.get("data"), dict):
        cut["data"] = _cut_values(event["data"])
    return cut


def _cut_values(data: dict[str, Json]) -> dict[str, Json]:
    # Texts in lists stay as they are.
    cut: dict[str, Json] = {}
    for key, value in data.items():
        if isinstance(value, str):
            cut[key] = _cut_text(value, _LONGEST_VALUE)
        else:
            cut[key] = _cut_values(value) if isinstance(value, dict) else value
    return cut


def _cut_text(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + "... [truncated]"


def _agent_of(title: Mapping[str, Json], trace_id: str) -> tuple[str, str]:
    """Below whose id a trace is shown, and under which label."""
    known = title.get("metadata", {})
    keys = ("agent", "agent_id", "agent_name")
    id = next(filter(None, (*map(known.get, keys), title.get("group_id"), title.get("name"))), trace_id)
    labels = (known.get("agent_name"), known.get("agent"), known.get("agent_id"), title.get("name"))
    id = str(id).strip() or trace_id
    return id, str(next(filter(None, labels), id))


def _below(spans: list[dict[str, Json]], parent: str | None) -> tuple[ShownSpan, ...]:
    """The spans below one, or those at the top: they have no parent, or one that is not there."""
    ids = {span["span_id"] for span in spans}
    found = [span for span in spans if (span.get("parent_id") if span.get("parent_id") in ids else None) == parent]
    found.sort(key=lambda span: _moment(span["started_at"]).timestamp() if "started_at" in span else 0)
    return tuple(ShownSpan(str(span.get("name", "")), _below(spans, span["span_id"])) for span in found)
