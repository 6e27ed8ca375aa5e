"""Everything that can still be read of a session's files, however damaged they are, and what is wrong with them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from compact.disk import READ, Disk, Folder, opened, read_all
from compact.errors import DamagedOriginals
from compact.originals.lines import (
    DIGEST,
    PREFIX,
    Check,
    Commit,
    Damaged,
    Kind,
    checksum_of,
    first_header,
    is_cut_short,
    read_check,
    read_commit,
    read_digest,
    read_header,
    read_lines,
    read_message,
    read_retract,
)
from compact.ports import Record

WRONG_CHECKSUM = "it is not as it was written"
OTHER_LINES = "the lines before it are not those that were written"
CUT_SHORT = "lines are missing at its end"
CHANGED_END = "its end is not as it was written"
OTHER_SESSION = "it belongs to another session, or to another place"
NO_FILE = "it is missing"
NO_HEADER = "its first line, which says whose it is, is damaged"


class Problem(NamedTuple):
    """What is wrong with a file, or with a line of it; the first line is 1."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.text}" if self.line else f"{self.path}: {self.text}"


@dataclass(slots=True)
class _Entry:
    """A record or a withdrawal, with its place."""

    value: Commit | int
    path: str
    line: int
    checksum: int
    sure: bool
    """Whether nothing damaged stands between it and the one before."""


@dataclass(slots=True)
class Survey:
    """What was found of a session."""

    session: str
    names: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    messages: list[tuple[str, bytes]] = field(default_factory=list)
    """By digest, in the order of their lines; one whose `meta` changed may be there more than once."""
    records: list[Record | int] = field(default_factory=list)
    """Whole records, and the numbers of those that were withdrawn, in their order."""
    lost: list[int] = field(default_factory=list)
    """The numbers of records that cannot be had any more."""

    @property
    def live(self) -> list[int]:
        """The numbers of the records that were not withdrawn."""
        numbers: dict[int, None] = {}
        for entry in self.records:
            if isinstance(entry, Record):
                numbers[entry.number] = None
            else:
                numbers.pop(entry, None)
        return sorted(numbers.keys() - {*self.lost})

    def __str__(self) -> str:
        kept = {digest for digest, _ in self.messages}
        numbers = ", ".join(map(str, self.live))
        compactions = f"compactions {numbers}" if numbers else "no compaction"
        return f"{len(kept):,} message{'s' * (len(kept) != 1)} and {compactions} can still be read"


def survey(disk: Disk, folder: Folder, session: str) -> Survey:
    """Read all files of the session as far as they can be read."""
    reader = _Reader(session)
    reader.found.names = segments_of(disk.names(folder), session)
    known = {segment_number(name): name for name in reader.found.names}
    contents = {number: reader.content(disk, folder, name) for number, name in known.items()}
    last = max(known, default=-1)
    for number in range(last + 1):
        path = path_of(folder, segment_name(session, number))
        if number not in known:
            reader.note(path, 0, NO_FILE)
        elif (data := contents[number]) is not None and reader.owns(path, data):
            reader.read(path, number, data, _sealed(contents.get(number + 1), session, number + 1))
    return reader.finish()


def _sealed(following: bytes | None, session: str, number: int) -> int | None:
    """How much of a file counts, by the file that follows it."""
    header = first_header(following or b"")
    matches = header is not None and (header[0].session, header[0].segment) == (session, number)
    return header[0].sealed if header is not None and matches else None


