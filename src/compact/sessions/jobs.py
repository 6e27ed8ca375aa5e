"""Bulk work that any number of workers share: each job is claimed by one of them at a time, and done once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

from sqlalchemy import Connection, bindparam, case, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from compact.messages import Json
from compact.sessions.database import now
from compact.sessions.rows import key, read, written
from compact.sessions.store import DatabaseStore
from compact.sessions.tables import jobs
from compact.sessions.words import storable

State: TypeAlias = Literal["queued", "running", "done", "failed"]

ATTEMPTS = 3
_PAGE = 1000
_CLOCK = text("""SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')""")


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work that a worker has claimed; `attempt` counts from 1."""

    id: int
    batch: str
    key: str
    payload: Json
    worker: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How many jobs of a batch are in each state."""

    queued: int = 0
    running: int = 0
    done: int = 0
    failed: int = 0

    @property
    def finished(self) -> bool:
        return not self.queued and not self.running


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: its result, or the error it failed with."""

    key: str
    state: State
    result: Json
    error: str
    attempts: int


class Jobs:
    """The jobs in a store's database.

    A claim is a lease: a worker says `touch` while it works, and `release` gives the jobs of those that fell silent to
    others. Should such a worker come back, its `finish` and `fail` are refused, so that no job is done twice. A claim
    whose answer was lost on the way is nobody's: it is not touched, and released like those of the silent.
    """

    def __init__(self, store: DatabaseStore) -> None:
        self._database = store.database

    def add(self, batch: str, payloads: Mapping[str, Json]) -> int:
        """Queue jobs by their keys; those that the batch has already stay as they are. Gives how many are new."""
        values = ((key(name, "key"), written(payload, name)) for name, payload in payloads.items())
        rows = [{"batch": batch, "key": name, "payloadJson": payload} for name, payload in values]
        key(batch, "batch")
        into = postgresql.insert(jobs) if self._database.is_postgresql else sqlite.insert(jobs)
        added = into.on_conflict_do_nothing(index_elements=["batch", "key"]).returning(jobs.c.id)
        with self._database.writing() as connection:
            return len(connection.execute(added, rows).all()) if rows else 0

    def claim(self, worker: str, count: int = 1, *, batch: str | None = None) -> list[Job]:
        """Take up to so many jobs that nobody has, the oldest first."""
        free = select(jobs.c.id).where(jobs.c.state == text("'queued'")).order_by(jobs.c.id).limit(count)
        if batch is not None:
            free = free.where(jobs.c.batch == storable(batch))
        with self._database.writing() as connection:
            # What another worker is about to take is passed over rather than waited for.
            ids = list(connection.scalars(free.with_for_update(skip_locked=True)))
            taken = {
                "state": "running",
                "worker": key(worker, "worker"),
                "claimedAt": _moment(connection),
                "attempts": jobs.c.attempts + 1,
            }
            claim = update(jobs).where(jobs.c.id.in_(ids)).values(taken).returning(*jobs.c)
            rows = sorted(connection.execute(claim), key=lambda row: row.id) if ids else []
        return [Job(row.id, row.batch, row.key, read(row.payloadJson), worker, row.attempts) for row in rows]

    def finish(self, job: Job, result: Json = None) -> bool:
        """Keep the result; False, and nothing is kept, where the claim was lost meanwhile."""
        return self._end(job, {"state": "done", "resultJson": written(result, "result"), "error": None})

    def fail(self, job: Job, error: str, *, attempts: int = ATTEMPTS) -> bool:
        """Queue the job again, or give it up after so many attempts; False where the claim was lost meanwhile."""
        return self._end(job, {"state": "queued" if job.attempt < attempts else "failed", "error": storable(error)})

    def touch(self, held: Collection[Job]) -> int:
        """Say that these are being worked on; gives how many of the claims still stand."""
        if not held:
            return 0
        mine = (jobs.c.id.in_([job.id for job in held]), jobs.c.worker.in_({job.worker for job in held}))
        renewed = update(jobs).where(*mine, jobs.c.state == text("'running'"))
        with self._database.writing() as connection:
            return connection.execute(renewed.values(claimedAt=_moment(connection))).rowcount

    def release(self, lease: float, *, attempts: int = ATTEMPTS) -> int:
        """Queue the jobs whose workers were silent for so many seconds, or give up those that had their attempts."""
        with self._database.writing() as connection:
            silent_since = _earlier(_moment(connection), lease)
            state = case((jobs.c.attempts < attempts, "queued"), else_="failed")
            lost = update(jobs).where(jobs.c.state == text("'running'"), jobs.c.claimedAt < silent_since)
            given_up = case((jobs.c.attempts < attempts, None), else_=now())
            values = {"state": state, "error": "its worker fell silent", "finishedAt": given_up}
            return connection.execute(lost.values(values)).rowcount

    def progress(self, batch: str) -> Progress:
        asked = select(jobs.c.state, func.count()).where(jobs.c.batch == storable(batch)).group_by(jobs.c.state)
        with self._database.reading() as connection:
            return Progress(**{row[0]: row[1] for row in connection.execute(asked)})

    def results(self, batch: str) -> Iterator[Outcome]:
        """What became of the jobs that are done or given up, by their keys; read page by page."""
        ended = select(jobs).where(jobs.c.batch == storable(batch), jobs.c.state.in_(("done", "failed")))
        page = ended.where(jobs.c.key > bindparam("after")).order_by(jobs.c.key).limit(_PAGE)
        after: str | None = ""
        while after is not None:
            with self._database.reading() as connection:
                rows = connection.execute(page, {"after": after}).all()
            for row in rows:
                yield Outcome(row.key, row.state, read(row.resultJson), row.error or "", row.attempts)
            after = rows[-1].key if len(rows) == _PAGE else None

    def _end(self, job: Job, values: Mapping[str, Any]) -> bool:
        mine = (jobs.c.id == job.id, jobs.c.worker == job.worker, jobs.c.attempts == job.attempt)
        finished = None if values["state"] == "queued" else now()
        ended = update(jobs).where(*mine, jobs.c.state == text("'running'")).values(**values, finishedAt=finished)
        with self._database.writing() as connection:
            return connection.execute(ended).rowcount == 1


def _moment(connection: Connection) -> str:
    """This moment by the one clock that all workers share."""
    return str(connection.scalar(_CLOCK)) if connection.dialect.name == "postgresql" else now()


def _earlier(moment: str, seconds: float) -> str:
    before = datetime.fromisoformat(moment) - timedelta(seconds=seconds)
    return before.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
