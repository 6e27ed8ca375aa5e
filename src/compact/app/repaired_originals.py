"""Originals that are repaired where they are damaged, so that a conversation goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TypeAlias, TypeVar

from compact.errors import DamagedOriginals
from compact.messages import Json
from compact.originals import FileOriginals, Repair
from compact.ports import Record

_Value = TypeVar("_Value")
Report: TypeAlias = Callable[[DamagedOriginals, Repair], None]


class RepairedOriginals:
    """Repairs a session that turns out to be damaged, reports that, and does again what it was asked for.

    What is whole is kept, and the damaged files stay beside: nothing is deleted.
    """

    def __init__(self, originals: FileOriginals, report: Report) -> None:
        self._originals = originals
        self._report = report

    def alone(self, session: str) -> AbstractContextManager[None]:
        return self._originals.alone(session)

    def put(self, messages: Sequence[Json], record: Record) -> None:
        self._repaired(record.session, lambda: self._originals.put(messages, record))

    def keep(self, session: str, messages: Sequence[Json]) -> None:
        self._repaired(session, lambda: self._originals.keep(session, messages))

    def with_meta(self, session: str) -> list[Json]:
        return self._repaired(session, lambda: self._originals.with_meta(session))

    def retract(self, session: str, number: int) -> None:
        self._repaired(session, lambda: self._originals.retract(session, number))

    def records(self, session: str) -> tuple[Record, ...]:
        return self._repaired(session, lambda: self._originals.records(session))

    def last(self, session: str) -> int:
        return self._repaired(session, lambda: self._originals.last(session))

    def get(self, session: str, digests: Sequence[str]) -> list[Json]:
        return self._repaired(session, lambda: self._originals.get(session, digests))

    def sessions(self) -> tuple[str, ...]:
        return self._originals.sessions()

    def unknown(self) -> tuple[DamagedOriginals, ...]:
        return self._originals.unknown()

    def set_aside(self, session: str) -> tuple[str, ...]:
        return self._originals.set_aside(session)

    def _repaired(self, session: str, act: Callable[[], _Value]) -> _Value:
        try:
            return act()
        except DamagedOriginals as error:
            done = self._originals.repair(session)
            if done is not None:
                self._report(error, done)
            return act()
