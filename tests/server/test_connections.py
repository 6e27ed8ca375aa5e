"""What holds for every connection, before anybody has shown a token: so many, so long, and in so many words."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from compact.server.connections import limits_of
from compact.settings.server import ServerSettings
from compact.testing.vendors.wire import Answer
from tests.server.conftest import Recorder, Serve, Served
from tests.server.test_serve import SERVE

NEEDS_PROC = pytest.mark.skipif(sys.platform != "linux", reason="open files and memory are read from /proc: Linux only")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it limits open files as Unix does")
HALF = b"GET /api/health HTTP/1.1\r\nhost: 127.0.0.1\r\nx-half"
TOKEN = "chosen-by-the-operator"


@dataclass(frozen=True)
class Process:
    """A server in a process of its own."""

    url: str
    pid: int

    @property
    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    @property
    def memory(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]) * 4096

    def connect(self, said: bytes = b"") -> socket.socket:
        return connect(self.url, said)


def connect(url: str, said: bytes = b"") -> socket.socket:
    place = urlsplit(url)
    line = socket.create_connection((place.hostname, place.port), timeout=30)
    line.sendall(said)
    return line


def read_all(line: socket.socket) -> bytes:
    """What the server says until it hangs up."""
    with line:
        pieces = []
        try:
            while piece := line.recv(65_536):
                pieces.append(piece)
        except ConnectionResetError:
            pass
        return b"".join(pieces)


@contextmanager
def limited(home: Path, files: int, **settings: str) -> Iterator[Process]:
    """A server that may open so many files."""
    start = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))\n{SERVE}"
    command = [sys.executable, "-c", start, "--no-browser", "--home", str(home), "--port", "0"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COMPACT_")}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env={**kept, "COMPACT_TOKEN": TOKEN, **settings},
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://[\d.:]+", process.stdout.readline())
        assert found
        try:
            yield Process(found[0], process.pid)
        finally:
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")


def slowest(process: Process, requests: int = 20) -> float:
    """The longest that a new client waited for its answer."""
    took = []
    for _ in range(requests):
        begun = time.perf_counter()
        assert httpx2.get(f"{process.url}/api/health", timeout=10).status_code == 200
        took.append(time.perf_counter() - begun)
    return max(took)


@NEEDS_PROC
def test_half_sent_requests_leave_the_server_reachable(tmp_path: Path) -> None:
    with limited(tmp_path, 256) as process, ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(process.connect(HALF))
        assert slowest(process) < 1.0
        assert process.open_files < 150


@NEEDS_PROC
def test_a_head_is_read_no_further_than_it_may_be_long(tmp_path: Path) -> None:
    with limited(tmp_path, 256) as process:
        slowest(process, 1)
        before, sent, line = process.memory, 0, process.connect(b"GET / HTTP/1.1\r\n")
        try:
            while sent < 60_000_000:
                line.sendall(b"x-more: " + b"a" * 60_000 + b"\r\n")
                sent += 60_010
        except OSError:
            pass
        answer = read_all(line)
        assert sent < 20_000_000  # what the buffers of both sides take
        assert process.memory - before < 10_000_000
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert b"longer than 65,536 bytes" in answer
    assert b"COMPACT_HEAD_BYTES" in answer


@pytest.mark.parametrize("headers", [1, 400])
def test_a_head_of_many_bytes_is_refused_in_however_many_headers_they_come(serve: Serve, headers: int) -> None:
    served = serve(head_bytes=4096)
    line = "x: " + "a" * (5_000 // headers) + "\r\n"
    answer = read_all(connect(served.url, f"GET /api/health HTTP/1.1\r\n{line * headers}\r\n".encode()))
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["remedy"].endswith("set COMPACT_HEAD_BYTES.")
    assert served.strange("GET", "/api/health", headers={"x": "a" * 3_000}).status_code == 200


def test_a_body_may_be_longer_than_a_head(serve: Serve) -> None:
    served = serve(head_bytes=1024)
    event = {"type": "span", "trace_id": "long", "span_id": "s", "data": {"text": "a" * 300_000}}
    for _ in range(2):  # twice on one connection
        assert served.ask("POST", "/ingest", json=event).json()["count"] == 1


@pytest.mark.parametrize("before", ["", "GET /api/health HTTP/1.1\r\nhost: {host}\r\n\r\n"])
def test_deadlines_a_head_that_does_not_come(serve: Serve, before: str) -> None:
    served = serve(head_seconds=0.3)
    line = connect(served.url)
    if before:
        line.sendall(before.format(host=urlsplit(served.url).netloc).encode())
        assert line.recv(65_536).startswith(b"HTTP/1.1 200 ")
    begun = time.perf_counter()
    line.sendall(HALF)
    answer = read_all(line)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"within 0.3 seconds" in answer
    assert b"COMPACT_HEAD_SECONDS" in answer
    assert 0.2 < time.perf_counter() - begun < 10


def test_deadlines_a_head_that_drips_gets_no_more_time(serve: Serve) -> None:
    served = serve(head_seconds=0.5)
    line, begun = connect(served.url), time.perf_counter()
    try:
        while time.perf_counter() - begun < 20:
            line.sendall(b"G")
            time.sleep(0.05)
    except OSError:
        pass
    line.close()
    assert time.perf_counter() - begun < 10


def test_deadlines_who_says_nothing_is_hung_up_on_in_silence(serve: Serve) -> None:
    assert read_all(connect(serve(head_seconds=0.2).url)) == b""


def test_deadlines_a_body_that_nobody_wants_does_not_hold_the_connection(serve: Serve) -> None:
    served = serve(head_seconds=0.3)
    head = f"GET /api/health HTTP/1.1\r\nhost: {urlsplit(served.url).netloc}\r\ncontent-length: 1000\r\n\r\n"
    line, begun = connect(served.url, head.encode()), time.perf_counter()
    assert line.recv(65_536).startswith(b"HTTP/1.1 200 ")
    try:
        while time.perf_counter() - begun < 20:
            line.sendall(b" ")
            time.sleep(0.05)
    except OSError:
        pass
    line.close()
    assert time.perf_counter() - begun < 10


def test_deadlines_who_does_not_read_an_answer_is_hung_up_on(serve: Serve, recorder: Recorder) -> None:
    served, size = serve(recorder.url, body_seconds=0.5), 50_000_000
    recorder.answers.append(Answer(200, {"content-type": "text/plain"}, (b"a" * size,)))
    head = f"GET /v1/files HTTP/1.1\r\nhost: {urlsplit(served.url).netloc}\r\nx-api-key: {served.state.token}\r\n\r\n"
    line = connect(served.url, head.encode())
    assert line.recv(1)
    time.sleep(3)  # nothing happens here that could be waited for
    assert len(read_all(line)) < size


def busy(served: Served) -> socket.socket:
    """A request under way: its body is awaited."""
    head = f"POST /ingest HTTP/1.1\r\nhost: {urlsplit(served.url).netloc}\r\nauthorization: Bearer {served.state.token}"
    line = connect(served.url, f"{head}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n".encode())
    line.sendall(b"{")
    return line


def test_where_all_connections_are_at_work_the_next_is_told_so(serve: Serve) -> None:
    served = serve(max_connections=2)
    with busy(served), busy(served):
        answer = b""
        while not answer.startswith(b"HTTP/1.1 503 "):  # until both are known to be at work
            answer = read_all(connect(served.url, HALF))
    told = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert "2 connections already" in told["message"]
    assert "COMPACT_MAX_CONNECTIONS" in told["remedy"]


def test_room_is_made_by_the_oldest_that_waits_and_never_by_one_at_work(serve: Serve) -> None:
    served = serve(max_connections=4)
    body = b'"type": "span", "trace_id": "t", "span_id": "s"}'
    with busy(served) as working, connect(served.url, HALF) as oldest:
        for _ in range(20):
            assert httpx2.get(f"{served.url}/api/health").status_code == 200
        with ExitStack() as stack:
            for _ in range(6):
                stack.enter_context(connect(served.url, HALF))
            assert oldest.recv(100) == b""
            working.sendall(body + b" " * (98 - len(body)))
            assert working.recv(65_536).startswith(b"HTTP/1.1 200 ")


def test_the_limit_on_open_files_leaves_room_for_vendors_and_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        limits = limits_of(ServerSettings())
        assert 2 * limits.connections + limits.idle_upstream + 64 <= 256
        assert limits.connections > 64
        assert limits_of(ServerSettings(max_connections=7)).connections == 7
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@NEEDS_PROC
def test_a_client_that_leaves_in_mid_body_or_mid_answer_is_no_news(tmp_path: Path, recorder: Recorder) -> None:
    answers = [Answer(200, {"content-type": "text/event-stream"}, (b"data: {}\n\n",) * 300_000, stream=True)] * 2
    recorder.answers += answers
    upstream = {"COMPACT_UPSTREAM_OPENAI": f"{recorder.url}/v1", "OPENAI_API_KEY": "sk-any"}
    head = f"host: 127.0.0.1\r\nauthorization: Bearer {TOKEN}\r\ncontent-type: application/json\r\n"
    with limited(tmp_path, 256, **upstream) as process:  # whose log must be empty in the end
        for path in ("/ingest", "/v1/chat/completions", "/v1/embeddings", "/api/inspect"):
            process.connect(f"POST {path} HTTP/1.1\r\n{head}content-length: 99\r\n\r\n{{".encode()).close()
        for path in ("/v1/chat/completions", "/v1/completions"):
            body = json.dumps({"model": "gpt-4o", "stream": True, "messages": [{"role": "user", "content": "Hi"}]})
            said = f"POST {path} HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n{body}"
            with process.connect(said.encode()) as line:
                assert line.recv(1000).startswith(b"HTTP/1.1 200 ")
        assert slowest(process) < 5
        deadline = time.monotonic() + 10
        while process.open_files > 30 and time.monotonic() < deadline:
            time.sleep(0.05)
