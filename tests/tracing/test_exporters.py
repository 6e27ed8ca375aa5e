from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import agents
import pytest
from agents.tracing import Span as AgentsSpan
from agents.tracing import Trace, TracingProcessor
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtelSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.ports import Event
from compact.ports.spans import Span
from compact.testing.vendors.server import Arrived, Server
from compact.testing.vendors.wire import Answer
from compact.tracing import AgentsSdkExporter, ConsoleExporter, JsonLinesExporter, OtlpExporter, Tracer, trace_id_of
from tests.tracing.servers import dead_port

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_900, UTC)


def span(data: dict[str, Json] | None = None, **changes: Any) -> Span:
    fields = {"trace_id": "ab" * 16, "span_id": "cd" * 8, "parent_id": None, "name": "compact.archival"}
    times = {"started_at": NOW - timedelta(milliseconds=12), "ended_at": NOW}
    return Span(**{**fields, "kind": "compaction", **times, "data": data or {}, **changes})


def test_the_console_gets_a_line_that_cannot_play_tricks(capsys: pytest.CaptureFixture[str]) -> None:
    exporter = ConsoleExporter()
    exporter.emit(span({"path": "a\x1b[2J\nb", "kept": {"pinned": 2}, "summary": "x" * 100}))
    exporter.emit(span({"message": "no"}, name="compact.error", status="error", started_at=NOW - timedelta(seconds=3)))
    assert exporter.flush(0)
    exporter.close()
    assert capsys.readouterr().err.splitlines() == [
        f"03:04:05Z   compact.archival         12.0 ms  path=a\\x1b[2J\\nb kept.pinned=2 summary={'x' * 59}…",
        "03:04:05Z ! compact.error             3.00 s  message=no",
    ]


def test_no_standard_error_is_no_error() -> None:
    code = (
        "import sys; from compact.ports import Event; from compact.tracing import *; sys.stderr = None\n"
        "tracer = Tracer([ConsoleExporter()]); tracer.emit('s', Event('e')); tracer.close()"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=20).returncode == 0


def test_lines_are_appended_to_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "traces" / "spans.jsonl"
    for number in range(2):
        exporter = JsonLinesExporter(path)
        exporter.emit(span({"n": number, "text": "é\n", "null": None}))
        assert exporter.flush(0)
        exporter.close()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines[1] == {
        "type": "span",
        "trace_id": "ab" * 16,
        "span_id": "cd" * 8,
        "kind": "compaction",
        "name": "compact.archival",
        "started_at": "2026-01-02T03:04:05.666900Z",
        "ended_at": "2026-01-02T03:04:05.678900Z",
        "status": "ok",
        "data": {"n": 1, "text": "é\n", "null": None},
    }
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_that_cannot_be_written_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    exporter = JsonLinesExporter(tmp_path / "file" / "spans.jsonl")
    for _ in range(3):
        exporter.emit(span())
    exporter.close()
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert told[0].startswith("[compact] trace file ")
    assert told[1] == "[compact] 3 spans were lost"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    exporter = JsonLinesExporter("/dev/full")
    exporter.emit(span())
    assert "No space left" in capsys.readouterr().err


class Receiver:
    """Takes OTLP in protobuf as Phoenix does, and nothing else."""

    def __init__(self) -> None:
        self.spans: list[OtelSpan] = []
        self.services: set[str] = set()
        self.headers: list[dict[str, str]] = []
        self.server = Server(self._answer)
        self.url = f"http://127.0.0.1:{self.server.port}"

    def _answer(self, arrived: Arrived) -> Answer:
        if arrived.target != "/v1/traces":
            return Answer(404, {}, (b"",))
        if arrived.headers["content-type"] != "application/x-protobuf":
            return Answer(415, {}, (b"",))
        request = ExportTraceServiceRequest.FromString(arrived.body)
        for resource in request.resource_spans:
            self.services |= {pair.value.string_value for pair in resource.resource.attributes}
            self.spans += [one for scope in resource.scope_spans for one in scope.spans]
        self.headers.append(dict(arrived.headers))
        return Answer(200, {}, (b"",))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.server.stop()
    assert receiver.server.failures == []


def value_of(value: Any) -> Any:
    kind = value.WhichOneof("value")
    assert kind is not None
    return [value_of(one) for one in value.array_value.values] if kind == "array_value" else getattr(value, kind)


