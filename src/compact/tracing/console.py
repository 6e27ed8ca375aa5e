"""Spans on standard error, a line each."""

from __future__ import annotations

from typing import Final

from compact.messages import Json
from compact.ports.spans import Exporter, Span
from compact.tracing.complaints import say
from compact.tracing.written import flatten

_LONGEST: Final = 60


class ConsoleExporter(Exporter):
    """Writes spans for people to read."""

    def emit(self, span: Span) -> None:
        took = (span.ended_at - span.started_at).total_seconds()
        values = " ".join(f"{key}={_shown(value)}" for key, value in flatten(span.data))
        mark = "!" if span.status == "error" else " "
        say(f"{span.ended_at:%H:%M:%S}Z {mark} {span.name:<24} {_duration(took):>7}  {values}".rstrip())


def _shown(value: Json) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _duration(seconds: float) -> str:
    if not seconds:
        return ""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"
