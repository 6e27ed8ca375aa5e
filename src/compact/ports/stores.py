"""Where compactions are kept: the originals that restore, recall and undo need, and the archive that people export."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from compact.errors import CompactError
from compact.messages import Json
from compact.ports.compactions import CompactionFacts

RECORD_VERSION = 2
"""What records are written as; 1 are those that say nothing of it."""


@dataclass(frozen=True, slots=True)
class Record:
    """One compaction of a session: all that is needed to come back to its state.

    `log` are the digests of the session's messages up to then; `parent` is the number of the compaction it was made
    on, 0 for none; `plan` is what it did, as JSON; `at` is the time, UTC in ISO 8601. `version` tells how `plan` is to
    be read; the rest is the same in every version. `facts` say what it came to; records of earlier versions have none.
    """

    session: str
    number: int
    parent: int
    format: str
    log: tuple[str, ...]
    plan: Json
    at: str
    version: int = RECORD_VERSION
    facts: CompactionFacts | None = None


class Originals(Protocol):
    """Keeps what was removed, as it was."""

    def alone(self, session: str) -> AbstractContextManager[None]:
        """Wait until nobody else, in whatever process, is about to add a record to the session, and be the one."""
        ...

    def put(self, messages: Sequence[Json], record: Record) -> None:
        """Keep the messages of the log and then the record; when it returns, both are durable. OSError if it cannot."""
        ...

    def keep(self, session: str, messages: Sequence[Json]) -> None:
        """Keep messages before any compaction; when it returns, they are durable. OSError if it cannot."""
        ...

    def with_meta(self, session: str) -> list[Json]:
        """The messages kept that have a `meta`, in the order in which they were kept."""
        ...

    def retract(self, session: str, number: int) -> None:
        """Take a record back, durably; the messages stay."""
        ...

    def records(self, session: str) -> tuple[Record, ...]:
        """The records of the session that were not retracted, in order."""
        ...

    def last(self, session: str) -> int:
        """The highest number that a record of the session ever had, retracted ones included; 0 for none."""
        ...

    def get(self, session: str, digests: Sequence[str]) -> list[Json]:
        """The messages of those digests; KeyError names one that is not there, DamagedOriginals what is damaged."""
        ...

    def sessions(self) -> tuple[str, ...]: ...

    def unknown(self) -> tuple[CompactError, ...]:
        """What is too damaged to say whose it is."""
        ...

    def set_aside(self, session: str) -> tuple[str, ...]:
        """Where the files of the session are that were damaged, and repaired."""
        ...


@dataclass(frozen=True, slots=True)
class Export:
    """What is archived of one compaction: everything before it, and what came of it. All of it is redacted already."""

    session: str
    step: int
    transcript: Sequence[Json]
    summary: Json


class Archive(Protocol):
    """Keeps exports for people."""

    @property
    def adapter(self) -> str:
        """Its kind, such as fs or s3."""
        ...

    def save(self, export: Export) -> tuple[str, ...]:
        """Write transcript and summary; when it returns they are durable and verified. The places, for the audit."""
        ...

    def note(self, session: str, events: Sequence[Json]) -> None:
        """Append to the session's events."""
        ...
