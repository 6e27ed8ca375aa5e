"""The lines of a session's file: each one carries its own checksum, so that half a line is never taken for a line."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from compact.messages import common_prefix, message_bytes
from compact.ports import Record

DIGEST = 64  # characters
_CHECKSUM = 8


class Kind(Enum):
    """What a line says."""

    HEADER = b"s"
    MESSAGE = b"m"
    COMMIT = b"c"
    RETRACT = b"r"


class Line(NamedTuple):
    """A whole line: where its body begins in the bytes it was read from, and where the next line does."""

    kind: Kind
    start: int
    end: int


_KINDS = {kind.value: kind for kind in Kind}
PREFIX = _CHECKSUM + 1 + 1 + 1  # checksum, space, kind, space


def write_line(kind: Kind, body: bytes) -> bytes:
    checksum = zlib.crc32(body, zlib.crc32(kind.value + b" "))
    return b"%08x %b %b\n" % (checksum, kind.value, body)


def whole_lines(data: bytes, start: int = 0) -> Iterator[Line]:
    """The lines up to the first one that is torn or damaged."""
    while (end := data.find(b"\n", start)) >= 0:
        kind = _KINDS.get(data[start + PREFIX - 2 : start + PREFIX - 1])
        checksum = b"%08x " % zlib.crc32(memoryview(data)[start + _CHECKSUM + 1 : end])
        if kind is None or end < start + PREFIX or not data.startswith(checksum, start):
            return
        yield Line(kind, start + PREFIX, end + 1)
        start = end + 1


def holds_whole_line(data: bytes) -> bool:
    """Whether any whole line begins after a line break: then this is no end of a write that was cut short."""
    start = data.find(b"\n") + 1
    while start:
        if next(whole_lines(data, start), None):
            return True
        start = data.find(b"\n", start) + 1
    return False


def write_message(digest: str, raw: bytes) -> bytes:
    return write_line(Kind.MESSAGE, b"%b %b" % (digest.encode(), raw))


def write_header(session: str, segment: int, sealed: int) -> bytes:
    """The first line of a segment: whose it is, and how much of the segment before it counts."""
    return write_line(Kind.HEADER, message_bytes({"session": session, "segment": segment, "sealed": sealed}))


def read_header(data: bytes) -> tuple[str, int, int] | None:
    """The session, how much of the segment before counts, and the header's length."""
    line = next(whole_lines(data), None)
    if line is None or line.kind is not Kind.HEADER:
        return None
    header = json.loads(data[line.start : line.end])
    return header["session"], header["sealed"], line.end


def write_commit(record: Record, before: Sequence[str]) -> bytes:
    """The record; of its log only what differs from the log of the record written before it."""
    same = common_prefix(before, record.log)
    body = {
        "number": record.number,
        "parent": record.parent,
        "format": record.format,
        "at": record.at,
        "same": same,
        "log": record.log[same:],
        "version": record.version,
        "plan": record.plan,
    }
    return write_line(Kind.COMMIT, message_bytes(body))


def read_commit(body: bytes, session: str, before: Sequence[str]) -> Record:
    data = json.loads(body)
    return Record(
        session=session,
        number=data["number"],
        parent=data["parent"],
        format=data["format"],
        log=(*before[: data["same"]], *data["log"]),
        plan=data.get("plan"),
        at=data["at"],
        version=data.get("version", 1),
    )


def write_retract(number: int) -> bytes:
    return write_line(Kind.RETRACT, b"%d" % number)
