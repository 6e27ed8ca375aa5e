"""The chat over the API: with nobody, with a real conversation profile, and when asking fails."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic

import pytest

from compact.policies import Profile, Profiles
from compact.policies.room import LEAST_ANSWER
from compact.settings.profiles import load_profiles, profiles_path, save_profiles
from compact.testing.vendors import FakeVendors, Fault, Reply
from compact.testing.vendors.faults import Kind
from tests.server.routes.conversing import SECRET, Api, configure
from tests.tracing.servers import eventually

FORMATS = ("openai-chat", "openai-responses", "anthropic-messages", "google-gemini")


@pytest.mark.parametrize("format", FORMATS)
def test_offline_says_so_and_finds_what_was_said(api: Api, format: str) -> None:
    id = api.session(format=format)
    first = api.say(id, "The orchard has seven quinces. It rains.")
    assert [event["type"] for event in first[:2]] == ["prepared", "delta"]
    assert first[0]["answering"]["offline"]
    events = api.say(id, "How many quinces are there?")
    answer = "".join(event["text"] for event in events if event["type"] == "delta")
    assert answer.startswith("Offline answer")
    assert "- user: The orchard has seven quinces." in answer
    assert "It rains" not in answer
    done = events[-1]
    assert done["type"] == "done"
    shown = api.get(f"/sessions/{id}/messages")["messages"]
    assert [one["role"] for one in shown] == ["user", shown[1]["role"], "user", shown[1]["role"]]
    assert (shown[2]["id"], shown[3]["id"]) == (done["message"], done["answer"])
    assert shown[3]["parts"][0]["text"] == answer
    view = api.get(f"/sessions/{id}")
    assert (view["usage"], view["session"]["title"]) == (done["usage"], "The orchard has seven quinces. It rains.")


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_conversation_profile_answers(
    api: Api, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    models = {"openai": "gpt-4o", "anthropic": "claude-haiku-4-5"}
    url = f"{vendor.url}/v1" if kind == "openai" else vendor.url
    configure(vendor, vendor=kind, model=models[kind], url=url, key="env:TEST_KEY")
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Read a.py"},
        {"role": "assistant", "content": None, "tool_calls": [_call()]},
        {"role": "tool", "tool_call_id": "c1", "content": "import os"},
        {"role": "assistant", "content": "It imports os."},
    ]
    transcript = {"model": models[kind], "messages": messages, "tools": [_tool()]}
    id = api.post("/sessions/import", transcript)["session"]["id"]
    vendor.reply(Reply("Nothing " + "else. " * 40))
    events = api.say(id, "What else?")
    assert [event["type"] for event in events] == ["prepared", *["delta"] * (len(events) - 2), "done"], events[-1]
    assert len(events) > 4
    assert "".join(event["text"] for event in events[1:-1]) == "Nothing " + "else. " * 40
    assert events[0]["answering"] == {
        "offline": False, "profile": "fake", "model": models[kind], "label": f"{models[kind]} (fake)", "keys": []
    }  # fmt: skip
    (received,) = vendor.requests
    assert all(word in str(received.body) for word in ("Be brief.", "Read a.py", "import os", "What else?"))
    stored = api.get(f"/sessions/{id}/messages")["messages"][-1]
    assert stored["input_tokens"] > 0
    assert SECRET not in str(api.get(f"/sessions/{id}")) + str(api.get("/profiles"))


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("quota", "quota"),
        ("garbled", "malformed"),
        ("empty", "malformed"),
        ("refusal", "refusal"),
        ("filtered", "refusal"),
    ],
)
def test_when_asking_fails_the_message_is_there_to_be_asked_again(
    api: Api, vendor: FakeVendors, fault: Kind, kind: str
) -> None:
    configure(vendor)
    id = api.session()
    vendor.fail(Fault(fault))
    prepared, failed = api.say(id, "Are you there?")
    (asked,) = api.get(f"/sessions/{id}/messages")["messages"]
    assert (prepared["type"], prepared["message"]) == ("prepared", asked["id"])
    assert (failed["type"], failed["kind"], failed["message"]) == ("error", kind, asked["id"])
    assert api.get(f"/sessions/{id}")["open_question"]
    vendor.reply(Reply("Here."))
    again = api.say(id)
    assert (again[1]["text"], again[-1]["message"]) == ("Here.", asked["id"])
    assert [one["role"] for one in api.get(f"/sessions/{id}/messages")["messages"]] == ["user", "assistant"]
    assert api.say(id)[-1]["field"] == "text"


def test_words_arrive_as_they_are_written_and_the_answer_is_stored_though_nobody_listens(
    api: Api, vendor: FakeVendors
) -> None:
    configure(vendor)
    id = api.session()
    vendor.reply(Reply("one two three four five six seven eight nine ten"))
    vendor.fail(Fault("drip", seconds=0.001))
    with api.client.stream("POST", f"/api/sessions/{id}/chat", json={"text": "Count."}) as answer:
        first = next(line for line in answer.iter_lines() if '"delta"' in line)
        assert "ten" not in first
        assert api.get(f"/sessions/{id}")["session"]["messages"] == 1
    assert eventually(lambda: api.get(f"/sessions/{id}")["session"]["messages"] == 2, 30)
    stored = api.get(f"/sessions/{id}/messages")["messages"][-1]
    assert stored["parts"][0]["text"] == "one two three four five six seven eight nine ten"
    assert api.say(id, "And again?")[-1]["type"] == "done"


@pytest.mark.clock
def test_an_answer_may_take_longer_than_its_silence(api: Api, vendor: FakeVendors) -> None:
    configure(vendor, timeout=3.0)
    id = api.session()
    vendor.reply(Reply("one two three four five six seven eight nine ten " * 4))
    vendor.fail(Fault("drip", seconds=0.001))
    began = monotonic()
    last = api.say(id, "Count.")[-1]
    assert last["type"] == "done", last
    assert monotonic() - began > 3.0  # as long as may pass without a word


def test_a_picture_that_cannot_be_read_stops_no_answer(api: Api, vendor: FakeVendors) -> None:
    configure(vendor)
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,\N{LATIN SMALL LETTER E WITH ACUTE}"}}
    messages = [{"role": "user", "content": [picture]}, {"role": "assistant", "content": "I see."}]
    id = api.post("/sessions/import", {"model": "gpt-4o", "messages": messages})["session"]["id"]
    vendor.reply(Reply("Nothing."))
    assert api.say(id, "What is in it?")[-1]["type"] == "done"


def test_those_who_left_before_their_answer_hold_up_nobody(api: Api, vendor: FakeVendors) -> None:
    configure(vendor)
    answer = Event()
    vendor.reply(lambda _: Reply("Done." if answer.wait(60) else "Late."))
    ids = [api.session() for _ in range(45)]  # more than there are threads for requests
    try:
        for id in ids:
            with api.client.stream("POST", f"/api/sessions/{id}/chat", json={"text": "Take your time."}) as begun:
                next(line for line in begun.iter_lines() if '"prepared"' in line)
        assert api.get("/sessions", limit=1)
    finally:
        answer.set()
    assert eventually(lambda: all(api.get(f"/sessions/{id}")["session"]["messages"] == 2 for id in ids), 60)


@pytest.mark.parametrize("fault", [Fault("stream_error"), Fault("cut"), Fault("cut", clean=True)])
def test_of_an_answer_that_breaks_off_nothing_is_stored(
    api: Api, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch, fault: Fault
) -> None:
    monkeypatch.setenv("TEST_KEY", SECRET)
    configure(vendor, vendor="openai", key="env:TEST_KEY")
    id = api.session()
    vendor.reply(Reply("one two three four five six seven eight nine ten"))
    vendor.fail(fault)
    events = api.say(id, "Count.")
    assert [event["type"] for event in events] == ["prepared", *["delta"] * (len(events) - 2), "error"]
    assert len(events) > 2
    assert api.get(f"/sessions/{id}")["open_question"]
    again = api.say(id)
    assert "".join(event["text"] for event in again[1:-1]) == "one two three four five six seven eight nine ten"


def test_a_long_chat_is_compressed_on_its_way(fresh: Api) -> None:
    id = fresh.session()
    fresh.put("/models/openai:gpt-4o", {"max_input": 4_000})
    compressed = []
    for turn in range(8):
        events = fresh.say(id, f"Question {turn}: " + "how are the apples? " * 150)
        assert events[-1]["type"] == "done"
        assert events[0]["usage"]["used"] <= 4_000
        compressed += [events[0]["compression"]] if events[0]["compression"] else []
    assert compressed
    assert compressed[0]["summary"]["trigger"] == "automatic"
    assert fresh.get(f"/sessions/{id}/messages")["total"] == 16


@pytest.mark.parametrize(
    ("limit", "sent"),
    [
        (None, range(1_024, 8_001)),  # nobody says how long its answers may be: 8,192 tokens, or what is left
        (500, [500]),
        (3_000, [3_000]),
        (6_000, range(1_024, 6_001)),
    ],
)
def test_every_answer_fits_into_the_window_of_the_profile(
    fresh: Api, sdks: None, limit: int | None, sent: Sequence[int]
) -> None:
    with FakeVendors(window=8_000) as server:
        configure(server, model="house", context_window=8_000, max_output_tokens=limit)
        fresh.put("/settings", {"values": {"profile": "offline"}})
        server.reply(lambda _: Reply("It goes on. " * 100))
        id = fresh.session(model="house")
        for turn in range(14):
            events = fresh.say(id, f"Question {turn}: " + "how are the apples? " * 100)
            assert events[-1]["type"] == "done", events[-1]
        asked = [received.body["max_tokens"] for received in server.requests]
        assert {received.status for received in server.requests} == {200}
    assert all(one in sent for one in asked)
    assert fresh.get(f"/sessions/{id}")["usage"]["used"] < 8_000
    profiles_path().unlink()


def test_a_session_is_sized_for_the_model_that_answers(fresh: Api, sdks: None) -> None:
    with FakeVendors(window=8_000) as server:
        configure(server, model="house", context_window=8_000, max_output_tokens=1_000)
        fresh.put("/settings", {"values": {"profile": "offline"}})
        server.reply(lambda _: Reply("It goes on. " * 100))
        id = fresh.session(model="gpt-4o")
        for turn in range(14):
            events = fresh.say(id, f"Question {turn}: " + "how are the apples? " * 100)
            assert events[-1]["type"] == "done", events[-1]
            assert events[0]["usage"]["window"] == 8_000
        assert {received.status for received in server.requests} == {200}
        fresh.put("/models/openai:gpt-4o", {"max_input": 100_000})
        assert fresh.get("/models")["models"][0]["effective_max_input"] == 100_000
        fresh.post("/models", {"provider": "unknown", "model": "house", "max_input": 5_000})
        assert fresh.get(f"/sessions/{id}")["usage"]["window"] == 5_000
    profiles_path().unlink()
    assert fresh.get(f"/sessions/{id}")["usage"]["window"] == 100_000


@pytest.mark.parametrize("words", [6_400, 6_550, 6_600])
def test_a_question_that_fits_only_without_the_buffer_is_refused(fresh: Api, sdks: None, words: int) -> None:
    with FakeVendors(window=8_000) as server:
        configure(server, model="house", context_window=8_000, max_output_tokens=3_000)
        events = fresh.say(fresh.session(model="house"), "word " * words)
        if words + LEAST_ANSWER + 8_000 // 20 < 8_000:
            (sent,) = server.requests
            assert LEAST_ANSWER <= sent.body["max_tokens"] <= 8_000 - 8_000 // 20 - words
        else:
            assert (events[-1]["kind"], server.requests) == ("InsufficientBudget", ())
    profiles_path().unlink()


def test_summarize_compresses_instead(api: Api) -> None:
    id = api.long_session()
    (done,) = api.say(id, "/summarize the plums above all")
    assert (done["type"], done["answer"]) == ("done", None)
    assert done["compression"]["tokens_after"] == done["usage"]["used"]
    assert api.get(f"/sessions/{id}/messages")["total"] == 16


def test_what_could_never_be_sent_is_refused_and_not_stored(fresh: Api) -> None:
    id = fresh.session()
    fresh.put("/models/openai:gpt-4o", {"max_input": 1_000})
    (failed,) = fresh.say(id, "word " * 5_000)
    assert (failed["kind"], failed["message"]) == ("InsufficientBudget", None)
    assert fresh.get(f"/sessions/{id}/messages")["total"] == 0


def test_a_session_answers_once_at_a_time(api: Api, vendor: FakeVendors) -> None:
    configure(vendor)
    id, other = api.session(), api.session()
    asked, answer = Event(), Event()

    def slowly(_: object) -> Reply:
        asked.set()
        answer.wait(20)
        return Reply("Done.")

    vendor.reply(slowly)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(api.say, id, "Take your time.")
        try:
            assert asked.wait(20)
            assert "already" in api.refused(409, "POST", f"/sessions/{id}/chat", {"text": "Well?"})["message"]
            assert api.get(f"/sessions/{other}")["session"]["messages"] == 0
        finally:
            answer.set()
        assert first.result(20)[-1]["type"] == "done"
    assert [one["role"] for one in api.get(f"/sessions/{id}/messages")["messages"]] == ["user", "assistant"]
    assert api.say(id, "And again?")[-1]["type"] == "done"


def _call() -> dict[str, object]:
    return {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}


def _tool() -> dict[str, object]:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"type": "function", "function": {"name": "read", "description": "Read a file.", "parameters": parameters}}


def test_a_key_in_the_environment_is_offered_and_used_once_it_is_accepted(
    fresh: Api, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles_path().unlink(missing_ok=True)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{vendor.url}/v1")
    id = fresh.long_session()
    offered = fresh.get(f"/sessions/{id}")["answering"]
    assert offered["offline"]
    assert [(key["variable"], key["model"], key["summarizer"]) for key in offered["keys"]] == [
        ("OPENAI_API_KEY", "gpt-4o", "gpt-4o-mini"),
        ("ANTHROPIC_API_KEY", "claude-haiku-4-5", "claude-haiku-4-5"),
    ]
    assert fresh.say(id, "Hello?")[0]["answering"]["offline"]
    assert not vendor.requests
    now = fresh.post("/answering", {"vendor": "openai", "model": "gpt-4o"})
    assert (now["offline"], now["model"], now["keys"]) == (False, "gpt-4o", [])
    vendor.reply(Reply("Yes."), Reply("## Context\n- Fruit was ripe. [m0]"))
    assert fresh.say(id, "Are you there?")[-1]["type"] == "done"
    assert fresh.post(f"/sessions/{id}/compress")["summary"]["written_by"] == ["gpt-4o-mini"]
    assert fresh.refused(404, "POST", "/answering", {"vendor": "anthropic", "model": ""})["field"] == "vendor"


def test_an_accepted_key_leaves_the_profiles_that_summarize(fresh: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"name": "anthropic", "vendor": "compatible", "model": "small", "url": "http://127.0.0.1:9/v1"}
    save_profiles(Profiles(profiles=(Profile.model_validate({**small, "use": "condensation"}),)))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made-up")
    fresh.post("/answering", {"vendor": "anthropic", "model": "claude-sonnet-4-5"})
    made = [(profile.name, profile.model, profile.use) for profile in load_profiles().profiles]
    assert made == [("anthropic", "small", "condensation"), ("anthropic-2", "claude-sonnet-4-5", "conversation")]
