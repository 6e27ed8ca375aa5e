"""Compressing over the API: foreseen, done, told, rewritten, edited, taken over, undone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from compact.settings.spending import load_spending
from compact.testing.vendors import FakeVendors, Fault, Received, Reply
from tests.server.routes.conversing import Api, configure


def test_a_compression_is_foreseen_done_and_undone(api: Api) -> None:
    id = api.long_session()
    before = api.get(f"/sessions/{id}")
    preview = api.post(f"/sessions/{id}/preview")
    assert preview["tokens_before"] == before["usage"]["used"]
    assert preview["tokens_after"] < preview["tokens_before"]
    assert (preview["cost"], preview["priced_by"]) == ("0", "offline")
    assert api.get(f"/sessions/{id}")["revision"] == before["revision"]

    done = api.post(f"/sessions/{id}/compress")
    assert done["messages"] == preview["messages"] > 0
    now = api.get(f"/sessions/{id}")
    assert now["usage"]["used"] == done["tokens_after"] < done["tokens_before"] == before["usage"]["used"]
    assert now["usage"]["by_kind"]["summary"] > 0
    badge = now["summary"]
    assert badge == done["summary"]
    assert (badge["messages"], badge["trigger"]) == (done["messages"], "manual")
    assert (badge["tokens_before"], badge["tokens_after"]) == (done["tokens_before"], done["tokens_after"])
    assert "COMPACT-SUMMARY" not in badge["text"]
    states = [one["state"] for one in api.get(f"/sessions/{id}/messages")["messages"]]
    assert states[0] == states[-1] == "active"  # what a person asked first, and what is recent
    assert states.count("summarized") == done["messages"]

    undone = api.delete(f"/sessions/{id}/summary")
    assert undone["summary"] is None
    assert undone["usage"]["used"] == before["usage"]["used"]
    assert [one["retired"] for one in api.get(f"/sessions/{id}/summaries")] == [True]
    assert api.get(f"/sessions/{id}/summaries", retired=False) == []
    assert api.refused(404, "DELETE", f"/sessions/{id}/summary")["type"] == "NotFound"


def test_a_wish_says_how_much_stays(api: Api) -> None:
    id = api.long_session()
    everything = api.post(f"/sessions/{id}/preview", {"retention": 0})
    assert everything["messages"] > api.post(f"/sessions/{id}/preview", {"retention": 2_000})["messages"]
    assert api.post(f"/sessions/{id}/compress", {"retention": 0, "strategy": "brief"})["summary"]["strategy"] == "brief"
    assert api.refused(400, "POST", f"/sessions/{id}/compress", {"strategy": "poem"})["field"] == "strategy"
    assert api.refused(400, "POST", f"/sessions/{id}/compress", {"retention": -1})["field"] == "retention"


def test_what_is_pinned_stays(api: Api) -> None:
    id = api.long_session()
    first = api.get(f"/sessions/{id}/messages", limit=1)["messages"][0]["id"]
    api.put(f"/sessions/{id}/messages/{first}/pin", {"pinned": True})
    api.post(f"/sessions/{id}/compress")
    shown = api.get(f"/sessions/{id}/messages", limit=2)["messages"]
    assert [one["state"] for one in shown] == ["pinned", "summarized"]
    sent = api.get(f"/sessions/{id}/export", what="context")
    assert sent[0]["content"].startswith("user 0: the apples")


def test_a_summary_is_written_anew_edited_and_taken_over(api: Api) -> None:
    id, other = api.long_session(), api.session()
    first = api.post(f"/sessions/{id}/compress")["summary"]
    again = api.post(f"/sessions/{id}/summary/regenerate", {"note": "Mind the plums."})
    assert again["summary"]["trigger"] == "regenerated"
    assert abs(again["messages"] - first["messages"]) <= 2  # as many as the length of the summary leaves room for
    edited = api.put(f"/sessions/{id}/summary", {"text": "All fruit is ripe."})
    assert (edited["text"], edited["trigger"]) == ("All fruit is ripe.", "edited")
    taken = api.post(f"/sessions/{other}/summary/import", {"source": id})
    assert (taken["text"], taken["trigger"], taken["source"]) == ("All fruit is ripe.", "imported", id)
    assert "All fruit is ripe." in str(api.get(f"/sessions/{other}/export", what="context"))
    assert api.delete(f"/sessions/{id}/summary")["summary"]["text"] == again["summary"]["text"]
    assert api.refused(404, "POST", f"/sessions/{other}/summary/import", {"source": "nowhere"})["type"] == "NotFound"
    assert api.refused(400, "PUT", f"/sessions/{id}/summary", {"text": " "})["field"] == "text"


def test_whoever_listens_is_told_how_a_compression_goes(api: Api) -> None:
    id, other = api.long_session(), api.long_session()
    with listening(api, session=id) as told:
        api.post(f"/sessions/{other}/compress")
        api.post(f"/sessions/{id}/compress")
        api.delete(f"/sessions/{id}/summary")
        events = []
        for event in told:
            assert event["session"] == id
            events.append(event)
            if event["name"] == "compact.undone":
                break
    *_, finished, undone = events
    (started,) = (event for event in events if event["name"] == "compact.compression_started")
    assert (started["name"], started["properties"]["messages"] > 0) == ("compact.compression_started", True)
    assert (finished["name"], undone["name"]) == ("compact.compression_finished", "compact.undone")
    assert finished["properties"]["after"] < finished["properties"]["tokens"]
    assert 0 < len(finished["properties"]["preview"]) <= 200


def test_a_failed_compression_blocks_until_it_is_retried_or_acknowledged(fresh: Api, vendor: FakeVendors) -> None:
    configure(vendor)
    id = fresh.long_session(11)
    fresh.put("/models/openai:gpt-4o", {"max_input": 4_000})
    vendor.fail(Fault("quota"))
    failed = fresh.say(id, "Which are ripe?")[-1]
    assert (failed["type"], failed["kind"], failed["blocked"]["blocked"]) == ("error", "CompactionBlocked", True)
    view = fresh.get(f"/sessions/{id}")
    assert (view["session"]["messages"], view["session"]["blocked"], view["open_question"]) == (23, True, True)

    refused = fresh.say(id, "And now?")[-1]
    assert (refused["kind"], refused["message"]) == ("CompactionBlocked", None)
    acknowledged = fresh.post(f"/sessions/{id}/acknowledge")
    assert (acknowledged["blocked"]["blocked"], acknowledged["blocked"]["acknowledged"]) == (False, True)
    vendor.fail(Fault("quota"))
    assert fresh.say(id)[-1]["kind"] == "InsufficientBudget"

    vendor.reply(_summarizing)
    answered = fresh.say(id)
    assert [event["type"] for event in answered] == ["prepared", "delta", "done"]
    assert answered[0]["compression"]["summary"]["trigger"] == "automatic"
    assert (answered[0]["message"], answered[1]["text"]) == (failed["message"], "Pick them.")
    assert not fresh.get(f"/sessions/{id}")["blocked"]["reason"]


def test_a_failed_compression_is_retried_without_a_model(fresh: Api, vendor: FakeVendors) -> None:
    configure(vendor)
    id = fresh.long_session(8)
    vendor.fail(Fault("quota"))
    assert fresh.refused(409, "POST", f"/sessions/{id}/compress")["type"] == "CompactionBlocked"
    asked = len(vendor.requests)
    done = fresh.post(f"/sessions/{id}/retry", {"offline": True})
    assert done["tokens_after"] < done["tokens_before"]
    assert len(vendor.requests) == asked


def test_a_summary_says_who_wrote_it_and_what_it_cost(fresh: Api, vendor: FakeVendors) -> None:
    profile = configure(vendor)
    id = fresh.long_session(8)
    vendor.reply(_summarizing)
    with listening(fresh, session=id) as told:
        done = fresh.post(f"/sessions/{id}/compress")
        heard = {event["name"]: event["properties"] for event in _until(told, "compact.compression_finished")}
    (author,) = done["summary"]["written_by"]
    assert author.startswith(profile.model)
    assert (done["summary"]["why_offline"], fresh.get(f"/sessions/{id}")["summary"]) == ("", done["summary"])
    assert heard["compact.handler_selected"]["profile"] == profile.name
    assert all(name.startswith("compact.") for name in heard)
    finished = heard["compact.compression_finished"]
    assert heard["compact.condensed"]["written_by"] == [author]
    assert finished["preview"].startswith("The apples are ripe.")
    (spent,) = load_spending()
    assert (spent.profile, spent.way) == (profile.name, "auto")
    assert (spent.tokens_before, spent.tokens_after) == (done["tokens_before"], done["tokens_after"])
    assert spent.actual.questions == len(vendor.requests) > 0
    assert spent.estimated.questions > 0

    offline = fresh.post(f"/sessions/{fresh.long_session(8)}/compress", {"offline": True})["summary"]
    assert (offline["written_by"], offline["cost"]) == ([], None)
    assert offline["why_offline"] == "it was asked for without a model"
    edited = fresh.put(f"/sessions/{id}/summary", {"text": "All fruit is ripe."})
    assert (edited["written_by"], edited["why_offline"]) == ([], "")


@pytest.mark.parametrize(("turns", "retention"), [(8, None), (40, None), (2, 0), (8, 0)])
def test_a_preview_is_what_is_then_sent(fresh: Api, vendor: FakeVendors, turns: int, retention: int | None) -> None:
    configure(vendor)
    id = fresh.long_session(turns)
    preview = fresh.post(f"/sessions/{id}/preview", {"retention": retention})
    assert not vendor.requests
    vendor.reply(_summarizing)
    done = fresh.post(f"/sessions/{id}/compress", {"retention": retention})
    assert preview["messages"] == pytest.approx(done["messages"], rel=0.2)  # a shorter summary leaves more room
    (spent,) = load_spending()
    assert preview["questions"] == 1
    assert preview["reads"] == pytest.approx(spent.actual.input / spent.actual.questions, rel=0.2)


@pytest.mark.parametrize("prices", [{}, {"input_price": 0.5, "output_price": 2}])
def test_a_preview_has_a_price_where_the_bill_has_one(
    fresh: Api, vendor: FakeVendors, prices: dict[str, float]
) -> None:
    configure(vendor, model="my-8b", **prices)
    id = fresh.long_session(40)
    foreseen = fresh.post(f"/sessions/{id}/preview", {})["cost"]
    vendor.reply(_summarizing)
    paid = fresh.post(f"/sessions/{id}/compress")["summary"]["cost"]
    if not prices:
        assert (foreseen, paid) == (None, None)
        return
    assert float(foreseen) == pytest.approx(float(paid), rel=0.5)  # this model writes far less than it may
    fresh.put("/recipes/default", {"recipe": "truncation"})
    free = fresh.post(f"/sessions/{fresh.long_session(40)}/preview", {})
    assert (free["questions"], float(free["cost"])) == (0, 0)


def _until(told: Iterator[dict[str, Any]], last: str) -> Iterator[dict[str, Any]]:
    for event in told:
        yield event
        if event["name"] == last:
            return


def _summarizing(received: Received) -> Reply:
    """A model that can summarize, and knows one answer; a summary is to be shorter than an answer may be."""
    body = received.body
    assert isinstance(body, dict)
    return Reply("Pick them." if body["max_tokens"] > 4_000 else "## Context\n- The apples are ripe. [m0]")


@contextmanager
def listening(api: Api, **query: str) -> Iterator[Iterator[dict[str, Any]]]:
    """What the server tells from now on."""
    with api.client.stream("GET", "/api/events", params=query) as stream:
        assert stream.status_code == 200
        yield (json.loads(line.removeprefix("data: ")) for line in stream.iter_lines() if line.startswith("data:"))
