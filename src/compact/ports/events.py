"""Something that happened, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from compact.messages import Json


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, and the facts of it as plain JSON; it has just ended, and took so many seconds.

    Events of a manager say when that was, `at`, in UTC and ISO 8601, and in which session.
    """

    name: str
    properties: Mapping[str, Json] = field(default_factory=dict)
    seconds: float = 0.0
    failed: bool = False
    at: str = ""
    session_id: str = ""


Observe: TypeAlias = Callable[[Event], None]
"""Is told of each event as it happens; it must not raise."""
