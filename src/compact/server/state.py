"""What the server holds while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock, RLock
from typing import Annotated, Any, Final, TypeAlias, TypeVar, cast

from fastapi import Depends, Request

from compact.messages import Json
from compact.settings.server import ServerSettings

LOCAL: Final = frozenset({"127.0.0.1", "[::1]", "localhost"})
"""The hosts that a server on this machine is asked for."""
_WAITING: Final = 256
_EVENT_SECONDS: Final = 0.5

T = TypeVar("T")


def new_token() -> str:
    """A token of 256 random bits."""
    return token_urlsafe(32)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that is bound to the host."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class _End:
    """What a subscriber gets last."""


@dataclass(eq=False, slots=True)
class _Subscriber:
    """Somebody who listens to a topic, on the loop it listens on."""

    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[Json | _End] = field(default_factory=lambda: asyncio.Queue(_WAITING))

    async def heard(self) -> AsyncIterator[Json]:
        while not isinstance(value := await self.queue.get(), _End):
            yield value

    def put(self, value: Json | _End) -> None:
        if self.queue.full():
            self.queue.get_nowait()  # who reads too slowly loses the oldest
        self.queue.put_nowait(value)


class Events:
    """Tells whoever listens to a topic what happens; may be used from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._topics: dict[str, set[_Subscriber]] = {}
        self._ended = False

    def publish(self, topic: str, value: Json) -> None:
        """Tell the value to everybody who listens now; nobody waits for anybody."""
        with self._lock:
            listening = list(self._topics.get(topic, ()))
        for one in listening:
            if not one.loop.is_closed():
                one.loop.call_soon_threadsafe(one.put, value)

    def end(self) -> None:
        """Tell everybody who listens that there will be no more."""
        with self._lock:
            self._ended = True
            listening = [one for topic in self._topics.values() for one in topic]
        for one in listening:
            if not one.loop.is_closed():
                one.loop.call_soon_threadsafe(one.put, _End())

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[AsyncIterator[Json]]:
        """What is published from now on, until the end of `async with` or of the server."""
        one = _Subscriber(asyncio.get_running_loop())
        with self._lock:
            self._topics.setdefault(topic, set()).add(one)
            if self._ended:
                one.put(_End())
        try:
            yield one.heard()
        finally:
            with self._lock:
                left = self._topics[topic]
                left.discard(one)
                if not left:
                    del self._topics[topic]


class Stopping:
    """Tells answers under way that the server stops, and that they must end now."""

    def __init__(self) -> None:
        self.now = False
        self._until = 0.0
        self._answering: set[asyncio.Task[Any]] = set()
        self._waiting: dict[asyncio.Timeout, bool] = {}

    def cut(self) -> None:
        """End all of them; called on the loop they are on."""
        self.now = True
        self._until = asyncio.get_running_loop().time() + _EVENT_SECONDS
        for task in list(self._answering):
            task.cancel()
        for wait, inside in list(self._waiting.items()):
            wait.reschedule(self._until if inside else 0)

    @contextmanager
    def cancelling(self, task: asyncio.Task[Any]) -> Iterator[None]:
        """While the block lasts, the task is cancelled where the server stops."""
        self._answering.add(task)
        try:
            yield
        finally:
            self._answering.discard(task)

    async def events(self, pieces: AsyncIterator[bytes], closing: bytes) -> AsyncIterator[bytes]:
        """The pieces of a stream as they arrive; if the server stops before the last, the closing event ends them.

        An event that has begun gets a moment to end.
        """
        inside = False
        while inside or not self.now:
            wait = asyncio.timeout_at(self._until if self.now else None)
            try:
                async with wait:
                    self._waiting[wait] = inside
                    piece = await anext(pieces, None)
            except TimeoutError:
                break
            finally:
                self._waiting.pop(wait, None)
            if piece is None:
                return
            yield piece
            inside = not piece.endswith((b"\n\n", b"\r\n\r\n"))
        yield closing


class ServerState:
    """Everything the server's routes share; `request.app.state.compact`.

    `hosts` are the names under which the server may be asked for. Services are made when they are first asked for and
    closed with the server.
    """

    def __init__(
        self,
        home: Path,
        *,
        token: str = "",
        hosts: Collection[str] = LOCAL,
        settings: ServerSettings | None = None,
        page: Path | None = None,
    ) -> None:
        self.home = home
        self.settings = settings or ServerSettings()
        self.token = token or self.settings.token or new_token()
        self.hosts = frozenset(host.lower() for host in hosts) | {host.lower() for host in self.settings.hosts}
        self.page = page or Path(__file__).with_name("page")
        self.events = Events()
        self.stopping = Stopping()
        self._services: dict[str, object] = {}
        self._making = RLock()
        self._open = ExitStack()

    def service(self, name: str, make: Callable[[ServerState], T]) -> T:
        """The service of that name, made at the first call; one that has a `close` is closed with the server."""
        with self._making:
            if name not in self._services:
                made = make(self)
                self._services[name] = made
                if callable(close := getattr(made, "close", None)):
                    self._open.callback(close)
            return cast("T", self._services[name])

    def close(self) -> None:
        """Close the services, the last one first."""
        with self._making:
            self._open.close()
            self._services.clear()


def state_of(request: Request) -> ServerState:
    """The state of the server that was asked: a dependency of routes."""
    return cast("ServerState", request.app.state.compact)


State: TypeAlias = Annotated[ServerState, Depends(state_of)]
"""The parameter of a route that needs it."""
