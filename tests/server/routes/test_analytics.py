"""Analytics and traces over the API: from stored sessions, from traces, and from the record of spending."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from time import monotonic, sleep
from typing import Any

from compact.app.analysing import Done, by_day, grouped, of_spans, total
from compact.models.spending import Charge, Spending
from compact.ports import CompactionFacts
from compact.settings.spending import add_spending, load_spending
from compact.testing.vendors import FakeVendors, Fault, Reply
from tests.server.routes.conversing import Api, configure

NOW = datetime.now(UTC).replace(microsecond=0)


def test_without_compressions_there_is_nothing_to_show(fresh: Api) -> None:
    shown = fresh.get("/analytics", days=7)
    assert shown["empty"]
    assert len(shown["days"]) == 7
    assert (shown["compressions"], shown["success_rate"], shown["groups"]) == (0, None, [])
    assert fresh.get("/traces") == {"traces": [], "next": None}
    fresh.refused(404, "GET", "/traces/nowhere")


def test_what_was_saved_comes_from_all_sources_and_counts_once(fresh: Api) -> None:
    id = fresh.long_session()
    done = fresh.post(f"/sessions/{id}/compress")
    fresh.post(f"/sessions/{id}/summary/regenerate")
    fresh.put(f"/sessions/{id}/summary", {"text": "Ripe."})
    add_spending(_spent("0.02", "0.018"))
    _ingest(
        fresh, "other", [_span("a", "", "compact.condensed", tokens_before=900, tokens_after=400, provider="smart")]
    )
    shown = fresh.get("/analytics")
    saved = done["tokens_before"] - done["tokens_after"]
    assert shown["compressions"] == 3
    assert shown["tokens_saved"] == saved + 500 + 7_000
    assert shown["days"][-1]["tokens_saved"] == shown["tokens_saved"]
    assert Decimal(shown["saved"]) == Decimal("1.25") * saved / 1_000_000
    assert (shown["saved_unknown"], Decimal(shown["spent"])) == (2, Decimal("0.018"))
    groups = {(one["by"], one["name"]): one["tokens_saved"] for one in shown["groups"]}
    assert groups["provider", "smart"] == 500
    assert groups["source", "chat"] == groups["strategy", "general"] == groups["preset", "auto"] == saved
    assert groups["preset", "balanced"] == 7_000
    assert shown["older"] == 2
    assert (shown["estimates"]["condensations"], shown["estimates"]["within_a_fifth"]) == (1, 1)
    (effect,) = shown["cache"]
    assert (effect["session"], effect["tokens_after"]) == (id, done["tokens_after"])
    assert effect["turns"] >= 1


def test_one_compression_with_a_model_is_one_record_in_every_place(fresh: Api, vendor: FakeVendors) -> None:
    configure(vendor, input_price=0.15, output_price=0.6)
    id = fresh.long_session()
    vendor.reply(lambda _: Reply("## Context\n- The apples are ripe. [m0]"))
    done = fresh.post(f"/sessions/{id}/compress")
    (spent,) = load_spending()
    assert spent.facts is not None
    assert spent.compaction == spent.facts.id
    row = _soon(fresh, lambda tree: "compact.condensed" in {span["name"] for span in tree["spans"]})
    (traced,) = (span for span in row["spans"] if span["name"] == "compact.condensed")
    assert traced["properties"] == {**spent.facts.to_json(), "session_id": id}
    assert (row["name"], row["group"]) == (id, id)
    shown = fresh.get("/analytics")
    assert (shown["compressions"], shown["older"], shown["saved_unknown"]) == (1, 0, 0)
    assert shown["tokens_saved"] == done["tokens_before"] - done["tokens_after"]
    assert Decimal(shown["spent"]) == spent.facts.cost == Decimal(done["summary"]["cost"]) > 0
    assert shown["days"][-1]["spent"] == shown["spent"]
    groups = {(one["by"], one["name"]): one["compressions"] for one in shown["groups"]}
    assert {name: count for (by, name), count in groups.items() if by == "source"} == {"chat": 1}


def test_what_was_paid_without_a_compression_is_spent_and_counts_as_none(fresh: Api) -> None:
    asked = Spending(NOW.isoformat(), "auto", "cheap", "gpt-4o-mini", Charge(), Charge(1, 9, 9, Decimal("0.5")), 9)
    add_spending(replace(asked, compaction="a1"))
    add_spending(replace(asked, compaction="a1"))
    add_spending(replace(asked, compaction="b2"))
    shown = fresh.get("/analytics")
    assert (shown["compressions"], shown["tokens_saved"], Decimal(shown["spent"])) == (0, 0, Decimal("1.5"))
    facts = CompactionFacts(id="a1", trigger="automatic", tokens_before=900, tokens_after=400, cost=Decimal("1.0"))
    _ingest(fresh, "gateway", [_span("a", "", "compact.condensed") | {"data": facts.to_json()}])
    shown = fresh.get("/analytics")
    assert (shown["compressions"], shown["tokens_saved"], Decimal(shown["spent"])) == (1, 500, Decimal("1.5"))


def test_a_compression_of_an_earlier_version_counts_once_and_as_older(fresh: Api) -> None:
    id = fresh.long_session()
    done = fresh.post(f"/sessions/{id}/compress")
    with sqlite3.connect(fresh.state.home / "sessions.db") as database:
        ((number, content),) = database.execute("SELECT id, contentJson FROM sessionSnapshots")
        older = {name: value for name, value in json.loads(content).items() if name != "facts"}
        database.execute("UPDATE sessionSnapshots SET contentJson = ? WHERE id = ?", [json.dumps(older), number])
    sizes = {"tokens_before": done["tokens_before"], "tokens_after": done["tokens_after"]}
    add_spending(replace(_spent("0.02", "0.018"), **sizes))
    shown = fresh.get("/analytics")
    assert (shown["older"], shown["saved_unknown"]) == (1, 0)


def test_a_compression_in_the_database_is_traced_and_its_failure_counted(fresh: Api, vendor: FakeVendors) -> None:
    configure(vendor)
    id = fresh.long_session()
    vendor.fail(Fault("quota"))
    fresh.refused(409, "POST", f"/sessions/{id}/compress")
    tree = _soon(fresh, lambda tree: "compact.error" in {span["name"] for span in tree["spans"]})
    assert (tree["group"], tree["failed"]) == (id, True)
    spans = {span["name"]: span for span in tree["spans"]}
    assert (spans["compact.error"]["failed"], spans["compact.error"]["properties"]["fallback"]) == (True, "")
    assert spans["compact.trigger_decision"]["parent"] == spans["compact.error"]["parent"]
    assert spans["compact.trigger_decision"]["properties"]["triggered"] is True
    shown = fresh.get("/analytics")
    assert (shown["failures"], shown["compressions"], shown["success_rate"]) == (1, 0, 0)


def test_a_trace_is_a_tree_whatever_its_spans_say(api: Api) -> None:
    spans = [
        _span("root", "", "run"),
        _span("b", "root", "second", at=2),
        _span("a", "root", "first", at=1),
        _span("a1", "a", "deep", at=1),
        _span("lost", "nobody", "orphan", at=3),
        _span("x", "y", "circle", at=4),
        _span("y", "x", "circle", at=5),
    ]
    _ingest(api, "odd", spans)
    tree = api.get("/traces/odd")
    assert [(span["id"], span["depth"]) for span in tree["spans"]] == [
        ("root", 0), ("a", 1), ("a1", 2), ("b", 1), ("lost", 0), ("x", 0), ("y", 1)
    ]  # fmt: skip
    assert tree["spans"][1]["offset"] == 1
    deep = [_span(f"s{depth}", f"s{depth - 1}", "down") for depth in range(800)]
    _ingest(api, "deep", deep)
    assert api.get("/traces/deep")["spans"][-1]["depth"] == 799


def test_traces_come_in_pages_the_newest_first(fresh: Api) -> None:
    for number in range(5):
        _ingest(fresh, f"t{number}", [_span("a", "", "run")])
    first = fresh.get("/traces", limit=2)
    assert [one["id"] for one in first["traces"]] == ["t4", "t3"]
    rest = fresh.get("/traces", after=first["next"])
    assert [one["id"] for one in rest["traces"]] == ["t2", "t1", "t0"]
    assert rest["next"] is None


def test_days_without_anything_are_days_too() -> None:
    first = NOW.date().replace(day=1)
    sizes = CompactionFacts(ended_at=f"{first.replace(day=2)}T10:00:00Z", trigger="manual", tokens_before=100)
    done = [
        Done(replace(sizes, tokens_after=40)),
        Done(CompactionFacts(ended_at=f"{first}T10:00:00Z"), failed=True),
    ]
    days = dict(by_day(done, first, first.replace(day=3)))
    assert [day.compressions for day in days.values()] == [0, 1, 0]
    assert [day.failures for day in days.values()] == [1, 0, 0]
    assert total(done).saved == 60


def test_spans_that_say_nonsense_are_no_savings() -> None:
    data = {"tokens_before": "many", "tokens_after": None, "cost": "NaN", "provider": 7}
    (one,) = of_spans([{"name": "compact.condensed", "data": data}, {"name": "other"}, {"name": "compact.condensed"}])
    assert (one.recorded, one.facts.saved, one.facts.cost) == (False, 0, None)


def _spent(estimated: str, actual: str) -> Spending:
    return Spending(
        at=NOW.isoformat(),
        way="balanced",
        profile="cheap",
        model="openai:gpt-4o-mini",
        estimated=Charge(1, 10_000, 500, Decimal(estimated)),
        actual=Charge(1, 10_000, 500, Decimal(actual)),
        limit=1_000,
        tokens_before=10_000,
        tokens_after=3_000,
    )


def _span(id: str, parent: str, name: str, at: int = 0, **data: object) -> dict[str, object]:
    began, ended = (f"{NOW.date()}T00:00:{second:02}Z" for second in (at, at + 1))
    times = {"started_at": began, "ended_at": ended}
    return {"type": "span", "span_id": id, "parent_id": parent, "name": name, **times, "data": data}


def _ingest(api: Api, trace: str, spans: list[dict[str, object]]) -> None:
    answer = api.client.post("/ingest", json={"batch": [{"trace_id": trace, **span} for span in spans]})
    assert answer.is_success, answer.text


def _soon(api: Api, wanted: Callable[[Any], bool]) -> Any:
    """The trace that is written in the background, once it is as wanted."""
    until = monotonic() + 20
    while monotonic() < until:
        for trace in api.get("/traces")["traces"]:
            if wanted(found := api.get(f"/traces/{trace['id']}")):
                return found
        sleep(0.05)
    raise AssertionError("no trace was written")


def test_passes_are_counted_each_with_its_own_sizes() -> None:
    passes = [
        {"name": "Repeated text", "tokens_before": 900, "tokens_after": 700},
        {"name": "Summary", "tokens_before": 700, "tokens_after": 300},
        "nonsense",
        {"name": "Nonsense", "tokens_before": "many", "tokens_after": 1},
    ]
    data = {"provider": "smart", "tokens_before": 900, "tokens_after": 300, "passes": passes}
    done = list(of_spans([{"name": "compact.condensed", "data": data}] * 2))
    assert {name: whole.saved for name, whole in grouped(done, "step")} == {"Repeated text": 400, "Summary": 800}
    assert {name: whole.saved for name, whole in grouped(done, "provider")} == {"smart": 1200}
