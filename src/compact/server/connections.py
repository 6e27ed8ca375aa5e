"""Connections to the server: how many there are, and how long each may take to say what it wants.

All of this comes before a token is looked at, so it holds for everybody. uvicorn limits none of it.
"""

from __future__ import annotations

import json
from asyncio import TimerHandle, Transport
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from compact.server.security import Refusal, error_body
from compact.settings.server import ServerSettings

_MOST: Final = 4096
_LEAST: Final = 8
_FILES: Final = 64
"""Open files that are no connections: stores, databases, logs."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What is asked of every connection."""

    connections: int
    idle_upstream: int
    head_bytes: int
    head_seconds: float
    stalled_seconds: float


def limits_of(settings: ServerSettings) -> Limits:
    """The limits of a server in this process."""
    # A request may need a connection to its vendor, and some of those stay open for the next.
    room = (_open_files() - _FILES) * 4 // 9
    connections = settings.max_connections or max(_LEAST, min(_MOST, room))
    idle = max(1, min(256, connections // 4))
    return Limits(connections, idle, settings.head_bytes, settings.head_seconds, settings.body_seconds)


def _open_files() -> int:
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return 1 << 16
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1 << 16 if soft == resource.RLIM_INFINITY else soft


class Connection(HttpToolsProtocol):
    """A connection that must say in time, and in few words, what it wants.

    It is *waiting* while no request of its is being answered: before its first one, or between two.
    """

    limits: Limits
    """Set by `connections`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head, self._head = True, 0
        self._late: TimerHandle | None = None
        self._stalled: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections and not self._make_room():
            most = self.limits.connections
            self.refuse(Refusal(503, f"the server has {most:,} connections already", _more("COMPACT_MAX_CONNECTIONS")))
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.waiting and self._late is None:
            self._await_head()
        # No more of a head is looked at than it may be long.
        room = max(0, self.limits.head_bytes - self._head) if self._in_head else len(data)
        self._head += len(data) if self._in_head else 0
        if room:
            super().data_received(data[:room])
        if len(data) <= room or self.transport.is_closing():
            return
        if self._in_head:
            problem = f"the head of the request is longer than {self.limits.head_bytes:,} bytes"
            self.refuse(Refusal(431, problem, f"Send fewer headers. {_more('COMPACT_HEAD_BYTES')}"))
        else:
            super().data_received(data[room:])

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._head = True, 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._head and self.waiting and self._late is None and not self.transport.is_closing():
            self._await_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stalled is None:
            self._stalled = self.loop.call_later(self.limits.stalled_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self.refuse(Refusal(400, msg.rstrip("."), "Send HTTP/1.1."))

    def _unsupported_upgrade_warning(self) -> None:
        """Log nothing: the client gets a 426."""

    @property
    def waiting(self) -> bool:
        """Whether there is no request to be answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def refuse(self, refusal: Refusal) -> None:
        """Say why, and hang up."""
        self._stop_waiting()
        body = json.dumps(error_body("Refused", str(refusal), remedy=refusal.remedy)).encode()
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[refusal.status] + head + body)
        self.transport.close()

    @property
    def turn(self) -> tuple[bool, float]:
        """When it is closed for another one: first those that have begun, then those that rest, each by their age."""
        timer = self._late or self.timeout_keep_alive_task
        return self._late is None, timer.when() if timer is not None else 0.0

    def _make_room(self) -> bool:
        """Close the connection that has waited longest; False where all are at work."""
        others = [one for one in self.connections if isinstance(one, Connection) and one is not self]
        waiting = [one for one in others if one.waiting and not one.transport.is_closing()]
        if not waiting:
            return False
        min(waiting, key=attrgetter("turn")).transport.abort()
        return True

    def _await_head(self) -> None:
        self._late = self.loop.call_later(self.limits.head_seconds, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _hang_up(self) -> None:
        self._late = None
        if not self._head:  # a browser that connected in advance
            self.transport.close()
            return
        problem = f"the head of the request did not arrive within {self.limits.head_seconds:g} seconds"
        self.refuse(Refusal(408, problem, f"Try again. {_more('COMPACT_HEAD_SECONDS')}"))


def connections(limits: Limits) -> type[Connection]:
    """The connections of a server with these limits."""
    return type("Connection", (Connection,), {"limits": limits})


def _more(variable: str) -> str:
    return f"The operator can set {variable}."
