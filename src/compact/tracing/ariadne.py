"""Spans to Ariadne, the trace viewer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from compact.messages import Json
from compact.ports.spans import Span
from compact.tracing.line import CAPACITY
from compact.tracing.post import DEADLINE, Address
from compact.tracing.sender import Packing, Sender
from compact.tracing.shorten import write_within
from compact.tracing.written import encode, span_to_json, trace_to_json

URL: Final = "http://127.0.0.1:5175"
LIMIT: Final = 256 * 1024
"""Ariadne answers 413 to larger bodies."""
_OPENING, _CLOSING = b'{"batch":[', b"]}"
_FRAME: Final = len(_OPENING) + len(_CLOSING)
_KNOWN: Final = 4096
"""Traces whose beginning is remembered; the one that was heard of first is forgotten first."""
_READ_FIRST: Final = ("summary", "reason")


class AriadneExporter(Sender):
    """Posts spans to the viewer's `/ingest`, at most once; failures are told on standard error after `[Ariadne]`."""

    def __init__(
        self,
        url: str = URL,
        *,
        headers: Mapping[str, str] | None = None,
        capacity: int = CAPACITY,
        deadline: float = DEADLINE,
    ) -> None:
        address = Address(url, dict(headers or {}), "tracing.ariadne").below("/ingest")
        self._began: OrderedDict[str, datetime] = OrderedDict()
        packing = Packing("application/json", self._piece, _joined, LIMIT, _FRAME, gap=1)
        super().__init__("[Ariadne]", address, packing, capacity=capacity, deadline=deadline)

    def _piece(self, span: Span) -> bytes:
        began = self._began.setdefault(span.trace_id, span.started_at)
        if len(self._began) > _KNOWN:
            self._began.popitem(last=False)
        return _written(span, began)


def _written(span: Span, began: datetime) -> bytes:
    """The span's trace and the span, a line each.

    A page of the viewer's knows only what came while it was open: without the trace it would show only its id.
    """
    title = encode(trace_to_json(span, began)).encode() + b"\n"
    readable = replace(span, data=_readable(_without_nulls(span.data)))
    return title + write_within(LIMIT - _FRAME - 1 - len(title), readable, _to_bytes)


def _to_bytes(span: Span) -> bytes:
    return encode(span_to_json(span)).encode()


def _joined(pieces: Sequence[bytes]) -> bytes:
    """A body of all pieces, each trace once.

    The last comes first: of spans that began in the same millisecond the viewer shows first what it got last.
    """
    lines = dict.fromkeys(line for piece in reversed(pieces) for line in piece.split(b"\n"))
    return _OPENING + b",".join(lines) + _CLOSING


def _readable(data: Mapping[str, Json]) -> Mapping[str, Json]:
    """The data with what is to be read first as `output`, which the viewer shows when a span is selected."""
    texts = (data.get(key) for key in _READ_FIRST)
    first = next((text for text in texts if isinstance(text, str) and text), None)
    return {**data, "output": first} if first and "output" not in data else data


def _without_nulls(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        # Left out it would move those behind it.
        return ["null" if item is None else _without_nulls(item) for item in value]
    return value
