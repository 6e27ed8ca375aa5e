"""The values that pass between the vendors' APIs and the HTTP server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import shake_256
from itertools import count
from typing import TypeAlias

from compact.errors import CompactError
from compact.formats import Format
from compact.messages import Conversation, Json
from compact.testing.vendors.cache import PromptCache
from compact.testing.vendors.faults import Fault, Operation
from compact.testing.vendors.prompt import Prompt, Usage
from compact.testing.vendors.script import Reply

Body: TypeAlias = dict[str, Json]
Headers: TypeAlias = Mapping[str, str]
Event: TypeAlias = tuple[str, Json]
"""The name of a server-sent event, if it has one, and its data; a string is sent as it is."""


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error in a vendor's words; `type` is what the vendor's envelope calls type or status."""

    status: int
    message: str
    type: str
    param: str | None = None
    code: str | None = None
    retry_after: float | None = None


class Rejected(CompactError):
    """The fake vendor refuses a request; it never leaves the server."""

    def __init__(self, error: ApiError) -> None:
        self.error = error
        super().__init__(error.message)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response on its way out: whole, or in events; `fault` is what the line does to it."""

    status: int
    headers: dict[str, str]
    chunks: tuple[bytes, ...]
    stream: bool = False
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """How the fake vendors shall behave."""

    count: Callable[[str], int]
    window: int | None = None
    bind_prefix: bool = False
    variants: Mapping[str, str] = field(default_factory=dict)
    switch: Mapping[str, bool] = field(default_factory=dict)

    def enforces(self, rule: str) -> bool:
        return self.switch.get(rule, True)


@dataclass(frozen=True, slots=True)
class Route:
    """What a path asks for."""

    api: Api
    operation: Operation | None
    model: str = ""
    stream: bool = False
    framed: bool = True
    """Whether a stream is framed as server-sent events; unless asked for them, Gemini streams a JSON array."""


class Ids:
    """Makes identifiers that look like a vendor's, always the same ones from the same seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._next = count()

    def new(self, prefix: str, length: int) -> str:
        digest = shake_256(f"{self._seed}/{next(self._next)}".encode()).hexdigest(length)
        return prefix + digest[:length]


@dataclass(frozen=True, slots=True)
class Generation:
    """An answer to be written in an API's shape."""

    body: Body
    model: str
    reply: Reply
    usage: Usage
    ids: Ids
    variant: str
    created: int
    notes: tuple[Json, ...] | None = None
    """What the vendor did to the input, where the client asked to be told."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """How a vendor speaks, whichever of its APIs is used."""

    name: str
    invalid: str
    """What it calls an error of the client's."""
    authenticate: Callable[[Headers, str], None]
    envelope: Callable[[ApiError, str], Json]
    headers: Callable[[ApiError | None, str], dict[str, str]]
    read: Callable[[bytes], Body]
    """Decodes a request's body, or rejects it."""
    unknown: Callable[[str, str], ApiError]
    failures: Mapping[str, ApiError]
    models: Callable[[str, int | None], Json]


@dataclass(frozen=True, slots=True)
class Api:
    """One API of a vendor, as a bundle of functions."""

    vendor: Vendor
    format: Format
    require: Callable[[Body, Operation], None]
    """Rejects a request in which something is missing, for that operation."""
    overflow: Callable[[int, int, int], ApiError]
    """Says that the input, and the answer that was asked for, are more than the window."""
    charge: Callable[[PromptCache, str, Prompt], Usage]
    limit: Callable[[Body], Json]
    """What the request says of the most tokens to answer with."""
    whole: Callable[[Generation], Json]
    events: Callable[[Json, Generation], Iterator[Event]]
    """A whole answer, in the events that add up to it."""
    counted: Callable[[int], Json]
    counts_answers: Collection[str] = ()
    """The variants that refuse a request whose input and limit of the answer exceed the window together."""
    broken: Callable[[Json], Event] = lambda envelope: ("", envelope)
    """An error envelope, as the event that ends a stream."""
    verify: Callable[[Body, Headers, Options], tuple[Body, tuple[Json, ...] | None]] = lambda body, _, __: (body, None)
    """Rejects what was sealed and is not what it was; may drop it, and say so."""
    expand: Callable[[Body, Mapping[str, list[Json]]], Body] = lambda body, _: body
    """Adds what the client left for the vendor to remember."""
    remember: Callable[[Body, Json], tuple[str, list[Json]] | None] = lambda _, __: None


def decode(raw: bytes) -> Json:
    """The JSON value, strictly: no NaN, no depth that the parser cannot follow; raises ValueError."""
    try:
        return json.loads(raw, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def encode(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def sse(event: Event) -> bytes:
    """A server-sent event as it goes over the line."""
    name, data = event
    text = data.encode() if isinstance(data, str) else encode(data)
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + text + b"\n\n"


def pieces(text: str) -> list[str]:
    """The text in the portions a model would stream it in."""
    return re.findall(r"(?s).{1,24}", text)


def echo(conversation: Conversation) -> Reply:
    """The answer of a model that was given no script: it names what was said last."""
    texts = (message.text for message in reversed(conversation.messages))
    last = next((text for text in texts if text.strip()), "")
    return Reply(f"Noted: {' '.join(last.split())[:40].rstrip() or 'nothing'}")
