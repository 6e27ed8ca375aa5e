"""What reaches whoever watches, and that watching holds up nobody."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from threading import Event as Gate
from time import monotonic
from typing import Any

import pytest

from compact.errors import CompactError
from compact.ports import Completion, Event, Failure
from compact.ports.spans import Span
from compact.tracing import Tracer, trace_id_of
from tests.app.test_manager import ANSWER, LAYERS, Bench, answering, make, talk
from tests.tracing.servers import dead_port

__all__ = ["make"]

PINNED = [{"role": "user", "content": ANSWER, "meta": {"protected": True}}] * 20


class Kept:
    """An exporter that keeps what it gets, once its gate is open."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.gate, self.reached = Gate(), Gate()

    def emit(self, span: Span) -> None:
        self.reached.set()
        self.gate.wait(60)
        self.spans.append(span)

    def flush(self, deadline: float) -> bool:
        return True

    def close(self) -> None:
        pass


class Broken(Kept):
    def emit(self, span: Span) -> None:
        raise ZeroDivisionError("oh")


def test_emit_neither_waits_nor_raises() -> None:
    stuck = Kept()
    tracer = Tracer([stuck])
    nonsense: Any = [Event("e", 5), Event("e", seconds="x"), None]  # type: ignore[arg-type]  # on purpose
    began = monotonic()
    for event in nonsense:
        tracer.emit("s", event)
    assert stuck.reached.wait(10)  # the exporter hangs
    for number in range(1000):
        tracer.emit("s", Event("e", {"number": number}))
    assert monotonic() - began < 10
    assert not tracer.flush(0.1)
    stuck.gate.set()
    tracer.close()
    assert len(stuck.spans) == 1003


def test_of_more_than_4096_spans_the_oldest_go(capsys: pytest.CaptureFixture[str]) -> None:
    stuck = Kept()
    tracer = Tracer([stuck])
    tracer.emit("s", Event("e", {"number": -1}))
    assert stuck.reached.wait(10)
    for number in range(4096 + 50):
        tracer.emit("s", Event("e", {"number": number}))
    stuck.gate.set()
    tracer.close()
    assert [span.data["number"] for span in stuck.spans] == [-1, *range(50, 4096 + 50)]
    assert "50 spans were lost" in capsys.readouterr().err


def test_an_exporter_that_raises_is_told_once_and_keeps_nothing_from_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept = Kept()
    kept.gate.set()
    tracer = Tracer([Broken(), kept])
    for _ in range(3):
        tracer.emit("s", Event("e"))
    tracer.close()
    assert len(kept.spans) == 3
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith("[compact] tracing: Broken failed (ZeroDivisionError: oh)")
    assert told[1:] == ["[compact] tracing: 3 spans were lost"]


def test_a_compaction_that_fails_is_a_span_of_the_sessions_trace(make: Bench) -> None:
    manager = make(4000, tracing={"jsonl": str(make.folder / "spans.jsonl")})
    with pytest.raises(CompactError):
        manager.preflight("s", [*PINNED, *talk(10)])
    manager.close()
    spans = [json.loads(line) for line in (make.folder / "spans.jsonl").read_text().splitlines()]
    assert {(span["trace_id"], span["data"]["session_id"]) for span in spans} == {(trace_id_of("s"), "s")}
    (unfinished,) = [span for span in spans if span["name"] == "compact.unfinished"]
    assert unfinished["status"] == "error"
    below = [span["name"] for span in spans if span.get("parent_id") == unfinished["span_id"]]
    assert below == ["compact.trigger_decision", "compact.error"]


def _no_archive(make: Bench) -> None:
    (make.folder / "archive").write_text("a file in the place of the folder")
    make().preflight("s", talk(20))


def _no_room(make: Bench) -> None:
    make(4000).preflight("s", [*PINNED, *talk(10)])


def _no_summary(make: Bench) -> None:
    make(ask=answering(Failure("no network")), policy={"on_summary_failure": "block"}).preflight("s", talk(24))


@pytest.mark.parametrize("fail", [_no_archive, _no_room, _no_summary])
def test_what_a_manager_raises_was_reported_before(make: Bench, fail: Callable[[Bench], None]) -> None:
    with pytest.raises(CompactError) as raised:
        fail(make)
    told = make.watcher.last("error")
    assert (told.failed, told.properties["error_type"]) == (True, type(raised.value).__name__)
    assert told.properties["fallback"] == ""


@pytest.mark.parametrize("cost", [None, Decimal("0.02")])
def test_a_compaction_has_a_cost_where_it_is_known(make: Bench, cost: Decimal | None) -> None:
    answer = Completion("## Goals\n- Answer the questions.", cost=cost, model="mine")
    make(ask=answering(answer), policy=LAYERS).preflight("s", talk(20))
    told = make.watcher.last("condensed").properties
    assert Decimal(told["cost"]) >= cost if cost is not None else told["cost"] is None


def test_failures_of_otlp_are_told_after_its_name(make: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    manager = make(tracing={"otlp": f"http://127.0.0.1:{dead_port()}"})
    manager.preflight("s", talk(1))
    manager.close()
    assert capsys.readouterr().err.startswith("[OTLP] http://127.0.0.1:")


def test_where_the_agents_sdk_is_not_loaded_it_gets_nothing() -> None:
    code = (
        "import sys\n"
        "from compact.ports import Event\n"
        "from compact.tracing import AgentsSdkExporter, Tracer\n"
        "tracer = Tracer([AgentsSdkExporter()])\n"
        "tracer.emit('s', Event('compact.archival'))\n"
        "tracer.close()\n"
        "assert 'agents' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
