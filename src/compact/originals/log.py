"""One session's file, or files: a segment that failed to reach the drive is followed by another one."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from compact.disk import APPEND, CREATE, Disk, Folder, locked, opened, read_all, write_all
from compact.messages import Json, meta_of
from compact.originals.lines import (
    DIGEST,
    PREFIX,
    Kind,
    holds_whole_line,
    read_commit,
    read_header,
    whole_lines,
    write_header,
)
from compact.ports import Record

_BLOCK = 1 << 20
_HEADER = 1 << 10  # no header is longer


class Span(NamedTuple):
    """Where the body of a line is."""

    segment: int
    offset: int
    size: int


class Missing(Exception):
    """Nothing was kept of the session."""


class Log:
    """What is known of a session's file; used only while the file is locked, and after it was followed to its end."""

    _folder: Folder

    def __init__(self, disk: Disk, session: str) -> None:
        self.session = session
        self._disk = disk
        self._mutex = threading.Lock()
        self._named = False  # whether the names of the files are known to be on the drive
        self._doubtful: dict[int, tuple[int, bytes]] = {}  # by segment: bytes that failed to be written, and where
        self._forget()

    def _forget(self) -> None:
        self._identity: tuple[int, int] | None = None
        self._segment, self._end = 0, 0
        self._messages: dict[bytes, Span] = {}
        self._with_meta: list[Span] = []
        self._commits: list[Span] = []
        self._live: dict[int, int] = {}  # number of a record: its place among the commits
        self.highest = 0  # of all numbers that records ever had
        self.last_log: tuple[str, ...] = ()  # of the commit written last

    @contextlib.contextmanager
    def held(self, folder: Folder, *, create: bool) -> Iterator[None]:
        """Nobody else reads or writes the session meanwhile; Missing where there is none."""
        with self._mutex:
            self._folder = folder
            try:
                first = self._disk.open(self._folder, self._name(0), APPEND | CREATE * create)
            except FileNotFoundError:
                raise Missing from None
            try:
                with locked(self._disk, first):
                    self._take_back()
                    self._follow(first)
                    yield
            finally:
                self._disk.close(first)

    @property
    def in_doubt(self) -> bool:
        """Whether something failed to be written that could not be taken back yet."""
        return bool(self._doubtful)

    def has(self, digest: str) -> bool:
        return bytes.fromhex(digest) in self._messages

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the records that were not retracted."""
        return frozenset(self._live)

    def records(self) -> Iterator[Record]:
        """The records that were not retracted, by number."""
        last: tuple[str, ...] = ()
        live = {place: number for number, place in self._live.items()}
        found: dict[int, Record] = {}
        for place, (_, body) in enumerate(self._bodies(self._commits)):
            record = read_commit(body, self.session, last)
            last = record.log
            if place in live:
                found[live[place]] = record
        yield from (found[number] for number in sorted(found))

    def messages(self, digests: Sequence[str]) -> list[Json]:
        spans = {digest: self._span(digest) for digest in digests}
        bodies = dict(self._bodies(sorted(set(spans.values()))))
        return [self._message(bodies[spans[digest]], spans[digest]) for digest in digests]

    def _message(self, body: bytes, span: Span) -> Json:
        digest, raw = body[:DIGEST].decode(), body[DIGEST + 1 :]
        if hashlib.sha256(raw).hexdigest() != digest:
            raise OSError(errno.EIO, f"message {digest} is damaged", self._path(span.segment))
        return json.loads(raw)

    def with_meta(self) -> list[Json]:
        """The messages that have a `meta`, in the order of their lines."""
        read = (self._message(body, span) for span, body in self._bodies(self._with_meta))
        return [message for message in read if meta_of(message) is not None]

    def append(self, lines: bytes) -> None:
        """Write the lines; they count when they are durable. OSError if they could not be made so."""
        try:
            self._extend(lines)
        except OSError:
            with contextlib.suppress(OSError):  # then it is tried again before anything else is done
                self._take_back()
            raise

    def _extend(self, lines: bytes) -> None:
        with self._opened(self._segment) as file:
            damaged = self._cut(file)
            if not damaged:
                header = b"" if self._end else write_header(self.session, 0, 0)
                if self._try(file, self._segment, self._end, header + lines):
                    return
        self._start_segment(lines)

    def _cut(self, file: int) -> bool:
        """Cut off the rest of a write that was never finished; whether there is something else instead.

        Whole lines after a bad one mean that the drive has lost something: they are left for people to look at.
        """
        size = self._disk.status(file).st_size
        if size == self._end:
            return False
        if holds_whole_line(self._disk.read(file, size - self._end, self._end)):
            return True
        self._disk.truncate(file, self._end)
        return False

    def _try(self, file: int, segment: int, offset: int, data: bytes) -> bool:
        """Write and wait for the drive; whether it has the data."""
        self._doubtful[segment] = offset, data
        write_all(self._disk, file, data)
        try:
            self._disk.sync(file)
        except OSError:
            # The system may hold for written what the drive has not got, so asking again would be answered wrongly.
            return False
        self._settle_names()
        del self._doubtful[segment]
        self._segment, self._end = segment, offset + self._absorb(data, segment, offset)
        return True

    def _start_segment(self, lines: bytes) -> None:
        following = self._segment + 1
        header = write_header(self.session, following, self._end)
        self._put_aside(self._name(following))
        with opened(self._disk, self._folder, self._name(following), APPEND | CREATE | os.O_TRUNC) as file:
            self._named = False
            if not self._try(file, following, 0, header + lines):
                raise OSError(errno.EIO, "the drive does not take what is written", self._path(following))
        self._doubtful.clear()  # the new segment says how much of the old one counts

    def _put_aside(self, name: str) -> None:
        """Keep for people to look at what has no readable beginning, but whole lines."""
        with contextlib.suppress(FileNotFoundError):
            with opened(self._disk, self._folder, name, APPEND) as file:
                damaged = holds_whole_line(read_all(self._disk, file))
            if damaged:
                self._disk.rename(self._folder, name, f"{name}.damaged")

    def _take_back(self) -> None:
        """Remove what failed to be written, so that nobody builds on it, unless somebody has already."""
        for segment, (offset, data) in sorted(self._doubtful.items(), reverse=True):
            with contextlib.suppress(FileNotFoundError), self._opened(segment) as file:
                rest = self._disk.status(file).st_size - offset
                if 0 < rest <= len(data) and data.startswith(self._disk.read(file, rest, offset)):
                    self._disk.truncate(file, offset)
            del self._doubtful[segment]

    def _settle_names(self) -> None:
        if not self._named:
            self._disk.sync_folder(self._folder)
            self._named = True

    def _follow(self, first: int) -> None:
        """Read what was added since the last time, by whomever."""
        status = self._disk.status(first)
        if (status.st_dev, status.st_ino) != self._identity:
            self._forget()
            self._identity = status.st_dev, status.st_ino
        while True:
            with contextlib.ExitStack() as files:
                file = first if self._segment == 0 else files.enter_context(self._opened(self._segment))
                sealed = self._sealed(self._segment + 1)
                stop = self._disk.status(file).st_size if sealed is None else sealed
                if stop < self._end:
                    self._forget()
                    continue
                began = self._end
                if self._read_on(file, stop) and not self._confirm(file, began, last=sealed is None):
                    continue
                if self._end:
                    self._settle_names()
                if sealed is None:
                    return
                self._segment, self._end = self._segment + 1, 0

    def _confirm(self, file: int, began: int, *, last: bool) -> bool:
        """Wait for the drive to have what was read, since who wrote it may have been killed before; whether it has.

        If not, it is written again to a new segment, and everything has to be read anew.
        """
        try:
            self._disk.sync(file)
        except OSError:
            end, self._end = self._end, began
            try:
                if not last:
                    raise
                self._start_segment(self._disk.read(file, end - began, began))
            finally:
                self._forget()
            return False
        return True

    def _read_on(self, file: int, stop: int) -> bool:
        """Read whole lines up to there; whether there were any."""
        began, size = self._end, _BLOCK
        while self._end < stop:
            block = self._disk.read(file, min(size, stop - self._end), self._end)
            taken = self._absorb(block, self._segment, self._end)
            self._end += taken
            if b"\n" in block[taken:] or not block or self._end + len(block) - taken >= stop:
                break  # the rest is no line, or there is none
            if not taken:
                size *= 2  # a line longer than that
        return self._end > began

    def _sealed(self, segment: int) -> int | None:
        """How much of the segment before this one counts; None where this one was never begun."""
        try:
            with self._opened(segment) as file:
                header = read_header(self._disk.read(file, _HEADER, 0))
        except FileNotFoundError:
            return None
        return None if header is None else header[1]

    def _absorb(self, data: bytes, segment: int, offset: int) -> int:
        """Note what the lines say; how many bytes they take."""
        end = 0
        for line in whole_lines(data):
            end = line.end
            span = Span(segment, offset + line.start, end - line.start - 1)
            if line.kind is Kind.MESSAGE:
                digest = data[line.start : line.start + DIGEST].decode()
                self._messages.setdefault(bytes.fromhex(digest), span)
                if data.find(b'"protected"', line.start, end) >= 0:
                    self._with_meta.append(span)
            elif line.kind is Kind.COMMIT:
                record = read_commit(data[line.start : end], self.session, self.last_log)
                self._live[record.number] = len(self._commits)
                self.highest = max(self.highest, record.number)
                self._commits.append(span)
                self.last_log = record.log
            elif line.kind is Kind.RETRACT:
                self._live.pop(int(data[line.start : end]), None)
        return end

    def _bodies(self, spans: Iterable[Span]) -> Iterator[tuple[Span, bytes]]:
        """The bodies of the lines, segment by segment as they come."""
        with contextlib.ExitStack() as files:
            current, file = -1, -1
            for span in spans:
                if span.segment != current:
                    files.close()
                    current, file = span.segment, files.enter_context(self._opened(span.segment))
                yield span, self._body(file, span)

    def _body(self, file: int, span: Span) -> bytes:
        start = span.offset - PREFIX
        size = PREFIX + span.size + 1
        data = b""
        while len(data) < size and (piece := self._disk.read(file, size - len(data), start + len(data))):
            data += piece
        if next(whole_lines(data), None) is None:
            raise OSError(errno.EIO, f"the line at {start} is damaged", self._path(span.segment))
        return data[PREFIX:-1]

    def _span(self, digest: str) -> Span:
        try:
            return self._messages[bytes.fromhex(digest)]
        except (KeyError, ValueError):
            raise KeyError(digest) from None

    def _opened(self, segment: int) -> contextlib.AbstractContextManager[int]:
        return opened(self._disk, self._folder, self._name(segment), APPEND)

    def _name(self, segment: int) -> str:
        return segment_name(self.session, segment)

    def _path(self, segment: int) -> str:
        return f"{self._folder.path}{os.sep}{self._name(segment)}"


def segment_name(session: str, segment: int) -> str:
    """The name of a file never shows the session's id, which may be somebody's name."""
    return f"{hashlib.sha256(session.encode()).hexdigest()}-{segment:03d}.log"
