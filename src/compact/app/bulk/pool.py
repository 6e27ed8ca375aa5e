"""Processes that condense transcripts: as many as there are cores, and one that dies takes nothing with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for
from threading import Thread
from types import TracebackType
from typing import Generic, Self, TypeVar

from compact.app.bulk.jobs import Job, Outcome, condense_file

Tag = TypeVar("Tag")


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def condense_all(jobs: Iterable[Job], processes: int) -> Iterator[Outcome]:
    """Condense all of them; outcomes come as they are ready. Jobs are asked for a few at a time."""
    waiting = iter(jobs)
    with Pool[None](processes, ahead=processes) as pool:
        while True:
            while pool.free and (job := next(waiting, None)) is not None:
                pool.submit(job, None)
            if pool.idle:
                return
            for _, outcome in pool.wait():
                yield outcome


class Pool(Generic[Tag]):
    """Takes jobs, each with a tag of the caller's, and gives back outcomes.

    When a process dies, by lack of memory or by a fault in native code, nobody knows which job it died of; so those
    that were at work are done again, one at a time, and the one that it happens with again has failed.
    """

    def __init__(self, processes: int, *, ahead: int = 0) -> None:
        self._processes, self._room = processes, processes + ahead
        self._running: dict[Future[Outcome], tuple[Job, Tag]] = {}
        self._suspects: deque[tuple[Job, Tag]] = deque()
        self._alone = self._broken = False
        self._executor = _executor(processes)

    @property
    def free(self) -> int:
        """How many jobs it would take now."""
        return 0 if self._suspects or self._alone else self._room - len(self._running)

    @property
    def idle(self) -> bool:
        return not self._running and not self._suspects

    @property
    def tags(self) -> list[Tag]:
        """The tags of the jobs whose outcomes it has not given back yet."""
        return [tag for _, tag in (*self._running.values(), *self._suspects)]

    def submit(self, job: Job, tag: Tag) -> None:
        try:
            self._running[self._executor.submit(condense_file, job)] = (job, tag)
        except BrokenProcessPool:  # a process has died this very moment
            self._broken = True
            self._suspects.append((job, tag))

    def wait(self, timeout: float | None = None) -> list[tuple[Tag, Outcome]]:
        """What is done, once something is or the time is up."""
        if self._suspects and not self._running:
            self._renew()
            self._alone = True
            self.submit(*self._suspects.popleft())
        done, _ = wait(self._running, timeout, FIRST_COMPLETED)
        return [outcome for future in done for outcome in self._taken(future)]

    def close(self) -> None:
        """Wait for what is at work; what is not yet will not be."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _taken(self, future: Future[Outcome]) -> Iterator[tuple[Tag, Outcome]]:
        job, tag = self._running.pop(future)
        alone, self._alone = self._alone, False
        error = future.exception()
        if not isinstance(error, BrokenProcessPool):
            yield tag, future.result() if error is None else _failed(job, f"{type(error).__name__}: {error}")
            return
        self._broken = True
        if alone:
            problem = "the process that condensed it died; it may need more memory than there is"
            yield tag, _failed(job, problem, passing=True)
        else:
            self._suspects.append((job, tag))

    def _renew(self) -> None:
        if self._broken:
            self._executor.shutdown()
            self._executor = _executor(self._processes)
            self._broken = False


def _failed(job: Job, problem: str, *, passing: bool = False) -> Outcome:
    return Outcome(job.place.name, str(job.place), job.manner.digest, error=f"{job.place}: {problem}", passing=passing)


def _executor(processes: int) -> ProcessPoolExecutor:
    # Not by fork: threads and locks of this process would be copied in whatever state they are.
    return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _begin)


def _begin() -> None:
    """Set up a process: Ctrl-C is for the one that asked for it, and when that one is gone nobody waits for us."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)
