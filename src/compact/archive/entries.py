"""What an archive holds, whatever it is kept in: names, bytes, and what can be asked of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Literal, Protocol, TypeAlias

from compact.archive.parts import BrokenPart, Past, Piece, Run, join_parts, read_part, split_lines, write_part
from compact.disk import json_bytes
from compact.errors import InvalidInput
from compact.messages import Json
from compact.policies.session_ids import check_session_id, file_name
from compact.ports import Export

EVENTS = "events.jsonl"
_NAME = re.compile(r"(?:(transcript)-pre-compact-(\d{3,})\.jsonl|(summary)-(\d{3,})\.json)")

Kind: TypeAlias = Literal["transcript", "summary", "events"]
_PAIR: tuple[Kind, Kind] = ("transcript", "summary")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the archive; `size` is None where it should be there and is not, or cannot be opened.

    `folder` is where it was found. Of a session whose id is too long for a folder's name, `session` is that name.
    """

    session: str
    name: str
    kind: Kind
    step: int | None
    size: int | None
    folder: str = ""

    @property
    def place(self) -> str:
        """The name of the folder that the file is in."""
        return self.folder or file_name(check_session_id(self.session))


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a file of the archive."""

    session: str
    name: str
    text: str


class Shelf(Protocol):
    """An archive that can be read."""

    def entries(self, session: str | None = None) -> tuple[Entry, ...]:
        """The files of the session, or of all, by session and name."""
        ...

    def load(self, entry: Entry) -> tuple[bytes, str | None]:
        """The file, and the SHA-256 it was saved with, where that is known."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """The two files of an export, by name; which of the messages are new is known only where it is saved."""

    transcript: str
    messages: Sequence[bytes]
    summary: str
    summed: bytes

    def files(self, past: Past, there: bytes | None) -> dict[str, bytes]:
        """What to write; `there` is a transcript of that name, and stays where it comes to the same messages."""
        if there is None or not past.holds(self.transcript, there, self.messages):
            there = write_part(past.divide(self.messages))
        return {self.transcript: there, self.summary: self.summed}


def draft_of(saved: Export) -> Draft:
    """The export as bytes; InvalidInput where it cannot be saved."""
    check_session_id(saved.session)
    if saved.step < 0:
        raise InvalidInput(f"{saved.step} is no step", field="step", remedy="Count from 0 or 1.")
    return Draft(
        f"transcript-pre-compact-{saved.step:03d}.jsonl",
        [json_bytes(message, f"transcript[{place}]") for place, message in enumerate(saved.transcript)],
        f"summary-{saved.step:03d}.json",
        json_bytes(saved.summary, "summary") + b"\n",
    )


def is_transcript(name: str) -> bool:
    """Whether a file of that name holds a transcript, or a part of one."""
    known = read_name(name)
    return known is not None and known[0] == "transcript"


def read_name(name: str) -> tuple[Kind, int | None] | None:
    """What a file of that name is, and of which step; None where it is none of the archive's."""
    if name == EVENTS or name.startswith("events/"):
        return "events", None
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return ("transcript", int(match[2])) if match[1] else ("summary", int(match[4]))


def conflict(place: str) -> FileExistsError:
    """Something else is archived there, and it is never overwritten."""
    return FileExistsError(17, "another transcript or summary is archived there: save it as a later step", place)


def show(shelf: Shelf, session: str, step: int) -> Export:
    """One compaction; InvalidInput where it is not archived, or not readable."""
    return _Reader(shelf, check_session_id(session)).step(step)


def export(shelf: Shelf, session: str) -> dict[str, Json]:
    """Everything archived of the session, as one JSON value."""
    reader = _Reader(shelf, check_session_id(session))
    if not reader.entries:
        raise InvalidInput(f"nothing is archived of {session}", field="SESSION", remedy="See: compact archive list.")
    steps = [reader.step(step) for step in _whole(reader.entries)]
    return {
        "session": session,
        "steps": [{"step": one.step, "transcript": list(one.transcript), "summary": one.summary} for one in steps],
        "events": [event for entry in reader.entries if entry.kind == "events" for event in reader.values(entry)],
    }


def verify(shelf: Shelf, session: str | None = None) -> Iterator[Problem]:
    """What is missing, damaged or unfinished."""
    halves: dict[tuple[str, int], Entry] = {}
    entries = shelf.entries(session if session is None else check_session_id(session))
    for owner, own in groupby(entries, key=lambda entry: entry.session):
        reader = _Reader(shelf, owner, tuple(own))
        for entry in reader.entries:
            if entry.step is not None and halves.pop((owner, entry.step), None) is None:
                halves[owner, entry.step] = entry
            yield from (Problem(owner, entry.name, text) for text in reader.faults(entry))
    for entry in halves.values():
        other = "summary" if entry.kind == "transcript" else "transcript"
        yield Problem(entry.session, entry.name, f"unfinished: there is no {other} of this step")


