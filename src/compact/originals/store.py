"""Originals in a folder: what restore, recall and undo need, durable before anything is pruned."""

from __future__ import annotations

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from compact.disk import (
    APPEND,
    CREATE,
    READ,
    Disk,
    Folder,
    close_folder,
    json_bytes,
    locked,
    make_path,
    opened,
    read_all,
)
from compact.errors import DamagedOriginals
from compact.messages import Json, Metas
from compact.originals.lines import DIGEST, first_header, write_commit, write_message, write_retract
from compact.originals.log import Log, Missing
from compact.originals.repair import Repair, repair_files, set_aside
from compact.originals.survey import (
    NO_HEADER,
    Problem,
    damage_of,
    is_segment,
    path_of,
    segment_name,
    session_in,
    survey,
)
from compact.policies.session_ids import check_session_id
from compact.ports import Record

_HEADER = 1 << 10
_REMEMBERED = 64  # sessions whose index stays in memory


class FileOriginals:
    """Keeps the originals of many sessions in a folder; safe to use from many threads and processes.

    Nothing is redacted: files are readable by their owner only. Nothing is read or made before the first use.
    """

    def __init__(self, folder: str | Path, *, disk: Disk | None = None) -> None:
        self._place = os.path.realpath(folder)
        self._disk = disk or Disk()
        self._made = False  # whether its name is known to be on the drive
        self._logs: OrderedDict[str, Log] = OrderedDict()
        self._mutex = threading.Lock()

    @contextlib.contextmanager
    def alone(self, session: str) -> Iterator[None]:
        """Wait until nobody else is about to add a record to the session, and be the one.

        Between the question for the last number and the record with the next, nobody else may take that.
        """
        name = f"{segment_name(check_session_id(session), 0)}.lock"
        with (
            self._entered(create=True) as folder,
            opened(self._disk, folder, name, APPEND | CREATE) as file,
            locked(self._disk, file),
        ):
            yield

    def put(self, messages: Sequence[Json], record: Record) -> None:
        """Keep the messages that are not kept yet, then the record; a record of the same number is replaced.

        Both are durable when it returns. Where it raises OSError, it may be called again.
        """
        written = [json_bytes(message, f"messages[{place}]") for place, message in enumerate(messages)]
        json_bytes({"plan": record.plan}, "record.plan")
        with self._held(record.session, create=True) as log:
            lines: dict[str, bytes] = {}
            for raw in written:
                digest = sha256(raw).hexdigest()
                if digest not in lines and not log.has(digest):
                    lines[digest] = write_message(digest, raw)
            if lines or record.number not in log.numbers or record not in log.records():
                log.append(b"".join([*lines.values(), write_commit(record, log.last_log)]))

    def keep(self, session: str, messages: Sequence[Json]) -> None:
        """Keep messages before any compaction, durably; what is there already is not written again."""
        written = [json_bytes(message, f"messages[{place}]") for place, message in enumerate(messages)]
        with self._held(session, create=True) as log:
            metas = Metas(log.with_meta())  # of one message the last `meta` counts
            lines = []
            for message, raw in zip(messages, written, strict=True):
                digest = sha256(raw).hexdigest()
                if metas.add(message) or not log.has(digest):
                    lines.append(write_message(digest, raw))
            if lines:
                log.append(b"".join(lines))

    def with_meta(self, session: str) -> list[Json]:
        """The messages that have a `meta`, in the order in which they were kept."""
        with contextlib.suppress(Missing), self._held(session) as log:
            return log.with_meta()
        return []

    def retract(self, session: str, number: int) -> None:
        """Take a record back, durably; the messages stay. Nothing happens where there is no such record."""
        with contextlib.suppress(Missing), self._held(session) as log:
            if number in log.numbers:
                log.append(write_retract(number))

    def records(self, session: str) -> tuple[Record, ...]:
        """The records of the session that were not retracted, by number."""
        with contextlib.suppress(Missing), self._held(session) as log:
            return tuple(log.records())
        return ()

    def last(self, session: str) -> int:
        """The highest number that a record of the session ever had, retracted ones included; 0 for none."""
        with contextlib.suppress(Missing), self._held(session) as log:
            return log.highest
        return 0

    def get(self, session: str, digests: Sequence[str]) -> list[Json]:
        """The messages of those digests; KeyError names one that is not there."""
        with contextlib.suppress(Missing), self._held(session) as log:
            return log.messages(digests)
        for digest in digests:
            raise KeyError(digest)
        return []

    def sessions(self) -> tuple[str, ...]:
        """The sessions that something was kept of, as far as their files say whose they are; see `unknown`."""
        return tuple(sorted({session for _, session in self._owners() if session}))

    def unknown(self) -> tuple[DamagedOriginals, ...]:
        """The files that do not say whose they are any more."""
        owners = list(self._owners())
        known = {segment_name(session, 0)[:DIGEST] for _, session in owners if session}
        lost = (path for path, session in owners if not session and Path(path).name[:DIGEST] not in known)
        whole = "Give the session's id to have what can still be read"
        return tuple(damage_of("", path, 1, NO_HEADER, whole) for path in lost)

    def verify(self, session: str) -> tuple[Problem, ...]:
        """What is wrong with what was kept of the session: every line is read."""
        log = self._log(check_session_id(session))
        with contextlib.suppress(Missing), self._entered(create=False) as folder, log.taken_over(folder):
            return tuple(survey(self._disk, folder, session).problems)
        return ()

    def repair(self, session: str) -> Repair | None:
        """Keep all that is whole of the session in a new file, and the damaged ones beside; None where none is.

        Nothing is deleted. Others that use the session wait meanwhile.
        """
        log = self._log(check_session_id(session))
        with contextlib.suppress(Missing), self._entered(create=False) as folder, log.taken_over(folder):
            return repair_files(self._disk, folder, session)
        return None

    def set_aside(self, session: str) -> tuple[str, ...]:
        """The files of the session that were damaged, and are kept beside."""
        with contextlib.suppress(Missing), self._entered(create=False) as folder:
            return set_aside(self._disk, folder, check_session_id(session))
        return ()

    def _owners(self) -> Iterator[tuple[str, str]]:
        """Each file that was begun, and the session it says it belongs to."""
        with contextlib.suppress(Missing), self._entered(create=False) as folder:
            for name in filter(is_segment, self._disk.names(folder)):
                path = path_of(folder, name)
                try:
                    with opened(self._disk, folder, name, READ) as file:
                        begin = self._disk.read(file, _HEADER, 0)
                        header = first_header(begin)
                        known = header is not None and segment_name(header[0].session, 0)[:DIGEST] == name[:DIGEST]
                        session = (
                            header[0].session if header and known else session_in(name, read_all(self._disk, file))
                        )
                except FileNotFoundError:
                    continue
                except OSError:
                    begin, session = b"\n", ""
                if session or b"\n" in begin:
                    yield path, session

    @contextlib.contextmanager
    def _held(self, session: str, *, create: bool = False) -> Iterator[Log]:
        log = self._log(check_session_id(session))
        with self._entered(create=create) as folder, log.held(folder, create=create):
            yield log

    def _log(self, session: str) -> Log:
        with self._mutex:
            log = self._logs.pop(session, None) or Log(self._disk, session)
            self._logs[session] = log
            if len(self._logs) > _REMEMBERED:
                oldest = next((name for name, log in self._logs.items() if not log.in_doubt), session)
                del self._logs[oldest]
            return log

    @contextlib.contextmanager
    def _entered(self, *, create: bool) -> Iterator[Folder]:
        """The folder, open."""
        try:
            folder = self._disk.open_folder(self._place) if self._made or not create else self._make()
        except FileNotFoundError:
            if not create:
                raise Missing from None
            folder = self._make()  # somebody has removed it
        try:
            yield folder
        finally:
            close_folder(self._disk, folder)

    def _make(self) -> Folder:
        folder = make_path(self._disk, self._place)
        self._made = True
        return folder
