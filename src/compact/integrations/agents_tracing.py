"""For OpenAI's Agents SDK: its own traces, with the compactions in them, to where Compact's events can go.

add_trace_processor(RedactingProcessor([AriadneExporter()]))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any

from compact.messages import Json
from compact.ports import Exporter, Span
from compact.redaction import Redactor
from compact.tracing.capture import capture, writable
from compact.tracing.tracer import PATIENCE, Tracer

try:
    from agents.tracing import Span as SdkSpan
    from agents.tracing import Trace, TracingProcessor
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: install compact-context[agents]", name=error.name) from error

_HEXADECIMAL = re.compile("[0-9a-f]+")


class RedactingProcessor(TracingProcessor):
    """Hands the spans of the SDK to exporters of Compact's, without the secrets in them.

    It copies a span when it ends and returns: the rest is done on a thread. The exporters are closed with it.
    """

    def __init__(self, exporters: Sequence[Exporter], redact: Callable[[Json], Json] | None = None) -> None:
        self._redact = redact or Redactor().json
        self._tracer = Tracer(exporters)

    def on_trace_start(self, trace: Trace) -> None:
        """Nothing is told before it has ended."""

    def on_trace_end(self, trace: Trace) -> None:
        """Its spans have told everything."""

    def on_span_start(self, span: SdkSpan[Any]) -> None:
        """Nothing is told before it has ended."""

    def on_span_end(self, span: SdkSpan[Any]) -> None:
        """Take note of a span; neither waits nor raises."""
        try:
            self._tracer.put(partial(self._export, capture(span.export())))
        except Exception as error:  # noqa: BLE001 - a door: whatever is wrong with the span, the run goes on
            self._tracer.complaints.failed(f"a span cannot be read ({type(error).__name__})", 1)

    def force_flush(self) -> None:
        """Wait until all has left, for two seconds at most."""
        self._tracer.flush(PATIENCE)

    def shutdown(self) -> None:
        """Send what is left, for two seconds at most, and let go of everything."""
        self._tracer.close()

    def _export(self, taken: object) -> None:
        try:
            span = _span(self._redact(writable(taken)))
        except Exception as error:  # noqa: BLE001 - the application's redactor; nothing leaves unredacted
            self._tracer.complaints.failed(f"a span was not exported ({type(error).__name__})", 1)
        else:
            self._tracer.export([span])


def _span(exported: Mapping[str, Any]) -> Span:
    facts = dict(exported["span_data"])
    kind = str(facts.pop("type", "custom"))
    name = str(facts.pop("name", None) or kind)
    facts |= facts.pop("data", None) or {}
    if failed := exported.get("error"):
        facts["error"] = failed
    parent = exported.get("parent_id")
    return Span(
        _id(exported["trace_id"], 32),
        _id(exported["id"], 16),
        _id(parent, 16) if parent else None,
        name,
        kind,
        _moment(exported.get("started_at")),
        _moment(exported.get("ended_at")),
        "error" if failed else "ok",
        facts,
    )


def _id(given: str, digits: int) -> str:
    """The SDK's id in as many digits as tools that draw traces want; people may have chosen ids of their own."""
    bare = given.rpartition("_")[2]
    fits = len(bare) == digits and _HEXADECIMAL.fullmatch(bare)
    return bare if fits else sha256(given.encode()).hexdigest()[:digits]


def _moment(written: str | None) -> datetime:
    return datetime.fromisoformat(written).astimezone(UTC) if written else datetime.now(UTC)
