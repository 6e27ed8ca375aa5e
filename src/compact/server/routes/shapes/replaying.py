"""Sessions that are played again, as the API takes and shows them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

WayName = Annotated[str, Field(max_length=200)]


class ReplayWish(BaseModel):
    """What to play: an open transcript, with which model, in which ways; none named is all of them.

    Shares are of the window, which is by default the model's own; `gap` is the time between two requests in seconds.
    """

    upload: str = Field(max_length=200)
    model: str = Field(default="", max_length=200)
    ways: list[WayName] = Field(default=[], max_length=40)
    window: int | None = Field(default=None, ge=2_000, le=100_000_000)
    trigger: float = Field(default=0.85, ge=0.05, le=1)
    target: float = Field(default=0.5, ge=0.01, le=0.99)
    gap: float = Field(default=30.0, ge=0, le=1e9)


class WayPlayed(BaseModel):
    """What the session came to one way; money as text, in dollars.

    `sizes` are the tokens of each request, and `compacted` the places in it where a compaction went before.
    """

    way: str
    dollars: str | None
    condensing: str | None
    tokens: int
    cache_hit_rate: float
    compactions: int
    peak: int
    overflows: int
    sizes: list[int]
    compacted: list[int]


class ReplayView(BaseModel):
    """The session played again, way by way."""

    model: str
    model_source: Literal["option", "request", "default"]
    window: int
    summarizer: str
    ways: list[WayPlayed]


class PlayableWay(BaseModel):
    """A way in which a session can be played."""

    name: str
    description: str
    kind: Literal["plain", "preset", "own"]
