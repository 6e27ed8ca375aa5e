"""How the viewer's page shows sessions and compactions."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from compact.messages import Json
from compact.ports import Event
from compact.redaction import Redactor
from compact.testing.ariadne import FakeAriadne, ingest
from compact.tracing import AriadneExporter, Tracer
from compact.tracing.ariadne import _joined, _written
from compact.tracing.post import Address, Post
from tests.tracing.test_ariadne import NOW, span


def test_the_viewer_shows_a_session_by_its_id_below_compact() -> None:
    with FakeAriadne() as viewer:
        tracer = Tracer([AriadneExporter(viewer.url)], Redactor().json)
        for session in ("first", "password=hunter2"):
            tracer.emit(session, Event("compact.token_estimate", {"t_est": 9}))
            tracer.emit(session, Event("compact.trigger_decision", {"triggered": True}))
            tracer.emit(session, Event("compact.summary_created", {"summary": "x" * 120_000}, seconds=2.0))
            tracer.emit(session, Event("compact.condensed", {"tokens_after": 3}, seconds=3.0))
        tracer.close()
        (agent,) = viewer.shown()
        assert agent.label == "compact"
        assert [trace.label for trace in agent.traces] == ["password=<REDACTED>", "first"]
        for trace in agent.traces:
            compaction, estimate = trace.spans  # by the time at which each began
            assert (estimate.name, estimate.children) == ("compact.token_estimate", ())
            assert compaction.name == "compact.condensed"
            assert [child.name for child in compaction.children] == [
                "compact.summary_created",
                "compact.trigger_decision",
            ]
        # The viewer cuts texts above 100 KiB, and says so.
        summaries = [span["data"]["summary"] for span in viewer.spans if "summary" in span["data"]]
        assert {len(text) for text in summaries} == {100 * 1024 + len("... [truncated]")}


def test_the_title_without_a_session_is_the_id_of_the_trace() -> None:
    with FakeAriadne() as viewer:
        exporter = AriadneExporter(viewer.url)
        exporter.emit(span(1))
        assert exporter.flush(5)
        exporter.close()
        assert [trace["name"] for trace in viewer.traces] == ["session abababab"]


def test_a_page_that_is_opened_late_shows_the_name_too() -> None:
    with FakeAriadne() as viewer:
        exporter = AriadneExporter(viewer.url)
        for number in range(2):
            exporter.emit(span(number, {"session_id": "s1"}))
            assert exporter.flush(5)
        exporter.close()
        bodies = [json.loads(request.body)["batch"] for request in viewer.requests]
        assert [[event.get("name") for event in body if event["type"] == "trace"] for body in bodies] == [["s1"]] * 2


def test_a_body_names_a_trace_once_and_says_when_it_began() -> None:
    first, later = span(1), replace(span(2), started_at=NOW + timedelta(seconds=5), ended_at=NOW + timedelta(seconds=9))
    with FakeAriadne() as viewer:
        exporter = AriadneExporter(viewer.url)
        exporter.emit(first)
        assert exporter.flush(5)
        exporter.emit(later)
        assert exporter.flush(5)
        exporter.close()
        assert {trace["started_at"] for trace in viewer.traces} == {"2026-01-02T03:04:05.678900Z"}
    batch = json.loads(_joined([_written(first, NOW), _written(later, NOW)]))["batch"]
    assert [event["type"] for event in batch] == ["trace", "span", "span"]


def test_spans_of_the_same_millisecond_are_shown_as_they_happened() -> None:
    names = ["compact.token_estimate", "compact.trigger_decision", "compact.archival"]
    body = _joined([_written(replace(span(number), name=name), NOW) for number, name in enumerate(names)])
    with FakeAriadne() as viewer:
        post = Post(Address(viewer.url).below("/ingest"))
        assert post.send(body, "application/json").good
        post.close()
        ((trace,),) = (agent.traces for agent in viewer.shown())
        assert [one.name for one in trace.spans] == names


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"summary": "All is done.", "reason": "x"}, "All is done."),
        ({"reason": "90% is reached"}, "90% is reached"),
        ({"reason": "x", "output": "its own"}, "its own"),
        ({"reason": "", "summary": 5}, None),
    ],
)
def test_what_is_to_be_read_first_is_the_output(data: dict[str, Json], shown: str | None) -> None:
    events, _ = ingest(_joined([_written(span(1, data), NOW)]))
    assert events[1]["data"] == ({**data, "output": shown} if shown else data)


def test_a_compaction_begins_no_later_than_what_is_below_it() -> None:
    with FakeAriadne() as viewer:
        tracer = Tracer([AriadneExporter(viewer.url)])
        tracer.emit("s1", Event("compact.trigger_decision", {"triggered": True}))
        tracer.emit("s1", Event("compact.summary_created", {}, seconds=30.0))
        tracer.emit("s1", Event("compact.condensed", {}, seconds=2.0))
        tracer.emit("s2", Event("compact.trigger_decision", {"triggered": True}))
        tracer.emit("s2", Event("compact.summary_created", {}, seconds=30.0))
        tracer.close()
        spans = {one["span_id"]: one for one in viewer.spans}
        below = [one for one in spans.values() if "parent_id" in one]
        assert len(below) == 4
        for one in below:
            parent = spans[one["parent_id"]]
            assert parent["started_at"] <= one["started_at"] <= one["ended_at"] <= parent["ended_at"]
