"""Spans to Ariadne, the trace viewer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from compact.messages import Json
from compact.ports.spans import Span
from compact.tracing.line import CAPACITY
from compact.tracing.post import DEADLINE, Address
from compact.tracing.sender import Packing, Sender
from compact.tracing.shorten import write_within
from compact.tracing.tree import SESSION
from compact.tracing.written import encode, span_to_json

URL: Final = "http://127.0.0.1:5175"
LIMIT: Final = 256 * 1024
"""Ariadne answers 413 to larger bodies."""
_OPENING, _CLOSING = b'{"batch":[', b"]}"
_FRAME: Final = len(_OPENING) + len(_CLOSING)
_NAMED: Final = 4096


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
        self._named: OrderedDict[str, None] = OrderedDict()
        self._known_lost = 0
        packing = Packing("application/json", self._piece, _joined, LIMIT, _FRAME, gap=1)
        super().__init__("[Ariadne]", address, packing, capacity=capacity, deadline=deadline)

    def _piece(self, span: Span) -> bytes:
        """The span; before the first of a trace, the trace, without which the viewer would show only its id."""
        if self._known_lost != self.lost:
            # Names may be among what was lost; and a viewer that was away has forgotten them.
            self._known_lost = self.lost
            self._named.clear()
        piece = _written(span, self._title(span))
        self._named[span.trace_id] = None
        if len(self._named) > _NAMED:
            self._named.popitem(last=False)
        return piece

    def _title(self, span: Span) -> bytes:
        if span.trace_id in self._named:
            return b""
        named = span.data.get(SESSION)
        session = named if isinstance(named, str) and named else f"session {span.trace_id[:8]}"
        title = {"type": "trace", "trace_id": span.trace_id, "name": session, "group_id": session}
        return encode(title | {"metadata": {"agent_name": "compact", "agent_id": "compact"}}).encode() + b","


def _written(span: Span, title: bytes) -> bytes:
    clean = replace(span, data=_without_nulls(span.data))
    return title + write_within(LIMIT - _FRAME - 1 - len(title), clean, _to_bytes)


def _to_bytes(span: Span) -> bytes:
    return encode(span_to_json(span)).encode()


def _joined(pieces: Sequence[bytes]) -> bytes:
    return _OPENING + b",".join(pieces) + _CLOSING


def _without_nulls(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        # Left out it would move those behind it.
        return ["null" if item is None else _without_nulls(item) for item in value]
    return value