class _Reader:
    """Takes in the lines of the files in their order."""

    def __init__(self, session: str) -> None:
        self.found = Survey(session)
        self._entries: list[_Entry] = []
        self._pending: list[_Entry] = []  # since the last check
        self._confirmed: set[int] = set()
        self._doubted: list[_Entry] = []
        self._digests: set[str] = set()
        self._spares: dict[str, bytes] = {}
        self._sure = True

    def note(self, path: str, line: int, text: str) -> None:
        self.found.problems.append(Problem(path, line, text))
        self._sure = False

    def content(self, disk: Disk, folder: Folder, name: str) -> bytes | None:
        try:
            with opened(disk, folder, name, READ) as file:
                return read_all(disk, file)
        except OSError as error:
            self.note(path_of(folder, name), 0, f"it cannot be read ({error.strerror or error})")
            return None

    def owns(self, path: str, data: bytes) -> bool:
        """Whether the file may be the session's: none of another is taken for its own, whatever its name."""
        header = first_header(data)
        if header is None or header[0].session == self.found.session or session_in(os.path.basename(path), data):  # noqa: PTH119 - names are plain strings here
            return True
        self.note(path, 1, OTHER_SESSION)
        return False

    def read(self, path: str, segment: int, data: bytes, sealed: int | None) -> None:
        if sealed is not None:
            if len(data) < sealed:
                self.note(path, 0, CUT_SHORT)
            self._spare(data[sealed:])
            data = data[:sealed]
        running, number, end = 0, 0, 0
        for number, line in enumerate(read_lines(data), 1):
            start, end = line.start - PREFIX, line.end
            before, running = running, checksum_of(memoryview(data)[start:end], running)
            body = data[line.start : end - 1]
            try:
                if line.kind is None:
                    raise Damaged(WRONG_CHECKSUM)
                if number == 1 and line.kind is Kind.HEADER:
                    if read_header(body)[:2] != (self.found.session, segment):
                        raise Damaged(OTHER_SESSION)
                    continue
                if number == 1:
                    self.note(path, 1, NO_HEADER)
                stated = self._take(line.kind, body, path, number, checksum_of(memoryview(data)[start:end]))
            except Damaged as error:
                self.note(path, number, str(error))
                continue
            if stated is not None:
                if self._judge(stated, before):
                    running = checksum_of(memoryview(data)[start:end], stated.before)
                    self.note(path, number, OTHER_LINES)
        rest = data[end:]
        if rest and (sealed is not None or not is_cut_short(rest)):
            self.note(path, number + 1, CHANGED_END)
        self._pending.clear()

    def _spare(self, data: bytes) -> None:
        """Messages that do not count, since they were written again; a message can be known by its digest anywhere."""
        for line in read_lines(data):
            body = data[line.start : line.end - 1]
            with contextlib.suppress(Damaged):
                if line.kind is Kind.MESSAGE:
                    read_message(body)
                    self._spares[read_digest(body)] = body[DIGEST + 1 :]

    def _take(self, kind: Kind, body: bytes, path: str, line: int, checksum: int) -> Check | None:
        """Take in what the line says; a check is for the caller to judge."""
        if kind is Kind.HEADER:
            check = read_check(body)
            if check is not None and check.session != self.found.session:
                raise Damaged(OTHER_SESSION)
            return check
        if kind is Kind.MESSAGE:
            digest = read_digest(body)
            read_message(body)
            if digest not in self._digests or b'"protected"' in body:
                self._digests.add(digest)
                self.found.messages.append((digest, body[DIGEST + 1 :]))
            return None
        value = read_commit(body, self.found.session) if kind is Kind.COMMIT else read_retract(body)
        entry = _Entry(value, path, line, checksum, self._sure)
        self._sure = True
        self._entries.append(entry)
        self._pending.append(entry)
        return None

    def _judge(self, check: Check, running: int) -> bool:
        """Whether the lines before the check are others than those that were written."""
        self._confirmed.update(check.records)
        differ = check.before != running
        if differ and check.records:
            self._doubted += self._pending[-len(check.records) :]
        self._pending.clear()
        return differ

    def finish(self) -> Survey:
        """What all of it comes to."""
        doubted = {id(entry) for entry in self._doubted if entry.checksum not in self._confirmed}
        for entry in self._entries:
            if id(entry) in doubted:
                self.note(entry.path, entry.line, "it is no record that was written there")
        entries = [entry for entry in self._entries if id(entry) not in doubted]
        resolved, lost = _resolve(entries), set[int]()
        for entry in entries:
            if isinstance(entry.value, int):
                self.found.records.append(entry.value)
                lost.discard(entry.value)  # it was withdrawn
                continue
            record, number = resolved.get(id(entry)), entry.value.record.number
            missing = [digest for digest in record.log if digest not in self._digests] if record else []
            if record is None:
                self.note(entry.path, entry.line, f"compaction {number} continues one that is missing or damaged")
            elif missing:
                others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                text = f"message {missing[0][:12]}{others} of compaction {number} is missing"
                self.note(entry.path, entry.line, text)
            lost.discard(number)
            if record is not None and self._spares.keys() >= {*missing}:
                self.found.records.append(record)
            else:
                lost.add(number)  # an earlier record of that number does not come back
        self.found.lost = sorted(lost)
        if self.found.problems:
            self.found.messages += [item for item in self._spares.items() if item[0] not in self._digests]
        return self.found


