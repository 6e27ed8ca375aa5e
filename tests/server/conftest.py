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

VENDOR_KEY = "sk-the-operators-own-key"


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
