"""A disk that fails on purpose: at any one of its calls, in any of the ways in which disks and processes fail."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from compact.disk import Disk, Folder

CALLS = frozenset(name for name in vars(Disk) if not name.startswith("_"))
TAKES_SPACE = frozenset({"make_folder", "open", "write", "rename"})


class Killed(BaseException):
    """The process ended here: nothing after this call has happened."""


class Way(Enum):
    KILL_BEFORE = "killed before the call"
    KILL_AFTER = "killed after the call"
    TORN = "killed in the middle of a write"
    SHORT = "only half of a write is taken"
    FULL_ONCE = "no space, once"
    FULL = "no space, from there on"
    BROKEN_ONCE = "input/output error, once"
    BROKEN_A_WHILE = "input/output errors, for five calls"
    BROKEN = "input/output error, from there on"
    KILL_AND_AGAIN = "killed before the call; all again, then a power cut"
    POWER_CUT = "power cut: whatever was not synced is gone"
    POWER_CUT_TORN = "power cut: of what was not synced half is there"


_LASTS = {Way.BROKEN_ONCE: 1, Way.BROKEN_A_WHILE: 5, Way.BROKEN: 10**9}


@dataclass(frozen=True, slots=True)
class Fault:
    way: Way
    at: int


class HastyDisk(Disk):
    """Waits for no drive: for looking at what is left."""

    def sync(self, file: int) -> None: ...

    def sync_folder(self, folder: Folder) -> None: ...


class FaultyDisk(Disk):
    """Counts calls, and fails at the one it is told to.

    It also knows what a power cut would leave: the content of a file when it was last synced, and the names that were
    in a folder when that was. What was not yet synced when a sync failed never reaches the drive, even though it can
    still be read, and even though a later sync succeeds: so do real systems.
    """

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault
        self.made: list[str] = []  # the calls, by name
        self._dead = False
        self._files: set[int] = set()
        self._content: dict[int, bytes] = {}
        self._lost: dict[int, list[tuple[int, int]]] = {}
        self._names: dict[int, dict[str, tuple[int, bool]]] = {}

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        return partial(self._call, name, found) if name in CALLS else found

    def bury(self) -> None:
        """Close the files of the process that was killed, as the system does."""
        for file in self._files:
            with contextlib.suppress(OSError):
                os.close(file)
        self._files.clear()

    def revive(self) -> None:
        """Let another process use the same drive, on which nothing fails any more."""
        self.fault, self._dead = None, False

    def sync(self, file: int) -> None:
        number = os.fstat(file).st_ino
        data = bytearray(_read(file))
        for start, end in self._lost.get(number, ()):
            data[start:end] = bytes(len(data[start:end]))
        self._content[number] = bytes(data)

    def sync_folder(self, folder: Folder) -> None:
        assert folder.handle is not None
        self._names[os.fstat(folder.handle).st_ino] = _names(Path(folder.path))

    def after_power_cut(self, base: Path, target: Path, *, torn: bool) -> None:
        """Make below `target` what a power cut leaves of `base`."""
        target.mkdir()
        there = {path.stat().st_ino: path for path in [base, *base.rglob("*")]} if torn else {}
        names = {number: _names(path) for number, path in there.items() if path.is_dir()} if torn else self._names
        self._lay_out(names, base.stat().st_ino, target, there)

    def _lay_out(
        self, names: dict[int, dict[str, tuple[int, bool]]], number: int, target: Path, there: dict[int, Path]
    ) -> None:
        for name, (child, is_folder) in names.get(number, {}).items():
            place = target / name
            if is_folder:
                place.mkdir()
                self._lay_out(names, child, place, there)
            else:
                durable = self._content.get(child, b"")
                rest = there[child].read_bytes()[len(durable) :] if child in there else b""
                place.write_bytes(durable + rest[: len(rest) // 2])

    def _call(self, name: str, real: Callable[..., Any], *args: Any) -> Any:
        if self._dead:
            raise Killed
        number, fault = len(self.made), self.fault
        self.made.append(name)
        hit = fault is not None and number == fault.at
        if fault is None or number < fault.at:
            return self._really(name, real, args)
        match fault.way:
            case Way.KILL_BEFORE | Way.KILL_AND_AGAIN | Way.POWER_CUT | Way.POWER_CUT_TORN if hit:
                self._die()
            case Way.KILL_AFTER if hit:
                self._really(name, real, args)
                self._die()
            case Way.TORN if hit and name == "write":
                real(args[0], args[1][: len(args[1]) // 2])
                self._die()
            case Way.SHORT if hit and name == "write":
                return real(args[0], args[1][: len(args[1]) // 2 or 1])
            case Way.FULL_ONCE | Way.FULL if (hit or fault.way is Way.FULL) and name in TAKES_SPACE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            case Way.BROKEN_ONCE | Way.BROKEN_A_WHILE | Way.BROKEN if number < fault.at + _LASTS[fault.way]:
                self._break(name, real, args)
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self._really(name, real, args)

    def _break(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> None:
        if name == "close":  # a file is closed even where that fails
            self._really(name, real, args)
        elif name == "sync":
            number = os.fstat(args[0]).st_ino
            span = len(self._content.get(number, b"")), os.fstat(args[0]).st_size
            self._lost.setdefault(number, []).append(span)

    def _die(self) -> None:
        self._dead = True
        raise Killed

    def _really(self, name: str, real: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        result = real(*args)
        if name in ("open", "open_folder"):
            file = result if name == "open" else result.handle
            self._files.add(file)
            status = os.fstat(file)
            if stat.S_ISREG(status.st_mode) and not status.st_size:
                self._rewind(file, 0)  # made anew with the number of one that was removed, or emptied
        elif name == "close":
            self._files.discard(args[0])
        elif name == "truncate":
            self._rewind(args[0], args[1])
        return result

    def _rewind(self, file: int, size: int) -> None:
        """What is written from there on is new: it can reach the drive."""
        number = os.fstat(file).st_ino
        spans = self._lost.get(number, [])
        self._lost[number] = [(start, min(end, size)) for start, end in spans if start < size]
        if not size and not self._lost[number]:
            self._content.pop(number, None)


def _read(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _names(folder: Path) -> dict[str, tuple[int, bool]]:
    return {path.name: (path.lstat().st_ino, path.is_dir()) for path in folder.iterdir()}
