"""What the gateway passes on, byte for byte, and what it keeps to itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import httpx2
import pytest

from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors, Fault
from compact.testing.vendors.wire import Answer
from tests.server.conftest import VENDOR_KEY, Recorder, Serve, Served, told

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"


ODD = b'{ "model":"gpt-4o",\n "messages" : [ {"role":"user","content":"caf\\u00e9 \xc3\xa9 1.0 1e2"} ], "x": 1.50 }'


@pytest.mark.parametrize("path", [CHAT, MESSAGES, "/v1/embeddings", "/v1/some/other:thing"])
def test_what_fits_goes_on_byte_for_byte(recorded: Served, recorder: Recorder, path: str) -> None:
    recorded.ask("POST", f"{path}?beta=true&x=%20y", content=ODD, headers={"content-type": "application/json"})
    assert recorder.arrived[-1].body == ODD
    assert recorder.arrived[-1].target == f"{path}?beta=true&x=%20y"


@pytest.mark.parametrize("body", [b"", b"no json", b"[]", b"null", b'{"model": 1, "messages": "x"}', b"[" * 60])
def test_what_is_no_conversation_goes_on_as_it_is(recorded: Served, recorder: Recorder, body: bytes) -> None:
    answer = recorded.ask("POST", CHAT, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 200
    assert recorder.arrived[-1].body == body


def test_answers_come_back_byte_for_byte(recorded: Served, recorder: Recorder) -> None:
    body = b'{"a":  "\xc3\xa9"}\n'
    headers = {"content-type": "application/x-odd", "x-request-id": "r1", "set-cookie": "a=b", "server": "theirs"}
    recorder.answers.append(Answer(418, headers, (body,)))
    answer = recorded.ask("POST", CHAT, json={"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]})
    assert (answer.status_code, answer.content) == (418, body)
    assert answer.headers["content-type"] == "application/x-odd"
    assert answer.headers["x-request-id"] == "r1"
    assert "set-cookie" not in answer.headers
    assert "server" not in answer.headers


def test_compressed_answers_stay_compressed(recorded: Served, recorder: Recorder) -> None:
    packed = gzip.compress(b'{"error": {"message": "no"}}')
    for status in (200, 429):
        headers = {"content-type": "application/json", "content-encoding": "gzip"}
        recorder.answers.append(Answer(status, headers, (packed,)))
        with recorded.client.stream(
            "POST", CHAT, content=ODD, headers={**recorded.headers, "accept-encoding": "gzip"}
        ) as answer:
            assert b"".join(answer.iter_raw()) == packed
    assert recorder.arrived[-1].headers["accept-encoding"] == "gzip"


def test_the_first_event_of_a_stream_is_not_held_back(vendor: FakeVendors, served: Served) -> None:
    vendor.fail(Fault("drip", seconds=0.001))
    ask = {"model": "gpt-4o", "messages": [{"role": "user", "content": "drip"}], "stream": True}
    with served.client.stream("POST", CHAT, json=ask, headers=served.headers) as answer:
        pieces = list(answer.iter_raw())
    assert len(pieces) > 20
    assert b"".join(pieces).endswith(b"data: [DONE]\n\n")


def test_ssrf_nothing_in_a_request_changes_where_it_goes(recorded: Served, recorder: Recorder) -> None:
    before = len(recorder.arrived)
    headers = {
        "x-compact-base-url": "http://evil.example",
        "x-forwarded-host": "evil.example",
        "x-base-url": "http://e",
    }
    body = {"model": "gpt-4o", "messages": [], "base_url": "http://evil.example", "api_base": "http://evil.example"}
    for path in (CHAT, "/v1/embeddings"):
        assert recorded.ask("POST", path, json=body, headers=headers).status_code == 200
    assert len(recorder.arrived) == before + 2
    assert not [name for name in recorder.arrived[-1].headers if name.startswith(("x-compact", "x-forwarded"))]


@pytest.mark.parametrize(
    "path", ["/v1/../admin", "/v1/%2e%2e/admin", "/v1/a/%2e%2e/%2e%2e/b", "/v1//evil", "/v1/a%3Fb"]
)
def test_ssrf_a_path_cannot_leave_the_vendors_api(recorded: Served, recorder: Recorder, path: str) -> None:
    before = len(recorder.arrived)
    url = httpx2.URL(recorded.url).copy_with(raw_path=path.encode())
    recorded.client.get(url, headers=recorded.headers)
    assert recorder.arrived[before:] == []


def test_the_vendor_gets_its_key_and_never_the_token(recorded: Served, recorder: Recorder) -> None:
    token = recorded.state.token
    for path, name in ((CHAT, "authorization"), (MESSAGES, "x-api-key")):
        for given in ({"authorization": f"Bearer {token}"}, {"x-api-key": token}, {"api-key": token}):
            recorded.client.post(f"{path}?token={token}", content=ODD, headers={**given, "cookie": f"t={token}"})
            arrived = recorder.arrived[-1]
            assert arrived.headers[name].removeprefix("Bearer ") == VENDOR_KEY
            assert token not in str(arrived)


def test_smuggling_headers_of_the_connection_stay_on_it(recorded: Served, recorder: Recorder) -> None:
    headers = {"connection": "close, x-secret", "x-secret": "1", "te": "trailers", "x-kept": "2", "via": "1.1 me"}
    recorded.ask("POST", CHAT, content=ODD, headers=headers)
    arrived = recorder.arrived[-1].headers
    assert arrived["x-kept"] == "2"
    assert not {"x-secret", "te", "via", "transfer-encoding"} & set(arrived)


def test_odd_headers_and_queries_go_on_or_are_refused(recorded: Served, recorder: Recorder) -> None:
    odd = [(b"x-odd", b"caf\xe9"), (b"x-api-key", recorded.state.token.encode())]
    recorded.client.post(CHAT, content=ODD, headers=odd)
    assert recorder.arrived[-1].headers["x-odd"] == "caf\xe9"
    for query in (b"?a=%zz&b=%00", b"?" + b"x" * 50_000):
        url = httpx2.URL(recorded.url).copy_with(raw_path=CHAT.encode() + query)
        assert recorded.client.post(url, content=ODD, headers=recorded.headers).status_code < 500


def test_redirects_are_not_followed(recorded: Served, recorder: Recorder) -> None:
    before = len(recorder.arrived)
    recorder.answers.append(Answer(307, {"location": f"{recorder.url}/v1/elsewhere"}, ()))
    answer = recorded.ask("POST", CHAT, content=ODD)
    assert answer.status_code == 502
    assert "location" not in answer.headers
    assert len(recorder.arrived) == before + 1


def test_a_missing_key_is_told_without_asking_anybody(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with running(ServerState(environment, settings=ServerSettings())) as url, httpx2.Client() as client:
        state_token = {"authorization": "Bearer wrong"}
        assert client.post(url + CHAT, content=ODD, headers=state_token).status_code == 401
    state = ServerState(environment, settings=ServerSettings())
    with running(state) as url, httpx2.Client(headers={"x-api-key": state.token}) as client:
        answer = client.post(url + CHAT, content=ODD)
    assert answer.status_code == 503
    assert answer.headers["x-should-retry"] == "false"
    assert "OPENAI_API_KEY is not set" in answer.json()["error"]["message"]


def test_an_unreachable_vendor_is_told_in_the_vendors_form(serve: Serve) -> None:
    nowhere = serve("http://127.0.0.1:9")
    told = nowhere.ask("POST", CHAT, content=ODD)
    assert (told.status_code, told.json()["error"]["code"]) == (502, "upstream_unreachable")
    told = nowhere.ask("POST", MESSAGES, content=ODD)
    assert told.json()["type"] == "error"
    assert VENDOR_KEY not in told.text


def test_a_vendor_that_was_reached_is_not_told_to_be_unreachable(recorded: Served, recorder: Recorder) -> None:
    recorder.answers.append(Answer(200, {}, (), fault=Fault("hang", seconds=0)))
    answer = recorded.ask("POST", CHAT, content=ODD)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_failed")
    assert "was reached, but broke off before an answer (RemoteProtocolError). Try again" in told(answer)


def test_a_profile_serves_its_model(serve: Serve, recorder: Recorder, environment: Path) -> None:
    profile = {"name": "own", "vendor": "compatible", "model": "my-model", "url": f"{recorder.url}/deep/v1"}
    (environment / "profiles.json").write_text(json.dumps({"profiles": [profile]}))
    served = serve("http://127.0.0.1:9")
    body = {"model": "my-model", "messages": [{"role": "user", "content": "Hi"}]}
    assert served.ask("POST", CHAT, json=body).status_code == 200
    assert recorder.arrived[-1].target == "/deep/v1/chat/completions"
    # A key that was not named for the address does not go there.
    assert "authorization" not in recorder.arrived[-1].headers
    (environment / "profiles.json").unlink()
    assert served.ask("POST", CHAT, json=body).status_code == 502


def test_our_own_failure_lets_the_request_through(recorded: Served, recorder: Recorder, environment: Path) -> None:
    (environment / "compact.yaml").write_text("policy: {trigger_pct: 7}")
    try:
        body = json.dumps({"model": "broken-model", "messages": [{"role": "user", "content": "Hi"}]}).encode()
        answer = recorded.ask("POST", CHAT, content=body)
    finally:
        (environment / "compact.yaml").unlink()
    assert (answer.status_code, answer.headers["x-compact-compaction"]) == (200, "failed")
    assert answer.headers["x-compact-reason"] == "Compact failed (InvalidConfiguration); the gateway's log says more"
    assert recorder.arrived[-1].body == body
