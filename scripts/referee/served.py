"""The server of a tree, driven over HTTP: what its gateway forwards and answers, its stored sessions, its OpenAPI.

This runs with the sources of this checkout, whose fake vendors all trees have in front of them; only the server, a
process of its own, runs with those of the tree.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, Final

from compact.testing.vendors import FakeVendors
from compact.testing.vendors.server import Arrived
from compact.testing.vendors.wire import Answer
from scripts.referee.bodies import KEYS
from scripts.referee.canonical import FOLDER, Aspects, without_noise

_TOKEN: Final = "the-token-of-the-referee"
_PAGE: Final = re.compile(r"Page: +http://127\.0\.0\.1:(\d+)/")
_TRANSPORT: Final = frozenset({"connection", "content-length", "date", "server", "transfer-encoding"})
"""Headers that servers set for each connection, and the clock's."""
_CLOCK: Final = re.compile(r'("created(?:_at)?": ?)\d+')
_VENDORS_ID: Final = re.compile(r"\b((?:call|chatcmpl|fc|msg|req|resp|rs)[-_])[0-9a-f]{20,}")
"""The fake vendors count their requests in their ids: one more request would change all that come after it."""
_CHECK: Final = "import compact, sys; sys.exit(not compact.__file__.startswith(sys.argv[1]))"


class Vendors(FakeVendors):
    """The fake vendors, which keep the bytes of each request as they arrived."""

    def __init__(self, window: int | None) -> None:
        super().__init__(window=window)
        self.arrived: list[Arrived] = []

    def _respond(self, arrived: Arrived) -> Answer:
        self.arrived.append(arrived)
        return super()._respond(arrived)


@dataclass(frozen=True, slots=True)
class Client:
    """Asks a server with its token."""

    port: int

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """The response and its whole body."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            content = None if body is None else json.dumps(body).encode()
            own = {"authorization": f"Bearer {_TOKEN}", "content-type": "application/json"}
            connection.request(method, path, content, own | dict(headers or {}))
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()


@contextmanager
def serving(tree: str, variables: Mapping[str, str]) -> Iterator[Client]:
    """A server of the tree, from the block's start to its end."""
    environment = {**os.environ, "PYTHONPATH": tree, "COMPACT_TOKEN": _TOKEN, "COMPACT_PROFILE": "offline", **variables}
    with tempfile.TemporaryDirectory(prefix=FOLDER) as folder:
        environment |= {"HOME": folder, "COMPACT_HOME": f"{folder}/home"}
        python = [sys.executable, "-P"]
        subprocess.run([*python, "-c", _CHECK, tree], cwd=folder, env=environment, check=True)
        command = [*python, "-m", "compact", "serve", "--port", "0", "--no-browser"]
        with Path(folder, "log").open("w+") as log:
            pipes: Any = {"stdout": subprocess.PIPE, "stderr": log, "text": True}
            server = subprocess.Popen(command, cwd=folder, env=environment, **pipes)
            try:
                assert server.stdout
                found = _PAGE.match(server.stdout.readline())
                if not found:
                    server.wait()
                    log.seek(0)
                    raise RuntimeError(f"the server does not start: {log.read()}")
                yield Client(int(found[1]))
            finally:
                server.send_signal(signal.SIGINT)
                server.communicate(timeout=30)


def openapi(task: Mapping[str, Any]) -> Iterator[tuple[str, Aspects]]:
    """The API's description: a case for each path, and one for each schema."""
    with serving(task["tree"], {}) as client:
        described = json.loads(client.ask("GET", "/api/openapi.json")[1])
    for path, operations in described.pop("paths").items():
        yield f"paths/{path}", operations
    for name, schema in described.pop("components").get("schemas", {}).items():
        yield f"schemas/{name}", {"schema": schema}
    yield "openapi", described


