"""The HTTP server itself: connections, records, and what it says to those who ask for nothing it knows."""

from __future__ import annotations

import doctest
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import compact.testing.vendors
from compact.errors import InvalidConfiguration
from compact.formats import FORMATS, Request
from compact.testing.corrupt import CORRUPTIONS
from compact.testing.strategies import bodies
from compact.testing.vendors import FakeVendors, Fault, Received, Reply
from compact.tokens.encodings import load
from tests.testing.vendor_clients import ANTHROPIC, APIS, GEMINI, OPENAI, Api, send, words

FORMAT_NAMES = dict(zip(APIS, FORMATS, strict=True))
UNSEALED = {"A19": False, "R6": False, "G7": False}


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors(count=words) as server:
        yield server


@pytest.fixture
def unsealed() -> Iterator[FakeVendors]:
    """Vendors that accept signatures they did not make, as generated requests have them."""
    with FakeVendors(count=words, switch=UNSEALED) as server:
        yield server


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    return APIS[request.param]


def test_the_example_in_the_documentation_runs() -> None:
    result = doctest.testmod(compact.testing.vendors)
    assert (result.failed, result.attempted > 0) == (0, True)


def test_a_connection_serves_many_requests(server: FakeVendors) -> None:
    connection = HTTPConnection(server.host, server.port, timeout=10)
    sockets = set()
    for api in (*APIS.values(), *APIS.values()):
        for path, extra in ((api.path, {}), (api.stream_path, {} if api.name == "gemini" else {"stream": True})):
            connection.request("POST", path, json.dumps({**api.body(), **extra}), dict(api.headers))
            sockets.add(connection.sock)
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (200, True)
    connection.close()
    assert len(sockets) == 1


def test_a_body_may_come_in_chunks(server: FakeVendors) -> None:
    body = json.dumps(APIS["chat"].body("In chunks")).encode()
    connection = HTTPConnection(server.host, server.port, timeout=10)
    parts = iter([body[:10], body[10:]])
    connection.request("POST", "/v1/chat/completions", parts, OPENAI, encode_chunked=False)
    assert connection.getresponse().status == 200
    connection.close()
    assert server.requests[0].body == APIS["chat"].body("In chunks")


def test_an_old_client_gets_a_stream_that_ends_with_the_connection(server: FakeVendors) -> None:
    body = json.dumps({**APIS["chat"].body(), "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.0\r\nAuthorization: Bearer k\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((server.host, server.port), timeout=10) as line:
        line.sendall(head.encode() + body)
        with line.makefile("rb") as reader:
            received = reader.read()
    assert received.endswith(b"data: [DONE]\n\n")
    assert b"transfer-encoding" not in received.lower()


@pytest.mark.parametrize("length", ["-1", "many"])
def test_a_length_that_is_none_is_refused(server: FakeVendors, length: str) -> None:
    with socket.create_connection((server.host, server.port), timeout=10) as line:
        line.sendall(f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n".encode())
        assert line.recv(100).startswith(b"HTTP/1.1 400")


def test_only_this_machine_is_served(server: FakeVendors) -> None:
    assert server.url == f"http://127.0.0.1:{server.port}"


def test_everything_ends_with_the_server() -> None:
    before = set(threading.enumerate())
    with FakeVendors(count=words) as server:
        idle = socket.create_connection((server.host, server.port), timeout=10)
        server.fail(Fault("hang"))
        hanging = socket.create_connection((server.host, server.port), timeout=10)
        body = json.dumps(APIS["chat"].body()).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nAuthorization: Bearer k\r\nContent-Length: {len(body)}\r\n\r\n"
        hanging.sendall(head.encode() + body)
        while not server.requests:
            threading.Event().wait(0.01)
        port = server.port
    assert set(threading.enumerate()) <= before
    assert (idle.recv(1), hanging.recv(1)) == (b"", b"")
    for line in (idle, hanging):
        line.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=1)


def test_a_server_that_is_not_running_has_no_address() -> None:
    server = FakeVendors(count=words)
    with pytest.raises(InvalidConfiguration, match="Use `with FakeVendors"):
        _ = server.url
    server.close()


def test_everything_received_is_recorded_without_keys(server: FakeVendors) -> None:
    send(
        server, "POST", "/v1/chat/completions", APIS["chat"].body(), {"Authorization": "Bearer sk-secret", "X-Own": "1"}
    )
    send(server, "POST", "/v1/messages", b"{oops", ANTHROPIC)
    send(server, "GET", "/v1/models?limit=3", None, {"api-key": "secret"})
    chat, broken, models = server.requests
    assert chat.headers["authorization"] == "Bearer [redacted]"
    assert chat.headers["x-own"] == "1"
    assert (chat.method, chat.path, chat.status) == ("POST", "/v1/chat/completions", 200)
    assert (chat.format, chat.body) == ("openai-chat", APIS["chat"].body())
    assert (broken.format, broken.status, broken.body) == ("anthropic-messages", 400, "{oops")
    assert (models.path, models.status, models.format) == ("/v1/models?limit=3", 200, "")
    assert "secret" not in repr([request.headers for request in server.requests])


def test_what_was_recorded_can_be_forgotten(server: FakeVendors) -> None:
    APIS["chat"].ask(server)
    server.forget()
    assert list(server.requests) == []
    APIS["anthropic"].ask(server)
    assert [request.path for request in server.requests] == ["/v1/messages"]


def test_replies_come_in_order_and_a_function_answers_the_rest(server: FakeVendors, api: Api) -> None:
    def answer(request: Received) -> Reply:
        return Reply(f"{request.format}: {len(request.body[api.messages])}")

    server.reply("One.", Reply("Two."), answer)
    said = [api.text(api.ask(server).json) for _ in range(4)]
    format = FORMATS[server.requests[0].format].name
    assert said == ["One.", "Two.", f"{format}: 1", f"{format}: 1"]


def test_what_a_script_raises_reaches_the_test() -> None:
    def answer(request: Received) -> str:
        raise LookupError(request.path)

    def run() -> None:
        with FakeVendors(count=words) as server:
            server.reply(answer)
            APIS["chat"].ask(server)

    with pytest.raises(LookupError, match="/v1/chat/completions"):
        run()


def test_many_clients_at_once_get_one_reply_each(server: FakeVendors) -> None:
    server.reply(*(f"Reply {number}" for number in range(40)))
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: list(APIS.values())[number % 4].ask(server), range(40)))
    said = {list(APIS.values())[number % 4].text(answer.json) for number, answer in enumerate(answers)}
    assert said == {f"Reply {number}" for number in range(40)}
    assert len(server.requests) == 40


