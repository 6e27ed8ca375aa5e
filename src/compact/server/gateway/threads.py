"""Threads for work that blocks, which do not hold up the end of the program."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Semaphore, Thread
from time import monotonic
from typing import Any, TypeAlias, TypeVar

R = TypeVar("R")
_Task: TypeAlias = tuple[Future[Any], Callable[[], Any]]


class Threads:
    """Does work on threads of its own, so many at a time.

    Those of the library's pool are waited for when the program ends, however long that takes.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._lock = Lock()
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._idle = Semaphore(0)
        self._threads: list[Thread] = []
        self._closed = False

    def submit(self, work: Callable[[], R]) -> Future[R]:
        """What will come of the work; after the end, nothing does."""
        future: Future[R] = Future()
        with self._lock:
            if self._closed:
                future.cancel()
                return future
            self._tasks.put((future, work))
            if not self._idle.acquire(blocking=False) and len(self._threads) < self._most:
                thread = Thread(target=self._run, name=self._name, daemon=True)
                self._threads.append(thread)
                thread.start()
        return future

    def close(self, patience: float) -> None:
        """Begin nothing more, and wait so many seconds for what is under way."""
        with self._lock:
            self._closed = True
            with suppress(Empty):
                while (task := self._tasks.get_nowait()) is not None:
                    task[0].cancel()
            for _ in self._threads:
                self._tasks.put(None)
        until = monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, until - monotonic()))

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            _do(*task)
            del task  # a request, which would stay in memory until the next
            self._idle.release()


def _do(future: Future[Any], work: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is for whoever waits
        future.set_exception(error)
