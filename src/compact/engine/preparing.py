"""Compactions made ready while the model answers, so that nobody waits for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from threading import Event as Flag
from threading import Lock, Thread, current_thread
from time import monotonic, perf_counter
from typing import TypeAlias

from compact.engine.driver import Outcome
from compact.engine.events import discarded_event, prepared_event
from compact.engine.projection import Projection
from compact.formats import reject
from compact.messages import MOVING_TAIL, check
from compact.ports import Event, Measure

MOST = 4
"""Compactions that are prepared at the same time; a session beyond that tries again with its next request."""
_CLOSING = 2.0

Tell: TypeAlias = Callable[[str, Event], object]


@dataclass(slots=True, eq=False)
class _Job:
    """A compaction that is being prepared, or has been."""

    session: str
    basis: Projection
    outcome: Outcome | None = None
    dropped: bool = False
    thread: Thread | None = None
    done: Flag = field(default_factory=Flag)

    def fits(self, projection: Projection) -> bool:
        """Whether the projection goes on from the one it is made of; what clients may still rewrite can differ."""
        known, basis = self.shared(projection), self.basis
        numbers = [[done.number for done in one.compactions] for one in (projection, basis)]
        same = projection.frame.format == basis.frame.format and numbers[0] == numbers[1]
        return same and known > self.reach and known >= len(basis.log) - MOVING_TAIL

    def shared(self, projection: Projection) -> int:
        """How many messages at the front the projection and the one it is made of have in common."""
        pairs = zip(projection.log, self.basis.log, strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))

    @property
    def reach(self) -> int:
        """The position of the last message that the compaction depends on; before the first while it is not done."""
        done = self.outcome
        return self.basis.compacted(done.plan, done.conversation).compactions[-1].reach if done else -1


class Background:
    """Prepares compactions on threads of its own, at most one for each session. It writes nothing."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._lock = Lock()
        self._jobs: dict[str, _Job] = {}
        self._threads: set[Thread] = set()
        self._closed = False

    def prepare(self, session: str, basis: Projection, work: Callable[[], Outcome]) -> None:
        """Begin, unless what was prepared of the session before still fits."""
        with self._lock:
            known = self._jobs.get(session)
            if known is not None and known.fits(basis):
                return
            self._jobs.pop(session, None)
            if not self._closed and len(self._threads) < MOST:
                self._start(_Job(session, basis), work)
        if known is not None:
            self._discard(known, "the history changed")

    def _start(self, job: _Job, work: Callable[[], Outcome]) -> None:
        thread = Thread(target=self._work, args=(job, work), name="compact background", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # there are too many, or the interpreter ends: it is done when it must be
            return
        job.thread = thread
        self._jobs[job.session] = job
        self._threads.add(thread)

    def take(self, session: str, projection: Projection, measure: Measure) -> Outcome | None:
        """What was prepared, as it comes out for the projection as it is now; waits for what is under way.

        None where nothing was prepared, or where that does not fit any more. Either way it is gone after that.
        """
        with self._lock:
            job = self._jobs.pop(session, None)
        if job is None:
            return None
        if not job.fits(projection):
            self._discard(job, "the history changed")
            return None
        while not job.done.wait(1.0):
            if job.thread is None or not job.thread.is_alive():  # it was left behind in a process that forked
                return None
        if job.outcome is None:
            return None
        applied = _applied(job.outcome, projection, job.shared(projection), measure) if job.fits(projection) else None
        if applied is None:
            self._discard(job, "it does not go with the messages that came since")
        return applied

    def forget(self, session: str) -> None:
        """Drop what was prepared of the session, or is being, without a word."""
        with self._lock:
            if job := self._jobs.pop(session, None):
                job.dropped = True

    def close(self) -> None:
        """Begin nothing more, and wait a moment for what is under way."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
            for job in self._jobs.values():
                job.dropped = True
            self._jobs.clear()
        until = monotonic() + _CLOSING
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))

    def _work(self, job: _Job, work: Callable[[], Outcome]) -> None:
        began, why = perf_counter(), ""
        try:
            outcome = work()
            if outcome.plan:
                job.outcome = outcome
            else:
                why = "there was nothing to remove"
        except Exception as error:  # noqa: BLE001 - a driver: the compaction is tried again where it can be told
            why = f"{type(error).__name__}: {error}"
        finally:
            # Before anybody is told: who is told may want the session, and who holds it may be waiting for this.
            job.done.set()
            with self._lock:
                self._threads.discard(current_thread())
        if job.outcome is None:
            self._discard(job, why)
        elif not job.dropped:
            self._tell(job.session, prepared_event(job.outcome, len(job.basis.log), perf_counter() - began))

    def _discard(self, job: _Job, why: str) -> None:
        if not job.dropped:
            job.dropped = True
            self._tell(job.session, discarded_event(job.outcome, why))


def _applied(prepared: Outcome, projection: Projection, upto: int, measure: Measure) -> Outcome | None:
    """The same done to a log that has grown since it had `upto` messages, and checked anew."""
    again = projection.replay(prepared.plan, projection.counted + 1, upto)
    if again is None:
        return None
    before, after = projection.conversation, again.conversation
    if check(before, after, rules=reject, count=measure.conversation):
        return None
    return replace(prepared, conversation=after, plan=again.compactions[-1].plan)