def test_otlp_receivers_get_real_spans(receiver: Receiver) -> None:
    exporter = OtlpExporter(receiver.url, headers={"authorization": "Bearer x"}, service="my agent")
    tracer = Tracer([exporter])
    tracer.emit("s1", Event("compact.trigger_decision", {"triggered": True, "kept": {"pinned": 2}, "nothing": None}))
    tracer.emit(
        "s1",
        Event(
            "compact.error", {"message": "no", "t": 0.5, "names": ["a"], "mixed": [1, {}], "x": "\ud800"}, failed=True
        ),
    )
    tracer.emit("s1", Event("compact.condensed", {"tokens_before": 2**52}, seconds=0.25))
    tracer.close()
    decision, error, whole = receiver.spans
    assert (decision.trace_id.hex(), len(decision.span_id)) == (trace_id_of("s1"), 8)
    assert decision.parent_span_id == error.parent_span_id == whole.span_id
    assert whole.parent_span_id == b""
    assert whole.end_time_unix_nano - whole.start_time_unix_nano == 250_000_000
    assert {pair.key: value_of(pair.value) for one in receiver.spans for pair in one.attributes} == {
        "compact.triggered": True,
        "compact.kept.pinned": 2,
        "compact.message": "no",
        "compact.t": 0.5,
        "compact.names": ["a"],
        "compact.mixed": "[1,{}]",
        "compact.x": "\ufffd",
        "compact.tokens_before": 2**52,
        "compact.session_id": "s1",
    }
    assert [one.status.code for one in receiver.spans] == [
        Status.STATUS_CODE_OK,
        Status.STATUS_CODE_ERROR,
        Status.STATUS_CODE_OK,
    ]
    assert error.status.message == "no"
    assert receiver.services == {"my agent"}
    assert receiver.headers[0]["authorization"] == "Bearer x"
    assert exporter.lost == 0


def test_otlp_times_are_exact(receiver: Receiver) -> None:
    exporter = OtlpExporter(receiver.url)
    exporter.emit(span({"text": "x" * 3_000_000}))
    assert exporter.flush(5)
    exporter.close()
    assert receiver.spans[0].end_time_unix_nano == 1_767_323_045_678_900_000
    assert receiver.spans[0].ByteSize() <= 1024 * 1024


def test_otlp_failures_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    exporter = OtlpExporter(f"http://127.0.0.1:{dead_port()}")
    exporter.emit(span())
    assert exporter.flush(5)
    exporter.close()
    assert capsys.readouterr().err.startswith("[OTLP] http://127.0.0.1:")
    assert exporter.lost == 1


def test_without_the_extra_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.collector.trace.v1.trace_service_pb2", None)
    with pytest.raises(InvalidConfiguration, match=r'pip install "compact-context\[otlp\]"'):
        OtlpExporter()


class Seen(TracingProcessor):
    def __init__(self) -> None:
        self.spans: list[AgentsSpan[Any]] = []
        self.threads: set[str] = set()

    def on_trace_start(self, trace: Trace) -> None: ...
    def on_trace_end(self, trace: Trace) -> None: ...
    def on_span_start(self, span: AgentsSpan[Any]) -> None: ...

    def on_span_end(self, span: AgentsSpan[Any]) -> None:
        self.threads.add(threading.current_thread().name)
        self.spans.append(span)

    def shutdown(self) -> None: ...
    def force_flush(self) -> None: ...


@pytest.fixture
def seen() -> Iterator[Seen]:
    processor = Seen()
    agents.set_trace_processors([processor])
    yield processor
    agents.set_trace_processors([])


def test_the_agents_sdk_gets_spans_below_the_current_one(seen: Seen) -> None:
    tracer = Tracer([AgentsSdkExporter()], lambda data: {**data, "redacted": True})
    tracer.emit("s1", Event("before the trace"))
    with agents.trace("run") as run, agents.custom_span("turn") as turn:
        tracer.emit("s1", Event("compact.token_estimate", {"t_est": 5}))
        tracer.emit("s1", Event("compact.error", {"message": "no", "error_type": "E"}, failed=True))
        assert tracer.flush(5)
        assert agents.get_current_span() is turn
    tracer.close()
    estimate, error, last = seen.spans
    assert last is turn
    assert (estimate.trace_id, estimate.parent_id) == (run.trace_id, turn.span_id)
    exported = estimate.span_data.export()
    assert exported["name"] == "compact.token_estimate"
    assert {key: exported["data"][key] for key in ("t_est", "redacted", "status")} == {
        "t_est": 5,
        "redacted": True,
        "status": "ok",
    }
    assert error.error == {"message": "no", "data": {"error_type": "E"}}
    assert "compact tracing" in seen.threads


def test_every_thread_has_its_own_trace(seen: Seen) -> None:
    tracer = Tracer([AgentsSdkExporter()])
    expected: dict[str, str] = {}

    def work(name: str) -> None:
        with agents.trace(name) as run:
            expected[name] = run.trace_id
            tracer.emit(name, Event(name))

    workers = [threading.Thread(target=work, args=(f"run-{number}",)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    tracer.close()
    assert {one.span_data.export()["name"]: one.trace_id for one in seen.spans} == expected
