"""The lines of a session's file: each one carries its own checksum, so that half a line is never taken for a line.

What is appended at a time ends with a check line. It has the checksum of everything before it in the file, so that
lines that were lost, repeated, moved or changed are noticed, and those of its records, so that it is known which of
them are as they were written.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from compact.messages import Json, common_prefix, message_bytes
from compact.ports import CompactionFacts, Record

DIGEST = 64  # characters
_CHECKSUM = 8
_HEX = re.compile(r"[0-9a-f]{64}")
_Value = TypeVar("_Value")


class Kind(Enum):
    """What a line says."""

    HEADER = b"s"
    """First in a file: whose it is. Further down it is a check line, which earlier versions pass over."""
    MESSAGE = b"m"
    COMMIT = b"c"
    RETRACT = b"r"


class Line(NamedTuple):
    """A line that ends: where its body begins in the bytes it was read from, and where the next line does.

    It is damaged where it has no kind.
    """

    kind: Kind | None
    start: int
    end: int


class Header(NamedTuple):
    """The first line of a file."""

    session: str
    segment: int
    sealed: int
    """How much of the segment before counts."""


class Check(NamedTuple):
    """The last line of what was appended at a time."""

    session: str
    before: int
    """The checksum of everything before the line."""
    records: tuple[int, ...]
    """Those of the records and withdrawals since the check before."""


class Damaged(ValueError):
    """A line does not say what its kind has to."""


_KINDS = {kind.value: kind for kind in Kind}
PREFIX = _CHECKSUM + 1 + 1 + 1  # checksum, space, kind, space


def checksum_of(data: bytes | memoryview, before: int = 0) -> int:
    return zlib.crc32(data, before)


def write_line(kind: Kind, body: bytes) -> bytes:
    checksum = zlib.crc32(body, zlib.crc32(kind.value + b" "))
    return b"%08x %b %b\n" % (checksum, kind.value, body)


def read_lines(data: bytes) -> Iterator[Line]:
    """The lines that end, whole ones and damaged ones; what is left is the beginning of a line."""
    start = 0
    while (end := data.find(b"\n", start)) >= 0:
        kind = _KINDS.get(data[start + PREFIX - 2 : start + PREFIX - 1]) if end >= start + PREFIX else None
        checksum = b"%08x " % zlib.crc32(memoryview(data)[start + _CHECKSUM + 1 : end])
        yield Line(kind if data.startswith(checksum, start) else None, start + PREFIX, end + 1)
        start = end + 1


def is_cut_short(rest: bytes) -> bool:
    """Whether a write may have ended there, rather than the end of a line having been changed."""
    line = next(read_lines(rest[:-1] + b"\n"), None)
    return line is None or line.kind is None


def write_message(digest: str, raw: bytes) -> bytes:
    return write_line(Kind.MESSAGE, b"%b %b" % (digest.encode(), raw))


def read_digest(body: bytes) -> str:
    digest = body[:DIGEST].decode("ascii", "replace")
    if not _HEX.fullmatch(digest) or body[DIGEST : DIGEST + 1] != b" ":
        raise Damaged("a message without its digest")
    return digest


def read_message(body: bytes) -> Json:
    digest, raw = read_digest(body), body[DIGEST + 1 :]
    if hashlib.sha256(raw).hexdigest() != digest:
        raise Damaged(f"message {digest[:12]} is not the one that was written")
    return _loads(raw)


def write_header(session: str, segment: int, sealed: int) -> bytes:
    """The first line of a segment: whose it is, and how much of the segment before it counts."""
    return write_line(Kind.HEADER, message_bytes({"session": session, "segment": segment, "sealed": sealed}))


def read_header(body: bytes) -> Header:
    fields = _Fields(body, "header")
    return Header(fields.text("session"), fields.number("segment"), fields.number("sealed"))


def first_header(data: bytes) -> tuple[Header, int] | None:
    """The header that the data begins with, and its length; None where it has none."""
    line = next(read_lines(data), None)
    if line is None or line.kind is not Kind.HEADER:
        return None
    try:
        return read_header(data[line.start : line.end - 1]), line.end
    except Damaged:
        return None


def write_check(session: str, lines: bytes, before: int) -> bytes:
    """The line that follows those lines, where what stands before them has that checksum."""
    records = [
        zlib.crc32(memoryview(lines)[line.start - PREFIX : line.end])
        for line in read_lines(lines)
        if line.kind in (Kind.COMMIT, Kind.RETRACT)
    ]
    body = {"check": zlib.crc32(lines, before), "records": records, "session": session}
    return write_line(Kind.HEADER, message_bytes(body))


def read_check(body: bytes) -> Check | None:
    """The check; None where it is a header, which earlier versions wrote further down as well."""
    fields = _Fields(body, "check line")
    if "check" not in fields.values and "sealed" in fields.values:
        return None
    return Check(fields.text("session"), fields.number("check"), fields.each("records", _number))


def write_commit(record: Record, before: Sequence[str]) -> bytes:
    """The record; of its log only what differs from the log of the record written before it."""
    same = common_prefix(before, record.log)
    body: dict[str, Json] = {
        "number": record.number,
        "parent": record.parent,
        "format": record.format,
        "at": record.at,
        "same": same,
        "log": record.log[same:],
        "sum": _sum(record.log),
        "version": record.version,
        "plan": record.plan,
    }
    if record.facts is not None:
        body["facts"] = record.facts.to_json()
    return write_line(Kind.COMMIT, message_bytes(body))


class Commit(NamedTuple):
    """A record as it is written: its log is known where that of the record before it is."""

    record: Record
    same: int
    sum: int | None

    def follow(self, before: Sequence[str]) -> Record | None:
        """The record, if it was written after one with that log."""
        if self.same > len(before):
            return None
        log = (*before[: self.same], *self.record.log)
        if self.sum is not None and self.sum != _sum(log):
            return None
        return replace(self.record, log=log)


def read_commit(body: bytes, session: str) -> Commit:
    fields = _Fields(body, "record")
    facts = fields.values.get("facts")
    record = Record(
        session=session,
        number=fields.number("number"),
        parent=fields.number("parent"),
        format=fields.text("format"),
        log=fields.each("log", _digest),
        plan=fields.values.get("plan"),
        at=fields.text("at"),
        version=fields.number("version") if "version" in fields.values else 1,
        facts=CompactionFacts.from_json(facts) if isinstance(facts, dict) else None,
    )
    return Commit(record, fields.number("same"), fields.number("sum") if "sum" in fields.values else None)


def write_retract(number: int) -> bytes:
    return write_line(Kind.RETRACT, b"%d" % number)


def read_retract(body: bytes) -> int:
    if not body.isdigit() or len(body) > _CHECKSUM * 2:
        raise Damaged("a withdrawal without a number")
    return int(body)


class _Fields:
    """The fields of a line's JSON object, each of which must be of its type."""

    def __init__(self, body: bytes, what: str) -> None:
        self.values = _loads(body)
        self._what = what
        if not isinstance(self.values, dict):
            raise Damaged(f"a {what} that is no JSON object")

    def text(self, name: str) -> str:
        return self._read(name, _text)

    def number(self, name: str) -> int:
        return self._read(name, _number)

    def each(self, name: str, read: Callable[[Any], _Value]) -> tuple[_Value, ...]:
        return self._read(name, lambda values: tuple(map(read, values)) if isinstance(values, list) else _refuse())

    def _read(self, name: str, read: Callable[[Any], _Value]) -> _Value:
        try:
            return read(self.values[name])
        except (KeyError, Damaged):
            raise Damaged(f"a {self._what} whose {name!r} is wrong or missing") from None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else _refuse()


def _number(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else _refuse()


def _digest(value: Json) -> str:
    return value if isinstance(value, str) and _HEX.fullmatch(value) else _refuse()


def _refuse() -> Any:
    raise Damaged


def _sum(log: Sequence[str]) -> int:
    return zlib.crc32("".join(log).encode())


def _loads(data: bytes) -> Any:
    try:
        return json.loads(data)
    except RecursionError:
        raise Damaged("JSON that is nested too deeply") from None
    except ValueError as error:
        raise Damaged(f"no JSON ({error})") from None
