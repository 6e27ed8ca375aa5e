"""Running the server: where it listens, until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import math
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from time import monotonic, sleep
from types import FrameType
from typing import Final

import uvicorn

from compact.errors import InvalidConfiguration
from compact.server.app import create_app
from compact.server.connections import connections, limits_of
from compact.server.state import ServerState, is_loopback

HOST: Final = "127.0.0.1"
_STARTING: Final = 20.0
_LEAVING: Final = 2.0
"""Seconds in which a client must have taken the end of its answer."""
_IDLE: Final = 75
_TURN: Final = 0.0005
# What the server does on purpose, and says elsewhere if it matters.
_NO_NEWS: Final = (
    "ASGI callable returned without completing response.",
    "Cancel %s running task(s), timeout graceful shutdown exceeded",
)


def check_host(host: str, state: ServerState) -> None:
    """Refuse to listen to other machines with a token that nobody chose."""
    if not is_loopback(host) and not state.settings.token:
        raise InvalidConfiguration(
            f"{host} can be reached by other machines, and there is no token of your own",
            field="--host",
            remedy="Set COMPACT_TOKEN to a secret of at least 16 characters, or stay with 127.0.0.1.",
        )


def listen(host: str, port: int) -> socket.socket:
    """A socket at that address; InvalidConfiguration says why there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches off the delay of small packets only where the protocol is named.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host.strip("[]"), port))
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            problem, remedy = f"port {port} is taken", "Choose another one with --port, or stop what listens there."
        else:
            problem, remedy = f"cannot listen at {host}:{port}: {error.strerror or error}", "Choose another address."
        raise InvalidConfiguration(problem, field="--port", remedy=remedy) from None
    return bound


def address_of(bound: socket.socket) -> str:
    """The address at which a browser finds the server."""
    host, port = bound.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        host = HOST
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def serve(state: ServerState, bound: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until interrupted; `ready` is called once requests are answered."""
    server = _Server(state, ready)
    settle()
    # uvicorn passes the signal on once it has closed everything.
    with suppress(KeyboardInterrupt):
        server.run(sockets=[bound])


def settle() -> None:
    """Make this process one that serves: nothing holds up its requests that need not."""
    # What is loaded by now stays to the end: no collection of garbage need look at it.
    gc.collect()
    gc.freeze()
    # The loop has its turn after that long, however many threads are compacting.
    sys.setswitchinterval(_TURN)


@contextmanager
def running(state: ServerState, host: str = HOST, port: int = 0) -> Iterator[str]:
    """A server on a thread of its own, for as long as the block lasts; gives its address."""
    server = _Server(state)
    bound = listen(host, port)
    thread = Thread(target=server.run, kwargs={"sockets": [bound]}, name="compact server", daemon=True)
    thread.start()
    until = monotonic() + _STARTING
    while not server.started and thread.is_alive() and monotonic() < until:
        sleep(0.005)
    try:
        if not server.started:
            raise RuntimeError("the server did not start; its log says why")
        yield address_of(bound)
    finally:
        server.should_exit = True
        thread.join(_STARTING)
        bound.close()


class _Server(uvicorn.Server):
    """uvicorn's server, which tells when it has started, and lets answers end when it stops."""

    def __init__(self, state: ServerState, ready: Callable[[], None] | None = None) -> None:
        super().__init__(_config(state))
        self._state = state
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and self._ready is not None:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop, patience = asyncio.get_running_loop(), self._state.settings.stop_seconds
        self._state.events.end()
        loop.call_later(patience, self._state.stopping.cut)
        loop.call_later(patience + _LEAVING / 2, self._hang_up)
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:  # asked twice: nothing is lost that a crash would not lose, and stores survive that
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        super().handle_exit(sig, frame)

    def _hang_up(self) -> None:
        for connection in list(self.server_state.connections):
            if transport := getattr(connection, "transport", None):
                transport.close()


def _is_news(record: logging.LogRecord) -> bool:
    """Whether it has not been told: where an answer breaks off on purpose, the gateway's log says why."""
    cancelled = record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError)
    return record.msg not in _NO_NEWS and not cancelled


def _config(state: ServerState) -> uvicorn.Config:
    logging.getLogger("httpx2").setLevel(logging.WARNING)  # it would log every address that is asked
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    limits = limits_of(state.settings)
    return uvicorn.Config(
        create_app(state),
        http=connections(limits),
        # So many are accepted in one turn, before any of them can be looked at.
        backlog=limits.connections,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_IDLE,
        timeout_graceful_shutdown=math.ceil(state.settings.stop_seconds + _LEAVING),
    )
