from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConfiguration
from compact.ports import Event
from compact.ports.spans import Span
from compact.redaction import Redactor
from compact.testing.ariadne import LIMIT, FakeAriadne, ingest
from compact.tracing import AriadneExporter, Tracer, trace_id_of
from compact.tracing.ariadne import _joined, _written
from compact.tracing.capture import capture, writable
from compact.tracing.complaints import QUIET, Complaints
from compact.tracing.post import Address, Post, PostError
from tests.tracing.servers import dead_port, drip_headers, eventually, raw_server, read_request

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, UTC)


def span(number: int = 0, data: Mapping[str, Any] | None = None) -> Span:
    return Span("ab" * 16, f"{number:016x}", None, "compact.archival", "compaction", NOW, NOW, "ok", data or {})


def test_spans_arrive_whole() -> None:
    with FakeAriadne() as viewer:
        tracer = Tracer([AriadneExporter(viewer.url, headers={"x-api-key": "k"})])
        tracer.emit("s1", Event("compact.trigger_decision", {"triggered": True, "reason": None, "list": [None]}))
        assert eventually(lambda: len(viewer.spans) == 1)
        tracer.emit("s1", Event("compact.condensed", {"tokens_before": 9}, seconds=0.25))
        tracer.close()
        first, whole = viewer.spans
        assert (first["name"], first["trace_id"]) == ("compact.trigger_decision", trace_id_of("s1"))
        assert first["data"] == {"triggered": True, "list": ["null"], "session_id": "s1"}
        assert first["parent_id"] == whole["span_id"]
        assert "parent_id" not in whole
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", whole["started_at"])
        took = datetime.fromisoformat(whole["ended_at"]) - datetime.fromisoformat(whole["started_at"])
        assert took.total_seconds() >= 0.25
        assert [(trace["name"], trace["group_id"]) for trace in viewer.traces] == [("s1", "s1")] * 2
        assert [(request.status, request.headers["x-api-key"]) for request in viewer.requests] == [(200, "k")] * 2
        assert b"null," not in viewer.requests[0].body


def test_spans_arrive_within_200_milliseconds() -> None:
    delays = []
    with FakeAriadne() as viewer:
        tracer = Tracer([AriadneExporter(viewer.url)])
        for number in range(1, 8):
            began = time.monotonic()
            tracer.emit("s1", Event("compact.token_estimate"))
            assert eventually(lambda number=number: len(viewer.spans) == number)  # type: ignore[misc]  # bound here
            delays.append(time.monotonic() - began)
        tracer.close()
    # The median: other work on the machine may hold up one or another.
    assert sorted(delays)[3] < 0.2


def test_secrets_are_gone_before_a_byte_is_sent() -> None:
    secret = "ghp_" + "a1B2c3" * 6
    with FakeAriadne() as viewer:
        tracer = Tracer([AriadneExporter(viewer.url)], Redactor().json)
        tracer.emit("s1", Event("compact.summary_created", {"summary": f"token {secret} " + "long " * 100_000}))
        tracer.close()
        assert len(viewer.spans) == 1
        assert secret.encode() not in b"".join(request.body for request in viewer.requests)


def test_bodies_are_split_below_the_limit() -> None:
    with FakeAriadne() as viewer:
        exporter = AriadneExporter(viewer.url)
        for number in range(40):
            exporter.emit(span(number, {"text": "é" * 20_000}))
        assert exporter.flush(10)
        exporter.close()
        assert {request.status for request in viewer.requests} == {200}
        assert max(len(request.body) for request in viewer.requests) <= LIMIT
        assert sorted(one["span_id"] for one in viewer.spans) == [f"{number:016x}" for number in range(40)]


def test_a_span_that_is_too_large_is_cut_where_it_is_largest() -> None:
    with FakeAriadne() as viewer:
        exporter = AriadneExporter(viewer.url)
        exporter.emit(span(1, {"small": "kept", "nested": {"summary": '"\n' * 400_000}}))
        exporter.emit(span(2, {f"{number}{'k' * 2000}": "\0" * 3000 for number in range(200)}))
        assert exporter.flush(10)
        exporter.close()
        first, second = sorted(viewer.spans, key=itemgetter("span_id"))
        assert first["data"]["small"] == "kept"
        assert re.fullmatch(r'(?:"\n)+"?… \[\d+ characters cut\]', first["data"]["nested"]["summary"])
        assert second["data"] == {"truncated": "the data was too large to be sent"}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=300),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(st.characters(codec=None)), inner, max_size=5),
    max_leaves=30,
)


