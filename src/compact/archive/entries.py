"""What an archive holds, whatever it is kept in: names, bytes, and what can be asked of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, Protocol, TypeAlias

from compact.disk import json_bytes
from compact.errors import InvalidInput
from compact.messages import Json
from compact.policies.session_ids import check_session_id
from compact.ports import Export

EVENTS = "events.jsonl"
_NAME = re.compile(r"(?:(transcript)-pre-compact-(\d{3,})\.jsonl|(summary)-(\d{3,})\.json)")

Kind: TypeAlias = Literal["transcript", "summary", "events"]
_PAIR: tuple[Kind, Kind] = ("transcript", "summary")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the archive; `size` is None where it should be there and is not, or cannot be opened."""

    session: str
    name: str
    kind: Kind
    step: int | None
    size: int | None


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


def files_of(saved: Export) -> dict[str, bytes]:
    """The files that an export becomes, by name."""
    check_session_id(saved.session)
    if saved.step < 0:
        raise InvalidInput(f"{saved.step} is no step", field="step", remedy="Count from 0 or 1.")
    lines = (json_bytes(message, f"transcript[{place}]") + b"\n" for place, message in enumerate(saved.transcript))
    return {
        f"transcript-pre-compact-{saved.step:03d}.jsonl": b"".join(lines),
        f"summary-{saved.step:03d}.json": json_bytes(saved.summary, "summary") + b"\n",
    }


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
    entries = shelf.entries(check_session_id(session))
    found = {entry.kind: entry for entry in entries if entry.step == step}
    if step not in (whole := _whole(entries)):
        remedy = f"Archived steps: {', '.join(map(str, whole))}." if whole else "`compact archive list` shows what is."
        parts = " whole, see `compact archive verify`" if found else ""
        raise InvalidInput(f"step {step} of {session} is not archived{parts}", field="STEP", remedy=remedy)
    transcript, summary = (_values(shelf, found[kind]) for kind in _PAIR)
    return Export(session, step, transcript, summary[0] if summary else None)


def export(shelf: Shelf, session: str) -> dict[str, Json]:
    """Everything archived of the session, as one JSON value."""
    entries = shelf.entries(check_session_id(session))
    if not entries:
        raise InvalidInput(f"nothing is archived of {session}", field="SESSION", remedy="See: compact archive list.")
    steps = [show(shelf, session, step) for step in _whole(entries)]
    return {
        "session": session,
        "steps": [{"step": one.step, "transcript": list(one.transcript), "summary": one.summary} for one in steps],
        "events": [event for entry in entries if entry.kind == "events" for event in _values(shelf, entry)],
    }


def verify(shelf: Shelf, session: str | None = None) -> Iterator[Problem]:
    """What is missing, damaged or unfinished."""
    halves: dict[tuple[str, int], Entry] = {}
    for entry in shelf.entries(session if session is None else check_session_id(session)):
        if entry.step is not None and halves.pop((entry.session, entry.step), None) is None:
            halves[entry.session, entry.step] = entry
        yield from (Problem(entry.session, entry.name, text) for text in _faults(shelf, entry))
    for entry in halves.values():
        other = "summary" if entry.kind == "transcript" else "transcript"
        yield Problem(entry.session, entry.name, f"unfinished: there is no {other} of this step")


def _whole(entries: Sequence[Entry]) -> list[int]:
    """The steps of which both transcript and summary are there."""
    of = {kind: {entry.step for entry in entries if entry.kind == kind and entry.size is not None} for kind in _PAIR}
    return sorted(step for step in set.intersection(*of.values()) if step is not None)


def _faults(shelf: Shelf, entry: Entry) -> Iterator[str]:
    try:
        data, expected = shelf.load(entry)
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


def _values(shelf: Shelf, entry: Entry) -> list[Json]:
    try:
        data, _ = shelf.load(entry)
        return [json.loads(line) for line in _lines(entry, data)]
    except (OSError, ValueError, RecursionError) as error:
        place, remedy = f"{entry.session}/{entry.name}", "`compact archive verify` tells more."
        problem = f"cannot be read: {error.strerror or error}" if isinstance(error, OSError) else "is damaged"
        raise InvalidInput(problem, field=place, remedy=remedy) from None


def _lines(entry: Entry, data: bytes) -> list[bytes]:
    """The lines; an event whose writing was cut short does not count."""
    if entry.kind == "events":
        data = data[: data.rfind(b"\n") + 1]
    return data.split(b"\n")[:-1] if data.endswith(b"\n") else data.split(b"\n") if data else []


def listed(session: str, sizes: Mapping[str, int | None]) -> Iterator[Entry]:
    """The files of the archive among those, by name."""
    for name in sorted(sizes):
        if (known := read_name(name)) is not None:
            yield Entry(session, name, known[0], known[1], sizes[name])
