"""Processes that condense transcripts: as many as there are cores, and one that dies takes nothing with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from threading import Thread, current_thread, main_thread
from typing import Generic, TypeVar

from compact.app.bulk.jobs import Job, Outcome, condense_file
from compact.ports.closeable import Closeable

Tag = TypeVar("Tag")


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def condense_all(jobs: Iterable[Job], processes: int) -> Generator[Outcome]:
    """Condense all of them; outcomes come as they are ready. Jobs are asked for a few at a time.

    Ctrl-C lets those at work come to their end; a second one ends them, too.
    """
    waiting = iter(jobs)
    with Pool[None](processes, ahead=processes) as pool:
        while True:
            while pool.free and (job := next(waiting, None)) is not None:
                pool.submit(job, None)
            if pool.idle:
                return
            for _, outcome in pool.wait():
                yield outcome


class Pool(Closeable, Generic[Tag]):
    """Takes jobs, each with a tag of the caller's, and gives back outcomes.

    When a process dies, by lack of memory or by a fault in native code, it is unknown which job it died of; so those
    that were at work are done again, one at a time, and the one that it happens with again has failed.
    """

    def __init__(self, processes: int, *, ahead: int = 0) -> None:
        self._processes, self._room = processes, processes + ahead
        self._running: dict[Future[Outcome], tuple[Job, Tag]] = {}
        self._suspects: deque[tuple[Job, Tag]] = deque()
        self._alone = self._broken = False
        self._start()

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
            with _unheard():
                future = self._executor.submit(condense_file, job)
            self._running[future] = (job, tag)
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
        """Wait for what is at work, or with Ctrl-C end it; what is not at work yet will not be."""
        # When the end that holds them is closed, all processes leave.
        with self._held, self._holding, _at_interrupt(self._holding.close):
            self._executor.shutdown(wait=True, cancel_futures=True)

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
            self.close()
            self._start()
            self._broken = False

    def _start(self) -> None:
        # Not by fork: threads and locks of this process would be copied in whatever state they are.
        spawning = multiprocessing.get_context("spawn")
        self._held, self._holding = spawning.Pipe(duplex=False)
        self._executor = ProcessPoolExecutor(self._processes, spawning, _begin, (self._held,))


def _failed(job: Job, problem: str, *, passing: bool = False) -> Outcome:
    options = job.options
    outcome = Outcome(job.place.name, str(job.place), options.digest, options.recipe, passing=passing)
    return replace(outcome, error=f"{job.place}: {problem}")


@contextmanager
def _unheard() -> Iterator[None]:
    """Processes that begin here hear no Ctrl-C, which they would complain of before `_begin` is reached."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _at_interrupt(call: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C makes this call, and breaks off only afterwards: a thread whose `join` is broken off may never end."""
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    asked = False

    def answer(*_: object) -> None:
        nonlocal asked
        asked = True
        call()

    signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if asked:
            raise KeyboardInterrupt


def _begin(held: Connection) -> None:
    """Set up a process: Ctrl-C is for the one that asked for it, which it does not outlive."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, args=(held,), daemon=True).start()


def _end_with_parent(held: Connection) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel, held])
        os._exit(1)
