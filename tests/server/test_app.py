"""The application: its page, its errors and its events."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import httpx2
import pytest
from fastapi import APIRouter, FastAPI

from compact import errors
from compact.server.app import create_app
from compact.server.serving import running
from compact.server.state import Events, ServerState
from tests.server.conftest import Served

RAISED = {
    "missing": (errors.NotFound("no such session", field="id", remedy="List them."), 404),
    "wrong": (errors.InvalidConversation("is odd", field="messages", remedy="Mend it."), 400),
    "blocked": (errors.CompactionBlocked("no summary"), 409),
    "stalled": (errors.CondensationStalled("freed nothing", attempts=3, retry_after=1), 409),
    "small": (errors.InsufficientBudget("too much", needed=2, budget=1), 422),
    "unfit": (errors.StoredPlanMismatch("the plan does not fit", remedy="Compact anew."), 422),
    "storage": (errors.StorageError("the disk is full"), 503),
    "unforeseen": (RuntimeError("a secret in the middle of nowhere"), 500),
}


def transport(app: FastAPI) -> httpx2.ASGITransport:
    return httpx2.ASGITransport(app, raise_app_exceptions=False)


@pytest.fixture
def state(tmp_path: Path) -> Iterator[ServerState]:
    made = ServerState(tmp_path / "home", page=tmp_path / "page")
    yield made
    made.close()


@pytest.mark.parametrize("name", RAISED)
def test_every_error_has_one_form_and_no_trace(state: ServerState, name: str) -> None:
    error, status = RAISED[name]
    app = create_app(state)
    router = APIRouter()

    @router.get("/api/raise")
    async def fails() -> None:
        raise error

    app.router.routes.insert(0, router.routes[0])

    async def ask() -> httpx2.Response:
        async with httpx2.AsyncClient(transport=transport(app), base_url="http://localhost") as client:
            return await client.get("/api/raise")

    answer = asyncio.run(ask())
    told = answer.json()["error"]
    assert answer.status_code == status
    assert set(told) == {"type", "message", "field", "remedy"}
    assert "Traceback" not in answer.text
    assert ("secret" in answer.text) is False
    if status < 500:
        assert told["type"] == type(error).__name__
        assert told["message"] == str(error)


def test_the_page_is_served_from_its_folder(state: ServerState) -> None:
    (state.page / "assets").mkdir(parents=True)
    (state.page / "index.html").write_text("<p>the page</p>")
    (state.page / "assets" / "app-1a2b.js").write_text("let x")
    (state.page.parent / "secret").write_text("secret")

    async def ask() -> list[httpx2.Response]:
        app = create_app(state)
        async with httpx2.AsyncClient(transport=transport(app), base_url="http://localhost") as client:
            paths = ("/", "/index.html", "/assets/app-1a2b.js", "/assets/gone.js", "/%2e%2e/secret")
            deep = await client.get("/chat/one", headers={"accept": "text/html"})
            return [*[await client.get(path) for path in paths], await client.head("/"), deep]

    index, named, script, gone, outside, head, deep = asyncio.run(ask())
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(len(index.content)))
    assert index.text == named.text == deep.text == "<p>the page</p>"
    assert index.headers["cache-control"] == "no-cache"
    assert script.text == "let x"
    assert "immutable" in script.headers["cache-control"]
    assert [answer.status_code for answer in (index, gone, outside, deep)] == [200, 404, 404, 404]


def test_without_a_build_the_page_says_how_to_build_it(state: ServerState) -> None:
    async def ask() -> httpx2.Response:
        app = create_app(state)
        async with httpx2.AsyncClient(transport=transport(app), base_url="http://localhost") as client:
            return await client.get("/")

    assert "make page" in asyncio.run(ask()).text


def test_what_is_wrong_with_a_body_is_named(served: Served) -> None:
    answer = served.ask("POST", "/ingest", content=b"{", headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "InvalidInput")


def test_events_reach_whoever_listens_to_their_topic(served: Served) -> None:
    with served.client.stream("GET", "/api/events/traces", headers=served.headers) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": listening"
        served.state.events.publish("other", {"trace_id": "not this"})
        served.ask("POST", "/ingest", json={"type": "span", "trace_id": "this", "span_id": "s"})
        assert next(line for line in lines if line.startswith("data")) == 'data: {"trace_id": "this"}'


def test_who_listens_too_slowly_loses_the_oldest() -> None:
    events = Events()

    def tell() -> None:
        for number in range(1_000):
            events.publish("topic", number)

    async def listen() -> list[int]:
        async with events.subscribe("topic") as happenings:
            told = Thread(target=tell)
            told.start()
            await asyncio.to_thread(told.join)
            events.end()
            return [happened async for happened in happenings]

    heard = asyncio.run(listen())
    assert heard == list(range(1_000 - len(heard), 1_000))
    assert 0 < len(heard) < 1_000
    events.publish("topic", "nobody listens any more")


def test_services_are_made_once_and_closed_in_reverse(tmp_path: Path) -> None:
    closed: list[str] = []

    class Service:
        def __init__(self, name: str) -> None:
            self.name = name

        def close(self) -> None:
            closed.append(self.name)

    state = ServerState(tmp_path)
    first = state.service("first", lambda _: Service("first"))
    assert state.service("first", lambda _: Service("again")) is first
    state.service("second", lambda _: Service("second"))
    state.close()
    assert closed == ["second", "first"]


def test_a_database_that_cannot_be_reached_is_told(
    state: ServerState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMPACT_DATABASE", str(tmp_path / "file" / "sessions.db"))
    with running(state) as url:
        answer = httpx2.get(f"{url}/api/sessions", headers={"x-api-key": state.token}, timeout=30)
    assert answer.status_code == 503
    assert answer.json()["error"]["type"] == "StorageError"