class _Reader:
    """Reads the files of a session; what was read of a transcript's parts is kept."""

    def __init__(self, shelf: Shelf, session: str, entries: tuple[Entry, ...] | None = None) -> None:
        self._shelf, self._session = shelf, session
        self.entries = shelf.entries(session) if entries is None else entries
        self._parts: dict[str, tuple[str, tuple[Piece, ...]]] = {}  # by name: SHA-256 and content

    def step(self, step: int) -> Export:
        """One compaction; InvalidInput where it is not archived, or not readable."""
        found = {entry.kind: entry for entry in self.entries if entry.step == step}
        if step not in (whole := _whole(self.entries)):
            archived = f"Archived steps: {', '.join(map(str, whole))}."
            remedy = archived if whole else "`compact archive list` shows what is."
            parts = " whole, see `compact archive verify`" if found else ""
            raise InvalidInput(f"step {step} of {self._session} is not archived{parts}", field="STEP", remedy=remedy)
        transcript, summary = (self.values(found[kind]) for kind in _PAIR)
        return Export(self._session, step, transcript, summary[0] if summary else None)

    def values(self, entry: Entry) -> list[Json]:
        """The JSON values in the file, a transcript's with those of its other parts."""
        try:
            lines = self.messages(entry) if entry.kind == "transcript" else _lines(entry, self.load(entry))
            return [json.loads(line) for line in lines]
        except BrokenPart as broken:
            needed = "" if broken.file == entry.name else f"; {entry.name} needs it"
            raise self._unreadable(broken.file, f"{broken.problem}{needed}") from None
        except (ValueError, RecursionError):
            raise self._unreadable(entry.name, "is damaged") from None

    def messages(self, entry: Entry) -> list[bytes]:
        """The messages of a transcript as they were written; BrokenPart where one of its parts cannot be read."""
        return join_parts(self._part(entry.name)[1], self._fetch)

    def load(self, entry: Entry) -> bytes:
        """The file; BrokenPart where it is missing or damaged."""
        try:
            data, expected = self._shelf.load(entry)
        except FileNotFoundError:
            raise BrokenPart(entry.name, "is missing") from None
        except OSError as error:
            raise BrokenPart(entry.name, f"cannot be read: {error.strerror or error}") from None
        if entry.kind != "events" and expected not in (None, sha256(data).hexdigest()):
            raise BrokenPart(entry.name, "is damaged: its SHA-256 is not the one it was saved with")
        return data

    def faults(self, entry: Entry) -> Iterator[str]:
        """What is wrong with the file."""
        try:
            data, expected = self._shelf.load(entry)
        except FileNotFoundError:
            yield "missing"
            return
        except OSError as error:
            yield f"cannot be read: {error.strerror or error}"
            return
        if entry.kind != "events":
            if expected is None:
                yield "unfinished: no checksum was written"
            elif sha256(data).hexdigest() != expected:
                yield "damaged: its SHA-256 is not the one it was saved with"
        for number, line in enumerate(_lines(entry, data), 1):
            try:
                json.loads(line)
            except (ValueError, RecursionError):
                yield f"line {number} is no JSON"
                return
        if entry.kind == "transcript":
            yield from self._gaps(entry)

    def _gaps(self, entry: Entry) -> Iterator[str]:
        """The other file that keeps the transcript from being read."""
        try:
            self.messages(entry)
        except BrokenPart as broken:
            if broken.file != entry.name:
                yield f"cannot be joined: {broken}"

    def _part(self, name: str) -> tuple[str, tuple[Piece, ...]]:
        if name not in self._parts:
            entry = next((entry for entry in self.entries if entry.name == name), None)
            if entry is None or entry.kind != "transcript":
                raise BrokenPart(name, "is missing")
            data = self.load(entry)
            self._parts[name] = sha256(data).hexdigest(), read_part(name, data)
        return self._parts[name]

    def _fetch(self, run: Run) -> tuple[Piece, ...]:
        sha, pieces = self._part(run.file)
        if sha != run.sha256:
            raise BrokenPart(run.file, "is damaged: its SHA-256 is not the one it is referred to by")
        return pieces

    def _unreadable(self, name: str, problem: str) -> InvalidInput:
        remedy = "`compact archive verify` lists all that is wrong."
        return InvalidInput(problem, field=f"{self._session}/{name}", remedy=remedy)


def _whole(entries: Sequence[Entry]) -> list[int]:
    """The steps of which both transcript and summary are there."""
    of = {kind: {entry.step for entry in entries if entry.kind == kind and entry.size is not None} for kind in _PAIR}
    return sorted(step for step in set.intersection(*of.values()) if step is not None)


def _lines(entry: Entry, data: bytes) -> list[bytes]:
    """The lines; an event whose writing was cut short does not count."""
    if entry.kind == "events":
        data = data[: data.rfind(b"\n") + 1]
    return split_lines(data)


def listed(session: str, folder: str, sizes: Mapping[str, int | None]) -> Iterator[Entry]:
    """The files of the archive among those in the folder, by name."""
    for name in sorted(sizes):
        if (known := read_name(name)) is not None:
            yield Entry(session, name, known[0], known[1], sizes[name], folder)
