"""An HTTP server on the loopback interface, as correct as a good vendor's and as faulty as a bad line."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from threading import Event, Lock, Thread, current_thread
from types import TracebackType
from typing import Any, Final, Self, cast

from compact.errors import InvalidConfiguration
from compact.testing.vendors.faults import Fault
from compact.testing.vendors.wire import Answer

HOST: Final = "127.0.0.1"
_POLL: Final = 0.02
_PATIENCE: Final = 5
_DRIP: Final = 0.01


@dataclass(frozen=True, slots=True)
class Arrived:
    """A request off the line; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class Server:
    """Serves from the moment it is made until it is stopped."""

    def __init__(self, respond: Callable[[Arrived], Answer]) -> None:
        self._http = _Http(respond)
        self._thread = Thread(target=self._http.serve_forever, args=(_POLL,), name="fake vendors", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._http.server_port

    @property
    def failures(self) -> list[BaseException]:
        """What was raised while answering."""
        return self._http.failures

    def stop(self) -> None:
        """Closes every connection and waits until nothing runs any more."""
        self._http.closing.set()
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join(_PATIENCE)


class Fake:
    """Something at an address of this machine, from `with` to its end."""

    def __init__(self, respond: Callable[[Arrived], Answer]) -> None:
        self._respond_to = respond
        self._server: Server | None = None

    def __enter__(self) -> Self:
        self._server = Server(self._respond_to)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stops the server, closes its connections, and raises what a script raised."""
        server, self._server = self._server, None
        if server is not None:
            server.stop()
            for failure in server.failures:
                raise failure

    @property
    def host(self) -> str:
        return HOST

    @property
    def port(self) -> int:
        if self._server is None:
            remedy = f"Use `with {type(self).__name__}() as server:`."
            raise InvalidConfiguration("is not running", field="server", remedy=remedy)
        return self._server.port

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"


class _Http(ThreadingHTTPServer):
    """The standard library's server, which also knows its open connections."""

    daemon_threads = True
    # As many clients as a test starts at once: one that does not fit waits a second before it knocks again.
    request_queue_size = 128

    def __init__(self, respond: Callable[[Arrived], Answer]) -> None:
        self.respond = respond
        self.closing = Event()
        self.failures: list[BaseException] = []
        self._open: dict[Thread, socket.socket] = {}
        self._lock = Lock()
        super().__init__((HOST, 0), _Handler)

    def server_bind(self) -> None:
        # The standard library's looks up the host's name, which can take seconds and tells us nothing.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        thread = Thread(target=self._serve, args=(request, client_address), name="fake vendor", daemon=True)
        with self._lock:
            self._open[thread] = request
        thread.start()

    def _serve(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._open.pop(current_thread(), None)

    def hang_up(self) -> None:
        with self._lock:
            connections = dict(self._open)
        for connection in connections.values():
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in connections:
            thread.join(_PATIENCE)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 - the standard library's
        error = sys.exc_info()[1]
        # A client that went away is no failure; neither is a connection that we closed.
        if error is not None and not isinstance(error, ConnectionError) and not self.closing.is_set():
            self.failures.append(error)


class _Handler(BaseHTTPRequestHandler):
    """Reads a request, and writes the answer the way its fault wants it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: what was received is recorded."""

    def _serve(self) -> None:
        http = cast("_Http", self.server)
        try:
            body = self._body()
        except ValueError:
            self.send_error(400)
            return
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            known = headers.get(name.lower())
            headers[name.lower()] = value if known is None else f"{known}, {value}"
        answer = http.respond(Arrived(self.command, self.path, headers, body))
        if answer.fault is not None and answer.fault.kind == "hang":
            http.closing.wait(answer.fault.seconds)
            self.close_connection = True
            return
        self._send(answer, http.closing)

    def _body(self) -> bytes:
        """The request's body, by length or in chunks; raises ValueError where neither can be read."""
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            length = int(self.headers.get("content-length") or 0)
            if length < 0:
                raise ValueError("negative length")
            return self.rfile.read(length)
        chunks = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(chunks)

    def _send(self, answer: Answer, closing: Event) -> None:
        fault = answer.fault
        cut = fault is not None and fault.kind == "cut"
        chunks = _cut(answer.chunks, fault.at) if fault is not None and cut else answer.chunks
        clean = fault is None or not cut or fault.clean
        chunked = answer.stream and self.request_version != "HTTP/1.0"
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if chunked:
            self.send_header("transfer-encoding", "chunked")
        elif not answer.stream:
            self.send_header("content-length", str(sum(map(len, chunks if clean else answer.chunks))))
        self.close_connection = self.close_connection or not clean or (answer.stream and not chunked)
        if self.close_connection and clean:
            self.send_header("connection", "close")
        self.end_headers()
        for chunk in _dripping(chunks, fault, closing):
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n" if chunked else chunk)
        if chunked and clean:
            self.wfile.write(b"0\r\n\r\n")


def _cut(chunks: tuple[bytes, ...], at: float) -> tuple[bytes, ...]:
    """The first share of the bytes, in the chunks they came in."""
    left = int(sum(map(len, chunks)) * at)
    kept = []
    for chunk in chunks:
        if left > 0:
            kept.append(chunk[:left])
        left -= len(chunk)
    return tuple(kept)


def _dripping(chunks: tuple[bytes, ...], fault: Fault | None, closing: Event) -> Iterator[bytes]:
    """The chunks, or their bytes one by one with a pause before each."""
    if fault is None or fault.kind != "drip":
        yield from chunks
        return
    for chunk in chunks:
        for byte in chunk:
            if closing.wait(_DRIP if fault.seconds is None else fault.seconds):
                return
            yield bytes((byte,))
