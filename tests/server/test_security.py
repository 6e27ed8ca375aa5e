"""The checklist for local servers, row by row."""

from __future__ import annotations

import ast
import gzip
import json
import re
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

import compact.server
from compact.errors import InvalidConfiguration
from compact.server import security
from compact.server.app import create_app
from compact.server.serving import check_host
from compact.server.state import ServerState, is_loopback, new_token
from compact.settings.server import ServerSettings, load_server_settings
from tests.server.conftest import Serve, Served, told

SOURCES = sorted(Path(compact.server.__path__[0]).rglob("*.py"))
HIDDEN = [
    ("GET", "/api/openapi.json"),
    ("GET", "/api/no-such-thing"),
    ("GET", "/v1/models"),
    ("GET", "/models"),
    ("POST", "/chat/completions"),
    ("POST", "/v1/embeddings"),
    ("DELETE", "/v1/files/x"),
]
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
}


def every_route(served: Served) -> Iterator[tuple[str, str]]:
    """Everything the server answers, with something in the place of parameters."""
    paths = create_app(served.state).openapi()["paths"]
    for path, operations in paths.items():
        yield from ((method.upper(), re.sub(r"\{[^}]*\}", "x", path)) for method in operations)
    yield from HIDDEN


def raw(served: Served, request: bytes) -> bytes:
    """What comes back for exactly these bytes."""
    host = urlsplit(served.url)
    with socket.create_connection((host.hostname, host.port), timeout=10) as line:
        line.sendall(request)
        answer = b""
        while piece := line.recv(65536):
            answer += piece
        return answer


# Open port


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_open_port_other_hosts_are_refused_without_a_token_of_the_operators(host: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="COMPACT_TOKEN"):
        check_host(host, ServerState(tmp_path))
    check_host(host, ServerState(tmp_path, settings=ServerSettings(token="a-secret-of-16-characters")))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.0.1", "::1", "[::1]", "localhost"])
def test_open_port_this_machine_is_the_default(host: str, tmp_path: Path) -> None:
    assert is_loopback(host)
    check_host(host, ServerState(tmp_path))


def test_open_port_a_short_token_is_none() -> None:
    with pytest.raises(InvalidConfiguration, match="token") as caught:
        load_server_settings({"COMPACT_TOKEN": "hunter2"})
    assert "hunter2" not in str(caught.value)


# Missing authentication


def test_missing_auth_every_route_but_the_page_and_the_health_check_wants_the_token(served: Served) -> None:
    routes = list(every_route(served))
    answers = {(method, path): served.strange(method, path).status_code for method, path in routes}
    assert len(routes) > 15
    assert answers.pop(("GET", "/api/health")) == 200
    assert {route: status for route, status in answers.items() if status != 401} == {}
    assert served.strange("GET", "/").status_code == 200


def test_missing_auth_the_token_may_come_as_a_bearer_a_key_or_in_the_address(served: Served) -> None:
    token = served.state.token
    for headers in ({"authorization": f"Bearer {token}"}, {"x-api-key": token}, {"api-key": token}):
        assert served.strange("GET", "/api/openapi.json", headers=headers).status_code == 200
    assert served.strange("GET", f"/api/openapi.json?token={token}").status_code == 200
    for wrong in (token[:-1], f"{token}x", "Bearer", token.swapcase(), "\xff\xfe"):
        given = [(b"authorization", f"Bearer {wrong}".encode("latin-1"))]
        assert served.strange("GET", "/api/openapi.json", headers=given).status_code == 401


def test_missing_auth_tokens_are_random_and_long() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 43


def test_missing_auth_a_body_is_not_read_before_the_token_is_known(served: Served) -> None:
    head = f"POST /ingest HTTP/1.1\r\nhost: {urlsplit(served.url).netloc}\r\ncontent-length: 1000000\r\n\r\n"
    assert b" 401 " in raw(served, head.encode()).splitlines()[0]


# DNS rebinding


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost:x"])
def test_dns_rebinding_other_hosts_are_refused_everywhere(served: Served, host: str) -> None:
    for path in ("/", "/api/health", "/api/openapi.json", "/v1/models", "/assets/x.js"):
        answer = served.ask("GET", path, headers={"host": host})
        assert answer.status_code in (400, 421), path


def test_dns_rebinding_two_hosts_are_none(served: Served) -> None:
    own = urlsplit(served.url).netloc
    request = f"GET /api/health HTTP/1.1\r\nhost: {own}\r\nhost: evil.example\r\nconnection: close\r\n\r\n"
    assert raw(served, request.encode()).split(b" ")[1] in (b"400", b"421")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "[::1]", "[::1]:8787"])
def test_dns_rebinding_the_names_of_this_machine_are_fine(served: Served, host: str) -> None:
    assert served.strange("GET", "/api/health", headers={"host": host}).status_code == 200


# Path confusion


