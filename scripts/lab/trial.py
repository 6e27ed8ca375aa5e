"""Runs a real client through the gateway, and says what became of its requests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors
from scripts.lab.clients import KEY, Client
from scripts.lab.ledger import Entry, Ledger
from scripts.lab.model import ScriptedModel
from scripts.lab.running import place_for, run_client
from scripts.lab.tap import Heard, Tap

_OVERFLOWS: Final = ("prompt is too long", "context_length_exceeded", "exceed context limit", "input token count")


@dataclass(slots=True)
class Trial:
    """A run of a client: its requests as they went, and what the vendor refused."""

    client: Client
    window: int
    steps: int
    finished: bool
    ledger: Ledger = field(default_factory=Ledger)
    sessions: set[str] = field(default_factory=set)
    invalid: list[str] = field(default_factory=list)
    overflows: int = 0
    cached: int = 0
    read: int = 0
    printed: str = ""
    """The end of what the client printed."""

    @property
    def due(self) -> int:
        """The compactions that the run may have at most."""
        return self.ledger.due(self.ledger.grown(self.client.format)) if self.ledger.entries else 0

    @property
    def faults(self) -> list[str]:
        """What is wrong with the run."""
        ledger = self.ledger
        found = [*self.invalid[:3], *ledger.remarks[:3]]
        if not self.finished:
            found.append(f"the client said: {self.printed[-500:]}")
        counts = {
            "overflows": self.overflows,
            "sessions too many": max(0, len(self.sessions) - 1),
            "breaks that are no compactions": ledger.breaks.total() - ledger.breaks["compaction"],
            "compactions too many": max(0, ledger.compactions - self.due),
            "requests without the project's rules": ledger.missing_rules(),
        }
        return [*found, *(f"{count} {name}" for name, count in counts.items() if count)]

    @property
    def row(self) -> dict[str, str]:
        """The line of the table."""
        ledger = self.ledger
        breaks = ", ".join(f"{count} {cause}" for cause, count in sorted(ledger.breaks.items()))
        return {
            "client": self.client.name,
            "window": f"{self.window:,}",
            "steps": f"{self.steps}{'' if self.finished else ' (stopped)'}",
            "sessions": str(len(self.sessions)),
            "compactions": f"{ledger.compactions} of {self.due}",
            "breaks": breaks or "0",
            "invalid": str(len(self.invalid)),
            "overflows": str(self.overflows),
            "rules missing": str(ledger.missing_rules()),
            "cached": f"{self.cached / self.read:.0%}" if self.read else "-",
            "prefix": f"{ledger.prefix:.0%}",
        }


def run_trial(client: Client, installed: Path, steps: int, window: int, seconds: float) -> Trial:
    """The client's whole run at a window."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="lab-")))
        home = folder / "compact"
        home.mkdir()
        vendors = stack.enter_context(FakeVendors(window=window))
        behind = stack.enter_context(Tap(vendors.url))
        url = stack.enter_context(_gateway(home, window, behind.url))
        before = stack.enter_context(Tap(url, lambda: _compactions(home)))
        place = place_for(client, folder, installed, steps, before.url)
        model = ScriptedModel(place.project, steps, client.prose)
        vendors.reply(model)
        ended = run_client(client, place, seconds)
        trial = Trial(client, window, model.done, model.finished, printed=ended.printed)
        _enter(trial, model, before.heard, behind.heard)
    return trial


def _enter(trial: Trial, model: ScriptedModel, before: tuple[Heard, ...], behind: tuple[Heard, ...]) -> None:
    """Enter the requests into the trial's ledger."""
    sent: dict[str, Heard] = {}
    for one in behind:
        sent[one.number] = one  # where the gateway tried again, the last counts
        if one.status == 400 and any(words in one.answer for words in _OVERFLOWS):
            trial.overflows += 1
        elif one.status == 400:
            trial.invalid.append(one.answer[:300])
    done = 0
    for written in before:
        received = sent.get(written.number)
        if not model.is_turn(written.body) or received is None or received.status != 200:
            continue
        trial.sessions.add(written.told.get("x-compact-session", ""))
        size = int(written.told.get("x-compact-tokens-after", 0))
        claimed = written.told.get("x-compact-break", "")
        body: Any = written.body
        trial.ledger.add(Entry(body, received.body, size, written.note > done, claimed))
        done = written.note
        if usage := received.usage:
            trial.cached += usage.cache_read
            trial.read += usage.total_input


def _compactions(home: Path) -> int:
    """How many compactions the gateway kept so far."""
    return sum(1 for _ in home.glob("gateway/**/summary-*.json"))


@contextmanager
def _gateway(home: Path, window: int, vendor: str) -> Iterator[str]:
    """A gateway with that window for every model, and nothing of this machine's settings."""
    settings = ServerSettings(upstream_openai=f"{vendor}/v1", upstream_anthropic=vendor, token=KEY)
    chosen = {
        "COMPACT_HOME": str(home),
        "COMPACT_PROFILE": "offline",
        "COMPACT_MAX_CONTEXT_TOKENS": str(window),
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_API_KEY": KEY,
    }
    with _environment(chosen), running(ServerState(home, settings=settings)) as url:
        yield url


@contextmanager
def _environment(chosen: Mapping[str, str]) -> Iterator[None]:
    """The environment with these variables of Compact's, and no others but a recipe's."""
    kept = dict(os.environ)
    for name in kept:
        if name.startswith("COMPACT_") and name != "COMPACT_RECIPE":
            del os.environ[name]
    os.environ.update(chosen)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)
