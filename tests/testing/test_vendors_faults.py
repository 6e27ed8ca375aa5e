"""Each fault, tried on each vendor."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.client import HTTPException, IncompleteRead
from typing import Any, get_args

import anthropic
import httpx2
import openai
import pytest

from compact.errors import InvalidConfiguration
from compact.testing.vendors import FakeVendors, Fault, Reply
from compact.testing.vendors.faults import Kind
from tests.testing.vendor_clients import ANTHROPIC, APIS, OPENAI, Api, send, words

REPLY = Reply("A rather long answer, in several pieces, so that something is left to lose.")


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors(count=words) as server:
        server.reply(REPLY)
        yield server


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    return APIS[request.param]


STATUSES = {
    "rate_limit": {"openai": 429, "anthropic": 429, "gemini": 429},
    "quota": {"openai": 429, "anthropic": 400, "gemini": 429},
    "overloaded": {"openai": 503, "anthropic": 529, "gemini": 503},
    "server_error": {"openai": 500, "anthropic": 500, "gemini": 500},
    "unavailable": {"openai": 503, "anthropic": 503, "gemini": 503},
}
TYPES = {
    "rate_limit": {"openai": "tokens", "anthropic": "rate_limit_error", "gemini": "RESOURCE_EXHAUSTED"},
    "quota": {"openai": "insufficient_quota", "anthropic": "invalid_request_error", "gemini": "RESOURCE_EXHAUSTED"},
    "overloaded": {"openai": "server_error", "anthropic": "overloaded_error", "gemini": "UNAVAILABLE"},
    "server_error": {"openai": "server_error", "anthropic": "api_error", "gemini": "INTERNAL"},
    "unavailable": {"openai": "server_error", "anthropic": "api_error", "gemini": "UNAVAILABLE"},
}


def _vendor(api: Api) -> str:
    return "openai" if api.name in ("chat", "responses") else api.name


@pytest.mark.parametrize("kind", STATUSES)
@pytest.mark.parametrize("stream", [False, True])
def test_the_vendor_refuses_in_its_own_words_and_then_recovers(
    server: FakeVendors, api: Api, kind: Kind, stream: bool
) -> None:
    server.fail(Fault(kind, retry_after=3))
    refused = (api.stream if stream else api.ask)(server)
    error = refused.json["error"]
    assert refused.status == STATUSES[kind][_vendor(api)]
    assert error["status" if api.name == "gemini" else "type"] == TYPES[kind][_vendor(api)]
    assert error["message"]
    assert "{" not in error["message"]
    assert api.text(api.ask(server).json) == REPLY.text


def test_a_rate_limit_says_when_to_come_back(server: FakeVendors, api: Api) -> None:
    server.fail(Fault("rate_limit", retry_after=3))
    refused = api.ask(server)
    if api.name == "gemini":
        assert refused.json["error"]["details"][0]["retryDelay"] == "3s"
    else:
        assert refused.headers["retry-after"] == "3"


@pytest.mark.parametrize("kind", ["refusal", "filtered"])
def test_the_model_refuses(server: FakeVendors, api: Api, kind: Kind) -> None:
    server.fail(Fault(kind))
    answer = api.ask(server)
    found = answer.json
    if api.name == "chat":
        [choice] = found["choices"]
        assert choice["finish_reason"] == {"refusal": "stop", "filtered": "content_filter"}[kind]
        assert bool(choice["message"]["refusal"]) == (kind == "refusal")
    elif api.name == "responses":
        assert found["status"] == {"refusal": "completed", "filtered": "incomplete"}[kind]
        kinds = [part["type"] for item in found["output"] for part in item["content"]]
        assert kinds == (["refusal"] if kind == "refusal" else [])
    elif api.name == "anthropic" and kind == "refusal":
        assert (answer.status, found["stop_reason"], found["content"]) == (200, "refusal", [])
    elif api.name == "anthropic":
        assert (answer.status, found["error"]["message"]) == (400, "Output blocked by content filtering policy")
    elif kind == "refusal":
        assert found["candidates"][0]["finishReason"] == "SAFETY"
    else:
        assert "candidates" not in found
        assert found["promptFeedback"]["blockReason"] == "PROHIBITED_CONTENT"


ENDINGS = {
    "chat": lambda whole: whole["choices"][0]["finish_reason"],
    "responses": lambda whole: (whole["incomplete_details"] or {"reason": "completed"})["reason"],
    "anthropic": lambda whole: whole["stop_reason"],
    "gemini": lambda whole: whole["candidates"][0]["finishReason"],
}


def test_the_answer_is_truncated(server: FakeVendors, api: Api) -> None:
    server.fail(Fault("truncated"))
    whole = api.ask(server).json
    names = {"chat": "length", "responses": "max_output_tokens", "anthropic": "max_tokens", "gemini": "MAX_TOKENS"}
    assert ENDINGS[api.name](whole) == names[api.name]
    assert REPLY.text.startswith(api.text(whole))
    assert len(api.text(whole)) < len(REPLY.text)


def test_the_answer_is_empty(server: FakeVendors, api: Api) -> None:
    server.fail(Fault("empty"))
    whole = api.ask(server).json
    assert api.text(whole) == ""
    names = {"chat": "stop", "responses": "completed", "anthropic": "end_turn", "gemini": "STOP"}
    assert ENDINGS[api.name](whole) == names[api.name]


def test_nothing_comes_and_the_connection_closes(server: FakeVendors, api: Api) -> None:
    server.fail(Fault("hang", seconds=0.1))
    started = time.monotonic()
    with pytest.raises((HTTPException, ConnectionError)):
        api.ask(server)
    assert time.monotonic() - started >= 0.1
    assert server.requests[0].status == 0
    assert api.text(api.ask(server).json) == REPLY.text


@pytest.mark.clock
def test_a_client_that_waits_less_than_the_vendor_gives_up(server: FakeVendors) -> None:
    server.fail(Fault("hang"))
    with (
        openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0, timeout=0.1) as client,
        pytest.raises(openai.APITimeoutError),
    ):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    started = time.monotonic()
    server.close()
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("stream", [False, True])
def test_the_answer_drips(server: FakeVendors, api: Api, stream: bool) -> None:
    server.fail(Fault("drip", seconds=0))
    dripped = (api.stream if stream else api.ask)(server)
    assert dripped.status == 200
    assert b"pieces" in dripped.body.replace(b"\n\n", b"")
    assert api.text(api.ask(server).json).startswith("Noted: ")


@pytest.mark.parametrize("fault", [Fault("drip"), Fault("drip", seconds=0.02)])
def test_dripping_takes_its_time(server: FakeVendors, fault: Fault) -> None:
    server.fail(fault, on="count")
    started = time.monotonic()
    answer = send(server, "POST", "/v1/messages/count_tokens", APIS["anthropic"].body(), ANTHROPIC)
    assert answer.json == {"input_tokens": 9}
    assert time.monotonic() - started >= len(answer.body) * (fault.seconds or 0.01)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("at", [0, 0.01, 0.5, 0.99])
def test_the_connection_is_cut(server: FakeVendors, api: Api, stream: bool, at: float) -> None:
    server.fail(Fault("cut", at=at))
    with pytest.raises(IncompleteRead):
        (api.stream if stream else api.ask)(server)
    assert server.requests[0].status == 200
    assert api.text(api.ask(server).json) == REPLY.text


@pytest.mark.parametrize("stream", [False, True])
def test_a_clean_cut_looks_complete_to_http(server: FakeVendors, api: Api, stream: bool) -> None:
    server.fail(Fault("cut", clean=True))
    half = (api.stream if stream else api.ask)(server)
    whole = (api.stream if stream else api.ask)(server)
    assert half.status == 200
    assert 0 < len(half.body) < len(whole.body)
    if stream:
        assert len(half.body.split(b"\n\n")) < len(whole.body.split(b"\n\n"))
    else:
        with pytest.raises(json.JSONDecodeError):
            _ = half.json


def test_the_body_is_no_json(server: FakeVendors, api: Api) -> None:
    server.fail(Fault("garbled", body="<oops>"), times=2)
    assert api.ask(server).body == b"<oops>"
    assert b"data: <oops>\n\n" in api.stream(server).body


def test_the_stream_reports_an_error(server: FakeVendors, api: Api) -> None:
    server.fail(Fault("stream_error"), times=2)
    events = api.stream(server).events
    name, last = events[-1]
    assert last["error"]["message"]
    assert name == ("error" if api.name in ("responses", "anthropic") else "")
    assert len(events) > 1
    assert api.ask(server).status == 500


def test_the_sdks_report_an_error_in_a_stream(server: FakeVendors) -> None:
    server.fail(Fault("stream_error"), times=3)
    with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0) as client:
        with pytest.raises(openai.APIError, match="The server had an error"):
            list(client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}], stream=True))
        with pytest.raises(openai.APIError, match="The server had an error"):
            list(client.responses.create(model="m", input="Hi", stream=True))
    with pytest.raises(anthropic.APIStatusError, match="Internal server error"):
        _stream(server)


def test_the_sdks_notice_a_cut_stream(server: FakeVendors) -> None:
    server.fail(Fault("cut"), times=3)
    with openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0) as client:
        with pytest.raises((httpx2.RemoteProtocolError, openai.APIConnectionError)):
            list(client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}], stream=True))
        with pytest.raises((httpx2.RemoteProtocolError, openai.APIConnectionError)):
            list(client.responses.create(model="m", input="Hi", stream=True))
    with pytest.raises((httpx2.RemoteProtocolError, anthropic.APIConnectionError)):
        _stream(server)


def _stream(server: FakeVendors) -> None:
    with (
        anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=99, messages=[{"role": "user", "content": "Hi"}]) as stream,
    ):
        stream.get_final_message()


def test_faults_wait_for_the_operation_they_are_meant_for(server: FakeVendors) -> None:
    server.fail(Fault("rate_limit"), on="count")
    server.fail(Fault("unavailable"), on="models")
    api = APIS["anthropic"]
    assert api.ask(server).status == 200
    assert send(server, "POST", "/v1/messages/count_tokens", api.body(), ANTHROPIC).status == 429
    assert send(server, "POST", "/v1/messages/count_tokens", api.body(), ANTHROPIC).status == 200
    assert [send(server, "GET", "/v1/models", None, OPENAI).status for _ in range(2)] == [503, 200]


def test_every_kind_of_fault_leaves_the_server_working(server: FakeVendors) -> None:
    for kind in get_args(Kind):
        server.fail(Fault(kind, seconds=0.0001))
        for api in APIS.values():
            try:
                api.ask(server)
            except (HTTPException, ConnectionError):
                assert kind in ("hang", "cut")
    assert len(server.requests) == len(get_args(Kind)) * len(APIS)


@pytest.mark.parametrize("wrong", [{"kind": "earthquake"}, {"kind": "cut", "at": 1}, {"kind": "drip", "seconds": -1}])
def test_a_fault_that_cannot_be_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidConfiguration, match=f"^({'|'.join(wrong)})"):
        Fault(**wrong)


def test_an_operation_that_does_not_exist_is_refused(server: FakeVendors) -> None:
    where: Any = "embed"
    with pytest.raises(InvalidConfiguration, match="generate, count, models"):
        server.fail(Fault("empty"), on=where)