@given(st.dictionaries(st.text(st.characters(codec=None)), values, max_size=8))
def test_the_viewer_takes_whatever_the_data(data: dict[str, Any]) -> None:
    events, problem = ingest(_joined([_written(span(1, writable(capture(data))), NOW)]))
    assert ([event["type"] for event in events], problem) == (["trace", "span"], "")


def test_one_bad_event_loses_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    gate = threading.Event()

    def respond(body: bytes) -> int | None:
        gate.wait(5)
        return 400 if b"poison" in body else None

    with FakeAriadne(respond) as viewer:
        exporter = AriadneExporter(viewer.url)
        exporter.emit(span(0))
        time.sleep(0.05)
        for number in range(1, 10):
            exporter.emit(span(number, {"text": "poison" if number == 4 else "fine"}))
        gate.set()
        assert exporter.flush(5)
        exporter.close()
        assert [int(one["span_id"], 16) for one in viewer.spans] == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert exporter.lost == 1
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(f"[Ariadne] {viewer_url(told[0])} answered 400")
    assert told[1:] == ["[Ariadne] 1 span was lost"]


def viewer_url(line: str) -> str:
    return line.split()[1]


@pytest.mark.clock
def test_a_dripping_server_is_given_up_within_two_seconds_and_blocks_nobody(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with raw_server(drip_headers) as url:
        post = Post(Address(url))
        began = time.monotonic()
        with pytest.raises(PostError, match="no answer in time"):
            post.send(b"{}", "application/json")
        assert 1.5 < time.monotonic() - began <= 2.0
        post.close()
        tracer = Tracer([AriadneExporter(url)])
        tracer.emit("s", Event("first"))
        time.sleep(0.05)
        began = time.monotonic()
        for _ in range(100):
            tracer.emit("s", Event("e"))
        assert time.monotonic() - began < 0.1
        began = time.monotonic()
        tracer.close()
        assert time.monotonic() - began <= 2.2
    assert capsys.readouterr().err.startswith(f"[Ariadne] {url}/ingest: ")


@pytest.mark.clock
def test_a_name_that_is_never_found_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ending = threading.Event()

    def looking(*_: object, **__: object) -> list[Any]:
        ending.wait(10)
        raise OSError("no such name")

    monkeypatch.setattr(socket, "getaddrinfo", looking)
    post = Post(Address("http://viewer.invalid"), 0.3)
    for _ in range(2):
        began = time.monotonic()
        with pytest.raises(PostError):
            post.send(b"{}", "application/json")
        assert time.monotonic() - began <= 0.3
    monkeypatch.undo()
    ending.set()
    post.close()


def test_a_dead_port_is_told_once_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    exporter = AriadneExporter(f"http://127.0.0.1:{dead_port()}/?key=secret")
    for number in range(20):
        exporter.emit(span(number))
        assert exporter.flush(5)
    exporter.close()
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert re.fullmatch(r"\[Ariadne\] http://127\.0\.0\.1:\d+/ingest: .*refused.*", told[0])
    assert told[1] == "[Ariadne] 20 spans were lost"
    assert exporter.lost == 20


def test_redirects_are_not_followed(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeAriadne() as other:

        def redirect(connection: socket.socket, ending: threading.Event) -> None:
            read_request(connection)
            answer = f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {other.url}/ingest\r\nContent-Length: 0\r\n\r\n"
            connection.sendall(answer.encode())

        with raw_server(redirect) as url:
            exporter = AriadneExporter(url, headers={"x-api-key": "secret"})
            exporter.emit(span())
            assert exporter.flush(5)
            exporter.close()
        assert other.requests == []
    assert "answered 307: redirects are not followed" in capsys.readouterr().err


def test_overflow_drops_the_oldest(capsys: pytest.CaptureFixture[str]) -> None:
    gate = threading.Event()

    def respond(body: bytes) -> int | None:
        gate.wait(5)
        return None

    with FakeAriadne(respond) as viewer:
        exporter = AriadneExporter(viewer.url, capacity=10, deadline=5)
        exporter.emit(span(0))
        time.sleep(0.1)
        for number in range(1, 31):
            exporter.emit(span(number))
        gate.set()
        assert exporter.flush(5)
        exporter.close()
        assert sorted(int(one["span_id"], 16) for one in viewer.spans) == [0, *range(21, 31)]
    assert exporter.lost == 20
    assert "the oldest are dropped" in capsys.readouterr().err


def test_a_server_that_fails_for_all_is_asked_once_a_body() -> None:
    with FakeAriadne(lambda body: 503) as viewer:
        exporter = AriadneExporter(viewer.url)
        exporter.emit(span())
        assert exporter.flush(5)
        exporter.close()
        assert len(viewer.requests) == 1
    assert exporter.lost == 1


def test_a_server_that_dies_between_single_spans_is_not_waited_for_again() -> None:
    seen: list[int] = []

    def respond(body: bytes) -> int | None:
        seen.append(1)
        if len(seen) == 1:
            time.sleep(0.2)
            return None
        return 400 if len(seen) == 2 else 503

    with FakeAriadne(respond) as viewer:
        exporter = AriadneExporter(viewer.url)
        exporter.emit(span(0))
        time.sleep(0.05)
        for number in range(1, 6):
            exporter.emit(span(number))
        assert exporter.flush(5)
        exporter.close()
        assert len(viewer.requests) == 3
    assert exporter.lost == 5


def test_a_burst_ends_when_it_has_been_quiet_for_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    complaints = Complaints("[x]", lambda: now[0])
    complaints.failed("one\x1b[31m", 1)
    complaints.worked()
    complaints.failed("two", 1)
    now[0] += QUIET
    complaints.worked()
    complaints.failed("three")
    complaints.close()
    assert capsys.readouterr().err.splitlines() == [
        "[x] one\\x1b[31m; further failures are counted only",
        "[x] 2 spans were lost",
        "[x] three; further failures are counted only",
    ]


@pytest.mark.parametrize(
    "url", ["", "viewer", "ftp://x", "http://", "http://a b", "http://x:99999", "http://me:pass@x", "http://x\r\ny"]
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(InvalidConfiguration, match="ariadne"):
        AriadneExporter(url)


def test_a_header_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="headers"):
        AriadneExporter(headers={"x": "a\r\nb: c"})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://x:1", "http://x:1/ingest"),
        ("http://x/", "http://x/ingest"),
        ("https://x/viewer/ingest?key=1", "https://x/viewer/ingest"),
    ],
)
def test_the_path_is_added_once_and_the_query_not_shown(url: str, shown: str) -> None:
    assert str(Address(url).below("/ingest")) == shown


