"""The gateway, with the vendors' own SDKs in front of it and the fake vendors behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic
from openai import OpenAI

from compact import parse
from compact.app.counting import counter_for
from compact.messages import Seal
from compact.server import security
from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors, Fault
from tests.server.conftest import Serve, Served, long_history

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
CLAUDE = "claude-sonnet-5"


@pytest.fixture(scope="module")
def narrow(serve: Serve, vendor: FakeVendors) -> Iterator[Served]:
    """A gateway that knows how small the vendor's windows are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        yield serve(vendor.url)


@pytest.fixture
def openai(narrow: Served) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{narrow.url}/v1", api_key=narrow.state.token, max_retries=0) as client:
        yield client


@pytest.fixture
def anthropic(narrow: Served) -> Iterator[Anthropic]:
    with Anthropic(base_url=narrow.url, api_key=narrow.state.token, max_retries=0) as client:
        yield client


def sent(vendor: FakeVendors) -> Any:
    return vendor.requests[-1].body


def test_chat_completions_grow_beyond_the_window_and_each_request_is_accepted(
    openai: OpenAI, vendor: FakeVendors
) -> None:
    history: list[Any] = [{"role": "system", "content": "Be brief."}]
    told: list[Any] = []
    for turn in range(30):
        history.append({"role": "user", "content": f"chat: what does module {turn} do? " * 10})
        answer = openai.chat.completions.with_raw_response.create(model="gpt-4o", messages=history)
        history.append({"role": "assistant", "content": f"{answer.parse().choices[0].message.content} " * 40})
        told.append(answer.headers)
    assert told[0]["x-compact-compaction"] == "none"
    assert told[-1]["x-compact-compaction"] == "applied"
    assert len({headers["x-compact-session"] for headers in told}) == 1
    assert len(sent(vendor)["messages"]) < len(history) / 2
    assert int(told[-1]["x-compact-tokens-before"]) > 8_000 > int(told[-1]["x-compact-tokens-after"])
    assert int(told[-1]["x-compact-saved"]) > 0


