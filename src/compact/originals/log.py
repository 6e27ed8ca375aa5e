"""One session's file, or files: a segment that failed to reach the drive is followed by another one."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Iterable, Iterator, Sequence

from compact.disk import APPEND, CREATE, READ, Disk, Folder, locked, open_to_read, opened, write_all
from compact.errors import DamagedOriginals
from compact.messages import Json, meta_of
from compact.originals.index import Index, Span, read_own_header
from compact.originals.lines import (
    PREFIX,
    Damaged,
    Kind,
    is_cut_short,
    read_commit,
    read_lines,
    read_message,
    write_check,
    write_header,
)
from compact.originals.survey import (
    CHANGED_END,
    CUT_SHORT,
    NO_FILE,
    NO_HEADER,
    OTHER_LINES,
    WRONG_CHECKSUM,
    damage_of,
    path_of,
    segment_name,
    survey,
)
from compact.ports import Record

_BLOCK = 1 << 20
_HEADER = 1 << 10  # no header is longer


class Missing(Exception):
    """Nothing was kept of the session."""


class Log:
    """What is known of a session's file; used only while the file is locked, and after it was followed to its end."""

    _folder: Folder

    def __init__(self, disk: Disk, session: str) -> None:
        self.session = session
        self._disk = disk
        self._mutex = threading.Lock()
        self._access = APPEND  # or READ, where the files cannot be written
        self._named = False  # whether the names of the files are known to be on the drive
        self._doubtful: dict[int, tuple[int, bytes]] = {}  # by segment: bytes that failed to be written, and where
        self._forget()

    def _forget(self) -> None:
        self._identity: tuple[int, int] | None = None
        self._segment, self._end = 0, 0
        self._index = Index(self.session)

    @contextlib.contextmanager
    def held(self, folder: Folder, *, create: bool) -> Iterator[None]:
        """Hold the session's lock; Missing where there is no such session, DamagedOriginals where it is damaged."""
        with self._locked(folder, create=create) as first:
            self._take_back()
            try:
                self._follow(first)
            except DamagedOriginals:
                self._forget()
                raise
            yield

    @contextlib.contextmanager
    def taken_over(self, folder: Folder) -> Iterator[None]:
        """Hold the session's lock without reading its files, so that they may be replaced."""
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(self._locked(folder, create=False))
            except (Missing, DamagedOriginals):  # there is no file that could be locked
                held.enter_context(self._mutex)
            yield
            self._forget()

    @contextlib.contextmanager
    def _locked(self, folder: Folder, *, create: bool) -> Iterator[int]:
        """The first file, locked, while it is the one of that name: it may be replaced while we wait for it."""
        with self._mutex:
            self._folder = folder
            while True:
                first = self._open_first(create=create)
                try:
                    with locked(self._disk, first, shared=self._access == READ):
                        if self._is_first(first):
                            yield first
                            return
                finally:
                    self._disk.close(first)

    def _open_first(self, *, create: bool) -> int:
        try:
            if create and not self._exists(0) and self._exists(1):
                raise self._damage(0, 0, NO_FILE)
            first, access = open_to_read(self._disk, self._folder, self._name(0), create=create)
        except FileNotFoundError:
            if self._exists(1):
                raise self._damage(0, 0, NO_FILE) from None
            raise Missing from None
        except IsADirectoryError:
            raise self._damage(0, 0, "it is a folder") from None
        if access != self._access:
            self._access = access
            self._forget()  # what was read without waiting for the drive is read again before anything is built on it
        return first

    def _is_first(self, first: int) -> bool:
        status = self._disk.status(first)
        try:
            with opened(self._disk, self._folder, self._name(0), READ) as file:
                now = self._disk.status(file)
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) == (now.st_dev, now.st_ino)

    def _exists(self, segment: int) -> bool:
        try:
            with opened(self._disk, self._folder, self._name(segment), READ):
                return True
        except FileNotFoundError:
            return False

    @property
    def in_doubt(self) -> bool:
        """Whether something failed to be written that could not be taken back yet."""
        return bool(self._doubtful)

    def has(self, digest: str) -> bool:
        return bytes.fromhex(digest) in self._index.messages

    @property
    def highest(self) -> int:
        """The highest of all numbers that records ever had."""
        return self._index.highest

    @property
    def last_log(self) -> tuple[str, ...]:
        """The log of the record written last."""
        return self._index.last_log

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the records that were not retracted."""
        return frozenset(self._index.live)

    def records(self) -> Iterator[Record]:
        """The records that were not retracted, by number."""
        last: tuple[str, ...] = ()
        live = {place: number for number, place in self._index.live.items()}
        found: dict[int, Record] = {}
        for place, (span, body) in enumerate(self._bodies(self._index.commits)):
            record = read_commit(body, self.session).follow(last)
            if record is None:
                raise self._damage(span.segment, span.offset, OTHER_LINES)
            last = record.log
            if place in live:
                found[live[place]] = record
        yield from (found[number] for number in sorted(found))

    def messages(self, digests: Sequence[str]) -> list[Json]:
        spans = {digest: self._span(digest) for digest in digests}
        bodies = dict(self._bodies(sorted(set(spans.values()))))
        return [self._message(bodies[spans[digest]], spans[digest]) for digest in digests]

    def _message(self, body: bytes, span: Span) -> Json:
        try:
            return read_message(body)
        except Damaged as error:
            raise self._damage(span.segment, span.offset, str(error)) from None

    def with_meta(self) -> list[Json]:
        """The messages that have a `meta`, in the order of their lines."""
        read = (self._message(body, span) for span, body in self._bodies(self._index.with_meta))
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
        with opened(self._disk, self._folder, self._name(self._segment), APPEND) as file:
            if self._disk.status(file).st_size != self._end:  # the rest of a write that was never finished
                self._disk.truncate(file, self._end)
            header = b"" if self._end else write_header(self.session, 0, 0)
            if self._try(
                file, self._segment, self._end, self._checked(header + lines, self._index.checksum if self._end else 0)
            ):
                return
        self._start_segment(lines)

    def _checked(self, lines: bytes, before: int) -> bytes:
        return lines + write_check(self.session, lines, before)

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
        with opened(self._disk, self._folder, self._name(following), APPEND | CREATE | os.O_TRUNC) as file:
            self._named = False
            if not self._try(file, following, 0, self._checked(header + lines, 0)):
                raise OSError(errno.EIO, "the drive does not take what is written", self._path(following))
        self._doubtful.clear()  # the new segment says how much of the old one counts

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
        new = (status.st_dev, status.st_ino) != self._identity
        if (status.st_dev, status.st_ino) != self._identity:
            self._forget()
            self._identity = status.st_dev, status.st_ino
        while True:
            with contextlib.ExitStack() as files:
                file = first if self._segment == 0 else files.enter_context(self._opened(self._segment))
                sealed = self._sealed(self._segment + 1)
                size = self._disk.status(file).st_size
                if sealed is not None and size < sealed:
                    raise self._damage(self._segment, 0, CUT_SHORT)
                stop = size if sealed is None else sealed
                if stop < self._end:
                    self._forget()
                    continue
                began = self._end
                added = self._read_on(file, stop, last=sealed is None)
                if self._access == APPEND:
                    if added and not self._confirm(file, began, last=sealed is None):
                        continue
                    if self._end:
                        self._settle_names()
                if sealed is None:
                    if new and self._exists(self._segment + 2):
                        raise self._damage(self._segment + 1, 0, NO_FILE)
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
                data = self._disk.read(file, end - began, began)
                lines = (data[line.start - PREFIX : line.end] for line in read_lines(data) if _is_content(line.kind))
                self._start_segment(b"".join(lines))
            finally:
                self._forget()
            return False
        return True

    def _read_on(self, file: int, stop: int, *, last: bool) -> bool:
        """Read whole lines up to there; whether there were any. Only the last file may end in half a line."""
        began, size = self._end, _BLOCK
        while self._end < stop:
            block = self._disk.read(file, min(size, stop - self._end), self._end)
            taken = self._absorb(block, self._segment, self._end)
            self._end += taken
            rest = block[taken:]
            if not block or self._end + len(rest) >= stop:
                if rest and not (last and is_cut_short(rest)):
                    raise self._damage(self._segment, self._end, CHANGED_END)
                break
            if not taken:
                size *= 2  # a line longer than that
        return self._end > began

    def _sealed(self, segment: int) -> int | None:
        """How much of the segment before this one counts; None where this one was never begun."""
        try:
            with self._opened(segment) as file:
                data = self._disk.read(file, _HEADER, 0)
        except FileNotFoundError:
            return None
        except IsADirectoryError:
            raise self._damage(segment, 0, "it is a folder") from None
        line = next(read_lines(data), None)
        if line is None and len(data) < _HEADER:
            return None
        try:
            if line is None or line.kind is not Kind.HEADER:
                raise Damaged(NO_HEADER)
            return read_own_header(data[line.start : line.end - 1], self.session, segment).sealed
        except Damaged as error:
            raise self._damage(segment, 0, str(error)) from None

    def _absorb(self, data: bytes, segment: int, offset: int) -> int:
        """Note what the lines say; how many bytes they take."""
        end = 0
        for line in read_lines(data):
            end = line.end
            span = Span(segment, offset + line.start, end - line.start - 1)
            try:
                self._index.add(line.kind, data[line.start - PREFIX : end], span)
            except Damaged as error:
                raise self._damage(segment, span.offset, str(error)) from None
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
        line = next(read_lines(data), None)
        if line is None or line.kind is None or line.end != size:
            raise self._damage(span.segment, span.offset, WRONG_CHECKSUM)
        return data[PREFIX:-1]

    def _damage(self, segment: int, offset: int, problem: str) -> DamagedOriginals:
        """The error for a line that is wrong, or for a whole file: what can still be had is read again."""
        path, line = self._path(segment), 0
        with contextlib.suppress(OSError):
            if offset:
                with opened(self._disk, self._folder, self._name(segment), READ) as file:
                    line = self._disk.read(file, offset, 0).count(b"\n") + 1
            return damage_of(self.session, path, line, problem, str(survey(self._disk, self._folder, self.session)))
        return damage_of(self.session, path, line, problem, "What of it can be read is not known")

    def _span(self, digest: str) -> Span:
        try:
            return self._index.messages[bytes.fromhex(digest)]
        except (KeyError, ValueError):
            raise KeyError(digest) from None

    def _opened(self, segment: int) -> contextlib.AbstractContextManager[int]:
        return opened(self._disk, self._folder, self._name(segment), self._access)

    def _name(self, segment: int) -> str:
        return segment_name(self.session, segment)

    def _path(self, segment: int) -> str:
        return path_of(self._folder, self._name(segment))


def _is_content(kind: Kind | None) -> bool:
    """Whether the line may stand in any file: headers and checks belong to the one they are in."""
    return kind in (Kind.MESSAGE, Kind.COMMIT, Kind.RETRACT)
