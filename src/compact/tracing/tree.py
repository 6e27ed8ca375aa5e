"""Which span belongs to which trace, and below which other."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import token_hex
from typing import Final

from compact.messages import Json
from compact.ports import Event
from compact.ports.spans import Span, Status
from compact.tracing.written import SESSION

KIND: Final = "compaction"
OPEN: Final = 4096
"""Compactions that may be under way at once; the one that was heard of longest ago counts as given up."""
_LONGEST: Final = 366 * 86_400.0
_DECISION, _ESTIMATE, _RESULT = "compact.trigger_decision", "compact.token_estimate", "compact.condensed"


def trace_id_of(session_id: str) -> str:
    """The id of the session's trace: always the same, and not telling what the session is called."""
    return sha256(b"compact session\0" + session_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Tree:
    """Makes events into spans: one trace a session, and what happens during a compaction below that compaction.

    A compaction begins with the decision for it and ends with `compact.condensed`, which is its span. One that never
    ends is told as `compact.unfinished` when the session's next decision is made, or when tracing ends. Neither begins
    after anything below it.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[str, Span] = OrderedDict()

    def spans(self, session_id: str, event: Event, ended: float) -> Iterator[Span]:
        """The spans that an event makes known; its own is the last."""
        trace = trace_id_of(session_id)
        span = _span(trace, event, ended)
        if event.name == _DECISION:
            if trace in self._open:
                yield self._open.pop(trace)
            if event.properties.get("triggered") is True:
                self._open[trace] = replace(span, span_id=token_hex(8), name="compact.unfinished", data=_session(span))
        compaction = self._open.get(trace)
        if compaction is None or event.name == _ESTIMATE:
            yield span
        elif event.name == _RESULT:
            del self._open[trace]
            yield replace(span, span_id=compaction.span_id, started_at=min(span.started_at, compaction.started_at))
        else:
            status = "error" if event.failed else compaction.status
            began, ended_at = min(span.started_at, compaction.started_at), max(span.ended_at, compaction.ended_at)
            self._open[trace] = replace(compaction, started_at=began, ended_at=ended_at, status=status)
            self._open.move_to_end(trace)
            yield replace(span, parent_id=compaction.span_id)
        while len(self._open) > OPEN:
            yield self._open.popitem(last=False)[1]

    def unfinished(self) -> Iterator[Span]:
        """The compactions of which no end was heard."""
        while self._open:
            yield self._open.popitem(last=False)[1]


def _session(span: Span) -> dict[str, Json]:
    return {key: value for key, value in span.data.items() if key == SESSION}


def _span(trace: str, event: Event, ended: float) -> Span:
    end = datetime.fromtimestamp(ended, UTC)
    seconds = event.seconds if 0 <= event.seconds <= _LONGEST else 0.0
    status: Status = "error" if event.failed else "ok"
    start = end - timedelta(seconds=seconds)
    return Span(trace, token_hex(8), None, event.name, KIND, start, end, status, event.properties)
