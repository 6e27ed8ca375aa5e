"""Locks that are free again when their holder ends, however it ends: one holder for each name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Protocol

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from compact.sessions.failures import told
from compact.sessions.holding import hold_file, until

_KEY = "hashtextextended(current_schema() || '/' || :name, 0)"
_TRY = text(f"SELECT pg_try_advisory_lock({_KEY})")
_FREE = text(f"SELECT pg_advisory_unlock({_KEY})")


class Locks(Protocol):
    """Names that can be held by one holder at a time."""

    def hold(self, name: str, wait: float) -> AbstractContextManager[bool]:
        """Hold the name; False if somebody else had it for all of `wait` seconds."""
        ...

    def close(self) -> None:
        """Let go of what is held for all names; most hold nothing."""
        return


class FileLocks(Locks):
    """Locks between the processes of one machine: files that the system has locked for us."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def hold(self, name: str, wait: float) -> AbstractContextManager[bool]:
        return hold_file(self._folder / sha256(name.encode(errors="surrogatepass")).hexdigest()[:32], wait)


class AdvisoryLocks(Locks):
    """Locks between all clients of a PostgreSQL database, each held by a connection of its own."""

    def __init__(self, engine: Engine, place: str) -> None:
        self._engine, self._place = engine, place

    @contextlib.contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        with contextlib.ExitStack() as connected:
            with told(self._place, self._engine):
                connection = connected.enter_context(self._engine.connect())
                held = until(lambda: connection.scalar(_TRY, {"name": name}) or None, wait) is not None
            try:
                yield held
            finally:
                if held:
                    with contextlib.suppress(DBAPIError):  # the connection is lost, and the lock with it
                        connection.execute(_FREE, {"name": name})

    def close(self) -> None:
        self._engine.dispose()


class ThreadLocks(Locks):
    """Locks between the threads that share a database in memory."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._lock = Lock()

    @contextlib.contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        held = until(lambda: self._take(name) or None, wait) is not None
        try:
            yield held
        finally:
            if held:
                self._held.discard(name)

    def _take(self, name: str) -> bool:
        with self._lock:
            free = name not in self._held
            self._held.add(name)
            return free
