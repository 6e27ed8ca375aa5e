"""What long sessions would have cost with a peer compacting them, played again request by request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from bench.peers.catalogue import Way
from bench.peers.environments import Adapter
from bench.peers.measuring import FORMAT, Session
from compact import formats, models
from compact.app.counting import count
from compact.lab.replaying import NOTHING, Played, Terms, replay
from compact.messages import Conversation
from compact.models import Usage, find_model

WINDOW, TRIGGER, TARGET = 64_000, 0.85, 0.5
PATIENCE = 5
MODELS = {"gpt-4o": "gpt-4o-mini", "claude-sonnet-4-5": "claude-haiku-4-5"}
"""Whose prices a session is played at, and who writes the summaries."""


@dataclass(slots=True)
class Shrinker:
    """Hands a conversation that has reached the trigger to a peer.

    Tokens are gpt-4o's for every model, so that the same is compacted at the same places: what a peer answered the
    first time is what it answers when the session is played with the next model. A peer whose results the vendor has
    refused several times in a row is not asked again: the session has failed.
    """

    adapter: Adapter
    answers: list[tuple[list[Any] | None, list[tuple[int, int]]]] = field(default_factory=list)
    asked: list[tuple[int, int]] = field(default_factory=list)
    turn: int = 0
    errors: int = 0
    too_large: int = 0

    def again(self) -> None:
        self.turn, self.asked, self.too_large = 0, [], 0

    def __call__(self, conversation: Conversation) -> Conversation:
        if count(conversation).total < WINDOW * TRIGGER or self.too_large >= PATIENCE:
            return conversation
        if self.turn == len(self.answers):
            answer = self.adapter.ask(formats.render(conversation), int(WINDOW * TARGET), recoverable=False)
            self.errors += "error" in answer
            self.answers.append((answer.get("messages"), answer.get("asked", [])))
        messages, asked = self.answers[self.turn]
        self.turn += 1
        self.asked += asked
        # An empty request cannot be sent: then the application would have gone on with what it had.
        left = formats.parse(messages, format=FORMAT) if messages else conversation
        self.too_large = self.too_large + 1 if count(left).total > WINDOW else 0
        return left


def replayed(way: Way, sessions: Sequence[Session]) -> list[dict[str, Any]]:
    """What each session came to with each model."""
    rows = []
    with Adapter(way) as adapter:
        for session in sessions:
            shrinker = Shrinker(adapter)
            for model, writer in MODELS.items():
                shrinker.again()
                sent = replay(session.whole, shrinker, _terms(model)).sent
                played = Played(way.key, sent, _charged(shrinker.asked, writer), sum(one for one, _ in shrinker.asked))
                rows.append({**_row(played, session, model), "errors": shrinker.errors})
    return rows


def references(sessions: Sequence[Session]) -> list[dict[str, Any]]:
    """The same sessions without compaction, which most of their requests would not have survived."""
    return [_row(replay(one.whole, NOTHING, _terms(model)), one, model) for one in sessions for model in MODELS]


def _terms(model: str) -> Terms:
    return Terms(find_model(model), WINDOW, TRIGGER, TARGET)


def _charged(asked: Sequence[tuple[int, int]], writer: str) -> Decimal:
    prices = find_model(writer).prices
    costs = [models.cost(Usage(given, written), prices) for given, written in asked]
    return sum((cost for cost in costs if cost is not None), Decimal(0))


def _row(played: Played, session: Session, model: str) -> dict[str, Any]:
    return {
        "way": played.recipe,
        "session": session.name,
        "model": model,
        "dollars": float(played.dollars or 0),
        "summaries": float(played.condensing or 0),
        "compactions": played.compactions,
        "refused": played.overflows,
        "requests": len(played.sent),
        "hits": played.hit_rate,
    }