def test_accounts_are_signed_where_a_key_is_set(
    serve: Serve, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
    monkeypatch.setenv("COMPACT_SEAL_KEY", "a key of the tests")
    signing = serve(vendor.url)
    history: list[Any] = long_history(40, first="signed")
    with OpenAI(base_url=f"{signing.url}/v1", api_key=signing.state.token, max_retries=0) as client:
        client.chat.completions.create(model="gpt-4o", messages=history)
    texts = [str(message["content"]) for message in sent(vendor)["messages"]]
    (account,) = (text for text in texts if "[Account " in text)
    assert Seal("a key of the tests").verifies(account)


def test_responses_grow_beyond_the_window(openai: OpenAI, vendor: FakeVendors) -> None:
    history: list[Any] = long_history(40, first="responses")
    answer = openai.responses.with_raw_response.create(model="gpt-4o", input=history, instructions="Be brief.")
    assert answer.headers["x-compact-compaction"] == "applied"
    assert answer.parse().output_text.startswith("Noted: Which module")
    assert len(sent(vendor)["input"]) < len(history)
    assert sent(vendor)["instructions"] == "Be brief."


def test_messages_grow_beyond_the_window(anthropic: Anthropic, vendor: FakeVendors) -> None:
    history: list[Any] = long_history(40, first="messages")
    answer = anthropic.messages.with_raw_response.create(
        model=CLAUDE, messages=history, max_tokens=100, system="Be brief."
    )
    assert answer.headers["x-compact-compaction"] == "applied"
    assert answer.parse().content[0].type == "text"
    assert len(sent(vendor)["messages"]) < len(history)
    assert sent(vendor)["system"] == "Be brief."


@pytest.mark.parametrize("path", [CHAT, RESPONSES, "/v1/messages"])
def test_what_is_counted_is_the_request_and_nothing_else(narrow: Served, path: str) -> None:
    key, format = {CHAT: ("messages", "openai-chat"), RESPONSES: ("input", "openai-responses")}.get(
        path, ("messages", "anthropic-messages")
    )
    body: dict[str, Any] = {"model": "gpt-4o", key: [{"role": "user", "content": "hi"}], "max_tokens": 9}
    told = narrow.ask("POST", path, json=body, headers={"anthropic-version": "2023-06-01"}).headers
    assert int(told["x-compact-tokens-before"]) == counter_for("gpt-4o").conversation(parse(body, format=format)).total


@pytest.mark.parametrize("more", [{}, {"conversation": "kept by the vendor"}, {"previous_response_id": "r"}])
def test_meta_is_taken_off_before_it_reaches_the_vendor(
    narrow: Served, vendor: FakeVendors, more: dict[str, str]
) -> None:
    history = [{"role": "user", "content": "hi", "meta": {"protected": True, "source": "crm-17"}}]
    narrow.ask("POST", RESPONSES, json={"model": "gpt-4o", "input": history, **more})
    assert sent(vendor)["input"] == [{"role": "user", "content": "hi"}]


def test_streams_arrive_in_their_events(openai: OpenAI, anthropic: Anthropic) -> None:
    history: list[Any] = long_history(40, first="streams")
    chunks = list(openai.chat.completions.create(model="gpt-4o", messages=history, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks).startswith("Noted: Which module")
    with openai.responses.stream(model="gpt-4o", input=history) as events:
        assert events.get_final_response().output_text.startswith("Noted: Which module")
    with anthropic.messages.stream(model=CLAUDE, messages=history, max_tokens=100) as stream:
        assert stream.get_final_text().startswith("Noted: Which module")


def test_both_ways_to_write_the_address_work(narrow: Served) -> None:
    ask: list[Any] = [{"role": "user", "content": "Hi"}]
    for root in (narrow.url, f"{narrow.url}/v1"):
        with OpenAI(base_url=root, api_key=narrow.state.token, max_retries=0) as client:
            assert client.chat.completions.create(model="gpt-4o", messages=ask).choices
            assert client.responses.create(model="gpt-4o", input="Hi").output_text == "Noted: Hi"
            assert client.models.list().data
        with Anthropic(base_url=root, api_key=narrow.state.token, max_retries=0) as claude:
            assert claude.messages.create(model=CLAUDE, messages=ask, max_tokens=9).content
            assert claude.messages.count_tokens(model=CLAUDE, messages=ask).input_tokens > 0
            assert claude.models.list().data


def test_what_the_server_refuses_is_told_in_the_vendors_form(narrow: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "LARGEST_BODY", 10)
    monkeypatch.setattr(security, "LARGEST_UPLOAD", 10)
    for path in (CHAT, "/responses", "/v1/messages", "/v1/embeddings"):
        answers = [
            narrow.strange("POST", path, json={}, headers={"x-api-key": "wrong"}),
            narrow.ask("POST", path, content=b"no gzip", headers={"content-encoding": "gzip"}),
            narrow.ask("POST", path, content=b"more than ten bytes"),
        ]
        assert [answer.status_code for answer in answers] == [401, 400, 413]
        told = [answer.json() for answer in answers]
        anthropic = path == "/v1/messages"
        kinds = [each["error"]["type"] for each in told]
        wrong_key = "authentication_error" if anthropic else "invalid_request_error"
        assert kinds == [wrong_key, "invalid_request_error", "request_too_large"]
        assert "x-api-key" in told[0]["error"]["message"]
        assert all(each.get("type") == ("error" if anthropic else None) for each in told)
        assert all(("code" in each["error"]) != anthropic for each in told)
    assert narrow.strange("PUT", "/api/settings", json={}).json()["error"]["type"] == "Unauthorized"


def test_an_answer_that_breaks_off_breaks_off_for_the_client(narrow: Served, vendor: FakeVendors) -> None:
    vendor.fail(Fault("cut"))
    ask = {"model": "gpt-4o", "messages": [{"role": "user", "content": "cut"}], "stream": True}
    with (
        pytest.raises(httpx2.RemoteProtocolError),
        narrow.client.stream("POST", CHAT, json=ask, headers=narrow.headers) as answer,
    ):
        answer.read()


@pytest.mark.parametrize("kind", ["rate_limit", "server_error", "overloaded"])
def test_other_errors_pass_through(narrow: Served, vendor: FakeVendors, kind: Any) -> None:
    vendor.fail(Fault(kind))
    before = len(vendor.requests)
    answer = narrow.ask("POST", CHAT, json={"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]})
    assert answer.status_code in (429, 500, 503)
    assert "x-request-id" in answer.headers
    assert len(vendor.requests) == before + 1


def test_the_client_may_name_its_session(narrow: Served, vendor: FakeVendors) -> None:
    ask = {"model": "gpt-4o", "messages": [{"role": "user", "content": "named"}]}
    named = narrow.ask("POST", CHAT, json=ask, headers={"x-compact-session": "my-chat.1"})
    assert named.headers["x-compact-session"] == "my-chat.1"
    for id in (b"user:42", b"ann@example.org", "\N{LATIN CAPITAL LETTER U WITH DIAERESIS}/\N{SNOWMAN}".encode()):
        called = narrow.ask("POST", CHAT, json=ask, headers={"x-compact-session": id})
        assert [value for name, value in called.headers.raw if name == b"x-compact-session"] == [id]
    before = len(vendor.requests)
    wrong = narrow.ask("POST", CHAT, json=ask, headers={"x-compact-session": "x" * 257})
    assert wrong.status_code == 400
    assert "is no session id" in wrong.json()["error"]["message"]
    assert len(vendor.requests) == before


def test_conversations_with_the_same_opening_are_told_apart(narrow: Served) -> None:
    def turn(history: list[dict[str, str]]) -> str:
        answer = narrow.ask("POST", CHAT, json={"model": "gpt-4o", "messages": history})
        return answer.headers["x-compact-session"]

    opening = [{"role": "user", "content": "the same opening"}]
    histories = [[*opening, {"role": "assistant", "content": f"answer {number}"}] for number in range(3)]
    turn(opening)
    first = [turn([*history, {"role": "user", "content": "go on"}]) for history in histories]
    assert len(set(first)) == 3
    for history in histories:
        history += [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "done"}]
    assert [turn([*history, {"role": "user", "content": "more"}]) for history in histories] == first


def test_a_conversation_that_goes_back_keeps_the_compactions_it_still_contains(
    narrow: Served, vendor: FakeVendors
) -> None:
    def turn(history: list[dict[str, Any]]) -> tuple[str, int, Any]:
        told = narrow.ask("POST", CHAT, json={"model": "gpt-4o", "messages": history}).headers
        return told["x-compact-session"], int(told["x-compact-tokens-before"]), sent(vendor)["messages"]

    whole = long_history(80, first="going back")
    turns = [turn(whole[:length]) for length in range(1, len(whole), 2)]
    # What follows the opening changes with each compaction.
    compacted = [at for at in range(2, len(turns)) if turns[at][2][1] != turns[at - 1][2][1]]
    assert len(compacted) > 2
    for at in reversed(compacted[:-1]):
        history = [*whole[: 2 * at + 2], {"role": "user", "content": "Another way."}]
        session, before, messages = turn(history)
        assert session == turns[0][0]
        assert messages[:2] == turns[at][2][:2]
        assert before == counter_for("gpt-4o").conversation(parse(history)).total


def test_a_conversation_is_continued_after_a_restart_with_the_same_bytes(
    vendor: FakeVendors, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
    history = long_history(40, first="restart")
    bodies = []
    for _ in range(2):
        settings = ServerSettings(upstream_openai=f"{vendor.url}/v1")
        state = ServerState(environment, settings=settings)
        with running(state) as url, httpx2.Client(headers={"x-api-key": state.token}, timeout=30) as client:
            answer = client.post(url + CHAT, json={"model": "gpt-4o", "messages": history})
            bodies.append((answer.headers["x-compact-session"], sent(vendor)))
    assert bodies[0] == bodies[1]


def test_a_conversation_that_the_vendor_keeps_is_left_alone(narrow: Served, vendor: FakeVendors) -> None:
    first = narrow.ask("POST", RESPONSES, json={"model": "gpt-4o", "input": "Remember 42."}).json()
    body = {"model": "gpt-4o", "input": [{"role": "user", "content": "Which?"}], "previous_response_id": first["id"]}
    answer = narrow.ask("POST", RESPONSES, json=body)
    assert answer.status_code == 200
    assert answer.headers["x-compact-compaction"] == "none"
    assert answer.headers["x-compact-reason"] == "the vendor keeps this conversation"
    assert sent(vendor) == body
