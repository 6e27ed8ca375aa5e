"""The archive in a folder: .compact/archive/{session}/transcript-pre-compact-001.jsonl and so on."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from compact.archive.entries import EVENTS, Draft, Entry, conflict, draft_of, is_transcript, listed, read_name
from compact.archive.parts import Pasts
from compact.disk import (
    APPEND,
    CREATE,
    READ,
    Disk,
    Folder,
    close_folder,
    entered,
    json_bytes,
    locked,
    make_path,
    opened,
    read_all,
    write_all,
)
from compact.messages import Json
from compact.policies.session_ids import check_session_id, file_name, session_of
from compact.ports import Export

SUMS = "SHA256SUMS"
_SUM = re.compile(rb"([0-9a-f]{64})  ([^\n/]+)\n")
_BLOCK = 1 << 16


class FileArchive:
    """Keeps exports below `folder`; safe to use from many threads and processes.

    Beside the files of each session is SHA256SUMS, as `sha256sum --check` reads it. Nothing is ever overwritten.
    """

    def __init__(self, folder: str | Path, *, disk: Disk | None = None) -> None:
        self._place = os.path.realpath(folder)
        self._disk = disk or Disk()
        self._pasts = Pasts()
        self._unsure: set[str] = set()  # folders whose checksums failed to be written

    @property
    def adapter(self) -> str:
        return "fs"

    def save(self, export: Export) -> tuple[str, ...]:
        """Write transcript and summary, durable and verified when it returns; again with the same is no harm."""
        draft = draft_of(export)
        with self._entered(file_name(export.session), make=True) as folder:
            with opened(self._disk, folder, SUMS, APPEND | CREATE) as sums, locked(self._disk, sums):
                files = self._divided(folder, export.session, draft)
                there = {name: self._content(folder, name) for name in files}
                for name, data in files.items():
                    if there[name] not in (None, data):
                        raise conflict(_join(folder.path, name))
                for name, data in files.items():
                    if there[name] is None:
                        self._create(folder, name, data)
                self._disk.sync_folder(folder)
                again = folder.path in self._unsure
                self._unsure.add(folder.path)
                self._sign(sums, files, again=again)
                self._unsure.discard(folder.path)
                for name, data in files.items():
                    if self._content(folder, name) != data:
                        raise OSError(errno.EIO, "what was written reads differently", _join(folder.path, name))
            return tuple(_join(folder.path, name) for name in files)

    def note(self, session: str, events: Sequence[Json]) -> None:
        """Append to the session's events; they are for reading along, so it does not wait for the drive."""
        lines = b"".join(json_bytes(event, "event") + b"\n" for event in events)
        own = file_name(check_session_id(session))
        with contextlib.ExitStack() as open_folders:
            try:
                folder = open_folders.enter_context(self._entered(own))
            except FileNotFoundError:
                folder = open_folders.enter_context(self._entered(own, make=True))
            with opened(self._disk, folder, EVENTS, APPEND | CREATE) as file, locked(self._disk, file):
                self._cut(file)
                write_all(self._disk, file, lines)

    def entries(self, session: str | None = None) -> tuple[Entry, ...]:
        """The files of the session, or of all; also those that were saved and are gone."""
        found: list[Entry] = []
        for name in self._sessions() if session is None else [file_name(check_session_id(session))]:
            if (owner := session or session_of(name)) is not None:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):  # none of ours
                    found += self._listed(owner, name)
        return tuple(found)

    def load(self, entry: Entry) -> tuple[bytes, str | None]:
        """The file, and the SHA-256 it was saved with; FileNotFoundError where it is not there."""
        with self._entered(entry.place) as folder, opened(self._disk, folder, entry.name, READ) as file:
            return read_all(self._disk, file), self._sums(folder).get(entry.name)

    def _divided(self, folder: Folder, session: str, draft: Draft) -> dict[str, bytes]:
        """The files to write: of the messages only those that no transcript with a checksum has."""
        sums, names = self._sums(folder), self._disk.names(folder)
        signed = {name: sums[name] for name in names if name in sums and is_transcript(name)}

        def load(name: str) -> tuple[bytes, str | None]:
            with opened(self._disk, folder, name, READ) as file:
                return read_all(self._disk, file), sums[name]

        with self._pasts.held(session) as past:
            past.refresh(signed, load)
            return draft.files(past, self._content(folder, draft.transcript))

    def _listed(self, session: str, place: str) -> Iterator[Entry]:
        with self._entered(place) as folder:
            names = filter(read_name, {*self._disk.names(folder), *self._sums(folder)})
            yield from listed(session, place, {name: self._size(folder, name) for name in names})

    def _sessions(self) -> list[str]:
        try:
            with self._entered() as archive:
                return self._disk.names(archive)
        except FileNotFoundError:
            return []

    @contextlib.contextmanager
    def _entered(self, *names: str, make: bool = False) -> Iterator[Folder]:
        """The folder of all sessions, or the session's.

        Where it is missing it is made, if it may be, and its name is durable; else FileNotFoundError says so.
        """
        with contextlib.ExitStack() as open_folders:
            folder = make_path(self._disk, self._place) if make else self._disk.open_folder(self._place)
            open_folders.callback(close_folder, self._disk, folder)
            for name in ("archive", *names):
                if make:
                    with contextlib.suppress(FileExistsError):
                        self._disk.make_folder(name, folder)
                    self._disk.sync_folder(folder)
                folder = open_folders.enter_context(entered(self._disk, name, folder))
            yield folder

    def _create(self, folder: Folder, name: str, data: bytes) -> None:
        """Write the file under another name, and give it its own when the drive has all of it."""
        temporary = f".{name}.tmp"
        with contextlib.suppress(FileNotFoundError):  # of somebody who was killed
            self._disk.remove(folder, temporary)
        try:
            with opened(self._disk, folder, temporary, APPEND | CREATE | os.O_EXCL) as file:
                write_all(self._disk, file, data)
                self._disk.sync(file)
            self._disk.rename(folder, temporary, name)
        except OSError:
            with contextlib.suppress(OSError):
                self._disk.remove(folder, temporary)
            raise

    def _sign(self, sums: int, files: Mapping[str, bytes], *, again: bool) -> None:
        """Add the checksums that are missing, or all where the drive may not have them, and wait for it."""
        self._cut(sums)
        known = _read_sums(read_all(self._disk, sums))
        lines = {name: f"{sha256(data).hexdigest()}  {name}\n".encode() for name, data in files.items()}
        missing = [line for name, line in lines.items() if again or known.get(name) != line[:64].decode()]
        size = self._disk.status(sums).st_size
        try:
            write_all(self._disk, sums, b"".join(missing))
            self._disk.sync(sums)
        except OSError:
            with contextlib.suppress(OSError):  # who finds them next time would take them for durable
                self._disk.truncate(sums, size)
            raise

    def _cut(self, file: int) -> None:
        """Cut off a last line whose writing was cut short."""
        size = end = self._disk.status(file).st_size
        while end > 0:
            start = max(0, end - _BLOCK)
            found = self._disk.read(file, end - start, start).rfind(b"\n")
            if found >= 0:
                end = start + found + 1
                break
            end = start
        if end != size:
            self._disk.truncate(file, end)

    def _content(self, folder: Folder, name: str) -> bytes | None:
        try:
            with opened(self._disk, folder, name, READ) as file:
                return read_all(self._disk, file)
        except FileNotFoundError:
            return None

    def _size(self, folder: Folder, name: str) -> int | None:
        try:
            with opened(self._disk, folder, name, READ) as file:
                return self._disk.status(file).st_size
        except OSError:  # why is told when it is loaded
            return None

    def _sums(self, folder: Folder) -> dict[str, str]:
        return _read_sums(self._content(folder, SUMS) or b"")


def _read_sums(data: bytes) -> dict[str, str]:
    return {match[2].decode(errors="replace"): match[1].decode() for match in _SUM.finditer(data)}


def _join(folder: str, name: str) -> str:
    return f"{folder}{os.sep}{name}"
