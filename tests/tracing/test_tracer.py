from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from compact.ports import Event
from compact.ports.spans import Span
from compact.redaction import Redactor
from compact.tracing import Tracer, trace_id_of
from compact.tracing.capture import DEPTH, NODES, capture, writable
from compact.tracing.line import AWAKE, BATCH, CAPACITY, Line
from tests.tracing.servers import eventually


class Kept:
    """An exporter that keeps what it gets."""

    def __init__(self, gate: threading.Event | None = None) -> None:
        self.spans: list[Span] = []
        self.threads: set[str] = set()
        self.closed = 0
        self.reached = threading.Event()
        self._gate = gate

    def emit(self, span: Span) -> None:
        self.reached.set()
        if self._gate is not None:
            self._gate.wait(10)
        self.threads.add(threading.current_thread().name)
        self.spans.append(span)

    def flush(self, deadline: float) -> bool:
        return True

    def close(self) -> None:
        self.closed += 1


def traced(*events: Event, redact: Any = None) -> list[Span]:
    kept = Kept()
    tracer = Tracer([kept], redact)
    for event in events:
        tracer.emit("s1", event)
    assert tracer.flush(5)
    tracer.close()
    return kept.spans


def test_an_event_is_a_span_that_ended_just_now() -> None:
    (span,) = traced(Event("compact.archival", {"step": 1}, seconds=1.5))
    assert span.trace_id == trace_id_of("s1")
    assert (span.name, span.status, span.parent_id, dict(span.data)) == (
        "compact.archival",
        "ok",
        None,
        {"step": 1, "session_id": "s1"},
    )
    assert span.ended_at - span.started_at == timedelta(seconds=1.5)
    assert abs(datetime.now(UTC) - span.ended_at) < timedelta(seconds=5)
    assert len(bytes.fromhex(span.trace_id)) == 16
    assert len(bytes.fromhex(span.span_id)) == 8


def test_a_session_has_one_trace_always_the_same_and_not_its_name() -> None:
    assert trace_id_of("s1") == "1621678ed1774b6e9ea47c10c72e4add"
    assert trace_id_of("s1") != trace_id_of("s2")
    assert trace_id_of("\ud800")


def test_what_happens_during_a_compaction_is_below_it() -> None:
    spans = traced(
        Event("compact.token_estimate", {"t_est": 1}),
        Event("compact.trigger_decision", {"triggered": True}),
        Event("compact.summary_created", {}, seconds=0.5),
        Event("compact.condensed", {}, seconds=0.75),
        Event("compact.token_estimate", {"t_est": 2}),
        Event("compact.trigger_decision", {"triggered": False}),
    )
    by_name = {span.name: span for span in spans}
    whole = by_name["compact.condensed"]
    assert [span.parent_id for span in spans] == [None, whole.span_id, whole.span_id, None, None, None]
    assert len({span.span_id for span in spans}) == 6


def test_a_compaction_without_an_end_is_told_as_unfinished() -> None:
    spans = traced(
        Event("compact.trigger_decision", {"triggered": True}),
        Event("compact.error", {"message": "no"}, failed=True),
        Event("compact.trigger_decision", {"triggered": True}),
    )
    assert [(span.name, span.status) for span in spans] == [
        ("compact.trigger_decision", "ok"),
        ("compact.error", "error"),
        ("compact.unfinished", "error"),
        ("compact.trigger_decision", "ok"),
        ("compact.unfinished", "ok"),
    ]
    assert [span.parent_id for span in spans] == [
        spans[2].span_id,
        spans[2].span_id,
        None,
        spans[4].span_id,
        None,
    ]


def test_sessions_do_not_share_a_compaction() -> None:
    kept = Kept()
    tracer = Tracer([kept])
    tracer.emit("a", Event("compact.trigger_decision", {"triggered": True}))
    tracer.emit("b", Event("compact.archival", {}))
    tracer.emit("a", Event("compact.condensed", {}))
    tracer.close()
    assert [span.parent_id for span in kept.spans if span.trace_id == trace_id_of("b")] == [None]
    assert kept.closed == 1


