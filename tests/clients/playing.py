"""Plays recorded shapes through a manager, and through the real gateway in front of vendors that check requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from compact import CompactConfig, CompactManager
from compact.formats import FORMATS, Request
from compact.policies import StorageSettings
from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors
from scripts.lab.ledger import Entry, Ledger, plain, without_marks
from scripts.lab.shapes import Body, Shape, load_shape

SHAPES: Final = Path(__file__).with_name("shapes")
NAMES: Final = sorted(path.stem for path in SHAPES.glob("*.json"))
SHARE, BUFFER, ANSWER = 0.85, 1_500, 8_192
"""When a manager compacts, what it keeps free, and the room for an answer where the client sets no limit."""
_LIMITS: Final = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_NEARLY: Final = 0.97


@dataclass(slots=True)
class Played:
    """A conversation that was played: what was sent, what was refused, and the sessions it was taken for."""

    shape: Shape
    window: int
    ledger: Ledger = field(default_factory=Ledger)
    refused: list[str] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    answers: list[Any] = field(default_factory=list, repr=False)
    """What the vendors answered."""

    @property
    def earliest(self) -> int:
        """The size below which nothing is compacted: the usual share, or what the answer and the buffer leave."""
        asked = (self.shape.bodies[-1].get(name) for name in _LIMITS)
        answer = next((limit for limit in asked if limit), ANSWER)
        share = int(self.window * SHARE)
        return share if answer > self.window // 2 else min(share, self.window - answer - BUFFER)

    @property
    def faults(self) -> dict[str, object]:
        """What is wrong with it."""
        ledger, done, format = self.ledger, self.ledger.compactions, self.shape.format
        due = ledger.due(ledger.grown(format))
        first = next((ledger.size(format, entry.written) for entry in ledger.entries if entry.compacted), self.window)
        found: dict[str, object] = {
            "refused": self.refused,
            "sessions": len(self.sessions) - 1,
            "above the window": sum(entry.tokens > self.window for entry in ledger.entries),
            "breaks without the right cause": ledger.remarks,
            "breaks that are no compactions": {
                cause: count for cause, count in ledger.breaks.items() if cause not in ("compaction", "none")
            },
            "compactions without a break": done - ledger.breaks["compaction"],
            "requests without the project's rules": ledger.missing_rules(),
            "compacted too early": f"at {first:,} tokens" if first < self.earliest * _NEARLY else "",
            "compactions": f"{done} where {due} are due" if done > due else "",
        }
        return {name: value for name, value in found.items() if value}


@lru_cache(2)
def shape_of(name: str, *, marked: bool = True) -> Shape:
    """A recorded shape, or the same without marks for the cache."""
    shape = load_shape(SHAPES / f"{name}.json")
    return shape if marked else replace(shape, bodies=tuple(map(plain, shape.bodies)))


def is_marked(name: str) -> bool:
    """Whether the client marks messages for the vendor's cache."""
    shape = shape_of(name)
    return any(without_marks(message) != message for message in shape.bodies[-1][shape.key])


def play_manager(shape: Shape, window: int, folder: Path) -> Played:
    """The conversation through `CompactManager.prepare`."""
    storage = StorageSettings(path=str(folder))
    config = CompactConfig(model=shape.model, max_context_tokens=window, profile="offline", storage=storage)
    played = Played(shape, window, sessions={"s"})
    with CompactManager(config) as manager:
        for body in shape.bodies:
            done = manager.prepare("s", {**body, "format": shape.format})
            sent = {**body, shape.key: done.messages}
            played.ledger.add(Entry(body, sent, done.tokens_after, done.compacted, done.break_cause))
            played.refused += [str(found) for found in FORMATS[shape.format].violations(Request(sent))]
    return played


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running gateway, its vendors, and where it keeps what it did."""

    vendors: FakeVendors
    client: httpx2.Client
    folder: Path
    token: str

    def send(self, shape: Shape, body: Body) -> httpx2.Response:
        """The answer to one of the client's requests."""
        headers = {"authorization": f"Bearer {self.token}", **shape.headers}
        return self.client.post(shape.path, json=body, headers=headers)

    def compactions(self) -> int:
        """How many compactions were kept so far."""
        return sum(1 for _ in self.folder.glob("gateway/**/summary-*.json"))


@contextmanager
def gateway(window: int, folder: Path, **environment: str) -> Iterator[Gateway]:
    """A gateway whose models have that window, in front of fake vendors that hold it."""
    with pytest.MonkeyPatch.context() as patch, FakeVendors(window=window) as vendors:
        patch.chdir(folder)
        for name, value in {
            "COMPACT_HOME": str(folder),
            "COMPACT_PROFILE": "offline",
            "COMPACT_MAX_CONTEXT_TOKENS": str(window),
            "OPENAI_API_KEY": "key-of-the-operator",
            "ANTHROPIC_API_KEY": "key-of-the-operator",
            **environment,
        }.items():
            patch.setenv(name, value)
        settings = ServerSettings(upstream_openai=f"{vendors.url}/v1", upstream_anthropic=vendors.url)
        state = ServerState(folder, settings=settings)
        with running(state) as url, httpx2.Client(base_url=url, timeout=60) as client:
            yield Gateway(vendors, client, folder, state.token)


def play_gateway(shape: Shape, window: int, folder: Path, **environment: str) -> Played:
    """The conversation through the gateway, over HTTP; answers come whole."""
    return play_in_turn([shape], window, folder, **environment)[0]


def play_in_turn(shapes: Sequence[Shape], window: int, folder: Path, **environment: str) -> list[Played]:
    """Conversations through one gateway, a request of each in turn; all end together."""
    all_played = [Played(shape, window) for shape in shapes]
    most = max(len(shape.bodies) for shape in shapes)
    with gateway(window, folder, **environment) as server:
        done = 0
        for left in range(most, 0, -1):
            for played in all_played:
                if left <= (length := len(played.shape.bodies)):
                    done = _send(server, played, length - left + 1, played.shape.bodies[-left], done)
    return all_played


def _send(server: Gateway, played: Played, number: int, body: Body, done: int) -> int:
    """Send one request; gives how many compactions there are, of which `done` were before."""
    asked = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
    server.vendors.forget()
    answer = server.send(played.shape, asked)
    received = server.vendors.requests
    if answer.status_code != 200 or [one.status for one in received] != [200]:
        statuses = [one.status for one in received]
        played.refused.append(f"request {number}: {answer.status_code} {statuses} {answer.text[:300]}")
        return done
    now = server.compactions()
    sent: Any = received[0].body
    headers = answer.headers
    played.sessions.add(headers.get("x-compact-session", ""))
    size, claimed = int(headers["x-compact-tokens-after"]), headers.get("x-compact-break", "")
    played.ledger.add(Entry(asked, sent, size, now > done, claimed))
    played.answers.append(answer.json())
    return now
