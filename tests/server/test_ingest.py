"""Traces: what is taken, what is refused, and how much is kept."""

from __future__ import annotations

import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from compact.errors import StorageError
from compact.messages import Json
from compact.ports.spans import Span
from compact.server import ingest
from compact.server.ingest import SpanEvent, Traces, store_of
from compact.tracing import AriadneExporter
from tests.server.conftest import Served


def span(trace: str, id: str, **more: Json) -> dict[str, Json]:
    return {"type": "span", "trace_id": trace, "span_id": id, **more}


def test_one_event_or_a_batch_is_taken_and_read_back(served: Served) -> None:
    trace = {"type": "trace", "trace_id": "t1", "name": "A chat", "metadata": {"k": "v"}}
    late = span("t1", "b", parent_id="a", started_at="2026-01-01T00:00:02Z", ended_at="2026-01-01T00:00:03.5Z")
    early = span("t1", "a", name="first", started_at="2026-01-01T00:00:01Z", status="error", unknown=1)
    assert served.ask("POST", "/ingest", json=trace).json() == {"success": True, "count": 1}
    assert served.ask("POST", "/ingest", json={"batch": [late, early]}).json() == {"success": True, "count": 2}
    found = next(one for one in store_of(served.state).last(10) if one["trace_id"] == "t1")
    assert (found["name"], found["status"], found["metadata"]) == ("A chat", "error", {"k": "v"})
    assert [one["span_id"] for one in found["spans"]] == ["a", "b"]
    assert (found["started_at"], found["ended_at"]) == ("2026-01-01T00:00:01Z", "2026-01-01T00:00:03.5Z")


@pytest.mark.parametrize(
    "wrong",
    [
        [span("t", "s")],
        {"events": [span("t", "s")]},
        {"type": "other"},
        span("", "s"),
        span("t", "s", started_at="2026-01-01T00:00:00+00:00"),
        span("t", "s", data=None),
        span("t", "s", status="fine"),
        {"type": "trace", "trace_id": "t", "metadata": {"k": 1}},
        {"batch": [span("none-of-these", "s"), {"type": "span"}]},
    ],
)
def test_what_is_not_in_the_protocol_is_refused_whole(served: Served, wrong: Json) -> None:
    answer = served.ask("POST", "/ingest", json=wrong)
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "InvalidInput"
    assert store_of(served.state).find("none-of-these") is None


def test_compacts_own_tracing_arrives(served: Served) -> None:
    exporter = AriadneExporter(f"{served.url}/?token={served.state.token}")
    now = datetime.now(UTC)
    exporter.emit(Span("own", "s1", None, "compact.condensed", "custom", now, now, "ok", {"tokens": [1, None]}))
    assert exporter.flush(5)
    exporter.close()
    found = store_of(served.state).find("own")
    assert found is not None
    assert found["spans"][0]["data"] == {"tokens": [1, "null"]}


def test_only_so_many_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "MOST_EVENTS", 50)
    monkeypatch.setattr(ingest, "_SPARE", 10)
    store = Traces(tmp_path / "deep" / "traces.sqlite")
    for number in range(100):
        store.add([SpanEvent(type="span", trace_id=f"t{number}", span_id="s")])
    kept = store.last(1_000)
    store.close()
    assert [one["trace_id"] for one in kept] == [f"t{number}" for number in range(99, 49, -1)]
    assert stat.S_IMODE((tmp_path / "deep" / "traces.sqlite").stat().st_mode) == 0o600


def test_traces_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "traces.sqlite"
    found = []
    for number in range(2):
        store = Traces(path)
        store.add([SpanEvent(type="span", trace_id="t", span_id=str(number))])
        found += store.last(1)
        store.close()
    assert [len(one["spans"]) for one in found] == [1, 2]


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "traces.sqlite").write_bytes(b"no database, but long enough to be looked at" * 100)
    with pytest.raises(StorageError, match="cannot be opened"):
        Traces(tmp_path / "traces.sqlite").last(1)
