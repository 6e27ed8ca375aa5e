"""What the server holds while it runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock, RLock
from typing import Annotated, Final, TypeAlias, TypeVar, cast

from fastapi import Depends, Request

from compact.messages import Json
from compact.settings.server import ServerSettings

LOCAL: Final = frozenset({"127.0.0.1", "[::1]", "localhost"})
"""The hosts that a server on this machine is asked for."""
_WAITING: Final = 256

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


@dataclass(eq=False, slots=True)
class _Subscriber:
    """Somebody who listens to a topic, on the loop it listens on."""

    loop: asyncio.AbstractEventLoop
    queue: asyncio.Queue[Json] = field(default_factory=lambda: asyncio.Queue(_WAITING))

    def put(self, value: Json) -> None:
        if self.queue.full():
            self.queue.get_nowait()  # who reads too slowly loses the oldest
        self.queue.put_nowait(value)


class Events:
    """Tells whoever listens to a topic what happens; may be used from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._topics: dict[str, set[_Subscriber]] = {}

    def publish(self, topic: str, value: Json) -> None:
        """Tell the value to everybody who listens now; nobody waits for anybody."""
        with self._lock:
            listening = list(self._topics.get(topic, ()))
        for one in listening:
            if not one.loop.is_closed():
                one.loop.call_soon_threadsafe(one.put, value)

    @asynccontextmanager
    async def subscribe(self, topic: str) -> AsyncIterator[asyncio.Queue[Json]]:
        """A queue of what is published from now on, until the end of `async with`."""
        one = _Subscriber(asyncio.get_running_loop())
        with self._lock:
            self._topics.setdefault(topic, set()).add(one)
        try:
            yield one.queue
        finally:
            with self._lock:
                left = self._topics[topic]
                left.discard(one)
                if not left:
                    del self._topics[topic]


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
