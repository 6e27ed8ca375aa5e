"""Kills a process that writes to both stores, at random moments, and looks at what it left."""

from __future__ import annotations

import os
import random
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from compact.archive import FileArchive, export, show, verify
from compact.messages import Json, digest_of
from compact.originals import FileOriginals
from compact.ports import Export, Record

_ACK = struct.Struct("<BI")
_ORIGINALS, _ARCHIVE, _EVENT = range(3)
_ROUNDS_A_SESSION = 20
_LONGEST = 0.03  # seconds that a process lives


@dataclass(slots=True)
class Tally:
    """What happened in all rounds."""

    kills: int = 0
    in_the_middle: int = 0  # kills that hit an operation which was not acknowledged, and left something of it
    acknowledged: int = 0


def kill_again_and_again(place: Path, rounds: int, seed: int) -> Tally:
    """Kill a writer that often; AssertionError where something acknowledged is gone, or something half is visible."""
    moments = random.Random(seed)
    tally = Tally()
    acknowledged: set[tuple[int, int]] = set()
    for number in range(rounds):
        if number % _ROUNDS_A_SESSION == 0:
            acknowledged = set()
        session = f"session-{number // _ROUNDS_A_SESSION}"
        first = 1 + max((step for _, step in acknowledged), default=0)
        new = _kill_one(partial(_write, place, session, first), moments.uniform(0, _LONGEST))
        acknowledged |= new
        tally.kills += 1
        tally.acknowledged += len(new)
        tally.in_the_middle += _check(place, session, acknowledged)
    return tally


def _kill_one(work: Callable[[int], None], after: float) -> set[tuple[int, int]]:
    """Run the work in a process of its own and kill it; what it acknowledged until then."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(writing)
        finally:
            os._exit(1)  # only reached where the work itself fails
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        os.read(reading, 1)  # it has begun
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        data = pipe.read()
    assert os.WIFSIGNALED(status), "the writer failed by itself"
    whole = len(data) - len(data) % _ACK.size
    return {(kind, step) for kind, step in _ACK.iter_unpack(data[:whole])}


def _write(place: Path, session: str, step: int, out: int) -> None:
    """Keep, archive and note, step by step, until killed; each is acknowledged as soon as it returns."""
    originals, archive = FileOriginals(place / "originals"), FileArchive(place)
    os.write(out, b"!")
    while True:
        originals.put(_log(step), _record(session, step))
        os.write(out, _ACK.pack(_ORIGINALS, step))
        archive.save(_export(session, step))
        os.write(out, _ACK.pack(_ARCHIVE, step))
        archive.note(session, [{"step": step}])
        os.write(out, _ACK.pack(_EVENT, step))
        step += 1


def _check(place: Path, session: str, acknowledged: set[tuple[int, int]]) -> bool:
    """Whether something is there that was not acknowledged."""
    originals, archive = FileOriginals(place / "originals"), FileArchive(place)
    seen = {record.number: record for record in originals.records(session)}
    for number, record in seen.items():
        assert record == _record(session, number)
    if seen:
        assert originals.get(session, seen[max(seen)].log) == _log(max(seen))
    kept = {step for kind, step in acknowledged if kind == _ORIGINALS}
    assert kept <= set(seen), (session, kept - set(seen))

    faults = list(verify(archive, session))
    assert [fault for fault in faults if not fault.text.startswith("unfinished")] == []
    saved = {step for kind, step in acknowledged if kind == _ARCHIVE}
    for step in sorted(saved)[-3:]:
        found = show(archive, session, step)
        assert (found.transcript, found.summary) == (_log(step), _export(session, step).summary)
    events = {event["step"] for event in _events(archive, session)}
    assert {step for kind, step in acknowledged if kind == _EVENT} <= events
    return len(seen) > len(kept) or bool(faults)


def _events(archive: FileArchive, session: str) -> list[Json]:
    return list(export(archive, session)["events"]) if archive.entries(session) else []


def _log(step: int) -> list[Json]:
    return [
        {"role": "user", "content": f"message {number} " + "é\udc80 " * (50 + number % 7)} for number in range(step + 3)
    ]


def _record(session: str, step: int) -> Record:
    log = tuple(map(digest_of, _log(step)))
    return Record(session, step, step - 1, "openai-chat", log, {"step": step}, "2030-01-01T00:00:00Z")


def _export(session: str, step: int) -> Export:
    return Export(session, step, _log(step), {"summary": f"of step {step}"})
