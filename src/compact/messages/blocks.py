"""What a message is made of.

Every block remembers its `path`: where its content stands in the wire object of its message. An edit puts a new value
there and nowhere else, so whatever Compact does not understand stays as it was.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A decoded JSON value: what `json.loads` gives."""

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Readable text; `path` leads to the string itself."""

    text: str
    path: Path


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, by value (`data`, base64) or by address."""

    media_type: str
    data: str | None
    url: str | None
    detail: str | None
    path: Path


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of any other kind: its metadata is counted, its content is not."""

    name: str
    media_type: str
    size: int | None
    data: str | None
    url: str | None
    path: Path


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A model's thinking: kept identical or dropped whole.

    `text` is what can be read of it, `sealed` is what only the vendor can (a signature, encrypted content).
    """

    text: str
    sealed: str
    path: Path


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block of a kind Compact does not know: counted, passed through, never edited."""

    kind: str
    value: Json
    path: Path


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run a tool.

    `raw` is what stands on the wire at `path`: a JSON object, or a string that encodes one.
    """

    id: str
    name: str
    raw: Json
    path: Path

    @property
    def arguments(self) -> Json:
        """The decoded arguments, or None where the string does not decode."""
        if not isinstance(self.raw, str):
            return self.raw
        try:
            return json.loads(self.raw)
        except (ValueError, RecursionError):
            return None


Part: TypeAlias = Text | Image | Attachment | Opaque


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered to the call `call_id`."""

    call_id: str
    parts: tuple[Part, ...]
    error: bool
    path: Path

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


Block: TypeAlias = Text | Image | Attachment | Reasoning | Opaque | ToolCall | ToolResult
