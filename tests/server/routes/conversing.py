"""A real server on a real database, and somebody who talks to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from compact.policies import Profile, Profiles
from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.profiles import save_profiles
from compact.testing.vendors import FakeVendors

SECRET = "sk-made-up-0123456789abcdef"
VARIABLES = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "COMPACT_DATABASE",
)
FRUIT = ("apples", "pears", "plums", "cherries", "quinces", "medlars", "damsons", "figs")


@dataclass(frozen=True, slots=True)
class Api:
    """The API of a server that runs."""

    client: httpx2.Client
    state: ServerState

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> httpx2.Response:
        # Escaped, as a lone surrogate can be sent in no other way.
        content = None if body is None else json.dumps(body)
        headers = {} if body is None else {"content-type": "application/json"}
        return self.client.request(method, f"/api{path}", content=content, headers=headers, params=query)

    def get(self, path: str, **query: Any) -> Any:
        return self._told(self.ask("GET", path, **query))

    def post(self, path: str, body: Any = None, **query: Any) -> Any:
        return self._told(self.ask("POST", path, body, **query))

    def put(self, path: str, body: Any) -> Any:
        return self._told(self.ask("PUT", path, body))

    def delete(self, path: str) -> Any:
        return self._told(self.ask("DELETE", path))

    def refused(self, status: int, method: str, path: str, body: Any = None, **query: Any) -> dict[str, str]:
        """The error that such a request is answered with."""
        answer = self.ask(method, path, body, **query)
        assert answer.status_code == status, answer.text
        error: dict[str, str] = answer.json()["error"]
        return error

    def say(self, id: str, text: str | None = None) -> list[dict[str, Any]]:
        """The events that answer a text."""
        answer = self.ask("POST", f"/sessions/{id}/chat", {"text": text})
        assert answer.status_code == 200, answer.text
        return [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n") if line.startswith("data:")]

    def session(self, **values: Any) -> str:
        """The id of a new session."""
        made: str = self.post("/sessions", {"model": "gpt-4o", **values})["session"]["id"]
        return made

    def long_session(self, turns: int = 8, **values: Any) -> str:
        """The id of a session in which so many questions were asked and answered."""
        messages = [
            {
                "role": role,
                "content": f"{role} {turn}: the {FRUIT[turn % 8]} number {turn} are ripe. " + "It goes on. " * 60,
            }
            for turn in range(turns)
            for role in ("user", "assistant")
        ]
        body = {"model": "gpt-4o", "messages": messages, **values}
        made: str = self.post("/sessions/import", body, name="fruit.json")["session"]["id"]
        return made

    def _told(self, answer: httpx2.Response) -> Any:
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None


@contextmanager
def opened(home: Path) -> Iterator[Api]:
    """The API of a server whose files are in that folder."""
    state = ServerState(home)
    with running(state) as address:
        headers = {"authorization": f"Bearer {state.token}"}
        with httpx2.Client(base_url=address, headers=headers, timeout=60) as client:
            yield Api(client, state)


def configure(server: FakeVendors, **values: object) -> Profile:
    """Make the fake vendor a profile: the only one, for everything."""
    given = {"vendor": "compatible", "model": "gpt-4o", "url": f"{server.url}/v1", "attempts": 1, **values}
    profile = Profile.model_validate({"name": "fake", **given})
    save_profiles(Profiles(profiles=(profile,)))
    return profile