@pytest.mark.parametrize(
    "path", ["//api/openapi.json", "/api//openapi.json", "/api/health/../openapi.json", "/api/health;/../openapi.json"]
)
def test_path_confusion_no_spelling_of_a_path_gets_around_the_token(served: Served, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nhost: {urlsplit(served.url).netloc}\r\nconnection: close\r\n\r\n"
    answer = raw(served, request.encode())
    assert b'"paths"' not in answer


def test_path_confusion_a_host_with_a_path_in_it_is_refused(served: Served) -> None:
    answer = served.strange("GET", "/api/openapi.json", headers={"host": "127.0.0.1/api/health?x="})
    assert answer.status_code in (400, 421)


# CSRF and CORS


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example", "file://"])
def test_csrf_pages_of_other_sites_are_refused(served: Served, origin: str) -> None:
    event = {"type": "span", "trace_id": "t", "span_id": "s"}
    assert served.ask("POST", "/ingest", json=event, headers={"origin": origin}).status_code == 403
    assert served.ask("GET", "/api/openapi.json", headers={"origin": origin}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_csrf_what_a_browser_sends_for_another_site_is_refused(served: Served, site: str) -> None:
    assert served.ask("POST", "/ingest", json={}, headers={"sec-fetch-site": site}).status_code == 403
    assert served.ask("GET", "/api/openapi.json", headers={"sec-fetch-site": site}).status_code == 403
    # A link on another page may lead to ours.
    assert served.strange("GET", "/", headers={"sec-fetch-site": site}).status_code == 200


def test_csrf_the_own_page_is_served(served: Served) -> None:
    event = {"type": "span", "trace_id": "csrf", "span_id": "s"}
    headers = {"origin": served.url, "sec-fetch-site": "same-origin"}
    assert served.ask("POST", "/ingest", json=event, headers=headers).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_csrf_forms_are_not_taken(served: Served, kind: str) -> None:
    answer = served.ask("POST", "/ingest", content=b'{"batch": []}', headers={"content-type": kind})
    assert answer.status_code == 415


def test_cors_is_granted_to_nobody(served: Served) -> None:
    for origin in (served.url, "http://evil.example"):
        headers = {"origin": origin, "access-control-request-method": "POST"}
        for method, path in (("OPTIONS", "/ingest"), ("GET", "/api/health"), ("OPTIONS", "/v1/chat/completions")):
            answer = served.ask(method, path, headers=headers)
            assert not [name for name in answer.headers if name.startswith("access-control-")]


# XSS


def test_xss_every_answer_tells_browsers_what_they_may_do(served: Served) -> None:
    answers = [
        served.strange("GET", "/"),
        served.strange("GET", "/assets/none.js"),
        served.strange("GET", "/api/health"),
        served.strange("POST", "/ingest"),
        served.ask("GET", "/api/none"),
        served.ask("GET", "/v1/models"),
        served.strange("GET", "/", headers={"host": "evil.example"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 200, 401, 404, 200, 421]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


def test_xss_errors_are_json_and_never_a_stack_trace(served: Served) -> None:
    answer = served.ask("GET", "/api/<script>alert(1)</script>")
    assert answer.headers["content-type"] == "application/json"
    assert "Traceback" not in answer.text


# Path traversal


@pytest.mark.parametrize(
    "path", ["/../app.py", "/%2e%2e/app.py", "/..%2fapp.py", "/assets/../../app.py", "/..\\app.py", "/%00", "/....//x"]
)
def test_traversal_the_page_is_all_there_is(served: Served, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nhost: {urlsplit(served.url).netloc}\r\nconnection: close\r\n\r\n"
    answer = raw(served, request.encode())
    assert b"def create_app" not in answer
    assert answer.split(b" ")[1] in (b"200", b"404", b"400")


# SQL


def test_sql_an_id_is_only_an_id(served: Served) -> None:
    hostile = "x'; DROP TABLE event; --"
    for span in ("a", 'b" OR 1=1'):
        event = {"type": "span", "trace_id": hostile, "span_id": span}
        assert served.ask("POST", "/ingest", json=event).json() == {"success": True, "count": 1}


# Deserialisation, commands


def test_deserialisation_and_commands_are_not_in_the_server() -> None:
    forbidden = {"pickle", "subprocess", "shelve", "dill", "os.system", "yaml"}
    calls = {"eval", "exec", "loads_marshal", "system", "popen", "Popen"}
    found = []
    for source in SOURCES:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            called = node.func if isinstance(node, ast.Call) else None
            name = getattr(called, "id", getattr(called, "attr", ""))
            unsafe = isinstance(called, ast.Attribute) and ast.unparse(called) in ("marshal.loads", "marshal.load")
            if set(names) & forbidden or name in calls or unsafe:
                found.append(f"{source.name}:{node.lineno}")  # type: ignore[attr-defined]  # imports and calls have one
    assert len(SOURCES) > 10
    assert found == []


# Bombs


def test_bombs_a_body_that_says_it_is_too_large(served: Served) -> None:
    body = b" " * (security.LARGEST_BODY + 1)
    answer = served.ask("POST", "/ingest", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert "33,554,432 bytes" in told(answer)


def test_bombs_a_body_in_chunks_that_grows_too_large(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "LARGEST_BODY", 100_000)
    monkeypatch.setattr(security, "LARGEST_UPLOAD", 100_000)
    for path in ("/ingest", "/v1/chat/completions"):
        pieces = iter([b" " * 30_000] * 5)
        answer = served.ask("POST", path, content=pieces, headers={"content-type": "application/json"})
        assert answer.status_code == 413, path


def test_bombs_the_limit_is_on_the_whole_body_however_it_arrives(served: Served) -> None:
    # The server reads 64 KB of a body at a time, so no chunk of it is ever as large as the limit.
    chunk, sent = b" " * 65_536, 0

    def dripping() -> Iterator[bytes]:
        nonlocal sent
        while sent <= 2 * security.LARGEST_BODY:
            sent += len(chunk)
            yield chunk

    answer = served.ask("POST", "/ingest", content=dripping(), headers={"content-type": "application/json"})
    assert (answer.status_code, "33,554,432 bytes" in told(answer)) == (413, True)
    assert sent <= security.LARGEST_BODY + 8 * 1024 * 1024  # it stops reading there


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_bombs_a_body_that_inflates_too_much(served: Served, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    monkeypatch.setattr(security, "LARGEST_BODY", 1_000_000)
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    headers = {"content-type": "application/json", "content-encoding": encoding}
    bomb = served.ask("POST", "/ingest", content=pack(b" " * 100_000_000), headers=headers)
    assert bomb.status_code == 413
    event = json.dumps({"type": "span", "trace_id": "zip", "span_id": "s"}).encode()
    assert served.ask("POST", "/ingest", content=pack(event), headers=headers).json()["count"] == 1


@pytest.mark.parametrize(("encoding", "status"), [("br", 415), ("zstd", 415), ("gzip", 400), ("deflate", 400)])
def test_bombs_what_cannot_be_inflated(served: Served, encoding: str, status: int) -> None:
    headers = {"content-type": "application/json", "content-encoding": encoding}
    assert served.ask("POST", "/ingest", content=b"no such thing", headers=headers).status_code == status


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 50_000, b'{"batch": ' + b"9" * 100_000 + b"}"])
def test_bombs_depth_and_digits_are_refused_not_followed(served: Served, body: bytes) -> None:
    answer = served.ask("POST", "/ingest", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400


# Deadlines, smuggling


def test_deadlines_a_body_that_does_not_come(serve: Serve) -> None:
    served = serve(body_seconds=0.2)
    head = (
        f"POST /ingest HTTP/1.1\r\nhost: {urlsplit(served.url).netloc}\r\ncontent-type: application/json\r\n"
        f"authorization: Bearer {served.state.token}\r\ncontent-length: 10\r\nconnection: close\r\n\r\n{{"
    )
    host = urlsplit(served.url)
    with socket.create_connection((host.hostname, host.port), timeout=20) as line:
        line.sendall(head.encode())
        answer = line.recv(65536)
    assert b" 408 " in answer.splitlines()[0]
    assert b"within 0.2 seconds" in answer
    assert b"COMPACT_BODY_SECONDS" in answer


def test_smuggling_two_lengths_are_refused(served: Served) -> None:
    for lengths in ("content-length: 2\r\ncontent-length: 3", "content-length: 2\r\ntransfer-encoding: gzip, chunked"):
        request = (
            f"POST /ingest HTTP/1.1\r\nhost: {urlsplit(served.url).netloc}\r\n"
            f"authorization: Bearer {served.state.token}\r\n{lengths}\r\nconnection: close\r\n\r\n{{}}"
        )
        assert raw(served, request.encode()).split(b" ")[1] in (b"400", b"415", b"501")


def test_privileges_websockets_are_not_spoken(served: Served) -> None:
    headers = {
        "upgrade": "websocket",
        "connection": "upgrade",
        "sec-websocket-key": "x",
        "sec-websocket-version": "13",
    }
    answer = httpx2.get(f"{served.url}/api/openapi.json", headers=headers)
    assert answer.status_code == 426


def test_csrf_no_cookie_is_used(served: Served) -> None:
    token = served.state.token
    cookie = {"cookie": f"token={token}; authorization=Bearer {token}; x-api-key={token}"}
    assert served.strange("GET", "/api/openapi.json", headers=cookie).status_code == 401
    answers = [served.ask("GET", path) for path in ("/", "/api/openapi.json", "/api/sessions", "/v1/models")]
    assert [answer.headers.get("set-cookie") for answer in answers] == [None] * 4
