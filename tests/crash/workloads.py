"""Small workloads of both stores, and what must hold whatever happened in the middle of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from compact.archive import FileArchive, show, verify
from compact.archive.entries import export
from compact.disk import Disk
from compact.messages import Json, digest_of
from compact.originals import FileOriginals
from compact.ports import Export, Record
from tests.crash.faults import HastyDisk

Outcomes: TypeAlias = Sequence[bool | None]  # of each operation: acknowledged, refused, or never come to


class Workload(Protocol):
    """Operations on a store, and the law they must obey."""

    name: str

    def operations(self, base: Path, disk: Disk) -> list[Callable[[], object]]: ...

    def check(self, base: Path, outcomes: Outcomes, *, power_was_cut: bool) -> None:
        """AssertionError where something acknowledged is gone, or something half is visible, or nothing works now."""
        ...


def message(name: str) -> Json:
    return {"role": "user", "content": f"{name} é\ud800\n" * 20, "n": 10**30}


def record(number: int, names: str, *, session: str = "one", parent: int = 0) -> Record:
    log = tuple(digest_of(message(name)) for name in names)
    return Record(
        session, number, parent, "openai-chat", log, {"plan": [number, None, "x" * 50]}, "2030-01-01T00:00:00Z"
    )


@dataclass(frozen=True, slots=True)
class Put:
    record: Record
    names: str

    @property
    def session(self) -> str:
        return self.record.session

    def do(self, store: FileOriginals) -> None:
        store.put([message(name) for name in self.names], self.record)

    def after(self, state: dict[int, Record]) -> dict[int, Record]:
        return {**state, self.record.number: self.record}


@dataclass(frozen=True, slots=True)
class Retract:
    session: str
    number: int

    def do(self, store: FileOriginals) -> None:
        store.retract(self.session, self.number)

    def after(self, state: dict[int, Record]) -> dict[int, Record]:
        return {number: record for number, record in state.items() if number != self.number}


class OriginalsWorkload:
    name = "originals"
    _steps: tuple[Put | Retract, ...] = (
        Put(record(1, "ab"), "ab"),
        Put(record(2, "abcd", parent=1), "abcd"),
        Put(record(1, "xy", session="two"), "xy"),
        Retract("one", 2),
        Put(record(3, "abe", parent=1), "abe"),
    )

    def operations(self, base: Path, disk: Disk) -> list[Callable[[], object]]:
        store = FileOriginals(base / ".compact" / "originals", disk=disk)
        return [partial(step.do, store) for step in self._steps]

    def check(self, base: Path, outcomes: Outcomes, *, power_was_cut: bool) -> None:
        store = FileOriginals(base / ".compact" / "originals", disk=HastyDisk())
        for session in ("one", "two"):
            seen = {each.number: each for each in store.records(session)}
            assert seen in list(self._possible(session, outcomes)), (session, outcomes, sorted(seen))
            assert not seen or session in store.sessions()
        last = record(9, "abcdez")
        store.put([message(name) for name in "abcdez"], last)
        again = FileOriginals(base / ".compact" / "originals", disk=HastyDisk())
        assert last in again.records("one")
        for session in ("one", "two"):
            for each in again.records(session):
                assert [digest_of(kept) for kept in again.get(session, each.log)] == list(each.log)

    def _possible(self, session: str, outcomes: Outcomes) -> Iterator[dict[int, Record]]:
        """Every state the session may be in: what was refused may have happened or not."""
        states: list[dict[int, Record]] = [{}]
        for step, outcome in zip(self._steps, outcomes, strict=True):
            if step.session == session and outcome is not None:
                after = [step.after(state) for state in states]
                states = after if outcome else states + after
        yield from states


class ArchiveWorkload:
    name = "archive"
    _exports = (
        Export("one", 1, [message("a"), message("b")], {"summary": "1\ud800"}),
        Export("one", 2, [message("a"), message("b"), message("c")], {"summary": "2"}),  # goes on from the first
    )

    def operations(self, base: Path, disk: Disk) -> list[Callable[[], object]]:
        store = FileArchive(base / ".compact", disk=disk)
        return [
            lambda: store.note("one", [{"event": 1}]),
            lambda: store.save(self._exports[0]),
            lambda: store.save(self._exports[0]),
            lambda: store.note("one", [{"event": 2}]),
            lambda: store.save(self._exports[1]),
        ]

    def check(self, base: Path, outcomes: Outcomes, *, power_was_cut: bool) -> None:
        store = FileArchive(base / ".compact", disk=HastyDisk())
        problems = list(verify(store))
        assert [each for each in problems if not each.text.startswith("unfinished")] == []
        saved = {export.step: export for export, at in zip(self._exports, (1, 4), strict=True) if outcomes[at]}
        saved |= {1: self._exports[0]} if outcomes[2] else {}
        self._check_saved(store, saved)
        assert [each for each in problems for step in saved if f"-{step:03d}." in each.name] == []
        noted = [number for number, at in ((1, 0), (2, 3)) if outcomes[at]]
        if noted and not power_was_cut:
            seen = export(store, "one")["events"]
            assert [event for event in seen if event["event"] in noted] == [{"event": number} for number in noted]
        third = Export("one", 3, [message("a"), message("c"), message("d")], {"summary": "3"})
        store.note("one", [{"event": 3}])
        for each in (*self._exports, third):
            store.save(each)
        self._check_saved(store, {each.step: each for each in (*self._exports, third)})
        assert list(verify(store)) == []
        assert {"event": 3} in export(store, "one")["events"]

    @staticmethod
    def _check_saved(store: FileArchive, saved: dict[int, Export]) -> None:
        for step, each in saved.items():
            found = show(store, "one", step)
            assert (found.transcript, found.summary) == (each.transcript, each.summary)


WORKLOADS: tuple[Workload, ...] = (OriginalsWorkload(), ArchiveWorkload())
