"""Asks the models of profiles: in parallel, within limits and deadlines, and never by raising."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeAlias
from weakref import finalize

from compact.errors import InvalidConfiguration
from compact.llm.failures import Trouble
from compact.llm.line import Line
from compact.llm.vendors import missing_extra, require_extra
from compact.messages import Json
from compact.policies import Profile
from compact.policies.addresses import Network
from compact.ports import Answer, Ask, Event, Failure, Observe, ReadingLimits
from compact.ports.closeable import Closeable

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

_THREAD: Final = "compact models"
Objection: TypeAlias = Callable[[Profile, Ask, Profile], str]
"""Says why a profile may not be asked a question that goes to another one first; empty where it may."""


@dataclass(frozen=True, slots=True)
class _Running:
    """The loop that everything runs in, and what ends it."""

    portal: BlockingPortal
    lines: dict[str, Line]
    stop: Callable[[], None]


class Access(Closeable):
    """The models of some profiles.

    `key_of` finds a profile's key when it is needed; it raises InvalidConfiguration where there is none. `reader_of`
    gives the limits of a profile's model. A question goes to the profile it names, or to the first; where that one
    fails, the others are asked in their order. `observe` gets an event for each profile that is asked, asked again, or
    fails. Its calls come from another thread. `allowed` are networks that may be reached by any name; any other name
    must lead to the internet, or no model is called.

    All requests run in one loop of their own, so that limits hold and connections are reused whoever asks: plain code,
    or any event loop. It ends with `close`, at the end of a `with`, or when nobody holds the object any more.
    """

    def __init__(
        self,
        profiles: Sequence[Profile],
        *,
        key_of: Callable[[Profile], str],
        observe: Observe | None = None,
        reader_of: Callable[[Profile], ReadingLimits | None] | None = None,
        allowed: Collection[Network] = (),
    ) -> None:
        if not profiles:
            raise InvalidConfiguration("there is none", field="profiles", remedy="Give at least one.")
        if all(missing_extra(profile.vendor) for profile in profiles):
            require_extra(profiles[0])
        self._profiles = {profile.name: profile for profile in profiles}
        self._key_of = key_of
        self._allowed = allowed
        self._observe = observe
        self._reader_of = reader_of
        self._running: _Running | None = None
        self._lock = Lock()

    @property
    def vendors(self) -> frozenset[str]:
        """Who may get a question; the empty name is an address whose owner is not known."""
        return frozenset(profile.recipient for profile in self._profiles.values())

    def reader(self, profile: str) -> ReadingLimits | None:
        """The limits of the model that is asked first for the profile; None where they are not known."""
        first = self._profiles.get(profile) or next(iter(self._profiles.values()))
        return None if self._reader_of is None else self._reader_of(first)

    def answer_now(
        self, asks: Sequence[Ask], *, observe: Observe | None = None, objection: Objection | None = None
    ) -> tuple[Answer, ...]:
        """The answers, each in the place of its question; it blocks, and may be called while a loop is running.

        `observe` is told of these questions in place of the usual one. `objection` says why a profile may not be asked.
        """
        running, watch = self._start(), Watch(observe or self._observe or _nobody, objection or _nothing)
        future = running.portal.start_task_soon(_answer_all, running.lines, tuple(asks), watch)
        try:
            return future.result()
        except BaseException:
            # Whoever stops waiting, by an interrupt, does not want to pay either.
            future.cancel()
            raise

    def asking(self, observe: Observe | None = None, objection: Objection | None = None) -> Asking:
        """A callback that answers with these models, whose events go to `observe`; `objection` says which may not."""
        return Asking(self, observe, objection)

    async def answer(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        """The answers, each in the place of its question; to cancel it cancels the requests."""
        import asyncio

        running, watch = self._start(), Watch(self._observe or _nobody, _nothing)
        future = running.portal.start_task_soon(_answer_all, running.lines, tuple(asks), watch)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Cancels requests that are under way, and closes the connections; it opens again when it is asked again."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()

    async def aclose(self) -> None:
        """Like `close`, without blocking the loop."""
        import asyncio

        await asyncio.to_thread(self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"Access({', '.join(self._profiles)})"

    def _start(self) -> _Running:
        with self._lock:
            if self._running is None:
                self._running = _run(self._profiles, partial(Line, key_of=self._key_of, allowed=self._allowed))
                finalize(self, self._running.stop)
            return self._running


@dataclass(frozen=True, slots=True)
class Asking:
    """A callback that answers with the models of an access, and says whose they are."""

    access: Access
    observe: Observe | None = None
    objection: Objection | None = None

    @property
    def vendors(self) -> frozenset[str]:
        return self.access.vendors

    def reader(self, profile: str) -> ReadingLimits | None:
        return self.access.reader(profile)

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return self.access.answer_now(asks, observe=self.observe, objection=self.objection)


@dataclass(frozen=True, slots=True)
class Watch:
    """An observer of questions, and an objection that may forbid one."""

    observe: Observe
    objection: Objection


def _run(profiles: dict[str, Profile], line_to: Callable[[Profile], Line]) -> _Running:
    from anyio.from_thread import start_blocking_portal

    stack = ExitStack()
    portal = stack.enter_context(start_blocking_portal(name=_THREAD))
    lines = {name: portal.call(line_to, profile) for name, profile in profiles.items()}
    stack.callback(_hang_up, portal, lines)
    return _Running(portal, lines, stack.close)


def _hang_up(portal: BlockingPortal, lines: dict[str, Line]) -> None:
    async def close() -> None:
        for line in lines.values():
            await line.close()
        await portal.stop(cancel_remaining=True)

    portal.call(close)


async def _answer_all(lines: dict[str, Line], asks: Sequence[Ask], watch: Watch) -> tuple[Answer, ...]:
    from anyio import create_task_group

    answers: list[Answer] = [Failure("it was not asked")] * len(asks)

    async def put(position: int, ask: Ask) -> None:
        answers[position] = await _answer_one(lines, ask, watch)

    async with create_task_group() as group:
        for position, ask in enumerate(asks):
            group.start_soon(put, position, ask)
    return tuple(answers)


async def _answer_one(lines: dict[str, Line], ask: Ask, watch: Watch) -> Answer:
    if ask.profile and ask.profile not in lines:
        known = ", ".join(lines)
        return Failure(f"there is no profile {ask.profile!r}; known: {known}", "unconfigured")
    order = sorted(lines.values(), key=lambda line: bool(ask.profile) and line.profile.name != ask.profile)
    failures: list[tuple[str, Failure]] = []
    for line in order:
        profile = line.profile
        about: dict[str, Json] = {"profile": profile.name, "vendor": profile.vendor, "model": profile.model}

        def retried(trouble: Trouble, about: dict[str, Json] = about) -> None:
            watch.observe(Event("handler_retried", {**about, "kind": trouble.kind, "reason": trouble.reason}))

        answer: Answer
        if reason := watch.objection(profile, ask, order[0].profile):
            answer = Failure(reason, "quota")
        else:
            watch.observe(Event("handler_selected", {**about, "fallback": bool(failures)}))
            answer = await line.ask(ask, retried)
        if not isinstance(answer, Failure):
            return answer
        watch.observe(Event("handler_failed", {**about, "kind": answer.kind, "reason": answer.reason}))
        failures.append((profile.name, answer))
    reason = "; ".join(f"{name}: {failure.reason}" for name, failure in failures)
    # A smaller question may be answered by the one that this was too long for.
    kinds = [failure.kind for _, failure in failures]
    return Failure(reason, "overflow" if "overflow" in kinds else kinds[0], final=True)


def _nobody(_: Event) -> None:
    """Watches nothing."""


def _nothing(*_: object) -> str:
    """Objects to nothing."""
    return ""
