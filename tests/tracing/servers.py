"""Servers that behave badly, and a wait for what happens on other threads."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread


def eventually(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def dead_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def raw_server(handle: Callable[[socket.socket, Event], None]) -> Iterator[str]:
    """Handles each connection on a thread of its own, until the end."""
    ending = Event()
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[Thread] = []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            handle(connection, ending)

    def accept() -> None:
        with suppress(OSError):
            while not ending.is_set():
                connection, _ = listener.accept()
                threads.append(Thread(target=serve, args=(connection,), daemon=True))
                threads[-1].start()

    accepting = Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ending.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join(5)
        for thread in threads:
            thread.join(5)


def drip_headers(connection: socket.socket, ending: Event) -> None:
    """A byte every tenth of a second, and the header never ends."""
    connection.recv(65536)
    for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"z" * 1000:
        if ending.wait(0.1):
            return
        connection.sendall(bytes((byte,)))


def read_request(connection: socket.socket) -> tuple[bytes, bytes]:
    """The head and the body of a request."""
    with connection.makefile("rb") as stream:
        lines = list(iter(stream.readline, b"\r\n"))
        sizes = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length")]
        return b"".join(lines), stream.read(sizes[0])