def relay(task: Mapping[str, Any]) -> Iterator[tuple[str, Aspects]]:
    """Return the gateway's requests to vendors and its answers, one by one: headers and bodies."""
    with Vendors(task["vendor_window"]) as vendors:
        addresses = {"COMPACT_UPSTREAM_OPENAI": f"{vendors.url}/v1", "COMPACT_UPSTREAM_ANTHROPIC": vendors.url}
        keys = {"OPENAI_API_KEY": "sk-referee", "ANTHROPIC_API_KEY": "sk-referee"}
        with serving(task["tree"], {**addresses, **keys, **task["variables"]}) as client:
            for session in task["sessions"]:
                yield session["name"], _relayed(client, vendors, session)


def _relayed(client: Client, vendors: Vendors, session: Mapping[str, Any]) -> Aspects:
    messages: list[Any] = []
    answers: list[Any] = []
    hashes: list[str] = []
    headers: list[Any] = []
    sent: list[Any] = []
    for request in session["requests"]:
        vendors.arrived.clear()
        response, content = client.ask(request["method"], request["path"], request["body"], request["headers"])
        for arrived in vendors.arrived:
            body = json.loads(arrived.body) if arrived.body else {}
            shown, sent = _as_before(body, sent)
            messages.append({"request": f"{arrived.method} {arrived.target}", **shown})
            hashes.append(sha256(arrived.body).hexdigest()[:8])
            headers.append(_comparable(arrived.headers.items()))
        answers.append(_answer(response, content))
    noisy = {"messages": messages, "responses": answers, "headers": headers}
    return {**{name: without_noise(value) for name, value in noisy.items()}, "bytes": hashes}


def _as_before(body: Mapping[str, Any], sent: Sequence[Any]) -> tuple[dict[str, Any], list[Any]]:
    """The body with only those messages that are new since the last one, and all its messages."""
    key = next((key for key in KEYS if isinstance(body.get(key), list)), "")
    now = body.get(key) or []
    pairs = enumerate(zip(now, sent, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), min(len(now), len(sent)))
    return {**body, **({key: {"as before": same, "new": now[same:]}} if key else {})}, now


def _answer(response: HTTPResponse, content: bytes) -> dict[str, Any]:
    """The status, the headers, and the body as it is, but for clocks and ids."""
    body = _VENDORS_ID.sub(r"\1<id>", _CLOCK.sub(r"\1<time>", content.decode("utf-8", "replace")))
    return {"status": response.status, "headers": _comparable(response.getheaders()), "body": body}


def _comparable(headers: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The values of each header that follows from the request."""
    found: dict[str, list[str]] = {}
    for name, value in headers:
        if name.lower() not in _TRANSPORT:
            found.setdefault(name.lower(), []).append(_VENDORS_ID.sub(r"\1<id>", value))
    return found


def _read(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace")


def store(task: Mapping[str, Any]) -> Iterator[tuple[str, Aspects]]:
    """Stored sessions over the API: imported, compacted, edited, pinned, undone, answered and exported."""
    with serving(task["tree"], task["variables"]) as client:
        for session in task["sessions"]:
            for number, (name, answer) in enumerate(_steps(client, session["steps"]), 1):
                yield f"{session['name']}/{number:02} {name}", {"answer": without_noise(answer)}


def _steps(client: Client, steps: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    """The answer to each step; `{id}` in a path is the session, and `{message}` its third message."""
    names = {"id": "", "message": ""}
    for step in steps:
        response, content = client.ask(step["method"], step["path"].format_map(names), step["body"])
        streamed = "event-stream" in (response.headers["content-type"] or "")
        body: Any = _events(content) if streamed else _read(content)
        yield step["name"], {"status": response.status, "body": body}
        if step["name"] == "import":
            names["id"] = body["session"]["id"]
        if step["name"] == "list":
            names["message"] = str(body["messages"][2]["id"])


def _events(content: bytes) -> list[Any]:
    """The events of a stream; pieces of a text come as one."""
    found: list[Any] = []
    for line in content.decode().splitlines():
        if line.startswith("data:"):
            event = json.loads(line.removeprefix("data:"))
            if found and event.get("type") == found[-1].get("type") == "delta":
                found[-1]["text"] += event["text"]
            else:
                found.append(event)
    return found