def _resolve(entries: Sequence[_Entry]) -> dict[int, Record]:
    """The records whose logs can be known: each one names only what differs from the one written before it."""
    resolved: dict[int, Record] = {}
    logs: dict[tuple[str, ...], None] = {(): None}
    last: tuple[str, ...] | None = ()
    waiting = []
    for entry in entries:
        if not isinstance(entry.value, Commit):
            continue
        sure = entry.value.sum is not None or entry.sure or not entry.value.same
        record = entry.value.follow(last) if last is not None and sure else None
        last = record.log if record else None
        if record is None:
            waiting.append(entry)
        else:
            resolved[id(entry)] = record
            logs[record.log] = None
    while waiting:  # its log may follow that of a record that stood elsewhere
        found = {id(entry): record for entry in waiting for record in _followers(entry, logs)}
        if not found:
            break
        resolved |= found
        logs |= dict.fromkeys(record.log for record in found.values())
        waiting = [entry for entry in waiting if id(entry) not in found]
    return resolved


def _followers(entry: _Entry, logs: dict[tuple[str, ...], None]) -> Iterator[Record]:
    commit = entry.value
    if isinstance(commit, Commit) and (commit.sum is not None or not commit.same):
        found = (commit.follow(log) for log in logs)
        yield from (record for record in found if record is not None)


def segment_name(session: str, segment: int) -> str:
    """The name of a file never shows the session's id, which may be a person's name."""
    return f"{hashlib.sha256(session.encode()).hexdigest()}-{segment:03d}.log"


_SEGMENT = re.compile(r"[0-9a-f]{64}-(\d{3,})\.log")


def is_segment(name: str) -> bool:
    return _SEGMENT.fullmatch(name) is not None


def segment_number(name: str) -> int:
    found = _SEGMENT.fullmatch(name)
    return int(found[1]) if found else -1


def segments_of(names: Sequence[str], session: str) -> list[str]:
    """The files of the session among those names, in their order."""
    own = segment_name(session, 0)[:DIGEST]
    return sorted((name for name in names if is_segment(name) and name.startswith(own)), key=segment_number)


def session_in(name: str, data: bytes) -> str:
    """The session that a file says it belongs to, in whatever line is whole; empty where none says so."""
    for line in read_lines(data):
        if line.kind is Kind.HEADER:
            try:
                body = data[line.start : line.end - 1]
                session = (read_check(body) or read_header(body)).session
            except Damaged:
                continue
            if segment_name(session, 0)[:DIGEST] == name[:DIGEST]:
                return session
    return ""


def path_of(folder: Folder, name: str) -> str:
    return f"{folder.path}{os.sep}{name}"


def damage_of(session: str, path: str, line: int, problem: str, whole: str) -> DamagedOriginals:
    """The error with its remedy."""
    storage = Path(path).parent.parent
    remedy = f"Run: compact originals repair {session or 'SESSION'} --storage {storage}"
    return DamagedOriginals(session, (path, line), problem, whole=whole, remedy=remedy)
