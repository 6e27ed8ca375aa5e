"""HTTP requests that end in time, whatever the other side does."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Event
from typing import Final
from urllib.parse import SplitResult, urlsplit

from compact.errors import InvalidConfiguration
from compact.tracing.line import Line

DEADLINE: Final = 2.0
"""Seconds that a request may take in all: looking up the name, connecting, sending, and hearing the status."""
_MARGIN: Final = 0.2
"""Of the deadline, for threads that are not woken at once."""
_DETAIL: Final = 200


class PostError(OSError):
    """The request had no answer, or not in time."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go, and with which headers; `str` of it gives neither query nor headers away."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    setting: str = field(default="url", repr=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = None
        if not usable or not self.url.isascii() or any(char <= " " for char in self.url):
            raise InvalidConfiguration(
                f"{self.url!r} is no address", field=self.setting, remedy="Write it like http://127.0.0.1:5175."
            )
        if self.parts.username is not None:
            raise InvalidConfiguration(
                "has a name or password in it", field=self.setting, remedy="Pass it in the headers instead."
            )
        for name, value in self.headers.items():
            if not (f"{name}{value}".isprintable() and f"{name}{value}".isascii() and name):
                raise InvalidConfiguration(
                    f"the header {name!r} cannot be sent", field="headers", remedy="Use printable ASCII."
                )

    @property
    def parts(self) -> SplitResult:
        return urlsplit(self.url)

    def below(self, path: str) -> Address:
        """The address with the path at its end, unless it has it already."""
        parts = self.parts
        joined = parts.path.rstrip("/")
        joined = joined if joined.endswith(path) else joined + path
        return Address(parts._replace(path=joined, fragment="").geturl(), self.headers, self.setting)

    def __str__(self) -> str:
        return self.parts._replace(query="", fragment="").geturl()


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, and the beginning of what is said about it."""

    status: int
    detail: str = ""

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300


class Post:
    """Sends one request at a time to an address; redirects are not followed, and proxies not used.

    Timeouts of sockets start again with every byte, and the look-up of a name has none. So another thread does the
    work, and it is left behind when time is up.
    """

    def __init__(self, address: Address, deadline: float = DEADLINE) -> None:
        self._address = address
        self._seconds = deadline - _MARGIN
        self._clerk: Line[_Request] = _clerk()
        self._last: _Request | None = None

    def start(self) -> None:
        self._clerk.start()

    def send(self, body: bytes, content_type: str) -> Answer:
        """The answer to the body; PostError if there is none within the deadline."""
        if self._last is not None and not self._last.done.is_set():
            self._clerk.close()
            self._clerk = _clerk()
        request = self._last = _Request(self._address, body, content_type, time.monotonic() + self._seconds)
        self._clerk.put(request)
        if not request.done.wait(self._seconds):
            # What the thread makes of a line that is cut under it is no answer: half a header reads like a whole one.
            request.give_up()
            raise PostError("no answer in time")
        if request.answer is None:
            raise PostError(request.trouble)
        return request.answer

    def close(self) -> None:
        self._clerk.close()


class _Request:
    """A request under way in the clerk's thread."""

    def __init__(self, address: Address, body: bytes, content_type: str, until: float) -> None:
        self.done = Event()
        self.answer: Answer | None = None
        self.trouble = ""
        self._address = address
        self._body = body
        self._headers = {**address.headers, "Content-Type": content_type, "Connection": "close"}
        self._until = until
        self._connection: HTTPConnection | None = None

    def perform(self) -> None:
        try:
            self._talk()
        except (OSError, HTTPException, ValueError) as error:
            self.trouble = str(error) or type(error).__name__
        finally:
            if self._connection is not None:
                self._connection.close()
            self.done.set()

    def give_up(self) -> None:
        """Wake the thread that waits for the other side."""
        line = self._connection.sock if self._connection is not None else None
        if line is not None:
            # Not the method of a TLS socket, which is not made for two threads.
            with suppress(OSError):
                socket.socket.shutdown(line, socket.SHUT_RDWR)

    def _talk(self) -> None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        parts = self._address.parts
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=left)
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        self._connection.connect()
        if time.monotonic() > self._until:
            raise TimeoutError("no answer in time")
        self._connection.request("POST", target, self._body, self._headers)
        with self._connection.getresponse() as response:
            self.answer = Answer(response.status)
            if response.status >= 400:
                self.answer = Answer(response.status, response.read(_DETAIL).decode("utf-8", "replace"))


def _clerk() -> Line[_Request]:
    return Line("compact tracing: line", _perform)


def _perform(requests: list[_Request]) -> None:
    for request in requests:
        request.perform()
