"""The disk as the stores use it: a thin seam, so that tests can make every single call fail."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from compact.errors import InvalidInput
from compact.messages import Json, message_bytes

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

APPEND = os.O_RDWR | os.O_APPEND
READ = os.O_RDONLY
CREATE = os.O_CREAT

_BINARY: int = getattr(os, "O_BINARY", 0)
_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY: int = getattr(os, "O_DIRECTORY", 0)
_BY_HANDLE = bool(_DIRECTORY) and os.open in os.supports_dir_fd
_FLUSH: int | None = getattr(sys.modules.get("fcntl"), "F_FULLFSYNC", None)  # macOS: fsync is not enough
_FAR = 1 << 40  # Windows locks bytes: this one is beyond every file


UNWRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
"""Errors of the system for a file that may not be written."""


class Folder(NamedTuple):
    """A folder that is held open, so that no other one can take its place meanwhile."""

    path: str
    handle: int | None  # None where the system does not open folders


class Disk:
    """The calls of the operating system by which files are read and written. Files are private to their owner."""

    def make_folder(self, name: str, within: Folder | None = None) -> None:
        path, handle = _at(name, within)
        os.mkdir(path, 0o700, dir_fd=handle)

    def open_folder(self, name: str, within: Folder | None = None) -> Folder:
        """Open a folder; below another one a symbolic link is refused."""
        path, handle = _at(name, within)
        full = name if within is None else os.path.join(within.path, name)  # noqa: PTH118 - names are plain strings here
        if _BY_HANDLE:
            return Folder(full, os.open(path, os.O_RDONLY | _DIRECTORY | (_NO_LINK if within else 0), dir_fd=handle))
        _require_plain(full, within)
        if not os.path.isdir(full):  # noqa: PTH112 - likewise
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), full)
        return Folder(full, None)

    def open(self, folder: Folder, name: str, flags: int) -> int:
        """Open a file; a symbolic link is refused."""
        path, handle = _at(name, folder)
        if not _BY_HANDLE:
            _require_plain(path, folder)
        return os.open(path, flags | _NO_LINK | _BINARY, 0o600, dir_fd=handle)

    def read(self, file: int, size: int, offset: int) -> bytes:
        os.lseek(file, offset, os.SEEK_SET)
        return os.read(file, size)

    def write(self, file: int, data: memoryview) -> int:
        return os.write(file, data)

    def status(self, file: int) -> os.stat_result:
        return os.fstat(file)

    def truncate(self, file: int, size: int) -> None:
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        """Wait until the file's content is on the drive."""
        if sys.platform != "win32" and _FLUSH is not None:
            fcntl.fcntl(file, _FLUSH)
        else:
            os.fsync(file)

    def sync_folder(self, folder: Folder) -> None:
        """Wait until the names in the folder are on the drive."""
        if folder.handle is None:
            return
        try:
            os.fsync(folder.handle)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # the file system has no such thing
                raise

    def rename(self, folder: Folder, old: str, new: str) -> None:
        (path, handle), (target, _) = _at(old, folder), _at(new, folder)
        os.replace(path, target, src_dir_fd=handle, dst_dir_fd=handle)

    def remove(self, folder: Folder, name: str) -> None:
        path, handle = _at(name, folder)
        os.unlink(path, dir_fd=handle)

    def names(self, folder: Folder) -> list[str]:
        return sorted(os.listdir(folder.path if folder.handle is None else folder.handle))  # noqa: PTH208 - likewise

    def lock(self, file: int) -> None:
        """Wait until no other thread or process has the file locked, and lock it."""
        if sys.platform == "win32":
            os.lseek(file, _FAR, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX)

    def lock_to_read(self, file: int) -> None:
        """Wait until nobody who writes has the file locked: all the lock that a network file system gives a reader."""
        if sys.platform == "win32":
            self.lock(file)
        else:
            fcntl.flock(file, fcntl.LOCK_SH)

    def unlock(self, file: int) -> None:
        if sys.platform == "win32":
            os.lseek(file, _FAR, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_UN)

    def close(self, file: int) -> None:
        os.close(file)


