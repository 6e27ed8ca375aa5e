"""A server that answers everything alike, each path in its own way, and remembers what it heard."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True, slots=True)
class Heard:
    """A request; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Listener:
    url: str = ""
    heard: list[Heard] = field(default_factory=list)


@contextmanager
def listening(answers: Mapping[str, object]) -> Iterator[Listener]:
    """The server; what it answers is looked up by how a path begins."""
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            listener.heard.append(Heard(self.path, headers, body))
            found = next((answer for start, answer in answers.items() if self.path.startswith(start)), None)
            said = json.dumps(found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        listener.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield listener
        finally:
            server.shutdown()
            thread.join()
