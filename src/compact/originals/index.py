"""What the lines of a session's files say, and where they are."""

from __future__ import annotations

from typing import NamedTuple

from compact.originals.lines import (
    PREFIX,
    Damaged,
    Header,
    Kind,
    checksum_of,
    read_check,
    read_commit,
    read_digest,
    read_header,
    read_retract,
)
from compact.originals.survey import NO_HEADER, OTHER_LINES, OTHER_SESSION, WRONG_CHECKSUM


class Span(NamedTuple):
    """Where the body of a line is."""

    segment: int
    offset: int
    size: int


class Index:
    """Takes in lines one by one; Damaged where one is not what must stand there."""

    def __init__(self, session: str) -> None:
        self._session = session
        self.checksum = 0
        """Of the segment up to here."""
        self.messages: dict[bytes, Span] = {}
        self.with_meta: list[Span] = []
        self.commits: list[Span] = []
        self.live: dict[int, int] = {}
        """The number of a record: its place among the commits."""
        self.highest = 0
        """Of all numbers that records ever had."""
        self.last_log: tuple[str, ...] = ()
        """Of the commit written last."""

    def add(self, kind: Kind | None, line: bytes, span: Span) -> None:
        """Take in the next line of the file, whose body has that place."""
        first, body = span.offset == PREFIX, line[PREFIX:-1]
        before = 0 if first else self.checksum
        if kind is None:
            raise Damaged(WRONG_CHECKSUM)
        if first:
            if kind is not Kind.HEADER:
                raise Damaged(NO_HEADER)
            read_own_header(body, self._session, span.segment)
        elif kind is Kind.HEADER:
            self._check(body, before)
        else:
            self._take(kind, body, span)
        self.checksum = checksum_of(line, before)

    def _check(self, body: bytes, before: int) -> None:
        check = read_check(body)
        if check is not None and check.session != self._session:
            raise Damaged(OTHER_SESSION)
        if check is not None and check.before != before:
            raise Damaged(OTHER_LINES)

    def _take(self, kind: Kind, body: bytes, span: Span) -> None:
        if kind is Kind.MESSAGE:
            self.messages.setdefault(bytes.fromhex(read_digest(body)), span)
            if b'"protected"' in body:
                self.with_meta.append(span)
        elif kind is Kind.COMMIT:
            record = read_commit(body, self._session).follow(self.last_log)
            if record is None:
                raise Damaged(OTHER_LINES)
            self.live[record.number] = len(self.commits)
            self.highest = max(self.highest, record.number)
            self.commits.append(span)
            self.last_log = record.log
        else:
            number = read_retract(body)
            self.highest = max(self.highest, number)
            self.live.pop(number, None)


def read_own_header(body: bytes, session: str, segment: int) -> Header:
    """The header of a segment; Damaged where it is that of another."""
    header = read_header(body)
    if (header.session, header.segment) != (session, segment):
        raise Damaged(OTHER_SESSION)
    return header