def test_a_key_is_needed(server: FakeVendors, api: Api) -> None:
    headers = {name: value for name, value in api.headers.items() if name == "anthropic-version"}
    refused = send(server, "POST", api.path, api.body(), headers)
    error = refused.json["error"]
    if api.name == "anthropic":
        assert (refused.status, error["message"]) == (401, "x-api-key header is required")
        assert error["type"] == "authentication_error"
    elif api.name == "gemini":
        assert (refused.status, error["status"]) == (403, "PERMISSION_DENIED")
        assert error["message"].startswith("Method doesn't allow unregistered callers")
    else:
        assert refused.status == 401
        assert error["message"].startswith("You didn't provide an API key. You need to provide your API key in an")
        assert send(server, "POST", api.path, api.body(), {"authorization": "Bearer "}).status == 401


def test_anthropic_needs_a_version(server: FakeVendors) -> None:
    refused = send(server, "POST", "/v1/messages", APIS["anthropic"].body(), {"x-api-key": "k"})
    assert (refused.status, refused.json["error"]["message"]) == (400, "anthropic-version: header is required")


def test_a_body_that_is_no_json_is_refused(server: FakeVendors, api: Api) -> None:
    texts = {
        "chat": "We could not parse the JSON body of your request.",
        "responses": "We could not parse the JSON body of your request.",
        "anthropic": "The request body is not valid JSON: unexpected character: line 1 column 2 (char 1)",
        "gemini": "Invalid JSON payload received.",
    }
    refused = send(server, "POST", api.path, b"{oops", api.headers)
    assert refused.status == 400
    assert refused.json["error"]["message"].startswith(texts[api.name])
    for raw in (b"", b"[]", b'{"model": NaN}', b"\xff\xfe", b"[" * 100_000):
        assert send(server, "POST", api.path, raw, api.headers).status == 400


@pytest.mark.parametrize(
    ("path", "body", "param", "code", "text"),
    [
        ("chat", {"messages": []}, None, None, "you must provide a model parameter"),
        ("chat", {"model": "m"}, "messages", "missing_required_parameter", "Missing required parameter: 'messages'."),
        ("chat", {"model": "m", "messages": []}, "messages", "empty_array", "Invalid 'messages': empty array."),
        ("chat", {"model": "m", "messages": "Hi"}, "messages", "invalid_type", "Invalid type for 'messages'"),
        ("responses", {"input": "Hi"}, "model", "missing_required_parameter", "Missing required parameter: 'model'."),
        ("responses", {"model": "m"}, "input", "missing_required_parameter", "Missing required parameter: 'input'."),
        ("responses", {"model": "m", "input": []}, None, "missing_required_parameter", 'One of "input" or'),
        ("responses", {"model": "m", "input": 3}, "input", "invalid_type", "Invalid type for 'input'"),
    ],
)
def test_openai_names_what_is_missing(
    server: FakeVendors, path: str, body: Any, param: str | None, code: str | None, text: str
) -> None:
    refused = APIS[path].ask(server, body)
    error = refused.json["error"]
    assert (refused.status, error["param"], error["code"]) == (400, param, code)
    assert error["message"].startswith(text)


