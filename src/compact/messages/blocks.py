"""What a message is made of.

Every block remembers its `path`: where its content stands in the wire object of its message. An edit puts a new value
there and nowhere else, so whatever Compact does not understand stays as it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A decoded JSON value: what `json.loads` gives."""

Path: TypeAlias = tuple[str | int, ...]

_UNREAD: Json = ...

Encode: TypeAlias = Callable[[Json], str]

_PLAIN: tuple[Encode, ...]
_ESCAPED: tuple[Encode, ...]
_PLAIN, _ESCAPED = (
    tuple(
        json.JSONEncoder(ensure_ascii=ascii_only, separators=separators).encode
        for separators in ((", ", ": "), (",", ":"))
    )
    for ascii_only in (False, True)
)
"""The ways in which arguments are usually encoded: as they are or in ASCII only, with spaces or without."""


@dataclass(frozen=True, slots=True)
class Text:
    """Readable text; `path` leads to the string itself. What is `signed` stays as it is, or goes whole."""

    text: str
    path: Path
    signed: bool = field(default=False, repr=False)


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
class Tool:
    """A tool offered to the model; `schema` is None for tools the vendor runs itself, and for those with a grammar."""

    name: str
    description: str
    schema: Json
    wire: Json = field(repr=False)


@dataclass(frozen=True, slots=True)
class State:
    """What a block holds beside words: tools, settings, or state that its vendor reads. Its message must stay.

    `text` is what the model reads of it and `sealed` what only the vendor can; where both are None it is the block as
    it is written. `tools` are the tools it offers. `forgets` are the roles whose earlier messages the vendor leaves
    out, because the block stands for them.
    """

    text: str | None = None
    sealed: str | None = None
    tools: tuple[Tool, ...] = ()
    forgets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block that Compact does not edit: counted, and passed on; with a `state`, for as long as the session lasts."""

    kind: str
    value: Json
    path: Path
    state: State | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run a tool.

    `raw` is what stands on the wire at `path`: a JSON object, or a string that encodes one. What is read of it is kept:
    every pass over a conversation needs it. `by_order` says that its vendor tells by their order which result answers
    which call, where ids do not tell; the id may then be nothing but the name. What is `signed` stays as it is, or
    goes whole.
    """

    id: str
    name: str
    raw: Json
    path: Path
    by_order: bool = field(default=False, repr=False)
    signed: bool = field(default=False, repr=False)
    _arguments: Json = field(default=_UNREAD, init=False, repr=False, compare=False)
    _strings: tuple[tuple[Path, str], ...] | None = field(default=None, init=False, repr=False, compare=False)
    _spelling: Encode | None = field(default=_UNREAD, init=False, repr=False, compare=False)

    @property
    def arguments(self) -> Json:
        """The decoded arguments, or None where the string does not decode; not to be changed."""
        if not isinstance(self.raw, str):
            return self.raw
        if self._arguments is _UNREAD:
            object.__setattr__(self, "_arguments", _decoded(self.raw))
        return self._arguments

    @property
    def strings(self) -> tuple[tuple[Path, str], ...]:
        """The strings inside the arguments, however deep, each with its path, in the order they are written."""
        if self._strings is None:
            object.__setattr__(self, "_strings", tuple(_strings(self.arguments)))
        return self._strings or ()

    def walk(self) -> Iterator[tuple[Path, str]]:
        """The same strings, for one who looks at them once: they are not kept."""
        return _strings(self.arguments) if self._strings is None else iter(self._strings)

    @property
    def regular(self) -> bool:
        """Whether encoded arguments are written in a usual way, so that any string in them can be written again."""
        return not isinstance(self.raw, str) or self._written() is not None

    @property
    def plainly(self) -> Encode | None:
        """What writes encoded arguments as they are written, where that is without escaping what is not ASCII."""
        spelling = self._written() if isinstance(self.raw, str) else None
        return spelling if spelling in _PLAIN else None

    def _written(self) -> Encode | None:
        if self._spelling is _UNREAD:
            object.__setattr__(self, "_spelling", _spelling(self.raw, self.arguments))
        return self._spelling


def _decoded(raw: str) -> Json:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _strings(value: Json) -> Iterator[tuple[Path, str]]:
    open_containers: list[tuple[Path, Iterator[tuple[str | int, Json]]]] = [((), _members(value))]
    while open_containers:
        path, members = open_containers[-1]
        for step, item in members:
            if isinstance(item, str):
                yield (*path, step), item
            elif isinstance(item, dict | list):
                open_containers.append(((*path, step), _members(item)))
                break
        else:
            open_containers.pop()


def _members(value: Json) -> Iterator[tuple[str | int, Json]]:
    if isinstance(value, dict):
        return iter(value.items())
    return enumerate(value) if isinstance(value, list) else iter(())


def _spelling(raw: str, arguments: Json) -> Encode | None:
    """Which of the usual ways gives the arguments as they are written."""
    if arguments is None:
        return None
    if "\\u" in raw:
        ways = (*zip(_PLAIN, _PLAIN, strict=True), *zip(_ESCAPED, _ESCAPED, strict=True))
    else:
        # Where nothing is written by code, ASCII is written the same way by both, and faster by the one that can code.
        ways = tuple(zip(_ESCAPED if raw.isascii() else _PLAIN, _PLAIN, strict=True))
    try:
        for encode, spelling in ways if '": ' in raw else reversed(ways):
            if encode(arguments) == raw:
                return spelling
    except (ValueError, RecursionError):
        pass
    return None


Part: TypeAlias = Text | Image | Attachment | Opaque


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered to the call `call_id`; `by_order` as for a call."""

    call_id: str
    parts: tuple[Part, ...]
    error: bool
    path: Path
    by_order: bool = field(default=False, repr=False)

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


Block: TypeAlias = Text | Image | Attachment | Reasoning | Opaque | ToolCall | ToolResult


def is_signed(block: Block) -> bool:
    """Whether the vendor has signed the block: no edit may change it."""
    return isinstance(block, Text | ToolCall) and block.signed
