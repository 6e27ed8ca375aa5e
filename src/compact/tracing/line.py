"""A bounded queue with one thread behind it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, Final, Generic, TypeVar
from weakref import WeakSet

CAPACITY: Final = 4096
BATCH: Final = 64
LINGER: Final = 0.05
"""Seconds that an item may wait for others and for its caller to be done: waking a thread costs more than the rest."""
AWAKE: Final = 20
"""So many lingers after the last item the thread still looks by itself, and nobody has to wake it."""

Item = TypeVar("Item")


class _Mark:
    """Stands in the queue for the moment it is reached."""

    __slots__ = ("reached",)

    def __init__(self) -> None:
        self.reached = Event()


class Line(Generic[Item]):
    """Hands on what is put in, in order and in batches, from a daemon thread; putting neither waits nor raises.

    When it is full the oldest go; `dropped` counts them. A forked child has a line of its own, empty at first.
    """

    def __init__(
        self, name: str, deliver: Callable[[list[Item]], None], capacity: int = CAPACITY, *, linger: float = 0.0
    ) -> None:
        self._name = name
        self._deliver = deliver
        self._capacity = capacity
        self._linger = linger
        self._closed = False
        self._fresh()
        _lines.add(self)

    def _fresh(self) -> None:
        self._queue: SimpleQueue[Item | _Mark] = SimpleQueue()
        self._thread: Thread | None = None
        self._starting = Lock()
        self._called = Event()
        self._hurried = False
        self._asleep = False
        self._drops = count(1)
        self.dropped = 0
        self._busy = 0

    def start(self) -> None:
        """Start the thread before anything is put: late in the life of an interpreter none can be started."""
        with self._starting:
            if self._thread is not None or self._closed:
                return
            # Set before the start: a thread that ends takes itself away.
            self._thread = Thread(target=self._run, args=(self._queue,), name=self._name, daemon=True)
            try:
                self._thread.start()
            except RuntimeError:
                self._thread = None

    def put(self, item: Item) -> None:
        if self._closed:
            return
        waiting = self._queue.qsize()
        if waiting >= self._capacity:
            self._drop()
        self._queue.put(item)
        if self._asleep or waiting >= BATCH:
            self._called.set()
        if self._thread is None:
            self.start()

    def flush(self, deadline: float) -> bool:
        """Wait at most so many seconds until all that was put in has been handed on; whether it has."""
        if self._thread is None or self._closed:
            return self._closed or self._queue.empty()
        mark = _Mark()
        self._queue.put(mark)
        self._hurry()
        return mark.reached.wait(max(0.0, deadline))

    def close(self) -> int:
        """Take nothing more, and hand on nothing more; how many were still to be handed on, or are just being."""
        self._closed = True
        left = self._busy
        with suppress(Empty):
            while True:
                left += not isinstance(self._queue.get_nowait(), _Mark)
        self._queue.put(_Mark())
        self._hurry()
        return left

    def _hurry(self) -> None:
        self._hurried = True
        self._called.set()

    def _drop(self) -> None:
        with suppress(Empty):
            oldest = self._queue.get_nowait()
            if isinstance(oldest, _Mark):
                self._queue.put(oldest)
            else:
                self.dropped = next(self._drops)  # unlike +=, this loses no count between threads

    def _run(self, queue: SimpleQueue[Item | _Mark]) -> None:
        try:
            while not self._closed:
                self._step(queue)
        finally:
            # Should a delivery raise, the error is shown, and what is put next starts another thread.
            self._thread = None

    def _step(self, queue: SimpleQueue[Item | _Mark]) -> None:
        self._rest(queue)
        batch: list[Item] = []
        entry = queue.get()
        with suppress(Empty):
            while not isinstance(entry, _Mark):
                batch.append(entry)
                if len(batch) == BATCH:
                    break
                entry = queue.get_nowait()
        self._busy = len(batch)
        if batch and not self._closed:
            self._deliver(batch)
            self._busy = 0
        if isinstance(entry, _Mark):
            entry.reached.set()

    def _rest(self, queue: SimpleQueue[Item | _Mark]) -> None:
        """Wait until there is something to hand on; who was woken for it lets the caller finish first."""
        looks = AWAKE if self._linger else 0
        while queue.empty() and not self._closed:
            self._asleep = not looks
            if queue.empty():  # asked again: what was put in before it fell asleep woke nobody
                self._called.wait(self._linger if looks else None)
                looks = max(0, looks - 1)
            self._called.clear()
        woken, self._asleep = self._asleep, False
        if woken and self._linger and not self._hurried:
            self._called.wait(self._linger)
        self._hurried = False


_lines: WeakSet[Line[Any]] = WeakSet()


def _after_fork() -> None:
    # Threads do not survive a fork, and locks survive it as they were.
    for line in _lines:
        line._fresh()  # noqa: SLF001 - the same module


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
