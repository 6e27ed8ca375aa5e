"""Spans on standard error, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from compact.messages import Json
from compact.ports.spans import Exporter, Span
from compact.tracing.complaints import say

_LONGEST: Final = 60


class ConsoleExporter(Exporter):
    """Writes spans for people to read."""

    def emit(self, span: Span) -> None:
        took = (span.ended_at - span.started_at).total_seconds()
        values = " ".join(f"{key}={value}" for key, value in _flat(span.data))
        mark = "!" if span.status == "error" else " "
        say(f"{span.ended_at:%H:%M:%S}Z {mark} {span.name:<24} {_duration(took):>7}  {values}".rstrip())


def _flat(data: Mapping[str, Json], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            shown = str(value)
            yield f"{above}{key}", shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"


def _duration(seconds: float) -> str:
    if not seconds:
        return ""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"
