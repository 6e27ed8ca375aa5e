"""Something that happened, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from compact.messages import Json


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, and the facts of it as plain JSON."""

    name: str
    properties: Mapping[str, Json] = field(default_factory=dict)


Observe: TypeAlias = Callable[[Event], None]
"""Is told of each event as it happens; it must not raise."""