def test_values_are_taken_as_they_are_when_the_event_is_emitted() -> None:
    gate = threading.Event()
    kept = Kept(gate)
    tracer = Tracer([kept])
    inner = {"system": 1}
    properties: dict[str, Any] = {"breakdown": inner, "list": [1]}
    tracer.emit("s1", Event("compact.token_estimate", properties))
    inner["system"] = 2
    properties["list"].append(2)
    gate.set()
    tracer.close()
    assert kept.spans[0].data == {"breakdown": {"system": 1}, "list": [1], "session_id": "s1"}


def test_nothing_leaves_before_it_is_redacted() -> None:
    secret = "sk-ant-api03-" + "a1B2" * 20
    (span,) = traced(
        Event("compact.summary_created", {"summary": f"the key is {secret}", "deep": [{"password": "hunter2"}]}),
        redact=Redactor().json,
    )
    assert secret not in str(span.data)
    assert "hunter2" not in str(span.data)
    assert "<REDACTED>" in str(span.data)


def test_what_cannot_be_redacted_does_not_leave(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(value: Any) -> Any:
        raise KeyError("summary")

    spans = traced(Event("a", {"summary": "secret"}), Event("b", {"summary": "secret"}), redact=broken)
    assert [dict(span.data) for span in spans] == [{"redaction_failed": "KeyError"}] * 2
    assert capsys.readouterr().err.count("[compact] tracing:") == 1


class Hostile(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise ZeroDivisionError

    def __iter__(self) -> Any:
        raise ZeroDivisionError

    def __len__(self) -> int:
        return 1


class Words(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise ZeroDivisionError


def test_hostile_values_become_plain_json() -> None:
    deep: Any = "bottom"
    for _ in range(10_000):
        deep = [deep]
    values = {
        "surrogate": "a\ud800b",
        "pair": "\ud83d\ude00",
        "nan": float("nan"),
        "infinite": float("-inf"),
        "huge": 1 << 100_000,
        "large": 2**60,
        "decimal": Decimal("1.10"),
        "object": object(),
        "bytes": b"x",
        "set": {1},
        "words": Words("plain"),
        "null": None,
        7: "seven",
    }
    (span,) = traced(Event("compact.error", {**values, "deep": deep, "wide": list(range(100_000))}))  # type: ignore[dict-item]  # on purpose
    data = dict(span.data)
    assert str(data.pop("deep")).count("[") == DEPTH
    wide = data.pop("wide")
    assert len(wide) < NODES
    assert wide[-1].endswith("more")
    assert data == {
        "surrogate": "a\ufffdb",
        "pair": "\N{GRINNING FACE}",
        "nan": "nan",
        "infinite": "-inf",
        "huge": "<integer of 100001 bits>",
        "large": "1152921504606846976",
        "decimal": "1.10",
        "object": "<object>",
        "bytes": "<bytes>",
        "set": "<set>",
        "words": "plain",
        "null": None,
        "7": "seven",
        "session_id": "s1",
    }


def test_writing_keeps_all_that_was_captured() -> None:
    once = capture({"wide": list(range(10_000)), "more": {str(number): number for number in range(10_000)}})
    assert writable(once) == once


@pytest.mark.parametrize(
    "event",
    [Event("e", Hostile()), Event("e", seconds="x"), Event("e", 5), None, Event("e", seconds=float("nan"))],  # type: ignore[arg-type]  # on purpose
    ids=["mapping", "seconds", "properties", "no event", "nan"],
)
def test_emit_never_raises(event: Any) -> None:
    (span,) = traced(event)
    assert span.started_at == span.ended_at


def test_many_threads_lose_nothing_and_export_on_one() -> None:
    kept = Kept()
    tracer = Tracer([kept])

    def work(number: int) -> None:
        for step in range(100):
            tracer.emit(f"session-{number}", Event("e", {"step": step}))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    tracer.close()
    for number in range(8):
        steps = [span.data["step"] for span in kept.spans if span.trace_id == trace_id_of(f"session-{number}")]
        assert steps == list(range(100))
    assert kept.threads == {"compact tracing"}


def test_overflow_drops_the_oldest_and_tells(capsys: pytest.CaptureFixture[str]) -> None:
    gate = threading.Event()
    kept = Kept(gate)
    tracer = Tracer([kept])
    tracer.emit("s", Event("e", {"n": -1}))
    assert kept.reached.wait(10)
    for number in range(CAPACITY + 50):
        tracer.emit("s", Event("e", {"n": number}))
    gate.set()
    tracer.close()
    assert [span.data["n"] for span in kept.spans] == [-1, *range(50, CAPACITY + 50)]
    err = capsys.readouterr().err
    assert "the oldest are dropped" in err
    assert "50 spans were lost" in err


@pytest.mark.clock
def test_flush_gives_up_at_its_deadline_and_emit_goes_on() -> None:
    gate = threading.Event()
    tracer = Tracer([Kept(gate)])
    tracer.emit("s", Event("e"))
    began = time.monotonic()
    assert not tracer.flush(0.1)
    assert 0.1 <= time.monotonic() - began < 1
    gate.set()
    assert tracer.flush(5)
    tracer.close()
    tracer.close()
    tracer.emit("s", Event("after the end"))
    assert tracer.flush(0.1)


def test_a_line_survives_a_delivery_that_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    monkeypatch.setattr(threading, "excepthook", shown.append)
    got: list[int] = []

    def deliver(batch: list[int]) -> None:
        if 0 in batch:
            raise ZeroDivisionError
        got.extend(batch)

    line: Line[int] = Line("test", deliver)
    line.put(0)
    assert eventually(lambda: line._thread is None)
    line.put(1)
    assert line.flush(5)
    assert (got, len(shown)) == ([1], 1)
    line.close()


@pytest.mark.clock
@pytest.mark.parametrize("linger", [0.0, 0.01])
def test_a_line_gathers_what_comes_close_together_and_rests_when_nothing_comes(linger: float) -> None:
    batches: list[list[int]] = []
    line: Line[int] = Line("test", batches.append, linger=linger)
    for start in (0, 200, 400):  # the first finds no thread, the second one that looks by itself, the third one asleep
        for number in range(start, start + 200):
            line.put(number)
        assert eventually(lambda: sum(map(len, batches)) == start + 200)  # noqa: B023 - called at once
        time.sleep(AWAKE * linger * (start > 0) + 0.05)
    assert [number for batch in batches for number in batch] == list(range(600))
    assert max(map(len, batches)) <= BATCH
    began = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - began < 0.1
    line.close()


def run(code: str, seconds: float = 20) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=seconds, check=False)


PRELUDE = """
import os, time
from compact.ports import Event
from compact.tracing import *
"""


def test_the_end_of_the_program_sends_what_is_left() -> None:
    done = run(PRELUDE + "tracer = Tracer([ConsoleExporter()])\nfor n in range(500): tracer.emit('s', Event(f'e{n}'))")
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stderr.splitlines()] == [f"e{n}" for n in range(500)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_traces_on_its_own() -> None:
    code = """
tracer = Tracer([ConsoleExporter()])
tracer.emit('s', Event('before'))
tracer.flush(5)
child = os.fork()
tracer.emit('s', Event('child' if child == 0 else 'parent'))
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    done = run(PRELUDE + code)
    assert done.returncode == 0, done.stderr
    assert sorted(line.split()[1] for line in done.stderr.splitlines()) == ["before", "child", "parent"]


def test_agents_and_opentelemetry_are_not_imported_unasked() -> None:
    code = """
Tracer([AgentsSdkExporter()]).emit("s", Event("e"))
import sys
assert not {"agents", "opentelemetry"} & set(sys.modules)
"""
    done = run(PRELUDE + code)
    assert done.returncode == 0, done.stderr