EXIT = """
import sys
from compact.ports import Event
from compact.tracing import AriadneExporter, Tracer
tracer = Tracer([AriadneExporter(sys.argv[1], deadline=float(sys.argv[2]))])
for n in range(200): tracer.emit("s", Event("e", {"n": n}))
"""


def test_the_end_of_the_program_sends_what_is_left() -> None:
    with FakeAriadne() as viewer:
        subprocess.run([sys.executable, "-c", EXIT, viewer.url, "10"], timeout=20, check=True)
        assert sorted(one["data"]["n"] for one in viewer.spans) == list(range(200))


@pytest.mark.clock
def test_the_end_of_the_program_waits_for_nobody_longer_than_two_seconds() -> None:
    with raw_server(drip_headers) as url:
        idle = time.monotonic()
        nothing = [sys.executable, "-c", EXIT.replace("range(200)", "range(0)"), url, "2"]
        subprocess.run(nothing, timeout=20, check=True)
        began = time.monotonic()
        command = [sys.executable, "-c", EXIT, url, "2"]
        done = subprocess.run(command, timeout=20, capture_output=True, text=True, check=True)
        assert time.monotonic() - began - (began - idle) <= 3
        assert done.stderr.startswith("[Ariadne] ")


@pytest.mark.clock
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_sends_its_own_and_only_its_own() -> None:
    code = (
        EXIT
        + """
import os
child = os.fork()
tracer.emit("s", Event("e", {"n": "child" if child == 0 else "parent"}))
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    )
    with FakeAriadne() as viewer:
        command = [sys.executable, "-W", "ignore", "-c", code, viewer.url, "10"]
        done = subprocess.run(command, timeout=20, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(str(one["data"]["n"]) for one in viewer.spans) == sorted(
            [*map(str, range(200)), "child", "parent"]
        )


def test_closing_ends_every_thread() -> None:
    with FakeAriadne() as viewer:
        before = set(threading.enumerate())
        tracer = Tracer([AriadneExporter(viewer.url)])
        tracer.emit("s", Event("e"))
        tracer.close()
        ours = [one for one in threading.enumerate() if one.name.startswith("compact tracing") and one not in before]
        for thread in ours:
            thread.join(5)
        assert not any(thread.is_alive() for thread in ours)
