"""Stored conversations as the API shows them."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from fastapi import Path, Query
from pydantic import BaseModel, Field

from compact.messages import Json

LARGEST_ID = 2**63 - 1
CUT = 20_000
"""Characters of a part of a message that are shown unless the whole is asked for."""

SessionId: TypeAlias = Annotated[str, Path(max_length=200)]
MessageId: TypeAlias = Annotated[int, Path(ge=1, le=LARGEST_ID)]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=500)]
FormatName: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic-messages", "google-gemini"]
Instructions: TypeAlias = str | dict[str, Json] | list[Json] | None
PartKind: TypeAlias = Literal["text", "reasoning", "call", "result", "image", "file", "other"]


class NewSession(BaseModel):
    """A session to be made; without a model it is with the one that answers."""

    model: str = Field(default="", max_length=200)
    format: FormatName = "openai-chat"
    title: str = Field(default="", max_length=500)
    workspace: str = Field(default="", max_length=200)
    system: Instructions = None
    tools: list[Json] | None = Field(default=None, max_length=1_000)


class SessionChange(BaseModel):
    """What is to be changed of a session; what is not given stays."""

    model: str | None = Field(default=None, min_length=1, max_length=200)
    title: str | None = Field(default=None, max_length=500)
    workspace: str | None = Field(default=None, max_length=200)
    system: Instructions = None
    tools: list[Json] | None = Field(default=None, max_length=1_000)


class SessionRow(BaseModel):
    """A session in a list."""

    id: str
    title: str
    model: str
    format: str
    workspace: str
    messages: int
    blocked: bool
    created: str
    updated: str


class SessionPage(BaseModel):
    """Sessions, the one changed last first; `next` is what to pass as `after` for more."""

    sessions: list[SessionRow]
    next: str | None


class ContextUsage(BaseModel):
    """How full the model is: tokens in use of those it reads, where compression begins, and what takes them."""

    used: int
    window: int
    percent: float
    trigger: int
    level: Literal["calm", "high", "full"] = Field(description="high from 80 percent on, full from 95.")
    by_kind: dict[str, int]
    reason: str


class Blocked(BaseModel):
    """Why no request may be made, if so; who acknowledges takes the risk."""

    blocked: bool
    reason: str
    acknowledged: bool


class SummaryView(BaseModel):
    """A summary: its words, and the badge that says what it stands for."""

    id: int
    text: str
    version: int
    messages: int
    tokens: int
    tokens_before: int | None
    tokens_after: int | None
    trigger: str = Field(description="automatic, manual, regenerated, edited or imported")
    strategy: str
    source: str = Field(description="The session it was imported from.")
    cutoff: int | None
    created: str
    retired: bool


class Answering(BaseModel):
    """Who answers in the chat; offline means that no model does."""

    offline: bool
    profile: str
    model: str
    label: str


class SessionView(BaseModel):
    """A session: what it is, how full, whether it may go on, and the summary that stands."""

    session: SessionRow
    revision: int
    system: Json
    tools: Json
    usage: ContextUsage
    blocked: Blocked
    summary: SummaryView | None
    answering: Answering
    notify: bool
    open_question: bool = Field(description="Whether the last message is a user's, and has no answer yet.")
    warnings: list[str]


class MessagePart(BaseModel):
    """A part of a message; `characters` is its full length, of which `text` may show less."""

    kind: PartKind
    name: str
    text: str
    truncated: bool
    characters: int


class MessageView(BaseModel):
    """A message: where it stands, whether requests contain it, and what is in it."""

    id: int
    position: int
    role: str
    state: Literal["active", "summarized", "pinned"]
    tokens: int
    input_tokens: int | None
    output_tokens: int | None
    created: str
    parts: list[MessagePart]
    truncated: bool


class MessagePage(BaseModel):
    """Messages in their order; `next` is what to pass as `after` for more, `total` how many the session has."""

    messages: list[MessageView]
    next: int | None
    total: int


class Kept(BaseModel):
    """The messages from before the summary that requests still contain; those from position `first` on all do."""

    messages: list[MessageView]
    first: int


class Pin(BaseModel):
    """Whether a message is to stay in every request."""

    pinned: bool


class Pinned(BaseModel):
    """The messages that were pinned or unpinned together: calls and their results stay with each other."""

    messages: list[int]
    pinned: bool


class Match(BaseModel):
    """A message that a search found; `spans` are the places of the words in `excerpt`."""

    session: str
    message: int
    position: int
    role: str
    excerpt: str
    spans: list[tuple[int, int]]


class Matches(BaseModel):
    """What a search found, the best first."""

    matches: list[Match]


class CompressionWish(BaseModel):
    """How to compress, where not as the settings say; `retention` 0 keeps nothing but what is pinned."""

    retention: int | None = Field(default=None, ge=0, le=100_000_000)
    note: str = Field(default="", max_length=2_000)
    strategy: str = Field(default="", max_length=64)
    offline: bool = Field(default=False, description="Call no model.")


class CompressionPreview(BaseModel):
    """What a compression would do, and about what it would cost; None where the price is unknown."""

    messages: int
    tokens_before: int
    tokens_after: int
    reads: int
    cost: str | None
    priced_by: str = Field(description="Whose price it is; offline where nobody is asked.")
    warnings: list[str]


class CompressionDone(BaseModel):
    """What a compression did."""

    summary: SummaryView
    messages: int
    tokens_before: int
    tokens_after: int
    seconds: float
    warnings: list[str]


class SummaryText(BaseModel):
    """A person's own words in the place of the summary that stands."""

    text: str = Field(min_length=1, max_length=200_000)


class SummarySource(BaseModel):
    """The session whose summary is to be taken over."""

    source: str = Field(min_length=1, max_length=200)


class Happening(BaseModel):
    """Something that happened to a session: a compression began, ended or failed, or its summary changed."""

    session: str
    name: str
    at: str
    seconds: float
    failed: bool
    properties: dict[str, Json]
