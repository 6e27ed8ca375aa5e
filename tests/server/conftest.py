"""Real servers on free ports, in front of the fake vendors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors
from compact.testing.vendors.server import Arrived, Server
from compact.testing.vendors.wire import Answer

VENDOR_KEY = "sk-the-operators-own-key"


class Recorder:
    """A vendor that keeps the bytes it gets and answers as it is told."""

    def __init__(self) -> None:
        self.arrived: list[Arrived] = []
        self.answers: list[Answer] = []
        self._server = Server(self._respond)
        self.url = f"http://127.0.0.1:{self._server.port}"

    def _respond(self, arrived: Arrived) -> Answer:
        self.arrived.append(arrived)
        return self.answers.pop(0) if self.answers else Answer(200, {"content-type": "application/json"}, (b"{}",))

    def stop(self) -> None:
        self._server.stop()


@dataclass
class Served:
    """A running server, and a client that has its token."""

    url: str
    state: ServerState
    client: httpx2.Client = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.state.token}"}

    def ask(self, method: str, path: str, **given: Any) -> httpx2.Response:
        """The answer to a request with the token."""
        return self.client.request(method, path, headers={**self.headers, **given.pop("headers", {})}, **given)

    def strange(self, method: str, path: str, **given: Any) -> httpx2.Response:
        """The answer to a request without it."""
        return self.client.request(method, path, **given)


Serve = Callable[..., Served]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of its own, and the operator's keys."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setenv("COMPACT_HOME", str(home))
        patch.setenv("OPENAI_API_KEY", VENDOR_KEY)
        patch.setenv("ANTHROPIC_API_KEY", VENDOR_KEY)
        patch.setenv("COMPACT_PROFILE", "offline")
        yield home


@pytest.fixture(scope="module")
def serve(environment: Path) -> Iterator[Serve]:
    """Starts servers that run until the module's tests are done."""
    with ExitStack() as stack:

        def start(upstream: str = "", **settings: Any) -> Served:
            chosen = {"upstream_openai": f"{upstream}/v1", "upstream_anthropic": upstream} if upstream else {}
            state = ServerState(environment, settings=ServerSettings(**{**chosen, **settings}))
            url = stack.enter_context(running(state))
            return Served(url, state, stack.enter_context(httpx2.Client(base_url=url, timeout=30)))

        yield start


@pytest.fixture(scope="module")
def vendor() -> Iterator[FakeVendors]:
    """The vendors, whose models have a window of 8,000 tokens."""
    with FakeVendors(window=8_000) as fake:
        yield fake


@pytest.fixture(scope="module")
def served(serve: Serve, vendor: FakeVendors) -> Served:
    """A server in front of the fake vendors."""
    return serve(vendor.url)


def long_history(turns: int, *, first: str = "Begin.") -> list[dict[str, Any]]:
    """A conversation of about 300 tokens a turn."""
    history: list[dict[str, Any]] = []
    for turn in range(turns):
        history.append({"role": "user", "content": first if not turn else f"What does module {turn} do?"})
        history.append({"role": "assistant", "content": f"Module {turn} counts the lines of part {turn}. " * 28})
    return [*history, {"role": "user", "content": "Which module counts part 3?"}]


def told(response: httpx2.Response) -> str:
    """What the server says is wrong."""
    return str(json.loads(response.content)["error"]["message"])


@pytest.fixture(scope="module")
def recorder() -> Iterator[Recorder]:
    made = Recorder()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def recorded(serve: Serve, recorder: Recorder) -> Served:
    return serve(recorder.url)
