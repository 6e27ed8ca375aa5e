"""A manager with a small window, and what it told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from compact import CompactConfig, CompactManager
from compact.messages import Json
from compact.ports import Event

LISTING = "\n".join(f"line {number} of the file" for number in range(120))


class Managers:
    """Makes managers that write below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[Event] = []
        self.made: list[CompactManager] = []

    def __call__(self, window: int = 4000, **config: Json) -> CompactManager:
        storage = {"path": str(self.folder)}
        whole = {"model": "gpt-4o", "max_context_tokens": window, "storage": storage, "profile": "offline", **config}
        self.made.append(CompactManager(CompactConfig.model_validate(whole), observe=self.events.append))
        return self.made[-1]

    def told(self, name: str) -> int:
        return sum(event.name == f"compact.{name}" for event in self.events)


@pytest.fixture
def managers(tmp_path: Path) -> Iterator[Managers]:
    made = Managers(tmp_path)
    yield made
    for manager in made.made:
        manager.close()


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """The event loop that frameworks take for their synchronous calls; they would leave one of their own open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)
