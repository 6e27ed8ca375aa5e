"""Putting together anew what is whole of a session's files; the damaged ones are kept beside."""

from __future__ import annotations

import os
from dataclasses import dataclass

from compact.disk import APPEND, CREATE, READ, Disk, Folder, opened, read_all, write_all
from compact.originals.lines import write_check, write_commit, write_header, write_message, write_retract
from compact.originals.survey import Problem, Survey, path_of, segment_name, survey
from compact.ports import Record


@dataclass(frozen=True, slots=True)
class Repair:
    """What became of a session that was damaged.

    `lost` are the numbers of compactions that cannot be had any more; one whose line cannot be read at all has none.
    """

    session: str
    problems: tuple[Problem, ...]
    messages: int
    compactions: tuple[int, ...]
    lost: tuple[int, ...]
    aside: tuple[str, ...]
    """Where the damaged files are now."""


def repair_files(disk: Disk, folder: Folder, session: str) -> Repair | None:
    """Replace the session's files by one with all that is whole; None where there is nothing to repair.

    Nothing is deleted. The copies are durable before anything is replaced, and the first file is replaced at once: a
    crash leaves the damaged files, or the new one with some of the old that another repair takes in.
    """
    found = survey(disk, folder, session)
    if not found.problems:
        return None
    first = segment_name(session, 0)
    fresh = f"{first}.repaired"
    _write(disk, folder, fresh, _content(found))
    aside = []
    if first in found.names:
        aside.append(_copy_aside(disk, folder, first))
    disk.sync_folder(folder)
    disk.rename(folder, fresh, first)
    disk.sync_folder(folder)
    aside += [_move_aside(disk, folder, name) for name in found.names if name != first]
    disk.sync_folder(folder)
    digests = {digest for digest, _ in found.messages}
    return Repair(session, tuple(found.problems), len(digests), tuple(found.live), tuple(found.lost), tuple(aside))


def set_aside(disk: Disk, folder: Folder, session: str) -> tuple[str, ...]:
    """The files of the session that were damaged, and are kept beside."""
    own = segment_name(session, 0)[:64]
    names = (name for name in disk.names(folder) if name.startswith(own) and ".log.damaged" in name)
    return tuple(path_of(folder, name) for name in names)


def _content(found: Survey) -> bytes:
    lines = [write_header(found.session, 0, 0)]
    lines += [write_message(digest, raw) for digest, raw in found.messages]
    before: tuple[str, ...] = ()
    for entry in found.records:
        if isinstance(entry, Record):
            lines.append(write_commit(entry, before))
            before = entry.log
        else:
            lines.append(write_retract(entry))
    lines += [write_retract(number) for number in found.lost]  # so that no other compaction gets their numbers
    whole = b"".join(lines)
    return whole + write_check(found.session, whole, 0)


def _write(disk: Disk, folder: Folder, name: str, data: bytes) -> None:
    with opened(disk, folder, name, APPEND | CREATE | os.O_TRUNC) as file:
        write_all(disk, file, data)
        disk.sync(file)


def _copy_aside(disk: Disk, folder: Folder, name: str) -> str:
    """Keep a copy of the file; one that cannot be read is moved instead."""
    try:
        with opened(disk, folder, name, READ) as file:
            data = read_all(disk, file)
    except OSError:
        return _move_aside(disk, folder, name)
    free = _free_name(disk, folder, name)
    _write(disk, folder, free, data)
    return path_of(folder, free)


def _move_aside(disk: Disk, folder: Folder, name: str) -> str:
    free = _free_name(disk, folder, name)
    disk.rename(folder, name, free)
    return path_of(folder, free)


def _free_name(disk: Disk, folder: Folder, name: str) -> str:
    taken, number = set(disk.names(folder)), 1
    while f"{name}.damaged-{number}" in taken:
        number += 1
    return f"{name}.damaged-{number}"