@contextlib.contextmanager
def opened(disk: Disk, folder: Folder, name: str, flags: int) -> Iterator[int]:
    """The file, open."""
    file = disk.open(folder, name, flags)
    try:
        yield file
    finally:
        disk.close(file)


def open_to_read(disk: Disk, folder: Folder, name: str, *, create: bool = False) -> tuple[int, int]:
    """Open the file, to append where that is possible; in a mounted backup it is not. Return it with what it is for."""
    try:
        return disk.open(folder, name, APPEND | CREATE * create), APPEND
    except OSError as error:
        if create or error.errno not in UNWRITABLE:
            raise
    return disk.open(folder, name, READ), READ


@contextlib.contextmanager
def locked(disk: Disk, file: int, *, shared: bool = False) -> Iterator[None]:
    """The file, locked against everybody else who locks it, or against those who write."""
    (disk.lock_to_read if shared else disk.lock)(file)
    try:
        yield
    finally:
        disk.unlock(file)


@contextlib.contextmanager
def entered(disk: Disk, name: str, within: Folder | None = None) -> Iterator[Folder]:
    """The folder, open."""
    folder = disk.open_folder(name, within)
    try:
        yield folder
    finally:
        close_folder(disk, folder)


def close_folder(disk: Disk, folder: Folder) -> None:
    if folder.handle is not None:
        disk.close(folder.handle)


def make_path(disk: Disk, path: str, *, depth: int = 3) -> Folder:
    """Open the folder, made with all above it where it is missing; when it returns, their names are durable.

    Another process may have made folders and been killed before their names were on the drive, so the names of those
    that are there already, up to `depth`, are written again.
    """
    parent = os.path.dirname(path)  # noqa: PTH120 - names are plain strings here
    try:
        folder = disk.open_folder(path)
    except FileNotFoundError:
        if parent == path:
            raise
        close_folder(disk, make_path(disk, parent, depth=depth - 1))
        with contextlib.suppress(FileExistsError):
            disk.make_folder(path)
        folder = disk.open_folder(path)
    if depth > 0 and parent != path:
        # What we may not even open, we did not make.
        with contextlib.suppress(PermissionError), entered(disk, parent) as above:
            disk.sync_folder(above)
    return folder


def read_all(disk: Disk, file: int) -> bytes:
    pieces, offset, size = [], 0, disk.status(file).st_size
    while offset < size and (piece := disk.read(file, size - offset, offset)):
        pieces.append(piece)
        offset += len(piece)
    return b"".join(pieces)


def write_all(disk: Disk, file: int, data: bytes) -> None:
    """Write everything, in one call if the system takes it."""
    rest = memoryview(data)
    while rest:
        written = disk.write(file, rest)
        if not written:
            raise OSError(errno.EIO, "nothing was written")
        rest = rest[written:]


def replace_file(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write the file whole: a crash leaves the old one or the new one.

    One that is `private` is readable by its owner alone; another keeps the permissions that it had.
    """
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    try:
        with os.fdopen(os.open(temporary, flags, 0o600 if private else 0o666), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists() and not private:
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def json_bytes(value: Json, field: str) -> bytes:
    """The value as it is written; InvalidInput where it is no JSON."""
    try:
        return message_bytes(value)
    except (TypeError, ValueError, RecursionError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"cannot be written as JSON: {error}"
        raise InvalidInput(problem, field=field, remedy="Give plain JSON values.") from None


def _at(name: str, within: Folder | None) -> tuple[str, int | None]:
    """The path to use, and the handle it is relative to."""
    if within is None or within.handle is not None:
        return name, within and within.handle
    return os.path.join(within.path, name), None  # noqa: PTH118 - names are plain strings here


def _require_plain(path: str, within: Folder | None) -> None:
    """OSError where the path leads elsewhere through a link."""
    if within is not None and os.path.realpath(path) != path:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
