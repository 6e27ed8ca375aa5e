"""Files that one holder has at a time, and that are free again when their holder ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import TypeVar

from compact.errors import StorageError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_Got = TypeVar("_Got")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.002, 0.1


@contextlib.contextmanager
def hold_file(path: Path, wait: float = 0) -> Iterator[bool]:
    """Hold the file, made for that and removed afterwards; False if somebody else had it for all of `wait` seconds."""
    file = until(lambda: _locked(path), wait)
    try:
        yield file is not None
    finally:
        if file is not None:
            with contextlib.suppress(OSError):  # Windows keeps a file that somebody has open
                path.unlink()
            os.close(file)


def until(attempt: Callable[[], _Got | None], wait: float) -> _Got | None:
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
    except OSError as error:
        os.close(file)
        problem = f"{path.parent}: {error.strerror or error}"
        raise StorageError(f"{problem}. Files cannot be locked there: choose a folder on a local drive.") from error
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
