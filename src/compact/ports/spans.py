"""Stretches of time with a name, as tools that draw traces know them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from compact.messages import Json

Status: TypeAlias = Literal["ok", "error"]


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took from one moment to another; spans of a trace form a tree by their parents.

    Ids are lower-case hexadecimal: 32 digits for a trace, 16 for a span. Both moments are in UTC.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: str
    started_at: datetime
    ended_at: datetime
    status: Status = "ok"
    data: Mapping[str, Json] = field(default_factory=dict)


class Exporter(Protocol):
    """Takes spans somewhere. It is called by one thread at a time, which need not be the one whose events they are.

    One that holds nothing back inherits `flush` and `close`.
    """

    def emit(self, span: Span) -> None: ...

    def flush(self, deadline: float) -> bool:  # noqa: ARG002 - nothing waits
        """Wait at most so many seconds until what was emitted has left; whether it has."""
        return True

    def close(self) -> None:
        """Let go of threads and connections, at once: what has not left by now is lost."""
        return
