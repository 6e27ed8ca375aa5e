"""Everything that is sent to Ariadne is what Ariadne takes."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from agents import custom_span, set_trace_processors, trace
from hypothesis import given
from hypothesis import strategies as st

from compact import CompactConfig, CompactManager
from compact.errors import InsufficientBudget
from compact.integrations.agents_tracing import RedactingProcessor
from compact.policies import StorageSettings, TracingSettings
from compact.testing.ariadne import FakeAriadne, ingest
from compact.tracing import AriadneExporter
from compact.tracing.ariadne import _joined, _written
from compact.tracing.capture import capture, writable
from tests.tracing.ariadne_wire import LARGEST, events_of, problems, unknown_fields
from tests.tracing.test_ariadne import NOW, span, values

TRACE = {"type": "trace", "trace_id": "t"}
SPAN = {"type": "span", "trace_id": "t", "span_id": "s"}


def sent(viewer: FakeAriadne) -> list[dict[str, Any]]:
    """Everything that was sent, once it is seen to be valid."""
    bodies = [request.body for request in viewer.requests]
    assert bodies
    assert [problems(body) for body in bodies] == [[]] * len(bodies)
    events = [event for body in bodies for event in events_of(body)]
    assert [unknown_fields(event) for event in events] == [set()] * len(events)
    return events


def manager_of(window: int, viewer: FakeAriadne, folder: Path) -> CompactManager:
    config = CompactConfig(
        model="gpt-4o",
        profile="offline",
        max_context_tokens=window,
        storage=StorageSettings(path=str(folder)),
        tracing=TracingSettings(ariadne=viewer.url),
    )
    return CompactManager(config)


def test_a_recorded_session_is_valid_from_the_estimate_to_the_compaction(tmp_path: Path) -> None:
    request = json.loads((files("compact.cli") / "transcripts" / "session.openai-chat.json").read_bytes())
    with FakeAriadne() as viewer:
        with manager_of(24_000, viewer, tmp_path) as manager:
            manager.preflight("recorded", request)
        events = sent(viewer)
    spans = [event for event in events if event["type"] == "span"]
    assert {
        *("compact.token_estimate", "compact.trigger_decision", "compact.archival"),
        *("compact.summary_created", "compact.pruned_messages", "compact.condensed"),
    } == {one["name"] for one in spans}
    assert {one["name"] for one in events if one["type"] == "trace"} == {"recorded"}
    (summary,) = (one["data"] for one in spans if one["name"] == "compact.summary_created")
    assert summary["output"] == summary["summary"]


def test_a_compaction_that_fails_is_valid_too(tmp_path: Path) -> None:
    with FakeAriadne() as viewer:
        with manager_of(2_000, viewer, tmp_path) as manager, pytest.raises(InsufficientBudget):
            manager.preflight("failing", [{"role": "user", "content": "one long task " * 4_000}])
        spans = [event for event in sent(viewer) if event["type"] == "span"]
    assert {one["name"] for one in spans if one["status"] == "error"} == {"compact.error", "compact.unfinished"}


def test_the_traces_of_the_agents_sdk_are_valid() -> None:
    with FakeAriadne() as viewer:
        processor = RedactingProcessor([AriadneExporter(viewer.url)])
        set_trace_processors([processor])
        with trace("a run"), custom_span("outer", {"n": None}), custom_span("inner"):
            pass
        set_trace_processors([])
        processor.shutdown()
        assert {event["name"] for event in sent(viewer) if event["type"] == "span"} >= {"outer", "inner"}


@given(st.dictionaries(st.text(st.characters(codec=None)), values, max_size=8))
def test_a_body_is_valid_whatever_the_data(data: dict[str, Any]) -> None:
    body = _joined([_written(span(1, writable(capture(data))), NOW)])
    assert problems(body) == []


@pytest.mark.parametrize(
    "payload",
    [
        {"events": [SPAN]},
        {"batch": [SPAN, {"type": "other"}]},
        {"batch": [SPAN, 5]},
        {"batch": [SPAN, [SPAN]]},
        [SPAN],
        {"type": "span", "trace_id": "t"},
        {**SPAN, "trace_id": ""},
        {**SPAN, "span_id": 7},
        {**SPAN, "parent_id": None},
        {**SPAN, "kind": 1},
        {**SPAN, "name": ["n"]},
        {**SPAN, "data": None},
        {**SPAN, "status": "OK"},
        {**SPAN, "started_at": 1_767_225_600},
        {**SPAN, "started_at": "2026-01-01 00:00:00Z"},
        {**SPAN, "started_at": "2026-01-01T00:00:00+00:00"},
        {**SPAN, "ended_at": "2026-02-30T00:00:00Z"},
        {**SPAN, "started_at": "2026-01-01T00:00:00.002Z", "ended_at": "2026-01-01T00:00:00.001Z"},
        {**TRACE, "metadata": {"n": 1}},
        {**TRACE, "started_at": "2026-01-01T00:00:01Z", "ended_at": "2026-01-01T00:00:00Z"},
        {**SPAN, "data": {"text": "x" * LARGEST}},
    ],
)
def test_a_wrong_body_is_found_by_the_schema_and_refused_by_the_stand_in(payload: Any) -> None:
    body = json.dumps(payload).encode()
    assert problems(body)
    assert ingest(body)[1]


@pytest.mark.parametrize(
    "payload",
    [
        SPAN,
        TRACE,
        {"batch": []},
        {"batch": [TRACE, SPAN]},
        {**SPAN, "unknown": 1},
        {**SPAN, "name": "", "parent_id": "", "data": {"null": None}},
        {**SPAN, "started_at": "2026-01-01T00:00Z", "ended_at": "2026-01-01T00:00:00.123456789Z"},
        {**SPAN, "started_at": "2026-01-01T00:00:00.0009Z", "ended_at": "2026-01-01T00:00:00.0001Z"},
        {**TRACE, "metadata": {"agent": "a"}, "ended_at": "2024-02-29T00:00:00Z"},
    ],
)
def test_a_right_body_passes_both(payload: Any) -> None:
    body = json.dumps(payload).encode()
    assert (problems(body), ingest(body)[1]) == ([], "")
