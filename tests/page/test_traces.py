"""Traces, driven as people would."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.page.driving import Opened
from tests.page.talking import Server

Open = Callable[[str], Opened]

_STEPS = (
    ("run", "", "coding session", 0, 9),
    ("plan", "run", "plan", 0, 2),
    ("ask", "plan", "model call", 1, 2),
    ("read", "run", "read_file", 2, 4),
    ("squeeze", "run", "compact.condensed", 4, 8),
    ("decide", "squeeze", "compact.trigger_decision", 4, 5),
    ("pass", "squeeze", "summarize <script>window.hurt=1</script>", 5, 8),
    ("end", "run", "answer", 8, 9),
)


def _spans(trace: str) -> list[dict[str, object]]:
    return [
        {
            "type": "span",
            "trace_id": trace,
            "span_id": id,
            "parent_id": parent,
            "name": name,
            "kind": "model" if name == "model call" else "step",
            "started_at": f"2026-01-01T00:00:0{start}Z",
            "ended_at": f"2026-01-01T00:00:0{end}Z",
            "data": {"tokens_before": 9_000, "why": "threshold", "nested": {"deep": [1, 2]}},
            "status": "error" if id == "pass" else "ok",
        }
        for id, parent, name, start, end in _STEPS
    ]


def test_without_traces_there_is_an_invitation(open_page: Open) -> None:
    opened = open_page("traces")
    expect(opened.page.get_by_role("heading", name="No trace has arrived yet")).to_be_visible()
    opened.photograph("traces-empty")
    opened.hold_to_axe()


def test_a_trace_is_a_tree_a_timeline_and_what_each_span_tells(open_page: Open, address: str) -> None:
    server = Server(address)
    named = {"type": "trace", "name": "coding session", "group_id": "g"}
    server.ask("POST", "/ingest", {"batch": [*_spans("one"), {**named, "trace_id": "one"}]})
    server.ask("POST", "/ingest", {"batch": [*_spans("two"), {**named, "trace_id": "two", "name": "another one"}]})
    opened = open_page("traces")
    page = opened.page
    page.get_by_role("link", name="coding session").click()
    tree = page.get_by_role("tree", name="Spans")
    expect(tree.get_by_role("treeitem")).to_have_count(8)
    item = tree.get_by_role("treeitem", name="compact.condensed")
    expect(item).to_have_attribute("aria-expanded", "true")
    left, width = item.locator(".tr-bar").evaluate(
        "bar => { const b = bar.getBoundingClientRect(), l = bar.parentElement.getBoundingClientRect();"
        " return [(b.left - l.left) / l.width, b.width / l.width] }"
    )
    assert abs(left - 4 / 9) < 0.01
    assert abs(width - 4 / 9) < 0.01
    item.click()
    inspector = page.get_by_role("complementary", name="Span")
    expect(inspector).to_contain_text("threshold")
    expect(inspector).to_contain_text('"deep"')
    opened.photograph("traces")
    opened.hold_to_axe()
    tree.focus()
    page.keyboard.press("ArrowLeft")
    expect(tree.get_by_role("treeitem")).to_have_count(6)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    expect(inspector).to_contain_text("answer")
    page.keyboard.press("ArrowUp")
    expect(inspector).to_contain_text("<script>")
    expect(inspector).to_contain_text("failed")
    assert page.evaluate("window.hurt") is None
