"""Traces: a list of them, and each as a tree of spans."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel

from compact.app.inspecting import showable
from compact.errors import NotFound
from compact.messages import Json
from compact.server.ingest import store_of
from compact.server.showing import Limit, page_of
from compact.server.state import State

router = APIRouter(prefix="/traces", tags=["traces"], generate_unique_id_function=lambda route: route.name)

_MOST = 1_000


class TraceHead(BaseModel):
    """What a trace is called, when it was, and how it ended."""

    id: str
    name: str
    group: str
    started_at: str
    ended_at: str
    seconds: float
    failed: bool


class TraceRow(TraceHead):
    """A trace in a list."""

    spans: int


class TracePage(BaseModel):
    """Traces, the newest first; `next` is what to pass as `after` for more."""

    traces: list[TraceRow]
    next: str | None


class SpanRow(BaseModel):
    """A span of a tree; `offset` is the seconds from the trace's start to its own, `depth` how many are above it."""

    id: str
    parent: str
    depth: int
    name: str
    kind: str
    started_at: str
    offset: float
    seconds: float
    failed: bool
    properties: dict[str, Json]


class TraceTree(TraceHead):
    """A trace as a tree of spans: each stands right after what it is below, or after what else is there."""

    metadata: dict[str, str]
    spans: list[SpanRow]


@router.get("")
def list_traces(state: State, after: Annotated[str, Query(max_length=256)] = "", limit: Limit = 50) -> TracePage:
    """The traces that were told of last, the newest first."""
    found = store_of(state).last(_MOST if after else limit + 1)
    shown, following = page_of(found, limit, lambda trace: str(trace["trace_id"]), after)
    return TracePage(traces=[TraceRow(**_head(trace), spans=len(trace["spans"])) for trace in shown], next=following)


@router.get("/{id}")
def show_trace(id: Annotated[str, Path(max_length=256)], state: State) -> TraceTree:
    """A trace as a tree: what began within something stands below it."""
    trace = store_of(state).find(id)
    if trace is None:
        raise NotFound(f"there is no trace {id[:80]}", field="id", remedy="GET /api/traces lists them.")
    spans = list(_tree(trace["spans"], trace["started_at"]))
    return TraceTree(**_head(trace), metadata=showable(trace["metadata"]), spans=spans)


def _head(trace: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "id": trace["trace_id"],
        "name": showable(trace["name"]),
        "group": showable(trace["group_id"]),
        "started_at": trace["started_at"],
        "ended_at": trace["ended_at"],
        "seconds": _seconds(trace["started_at"], trace["ended_at"]),
        "failed": trace["status"] == "error",
    }


def _tree(spans: Sequence[Mapping[str, Json]], began: str) -> Iterator[SpanRow]:
    """The spans, each after its parent; one whose parent is unknown, or below itself, stands at the top."""
    known = {span["span_id"]: span for span in spans}
    below: dict[str, list[str]] = {}
    for id, span in known.items():
        parent = span["parent_id"] if span["parent_id"] in known else ""
        below.setdefault(parent, []).append(id)
    seen: set[str] = set()
    # Those that lead to no top, for they are below themselves, come last.
    waiting = [(id, 0) for id in reversed([*below.get("", ()), *known])]
    while waiting:
        id, depth = waiting.pop()
        if id not in seen:
            seen.add(id)
            yield _span(known[id], depth, began)
            waiting += [(child, depth + 1) for child in reversed(below.get(id, ()))]


def _span(span: Mapping[str, Json], depth: int, began: str) -> SpanRow:
    return SpanRow(
        id=span["span_id"],
        parent=span["parent_id"] if depth else "",
        depth=depth,
        name=showable(span["name"]),
        kind=showable(span["kind"]),
        started_at=span["started_at"],
        offset=_seconds(began, span["started_at"]),
        seconds=_seconds(span["started_at"], span["ended_at"]),
        failed=span["status"] == "error",
        properties=showable(span["data"]),
    )


def _seconds(start: str, end: str) -> float:
    try:
        return max(0.0, (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds())
    except ValueError:
        return 0.0
