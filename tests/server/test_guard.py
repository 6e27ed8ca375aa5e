"""The guard by itself: whom it lets through, what it makes of a body, and which words it refuses with."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi import Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from compact.errors import InvalidInput
from compact.server import security
from compact.server.security import (
    DEEPEST,
    DEEPEST_UNFOLDED,
    LARGEST_BODY,
    LARGEST_UPLOAD,
    Guard,
    Nesting,
    authorised,
    error_body,
    json_only,
    may_be_json,
    unfold,
    unfolds,
    uploaded,
)
from compact.server.state import ServerState
from compact.settings.server import ServerSettings

TOKEN = "t" * 40
SAFE = [("host", "localhost:8080")]
OWN = [*SAFE, ("authorization", f"Bearer {TOKEN}")]
Given = Sequence[tuple[str, str]]


def respond(_: Any, status: int, body: dict[str, Any], headers: Any) -> JSONResponse:
    return JSONResponse({"status": status, **body}, status, headers)


class Asked:
    """What an application behind the guard was asked, and what came back."""

    def __init__(self, tmp_path: Path, seconds: float = 30) -> None:
        self.state = ServerState(tmp_path, token=TOKEN, settings=ServerSettings(body_seconds=seconds))
        self.scope: dict[str, Any] = {}
        self.body = b""
        self.room: int | None = None
        self.unfolds = False
        self.sent: list[dict[str, Any]] = []

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        self.scope = scope
        if self.room is not None:
            scope["compact.largest_body"] = self.room
        if self.unfolds:
            await unfolds(Request(scope))
        more = scope["type"] == "http"
        while more:
            message = await receive()
            self.body += message.get("body", b"")
            more = message.get("more_body", False)
        headers = [(b"cache-control", b"max-age=3")] if scope.get("path") == "/kept" else []
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def ask(self, headers: Given, method: str = "POST", *pieces: bytes, **more: Any) -> int:
        """The status; 0 where nothing was sent back."""
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
        scope = {"type": "http", "method": method, "path": "/", "query_string": b"", "headers": raw, **more}
        left = [
            {"type": "http.request", "body": piece} | ({"more_body": True} if at < len(pieces) else {})
            for at, piece in enumerate(pieces, 1)
        ] or [{"type": "http.disconnect"}]

        async def receive() -> dict[str, Any]:
            if not left:
                await asyncio.sleep(60)
            return left.pop(0)

        async def send(message: Any) -> None:
            self.sent.append(message)

        self.sent.clear()
        self.body = b""
        asyncio.run(Guard(self._app, self.state, respond)(scope, receive, send))
        return int(self.sent[0].get("status", 0)) if self.sent else 0

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    return Asked(tmp_path)


@pytest.mark.parametrize(
    ("headers", "method", "status"),
    [
        (OWN, "POST", 200),
        (SAFE, "POST", 401),
        (SAFE, "GET", 200),
        (SAFE, "HEAD", 200),
        (SAFE, "OPTIONS", 200),
        (SAFE, "DELETE", 401),
        ([*SAFE, ("authorization", f"bearer   {TOKEN} ")], "POST", 200),
        ([*SAFE, ("authorization", f"Basic {TOKEN}")], "POST", 401),
        ([*SAFE, ("authorization", "Bearer é")], "POST", 401),
        ([*SAFE, ("x-api-key", "é")], "POST", 401),
        ([*SAFE, ("x-api-key", TOKEN)], "POST", 200),
        ([*SAFE, ("api-key", TOKEN)], "POST", 200),
        ([*SAFE, ("api-key", f"{TOKEN}x"), ("x-api-key", TOKEN)], "POST", 200),
        ([*OWN, ("origin", "http://localhost:8080")], "POST", 200),
        ([*OWN, ("origin", "HTTPS://LOCALHOST:8080")], "POST", 200),
        ([*OWN, ("origin", "http://localhost:8081")], "POST", 403),
        ([*OWN, ("origin", "http://localhost:8080"), ("origin", "null")], "GET", 403),
        ([*OWN, ("sec-fetch-site", "same-origin")], "POST", 200),
        ([*OWN, ("sec-fetch-site", "none")], "POST", 200),
        ([*OWN, ("sec-fetch-site", "same-site")], "POST", 403),
        ([*OWN, ("sec-fetch-site", "cross-site")], "GET", 200),
        ([*OWN, ("host", "localhost")], "POST", 421),
        (OWN[1:], "GET", 421),
    ],
)
def test_who_is_let_through(asked: Asked, headers: Given, method: str, status: int) -> None:
    assert asked.ask(headers, method) == status
    assert (asked.headers.get("www-authenticate") == "Bearer") is (status == 401)
    assert (asked.headers.get("connection") == "close") is (status != 200)
    assert bool(asked.scope) is (status == 200)


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("localhost", True),
        ("LOCALHOST:1", True),
        ("localhost:", False),
        ("localhost:x", False),
        ("localhost:\u0661", False),
        ("localhost:1:2", False),
        ("[::1]", True),
        ("[::1]:8080", True),
        ("example.com", False),
        ("", False),
    ],
)
def test_a_host_is_a_known_name_with_or_without_a_port(asked: Asked, host: str, known: bool) -> None:
    given = [("host", host)] if host.isascii() else [("host", host.encode().decode("latin-1"))]
    assert asked.ask(given, "GET") == (200 if known else 421)


def test_a_token_in_the_address_goes_no_further(asked: Asked) -> None:
    assert asked.ask(SAFE, "POST", query_string=b"a=1&token=" + TOKEN.encode() + b"&b=token=2") == 200
    assert asked.scope["query_string"] == b"a=1&b=token=2"
    assert asked.ask(SAFE, "POST", query_string=b"token=%74" + TOKEN.encode()[1:]) == 200
    assert asked.ask(SAFE, "POST", query_string=b"token=x&a=1") == 401
    assert asked.ask(SAFE, "GET", query_string=b"a=1&&b") == 200
    assert asked.scope["query_string"] == b"a=1&&b"


def test_a_refusal_says_what_to_do(asked: Asked) -> None:
    assert asked.ask(SAFE, "POST") == 401
    told = asked.sent[1]["body"].decode()
    assert '"type":"Unauthorized"' in told
    assert '"status":401' in told
    assert "the token is missing or wrong. Send the token" in told
    asked.ask([("host", "x")], "POST")
    assert '"type":"Refused"' in asked.sent[1]["body"].decode()
    assert error_body("A", "b") == {"error": {"type": "A", "message": "b", "field": "", "remedy": ""}}


def test_answers_are_not_kept_unless_they_say_so(asked: Asked) -> None:
    asked.ask(SAFE, "GET")
    assert asked.headers["cache-control"] == "no-store"
    assert asked.headers["cross-origin-opener-policy"] == asked.headers["cross-origin-resource-policy"] == "same-origin"
    asked.ask(SAFE, "GET", path="/kept")
    assert asked.headers["cache-control"] == "max-age=3"


def test_websockets_are_closed_and_what_is_no_request_goes_through(asked: Asked) -> None:
    asked.ask([], type="websocket")
    assert asked.sent == [{"type": "websocket.close", "code": 1008}]
    assert asked.ask([], type="lifespan") == 200
    assert asked.headers == {}


@pytest.mark.parametrize("encoding", ["gzip", "deflate", " GZIP ", "identity", ""])
def test_a_body_arrives_plain_in_whatever_pieces(asked: Asked, encoding: str) -> None:
    plain = b'{"a": [' + b"1, " * 500 + b"2]}"
    named = encoding.strip().lower()
    data = gzip.compress(plain) if named == "gzip" else zlib.compress(plain) if named == "deflate" else plain
    given = [*OWN, ("content-length", str(len(data))), *([("content-encoding", encoding)] if encoding else [])]
    assert asked.ask(given, "POST", data[:7], data[7:9], data[9:], b"") == 200
    assert asked.body == plain
    left = {name for name, _ in asked.scope["headers"]}
    assert (b"content-length" in left) is (named not in ("gzip", "deflate"))
    assert (b"content-encoding" in left) is (named == "identity")


@pytest.mark.parametrize(
    ("headers", "pieces", "status", "problem"),
    [
        ([("content-encoding", "br")], [b"x"], 415, "content-encoding: 'br' is not understood"),
        ([("content-encoding", "gzip")], [b"no gzip"], 400, "the body is not what its content-encoding says"),
        ([("content-encoding", "gzip")], [gzip.compress(b"1" * 99)[:-4]], 400, "the compressed body ends too early"),
        ([], [b"[" * DEEPEST + b"["], 400, f"nested more than {DEEPEST} levels deep"),
        ([], [b"[" * 40, b"[" * 40], 400, f"nested more than {DEEPEST} levels deep"),
        ([], [b"{\0"], 400, "the body is not UTF-8"),
        ([], [b"\xff\xfe[", b""], 400, "the body is not UTF-8"),
    ],
)
def test_a_body_that_is_not_what_it_says_is_refused(
    asked: Asked, headers: Given, pieces: list[bytes], status: int, problem: str
) -> None:
    with pytest.raises(HTTPException, match=problem) as caught:
        asked.ask([*OWN, *headers], "POST", *pieces)
    assert caught.value.status_code == status


def test_a_body_may_be_as_large_as_there_is_room_and_no_larger(asked: Asked) -> None:
    asked.room = 100
    for encoded in (lambda data: data, gzip.compress):
        extra = [] if encoded(b"") == b"" else [("content-encoding", "gzip")]
        assert asked.ask([*OWN, *extra], "POST", encoded(b"1" * 100)) == 200
        with pytest.raises(HTTPException, match=r"larger than 100 bytes. Send less at once") as caught:
            asked.ask([*OWN, *extra], "POST", encoded(b"1" * 101))
        assert (caught.value.status_code, caught.value.headers) == (413, {"connection": "close"})
    packed = [*OWN, ("content-encoding", "gzip")]
    with pytest.raises(HTTPException, match="larger than 100 bytes"):
        asked.ask(packed, "POST", gzip.compress(b"1" * 500))
    with pytest.raises(HTTPException, match="ends too early"):
        asked.ask(packed, "POST", gzip.compress(b"1" * 100)[:-8])
    assert asked.ask([*OWN, ("content-length", "100")], "POST", b"1") == 200
    with pytest.raises(HTTPException, match="larger than 100 bytes"):
        asked.ask([*OWN, ("content-length", "101")], "POST", b"1")
    assert asked.ask([*OWN, ("content-length", "x")], "POST", b"1") == 200
    with pytest.raises(HTTPException, match="larger than 100 bytes"):
        asked.ask(OWN, "POST", b"1" * 60, b"1" * 41)
    assert (LARGEST_BODY, LARGEST_UPLOAD) == (32 << 20, 100 << 20)


def test_a_body_that_is_no_json_or_is_unfolded_later_is_not_looked_into(asked: Asked) -> None:
    deep = b"[" * (DEEPEST + 1)
    assert asked.ask([*OWN, ("content-type", "text/plain")], "POST", deep) == 200
    with pytest.raises(HTTPException):
        asked.ask([*OWN, ("content-type", "application/json")], "POST", deep)
    asked.unfolds = True
    assert asked.ask(OWN, "POST", deep) == 200


def test_a_body_that_does_not_come_in_time_is_given_up(tmp_path: Path) -> None:
    slow = Asked(tmp_path, 0.05)
    with pytest.raises(HTTPException, match=r"did not arrive within 0.05 seconds.*COMPACT_BODY_SECONDS") as caught:
        asyncio.run(_never(slow))
    assert (caught.value.status_code, caught.value.headers) == (408, {"connection": "close"})


async def _never(slow: Asked) -> None:
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": _raw(OWN)}

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    async def send(_: Any) -> None: ...

    await Guard(slow._app, slow.state, respond)(scope, receive, send)


def _raw(headers: Given) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers]


@pytest.mark.parametrize(
    ("kind", "json"),
    [
        ("", True),
        ("application/json", True),
        (" Application/JSON ; charset=utf-8", True),
        ("application/vnd.x+json", True),
        (";", True),
        ("text/plain", False),
        ("application/json-seq", False),
        ("multipart/form-data; application/json", False),
    ],
)
def test_what_may_be_json(kind: str, json: bool) -> None:
    assert may_be_json(kind) is json


@pytest.mark.parametrize(
    ("method", "headers", "refused"),
    [
        ("POST", [("content-length", "2")], True),
        ("POST", [("content-length", "2"), ("content-type", "text/plain")], True),
        ("POST", [("content-length", "2"), ("content-type", "application/json")], False),
        ("POST", [("transfer-encoding", "chunked")], True),
        ("POST", [("content-length", "0")], False),
        ("POST", [], False),
        ("GET", [("content-length", "2")], False),
    ],
)
def test_forms_are_not_taken(method: str, headers: Given, refused: bool) -> None:
    request = Request({"type": "http", "method": method, "headers": _raw(headers)})
    if not refused:
        asyncio.run(json_only(request))
        return
    with pytest.raises(HTTPException, match="must be application/json") as caught:
        asyncio.run(json_only(request))
    assert caught.value.status_code == 415


def test_a_route_asks_for_the_token_again() -> None:
    scope: dict[str, Any] = {"type": "http", "method": "GET", "headers": []}
    with pytest.raises(HTTPException, match="the token is missing or wrong") as caught:
        asyncio.run(authorised(Request(scope), None))
    assert caught.value.status_code == 401
    asyncio.run(authorised(Request({**scope, "compact.stranger": None}), None))


def test_an_upload_has_more_room() -> None:
    scope: dict[str, Any] = {"type": "http", "method": "POST", "headers": []}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"raw", "more_body": False}

    assert asyncio.run(uploaded(Request(scope, receive))) == b"raw"
    assert scope["compact.largest_body"] == LARGEST_UPLOAD


def test_brackets_in_strings_do_not_count_however_the_text_is_cut() -> None:
    text = b'["[[\\"[[", "\\\\", [1], {"\\\\\\"{": 2}]'
    for cut in range(len(text) + 1):
        nesting = Nesting(2)
        assert nesting.refusal(text[:cut]) is None
        assert nesting.refusal(text[cut:]) is None
        nesting = Nesting(1)
        refusals = [nesting.refusal(text[:cut]), nesting.refusal(text[cut:])]
        assert any(refusal and refusal.problem == "the body is nested more than 1 levels deep" for refusal in refusals)


def test_so_many_values_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "MOST_CONTAINERS", 5)
    nesting = Nesting()
    assert nesting.refusal(b"[[],[],[]") is None
    assert nesting.refusal(b",{}") is None
    refused = nesting.refusal(b",[]")
    assert refused is not None
    assert (refused.status, refused.remedy) == (400, "Send less at once.")
    assert unfold(b"[[],[],[],{}]") == [[], [], [], {}]
    with pytest.raises(InvalidInput, match="the body holds more than") as caught:
        unfold(b"[[],[],[],{},[]]")
    assert caught.value.field == "body"


def test_a_text_is_unfolded_as_deep_as_so_many_levels() -> None:
    for levels in (3, DEEPEST_UNFOLDED):
        assert unfold(b"[" * levels + b"]" * levels)
    with pytest.raises(InvalidInput, match=f"more than {DEEPEST_UNFOLDED} levels"):
        unfold(b'{"a":' * (DEEPEST_UNFOLDED + 1) + b"1" + b"}" * (DEEPEST_UNFOLDED + 1))
    assert unfold(b'"\\ud800"') == "\ud800"
    with pytest.raises(ValueError, match="Expecting"):
        unfold(b"{no json")
