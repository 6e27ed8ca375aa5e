"""Analytics and traces as the API shows them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from compact.messages import Json


class Day(BaseModel):
    """What compressions of one day came to; money as text, in dollars."""

    day: str
    compressions: int
    failures: int
    tokens_saved: int
    saved: str
    spent: str


class Group(BaseModel):
    """The same for all compressions that have something in common, such as a strategy."""

    by: Literal["provider", "strategy", "trigger", "preset", "step"]
    name: str
    compressions: int
    failures: int
    tokens_before: int
    tokens_after: int
    tokens_saved: int


class EstimateRecord(BaseModel):
    """One paid condensation: what it was expected to cost, and what it did."""

    at: str
    way: str
    profile: str
    model: str
    estimated: str | None
    actual: str | None
    error: float | None


class EstimateAccuracy(BaseModel):
    """How the estimates stood up."""

    condensations: int
    within_a_fifth: int
    median_miss: float | None
    spent: str
    records: list[EstimateRecord]


class CacheEffect(BaseModel):
    """What a compression did to the vendor's prompt cache: its price once, what a request saves, and when it pays."""

    session: str
    title: str
    at: str
    model: str
    tokens_before: int
    tokens_after: int
    rewrite: str | None
    saved_per_request: str | None
    turns: int | None


class AdviceView(BaseModel):
    """What to do for less money, and how much less that is where it is known."""

    text: str
    saves: str | None


class AnalyticsView(BaseModel):
    """What compressions have come to; `empty` where there were none."""

    empty: bool
    days: list[Day]
    compressions: int
    failures: int
    success_rate: float | None
    tokens_before: int
    tokens_after: int
    tokens_saved: int
    saved: str
    saved_unknown: int
    spent: str
    groups: list[Group]
    estimates: EstimateAccuracy
    cache: list[CacheEffect]


class TraceRow(BaseModel):
    """A trace in a list."""

    id: str
    name: str
    group: str
    started_at: str
    ended_at: str
    seconds: float
    spans: int
    failed: bool


class TracePage(BaseModel):
    """Traces, the newest first; `next` is what to pass as `after` for more."""

    traces: list[TraceRow]
    next: str | None


class SpanRow(BaseModel):
    """A span of a tree; `offset` is the seconds from the trace's start to its own, `depth` how many are above it."""

    id: str
    parent: str
    depth: int
    name: str
    kind: str
    started_at: str
    offset: float
    seconds: float
    failed: bool
    properties: dict[str, Json]


class TraceTree(BaseModel):
    """A trace as a tree of spans: each stands right after what it is below, or after what else is there."""

    id: str
    name: str
    group: str
    started_at: str
    ended_at: str
    seconds: float
    failed: bool
    metadata: dict[str, str]
    spans: list[SpanRow]
