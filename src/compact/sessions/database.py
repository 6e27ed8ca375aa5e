"""One database, whichever kind it is: its transactions, and what is said where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from compact.sessions.failures import told
from compact.sessions.locks import Locks

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class Database:
    """An engine with the locks that go with it. `place` is how errors name it, never with a password."""

    def __init__(self, engine: Engine, place: str, locks: Locks) -> None:
        self.engine, self.place, self.locks = engine, place, locks
        self.is_postgresql = engine.dialect.name == "postgresql"
        # A reader sees one moment: SQLite's readers do so anyway.
        moment = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True} if self.is_postgresql else {}
        self._reader = engine.execution_options(**moment)
        # A single question sees one moment by itself: to begin and to end would be two more trips to the server.
        alone = {"isolation_level": "AUTOCOMMIT"} if self.is_postgresql else {}
        self._asker = engine.execution_options(**alone)
        self._writer = engine.execution_options(writing=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees the database as of one moment, and blocks nobody."""
        with told(self.place, self.engine), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def asking(self) -> Iterator[Connection]:
        """The same for a single question."""
        with told(self.place, self.engine), self._asker.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is durable once it is left without an error, and otherwise never was."""
        with told(self.place, self.engine), self._writer.begin() as connection:
            yield connection

    def close(self) -> None:
        self.locks.close()
        self.engine.dispose()


def now() -> str:
    """This moment as it is stored: always of the same length, so that text sorts as time does."""
    return datetime.now(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
