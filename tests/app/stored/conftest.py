"""Stored sessions on both databases, with a model that answers as it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from compact.app.stored import StoredSessions
from compact.formats import parse
from compact.messages import Json, is_summary
from compact.ports import Answer, Ask, Completion, Event, ModelConfig, StoredSession
from tests.sessions.conftest import postgres_database, sqlite_file, url
from tests.sessions.postgres import postgres_server, postgres_url

__all__ = ["postgres_database", "postgres_server", "postgres_url", "sqlite_file", "url"]

WINDOW = 4000
THRESHOLD = 0.95 * WINDOW


class Model:
    """Answers every question with `answer`; keeps what it was asked."""

    def __init__(self) -> None:
        self.answer: Callable[[Ask], Answer] = lambda _: Completion("What was said, in short.", trusted=True)
        self.asked: list[Ask] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        self.asked += asks
        return tuple(map(self.answer, asks))


class Desk:
    """Stored sessions with one session `a`, whose model reads 4,000 tokens."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.model = Model()
        self.events: list[Event] = []
        self.sessions = StoredSessions(url, ask=self.model, observe=lambda _, event: self.events.append(event))
        self.sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", WINDOW, 1000))
        self.sessions.create(StoredSession(id="a", model="gpt-4o", format="openai-chat"))

    def say(self, turns: int, first: int = 0, id: str = "a") -> list[Json]:
        said = [message for number in range(first, first + turns) for message in turn(number)]
        self.sessions.append(id, said)
        return said

    def told(self, name: str) -> list[dict[str, Any]]:
        return [dict(event.properties) for event in self.events if event.name == f"compact.{name}"]


def user(text: str) -> Json:
    return {"role": "user", "content": text}


def turn(number: int) -> list[Json]:
    """A question and an answer, of about 80 tokens together."""
    asked = f"Please mend bug {number} in src/mod_{number}.py, which fails with ValueError {number * 31} on every tab."
    answered = (
        f"The function parse_{number} now skips tabs; all {number + 3} tests of tests/test_{number}.py pass again."
    )
    return [user(asked), {"role": "assistant", "content": answered}]


def account_in(messages: list[Json]) -> str:
    """The account among the messages; there is exactly one."""
    (found,) = [message for message in parse(messages, format="openai-chat").messages if is_summary(message)]
    return found.text


def fill(desk: Desk, id: str = "a") -> int:
    """Say so much that the next request compresses; how many turns that took."""
    turns = 0
    while (missing := THRESHOLD - desk.sessions.context(id).tokens) > 0:
        more = 1 + int(missing // 80)
        desk.say(more, turns, id)
        turns += more
    return turns


@pytest.fixture
def desk(url: str) -> Iterator[Desk]:
    made = Desk(url)
    yield made
    made.sessions.close()
