"""Something that happened, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from compact.messages import Json


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, and the facts of it as plain JSON; it has just ended, and took so many seconds."""

    name: str
    properties: Mapping[str, Json] = field(default_factory=dict)
    seconds: float = 0.0
    failed: bool = False


Observe: TypeAlias = Callable[[Event], None]
"""Is told of each event as it happens; it must not raise."""
