"""How the viewer's page shows sessions and compactions."""

from __future__ import annotations

from compact.ports import Event
from compact.redaction import Redactor
from compact.testing.ariadne import FakeAriadne
from compact.tracing import AriadneExporter, Tracer
from tests.tracing.test_ariadne import span


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
        assert [trace.label for trace in agent.traces] == ["first", "password=<REDACTED>"]
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
