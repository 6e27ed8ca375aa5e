"""Stored sessions over the API: made, changed, read, searched, imported and exported."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest

from compact.ports import StoredSession
from compact.server.stored import sessions_of
from tests.server.routes.conversing import Api, opened


def test_a_new_session_is_empty_and_answered_offline(api: Api) -> None:
    made = api.post("/sessions", {"model": "gpt-4o", "title": "Trial", "system": "Be brief."})
    assert made["session"]["title"] == "Trial"
    assert made["usage"]["window"] == 111_616
    assert made["usage"]["level"] == "calm"
    assert made["usage"]["trigger"] == pytest.approx(0.95 * 111_616, abs=1)
    assert made["usage"]["used"] == sum(made["usage"]["by_kind"].values()) > 0
    assert (made["summary"], made["blocked"]["blocked"], made["answering"]["offline"]) == (None, False, True)
    assert api.get(f"/sessions/{made['session']['id']}") == made


def test_sessions_are_listed_in_pages_the_last_one_first(fresh: Api) -> None:
    made = [fresh.session(title=str(number), workspace="a" if number % 2 else "b") for number in range(5)]
    first = fresh.get("/sessions", limit=2)
    assert [row["id"] for row in first["sessions"]] == [made[4], made[3]]
    rest = fresh.get("/sessions", limit=10, after=first["next"])
    assert [row["id"] for row in rest["sessions"]] == [made[2], made[1], made[0]]
    assert rest["next"] is None
    assert [row["title"] for row in fresh.get("/sessions", workspace="a")["sessions"]] == ["3", "1"]


def test_what_is_given_is_changed_and_the_rest_stays(api: Api) -> None:
    id = api.session(title="before", system="Be brief.")
    changed = api.ask("PATCH", f"/sessions/{id}", {"title": "after", "model": "claude-sonnet-4-5"}).json()
    assert changed["session"]["title"] == "after"
    assert changed["session"]["model"] == "claude-sonnet-4-5"
    assert changed["system"] == "Be brief."
    assert api.ask("PATCH", f"/sessions/{id}", {"system": None}).json()["system"] is None
    assert api.refused(400, "PATCH", f"/sessions/{id}", {"title": None})["field"] == "title"
    assert api.refused(400, "PATCH", f"/sessions/{id}", {"system": 7})["type"] == "InvalidInput"


def test_automatic_compaction_is_a_switch_of_the_session_and_survives_a_restart(tmp_path: Path) -> None:
    with opened(tmp_path) as api:
        id = api.session()
        assert api.get(f"/sessions/{id}")["automatic"] == {"on": True, "own": None, "usual": True}
        off = api.ask("PATCH", f"/sessions/{id}", {"automatic": False}).json()
        assert off["automatic"] == {"on": False, "own": False, "usual": True}
        assert api.post("/sessions", {"model": "gpt-4o", "automatic": False})["automatic"]["own"] is False
        assert api.refused(400, "PATCH", f"/sessions/{id}", {"automatic": "seldom"})["field"] == "automatic"
    with opened(tmp_path) as restarted:
        assert restarted.get(f"/sessions/{id}")["automatic"]["own"] is False
        assert restarted.ask("PATCH", f"/sessions/{id}", {"title": "T"}).json()["automatic"]["own"] is False
        back = restarted.ask("PATCH", f"/sessions/{id}", {"automatic": None}).json()
        assert back["automatic"] == {"on": True, "own": None, "usual": True}


def test_with_automatic_compaction_off_the_chat_refuses_what_does_not_fit_and_says_what_to_do(fresh: Api) -> None:
    fresh.post("/models", {"provider": "unknown", "model": "narrow", "max_input": 4_000})
    id = fresh.long_session(10, model="narrow")
    view = fresh.ask("PATCH", f"/sessions/{id}", {"automatic": False}).json()
    assert "reads, and automatic compaction is off for this session: summarize by hand" in view["warnings"][0]
    refused = fresh.say(id, "And the figs?")[-1]
    assert (refused["type"], refused["kind"]) == ("error", "InsufficientBudget")
    assert "compact the session by hand, turn automatic compaction on" in refused["text"]
    assert fresh.get(f"/sessions/{id}")["summary"] is None
    fresh.post(f"/sessions/{id}/compress", {})
    assert fresh.say(id)[-1]["type"] == "done"


def test_a_deleted_session_is_gone(api: Api) -> None:
    id = api.session()
    api.delete(f"/sessions/{id}")
    error = api.refused(404, "GET", f"/sessions/{id}")
    assert error["type"] == "NotFound"
    for method, path in (("DELETE", ""), ("GET", "/messages"), ("POST", "/compress"), ("GET", "/export")):
        api.refused(404, method, f"/sessions/{id}{path}")
    api.refused(404, "POST", f"/sessions/{id}/chat", {"text": "hello"})


def test_a_transcript_comes_back_as_it_was_imported(api: Api) -> None:
    transcript = {
        "model": "claude-sonnet-4-5",
        "system": "Be exact.",
        "messages": [
            {"role": "user", "content": "Read it.\ud800"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "import os"}]},
        ],
    }
    made = api.post("/sessions/import", transcript, name="run.json")
    assert (made["session"]["format"], made["session"]["messages"]) == ("anthropic-messages", 3)
    assert (made["session"]["title"], made["session"]["model"]) == ("run.json", "claude-sonnet-4-5")
    back = api.get(f"/sessions/{made['session']['id']}/export")
    assert back["messages"] == transcript["messages"]
    assert back["system"] == "Be exact."


def test_messages_are_shown_part_by_part_whatever_their_format(api: Api) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Look:"}, _picture()]},
        {"role": "assistant", "content": "Reading.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "<script>alert(1)</script>"},
    ]
    id = api.post("/sessions/import", messages)["session"]["id"]
    page = api.get(f"/sessions/{id}/messages")
    shown = [[(part["kind"], part["name"], part["text"]) for part in one["parts"]] for one in page["messages"]]
    assert shown[0][0] == ("text", "", "Look:")
    assert shown[0][1][0] == "image"
    assert shown[1] == [("text", "", "Reading."), ("call", "read", "path: a.py")]
    assert shown[2] == [("result", "read", "<script>alert(1)</script>")]
    assert {one["state"] for one in page["messages"]} == {"active"}


def test_messages_come_in_pages_and_long_ones_are_cut(api: Api) -> None:
    messages = [{"role": "user", "content": f"{number} " + "x" * 30_000 * (number == 3)} for number in range(5)]
    id = api.post("/sessions/import", messages)["session"]["id"]
    first = api.get(f"/sessions/{id}/messages", limit=3)
    assert [one["position"] for one in first["messages"]] == [0, 1, 2]
    assert (first["next"], first["total"]) == (2, 5)
    rest = api.get(f"/sessions/{id}/messages", after=first["next"])
    assert rest["next"] is None
    cut = rest["messages"][0]
    assert (cut["truncated"], len(cut["parts"][0]["text"]), cut["parts"][0]["characters"]) == (True, 20_000, 30_002)
    whole = api.get(f"/sessions/{id}/messages/{cut['id']}")
    assert len(whole["parts"][0]["text"]) == 30_002
    api.refused(404, "GET", f"/sessions/{api.session()}/messages/{cut['id']}")


def test_a_search_finds_words_and_says_where_they_are(api: Api) -> None:
    id = api.long_session()
    api.long_session()
    (first, *others) = api.get("/search", text="quinces 4", session=id)["matches"]
    assert {one["session"] for one in (first, *others)} == {id}
    words = [first["excerpt"][start:end].lower() for start, end in first["spans"]]
    assert "quinces" in words
    assert len(api.get("/search", text="quinces 4 ripe", limit=3)["matches"]) == 3
    assert api.get("/search", text='") OR *:; --')["matches"] == []


def test_calls_and_results_are_pinned_together(api: Api) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "text"},
    ]
    id = api.post("/sessions/import", messages)["session"]["id"]
    ids = [one["id"] for one in api.get(f"/sessions/{id}/messages")["messages"]]
    assert api.put(f"/sessions/{id}/messages/{ids[2]}/pin", {"pinned": True})["messages"] == ids[1:]
    states = [one["state"] for one in api.get(f"/sessions/{id}/messages")["messages"]]
    assert states == ["active", "pinned", "pinned"]
    api.put(f"/sessions/{id}/messages/{ids[1]}/pin", {"pinned": False})
    assert {one["state"] for one in api.get(f"/sessions/{id}/messages")["messages"]} == {"active"}


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "/sessions", {"model": "m", "format": "morse"}, "format"),
        ("POST", "/sessions", {"model": "m" * 201}, "model"),
        ("POST", "/sessions", {"model": "m", "tools": "none"}, "tools"),
        ("POST", "/sessions", {"title": "\ud800"}, "title"),
    ],
)
def test_what_is_wrong_is_named(api: Api, method: str, path: str, body: object, field: str) -> None:
    assert api.refused(400, method, path, body)["field"] == field


def _picture() -> dict[str, object]:
    return {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def test_a_page_of_sessions_goes_on_where_the_last_one_ended(fresh: Api) -> None:
    made = [fresh.session(title=str(number)) for number in range(5)]
    first = fresh.get("/sessions", limit=2)
    fresh.ask("PATCH", f"/sessions/{made[3]}", {"title": "changed"})
    rest = [made[2], made[1], made[0]]
    assert [row["id"] for row in fresh.get("/sessions", after=first["next"])["sessions"]] == rest
    fresh.delete(f"/sessions/{made[3]}")
    assert [row["id"] for row in fresh.get("/sessions", after=first["next"])["sessions"]] == rest
    assert [row["id"] for row in fresh.get("/sessions", after=made[1])["sessions"]] == [made[0]]
    fresh.refused(404, "GET", "/sessions", after="nowhere")


@pytest.mark.parametrize("id", ["user:42", "ann@example.org", "x/y", "a%2Fb", "x/messages", "Ü \N{SNOWMAN}", "z" * 256])
def test_a_session_may_have_any_name(fresh: Api, id: str) -> None:
    sessions_of(fresh.state).create(StoredSession(id=id, model="gpt-4o", format="openai-chat"))
    at = f"/sessions/{quote(id, safe='')}"
    assert fresh.get(at)["session"]["id"] == id
    assert fresh.ask("PATCH", at, {"title": "Named"}).json()["session"]["title"] == "Named"
    assert fresh.get(f"{at}/messages")["messages"] == []
    assert fresh.say(quote(id, safe=""), "Hello")[-1]["type"] == "done"
    assert fresh.ask("GET", f"{at}/export").headers["content-disposition"].startswith('attachment; filename="session-')
    assert [one["id"] for one in fresh.get("/sessions")["sessions"]] == [id]
    fresh.delete(at)
    assert fresh.get("/sessions")["sessions"] == []
