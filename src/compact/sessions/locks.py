"""Locks that are free again when their holder ends, however it ends: one holder for each name."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import Protocol, TypeVar

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from compact.errors import StorageError
from compact.sessions.failures import told

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_Got = TypeVar("_Got")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.1
_KEY = "hashtextextended(current_schema() || '/' || :name, 0)"
_TRY = text(f"SELECT pg_try_advisory_lock({_KEY})")
_FREE = text(f"SELECT pg_advisory_unlock({_KEY})")


class Locks(Protocol):
    """Names that can be held by one holder at a time."""

    def hold(self, name: str, wait: float) -> AbstractContextManager[bool]:
        """Hold the name; False if somebody else had it for all of `wait` seconds."""
        ...

    def close(self) -> None: ...


class FileLocks:
    """Locks between the processes of one machine: files that the system has locked for us."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextlib.contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        path = self._folder / sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]
        file = _until(lambda: _locked(path), wait)
        try:
            yield file is not None
        finally:
            if file is not None:
                with contextlib.suppress(OSError):  # Windows keeps a file that somebody has open
                    path.unlink()
                os.close(file)

    def close(self) -> None:
        """Files are closed by those who hold them."""


class AdvisoryLocks:
    """Locks between all clients of a PostgreSQL database, each held by a connection of its own."""

    def __init__(self, engine: Engine, place: str) -> None:
        self._engine, self._place = engine, place

    @contextlib.contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        with contextlib.ExitStack() as connected:
            with told(self._place, self._engine):
                connection = connected.enter_context(self._engine.connect())
                held = _until(lambda: connection.scalar(_TRY, {"name": name}) or None, wait) is not None
            try:
                yield held
            finally:
                if held:
                    with contextlib.suppress(DBAPIError):  # the connection is lost, and the lock with it
                        connection.execute(_FREE, {"name": name})

    def close(self) -> None:
        self._engine.dispose()


class ThreadLocks:
    """Locks between the threads that share a database in memory."""

    def __init__(self) -> None:
        self._held: set[str] = set()
        self._lock = Lock()

    @contextlib.contextmanager
    def hold(self, name: str, wait: float) -> Iterator[bool]:
        held = _until(lambda: self._take(name) or None, wait) is not None
        try:
            yield held
        finally:
            if held:
                self._held.discard(name)

    def close(self) -> None:
        """There is nothing to close."""

    def _take(self, name: str) -> bool:
        with self._lock:
            free = name not in self._held
            self._held.add(name)
            return free


def _until(attempt: Callable[[], _Got | None], wait: float) -> _Got | None:
    """What the attempt gives, made again until it gives something or the time is up."""
    deadline, pause = monotonic() + wait, _FIRST_PAUSE
    while (got := attempt()) is None and (left := deadline - monotonic()) > 0:
        sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)
    return got


def _locked(path: Path) -> int | None:
    """The file, open and locked; None where somebody else has it."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError as error:
        problem = f"{path.parent}: {error.strerror or error}"
        raise StorageError(f"{problem}. The folder of locks must be there, and yours to write to.") from error
    try:
        if _lock(file) and os.path.samestat(os.fstat(file), path.stat()):
            return file
    except FileNotFoundError:  # its holder removed it between the two calls: the name belongs to nobody, or a new file
        pass
    os.close(file)
    return None


def _lock(file: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