@pytest.mark.parametrize(
    ("path", "headers", "message"),
    [
        ("/v1/embeddings", OPENAI, "Invalid URL (POST /v1/embeddings)"),
        ("/v1/complete", ANTHROPIC, "Not Found"),
        ("/v1beta/models/m:embedContent", GEMINI, "Requested entity was not found."),
    ],
)
def test_an_unknown_route_is_not_found(server: FakeVendors, path: str, headers: Any, message: str) -> None:
    answer = send(server, "POST", path, {}, headers)
    assert (answer.status, answer.json["error"]["message"]) == (404, message)


def test_models_come_in_the_shape_of_the_vendor_that_is_asked(server: FakeVendors) -> None:
    assert send(server, "GET", "/v1/models", None, OPENAI).json["object"] == "list"
    assert send(server, "GET", "/v1/models", None, ANTHROPIC).json["has_more"] is False
    assert send(server, "GET", "/v1/models").status == 401


def test_request_ids_are_sent(server: FakeVendors) -> None:
    ids = [APIS["chat"].ask(server).headers["x-request-id"] for _ in range(2)]
    ids.append(APIS["anthropic"].ask(server).headers["request-id"])
    assert len(set(ids)) == 3


def test_tokens_are_counted_with_o200k_unless_told_otherwise() -> None:
    text = "Ein längerer Satz, 用中文写的一句话, and `code()`."
    with FakeVendors() as server:
        used = APIS["chat"].ask(server, APIS["chat"].body(text)).json["usage"]["prompt_tokens"]
    assert used == load("o200k_base").count(text) + 1 + 3 + 3


@pytest.mark.parametrize(
    "wrong", [{"window": 0}, {"variants": {"openai-chat": "none"}}, {"variants": {"none": "openai"}}]
)
def test_a_wrong_option_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidConfiguration):
        FakeVendors(count=words, **wrong)


def test_rules_follow_the_variant_and_the_switches() -> None:
    orphan = {"role": "tool", "tool_call_id": "call_1", "content": "x"}
    body = APIS["chat"].body(messages=[{"role": "user", "content": "Hi"}, orphan])
    rules = {rule.id: False for rule in FORMATS["openai-chat"].rules}
    with FakeVendors(count=words) as strict, FakeVendors(count=words, switch=rules) as lenient:
        assert (APIS["chat"].ask(strict, body).status, APIS["chat"].ask(lenient, body).status) == (400, 200)


def test_calls_have_ids_that_the_variant_accepts() -> None:
    for variant in FORMATS["openai-chat"].variants:
        with FakeVendors(count=words, variants={"openai-chat": variant}) as server:
            server.reply(Reply(calls=[("look", {})]), "Done.")
            message = APIS["chat"].ask(server).json["choices"][0]["message"]
            result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "x"}
            body = APIS["chat"].body(messages=[{"role": "user", "content": "Hi"}, message, result])
            assert APIS["chat"].text(APIS["chat"].ask(server, body).json) == "Done."


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "content", "type", "parts"]), inner)
    ),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSONS, messages=st.lists(JSONS, min_size=1, max_size=3))
def test_whatever_is_sent_gets_an_answer(server: FakeVendors, api: Api, value: Any, messages: Any) -> None:
    body = {**api.body(), api.messages: messages, "system": value, "tools": value, "thinking": value, "include": value}
    assert api.ask(server, body).status in (200, 400, 404)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_valid_request_is_accepted(unsealed: FakeVendors, api: Api, data: st.DataObject) -> None:
    body = data.draw(bodies(FORMAT_NAMES[api.name]))
    answer = send(unsealed, "POST", _path(api, body), {**api.body(), **body}, api.headers)
    assert answer.status == 200, answer.body


def _path(api: Api, body: Any) -> str:
    return api.path.replace("gemini-2.5-flash", body.get("model", "gemini-2.5-flash"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_broken_request_is_refused_in_the_words_of_its_rule(
    unsealed: FakeVendors, api: Api, data: st.DataObject
) -> None:
    format = FORMATS[FORMAT_NAMES[api.name]]
    corrupt = data.draw(st.sampled_from(sorted(CORRUPTIONS[format.name].items())))[1]
    valid = data.draw(bodies(format.name))
    sent = {**api.body(), **(corrupt(valid, Random(data.draw(st.integers(0, 99)))) or valid)}
    if api.name == "gemini":
        sent["model"] = valid.get("model", "gemini-2.5-flash")
    broken = format.violations(Request(sent), switch=UNSEALED)
    answer = send(unsealed, "POST", _path(api, valid), sent, api.headers)
    assert answer.status == (broken[0].status if broken else 200)
    assert not broken or answer.json["error"]["message"] == broken[0].text
