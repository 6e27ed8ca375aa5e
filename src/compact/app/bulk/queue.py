"""Batches that many machines share: jobs in a database, and workers that take them."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import monotonic, sleep
from typing import TYPE_CHECKING, TypeVar

from compact.app.bulk.jobs import Job, Outcome
from compact.app.bulk.pool import Pool, cores
from compact.errors import InvalidInput, StorageError
from compact.messages import Json

if TYPE_CHECKING:
    from compact.sessions.jobs import Job as Claim
    from compact.sessions.jobs import Jobs

LEASE = 60.0
"""Seconds of silence after which a worker's jobs are given to others."""
_PAUSE = 0.5
_TOGETHER = 500  # jobs in one transaction
_TOGETHER_BYTES = 8_000_000

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a worker takes and for how long it stays: of one batch or of any, and until nothing is left or for good."""

    batch: str | None = None
    processes: int = 0
    until_empty: bool = False
    lease: float = LEASE


def enqueue(queue: Jobs, batch: str, jobs: Iterable[Job]) -> int:
    """Put jobs into the queue, each once, however often this is called; gives how many are new."""
    new, size, together = 0, 0, dict[str, Json]()
    for job in jobs:
        # The same file with other options is another job.
        together[f"{job.place.name}#{job.options.digest}"] = job.to_json()
        size += len(job.content or "")
        if len(together) >= _TOGETHER or size >= _TOGETHER_BYTES:
            new, size, together = new + queue.add(batch, together), 0, {}
    return new + queue.add(batch, together)


def outcomes(queue: Jobs, batch: str) -> Iterator[Outcome]:
    """What became of the jobs of a batch that are done or given up."""
    for ended in queue.results(batch):
        name, _, digest = ended.key.rpartition("#")
        known = ended.state == "done" and isinstance(ended.result, dict)
        yield Outcome.from_json(ended.result) if known else Outcome(name, name, digest, error=ended.error)


class Worker:
    """Takes jobs from a queue, as many at a time as it has processes, until it is told to stop.

    It says every now and then that it is alive. What it has when it dies is taken over by others; should it not be dead
    after all, what it comes to is refused, so that every job has one result.
    """

    def __init__(self, queue: Jobs, terms: Terms, tell: Callable[[Outcome], None]) -> None:
        self.name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        self._queue, self._terms, self._tell = queue, terms, tell
        self._stopped = False

    def stop(self) -> None:
        """Finish what is at work, and take nothing more; may be called by the handler of a signal."""
        self._stopped = True

    def run(self) -> None:
        """Work until told to stop or, if the terms say so, until nothing is left."""
        beat = self._terms.lease / 6
        with Pool["Claim"](self._terms.processes or cores()) as pool:
            due = monotonic()
            while not (self._stopped and pool.idle):
                if monotonic() >= due:
                    self._patiently(lambda: self._beat(pool))
                    due = monotonic() + beat
                taken = 0 if self._stopped else self._take(pool)
                if not pool.idle:
                    for claim, outcome in pool.wait(min(beat, _PAUSE) if pool.free else beat):
                        self._end(claim, outcome)
                elif not taken:
                    if self._is_over():
                        return
                    sleep(_PAUSE)

    def _take(self, pool: Pool[Claim]) -> int:
        count = pool.free
        claims = self._patiently(lambda: self._queue.claim(self.name, count, batch=self._terms.batch)) if count else []
        for claim in claims:
            try:
                pool.submit(Job.from_json(claim.payload), claim)
            except InvalidInput as error:
                self._fail(claim, str(error), 1)
        return len(claims)

    def _end(self, claim: Claim, outcome: Outcome) -> None:
        if outcome.error:
            # What is wrong with a transcript is wrong the next time, too.
            kept = self._fail(claim, outcome.error, None if outcome.passing else 1)
        else:
            result = outcome.to_json()
            if outcome.condensed is not None:
                result |= {"condensed": outcome.condensed, "plan": outcome.plan}
            kept = self._patiently(lambda: self._queue.finish(claim, result))
        if kept:
            self._tell(outcome)

    def _fail(self, claim: Claim, problem: str, attempts: int | None) -> bool:
        limit = {} if attempts is None else {"attempts": attempts}
        return self._patiently(lambda: self._queue.fail(claim, problem, **limit))

    def _beat(self, pool: Pool[Claim]) -> None:
        # Not all that the database has under this name: the answer to a claim may have been lost on the way.
        self._queue.touch(pool.tags)
        self._queue.release(self._terms.lease)

    def _is_over(self) -> bool:
        """Whether nothing is left; of one batch also nothing that others have, since they may die of it."""
        batch = self._terms.batch
        if self._stopped or not self._terms.until_empty:
            return self._stopped
        return batch is None or self._patiently(lambda: self._queue.progress(batch)).finished

    def _patiently(self, call: Callable[[], _Answer]) -> _Answer:
        """The answer of the database, which may be away for as long as no other takes our jobs over."""
        deadline = monotonic() + self._terms.lease
        while True:
            try:
                return call()
            except StorageError:
                if monotonic() >= deadline or self._stopped:
                    raise
                sleep(_PAUSE)
