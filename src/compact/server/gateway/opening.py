"""How a stream begins: with an error, which may be that the request is too long, or with what the model says.

A vendor that answers 200 before it has counted tells in the first event that there will be no answer. Only what may
still turn out to be such an event is held back, and nothing that follows.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from compact.messages import Json

Told: TypeAlias = Literal["content", "error", "preface", "nothing"]
"""What a stream begins with; a preface may be followed by either, and nothing is known of too few bytes."""

_LARGEST: Final = 64 * 1024
"""Bytes of an error; whatever is longer is passed on."""
PREFACE_SECONDS: Final = 0.1
"""How long the events are held back with which OpenAI says that it has begun: there is nothing in them to wait for."""
# How an event begins that tells of an error, without spaces; with its name, or with its data.
_ERRORS: Final = (
    b"event:error\n",
    b"event:response.failed\n",
    b'data:{"error"',
    b'data:{"type":"error"',
    b'data:{"type":"response.failed"',
    b'data:{"object":"error"',
)
_PREFACES: Final = (
    b"event:response.created\n",
    b"event:response.in_progress\n",
    b"event:response.queued\n",
    b'data:{"type":"response.created"',
    b'data:{"type":"response.in_progress"',
    b'data:{"type":"response.queued"',
)
_LONGEST: Final = max(map(len, (*_ERRORS, *_PREFACES)))
_END: Final = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class Opening:
    """What has been read of a stream, the error it begins with if it does, and the rest as it arrives."""

    read: tuple[bytes, ...] = field(repr=False)
    error: Json = None
    rest: AsyncIterator[bytes] = field(repr=False, kw_only=True)

    async def pieces(self) -> AsyncIterator[bytes]:
        """The whole stream, as it came."""
        for piece in self.read:
            yield piece
        async for piece in self.rest:
            yield piece


async def read_opening(stream: AsyncIterator[bytes]) -> Opening:
    """The beginning of a stream of events, up to where it is clear whether it is an error."""
    read: list[bytes] = []
    begun = b""
    until = 0.0
    clock = asyncio.get_running_loop().time
    while len(begun) <= _LARGEST:
        arriving = asyncio.ensure_future(anext(stream, b""))
        if not await _arrived(arriving, until - clock() if until else None):
            # Where nobody listens any more, nobody will ask how it ended.
            arriving.add_done_callback(lambda done: done.cancelled() or done.exception())
            return Opening(tuple(read), rest=_after(arriving, stream))
        piece = arriving.result()
        read.append(piece)
        begun += piece
        told, error = read_first_event(begun, ended=not piece)
        if told in ("content", "error"):
            return Opening(tuple(read), error, rest=stream)
        if told == "preface" and not until:
            until = clock() + PREFACE_SECONDS
    return Opening(tuple(read), rest=stream)


async def _arrived(arriving: asyncio.Future[bytes], seconds: float | None) -> bool:
    """Whether it arrives in time; it is not given up where it does not."""
    try:
        done, _ = await asyncio.wait({arriving}, timeout=seconds)
    except asyncio.CancelledError:
        arriving.cancel()
        raise
    return bool(done)


async def _after(arriving: asyncio.Future[bytes], stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    try:
        yield await arriving
        async for piece in stream:
            yield piece
    finally:
        arriving.cancel()


def read_first_event(begun: bytes, *, ended: bool = False) -> tuple[Told, Json]:
    """Say what a stream begins with, and give the JSON of an error."""
    preface = False
    while True:
        begun = begun.lstrip(b"\r\n")
        # Of a long event only the beginning is looked at, however many pieces it comes in.
        head = begun[: 2 * _LONGEST].replace(b" ", b"").replace(b"\r\n", b"\n")
        end = _END.search(begun)
        if _may_begin(head, _ERRORS):
            if end or ended:
                return _error(begun[: end.start()] if end else begun)
        elif not _may_begin(head, _PREFACES):
            return "content", None
        elif end:
            begun, preface = begun[end.end() :], True
            continue
        if ended:
            return "content", None
        return ("preface" if preface else "nothing"), None


def _may_begin(head: bytes, marks: tuple[bytes, ...]) -> bool:
    """Whether the bytes begin with a mark, or may once there are more of them."""
    return any(head.startswith(mark) or mark.startswith(head) for mark in marks)


def _error(event: bytes) -> tuple[Told, Json]:
    lines = event.replace(b"\r\n", b"\n").split(b"\n")
    data = b"\n".join(line[5:].strip() for line in lines if line.startswith(b"data:"))
    try:
        return "error", json.loads(data)
    except (ValueError, RecursionError):
        return "content", None
