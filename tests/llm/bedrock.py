"""Bedrock's Converse API, as far as a summary needs it, at an address of this machine."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Literal

Way = Literal["whole", "cut", "hang", "drip"]


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: what is sent, and how the line behaves."""

    body: bytes
    status: int = 200
    kind: str = ""
    way: Way = "whole"


def converse(text: str, stop: str = "end_turn") -> Said:
    """An answer of the model's."""
    answer = {
        "output": {"message": {"role": "assistant", "content": [{"text": text}] if text else []}},
        "stopReason": stop,
        "usage": {"inputTokens": 20, "outputTokens": 5, "totalTokens": 25, "cacheReadInputTokens": 7},
        "metrics": {"latencyMs": 1},
    }
    return Said(json.dumps(answer).encode())


def error(status: int, kind: str, message: str) -> Said:
    """An answer of Amazon's."""
    return Said(json.dumps({"message": message}).encode(), status, kind)


@dataclass
class FakeBedrock:
    """Gives its answers in turn, the last one again and again."""

    answers: list[Said]
    requests: list[tuple[str, Mapping[str, str], Any]] = field(default_factory=list)
    url: str = ""

    def next(self) -> Said:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def bedrock(*answers: Said) -> Iterator[FakeBedrock]:
    fake = FakeBedrock(list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
            fake.requests.append((self.path, dict(self.headers.items()), body))
            said = fake.next()
            if said.way == "hang":
                time.sleep(20)
                self.close_connection = True
                return
            self.send_response(said.status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(said.body)))
            if said.kind:
                self.send_header("x-amzn-errortype", said.kind)
            self.end_headers()
            self._write(said)

        def _write(self, said: Said) -> None:
            if said.way == "drip":
                for byte in said.body:
                    time.sleep(0.1)
                    self.wfile.write(bytes((byte,)))
            elif said.way == "cut":
                self.wfile.write(said.body[: len(said.body) // 2])
            else:
                self.wfile.write(said.body)
            self.close_connection = said.way != "whole"

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that hangs up is no failure
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        fake.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()
