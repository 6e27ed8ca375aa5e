"""The managers that compact what the gateway passes on: one for each model."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from threading import Lock, local
from typing import Final

from compact import CompactManager
from compact.errors import InvalidInput
from compact.policies import CompactConfig, Profile
from compact.policies.threshold import INHERIT
from compact.ports import Event
from compact.settings.compaction import find_file, gather

_MOST: Final = 64
"""Models that are served at a time: what a client calls a model must not fill the memory."""
_LIVE: Final = 500
"""Conversations that are held in memory; others are taken up again from what was kept, or counted anew."""
_LEAST: Final = 1000
_TRACED: Final = ("compact.condensed", "compact.error")
_PLAIN: Final = re.compile(r"[^A-Za-z0-9._-]+")


class Managers:
    """Makes a manager when a model is first asked for; may be used from many threads."""

    def __init__(self, home: Path, trace: Callable[[str, Event], None]) -> None:
        self._home = home
        self._trace = trace
        self._live: OrderedDict[tuple[CompactManager, str], None] = OrderedDict()
        self._lock = Lock()
        self._made: dict[tuple[str, str], CompactManager] = {}
        self._windows: dict[tuple[str, str], int] = {}
        self._open = ExitStack()
        self._heard = local()

    def get(self, model: str, profile: Profile | None) -> CompactManager:
        """The manager for a model as its profile wants it."""
        key = (model, profile.name if profile else "")
        with self._lock:
            if key not in self._made:
                if len(self._made) >= _MOST:
                    raise InvalidInput(f"{_MOST} models are served already", field="model", remedy="Use one of them.")
                config = configured(self._home, model, profile)
                if key in self._windows:
                    config = config.model_copy(update={"max_context_tokens": self._windows[key]})
                self._made[key] = self._open.enter_context(CompactManager(config, observe=self._observe))
            return self._made[key]

    def narrow(self, model: str, profile: Profile | None, window: int) -> CompactManager:
        """The manager for a model whose window the vendor knows to be smaller than was thought.

        The earlier one stays open for whoever still works with it; what it kept, the new one finds.
        """
        with self._lock:
            key = (model, profile.name if profile else "")
            self._windows[key] = max(window, _LEAST)
            self._made.pop(key, None)
        return self.get(model, profile)

    @contextmanager
    def at_work(self, manager: CompactManager, session: str) -> Iterator[list[Event]]:
        """The events of what is done to the session inside, on this thread; compactions are traced.

        Beyond so many sessions, memory lets go of the one that has rested longest.
        """
        heard: list[Event] = []
        self._heard.events = heard
        try:
            yield heard
        finally:
            self._heard.events = None
            if any(event.name in _TRACED for event in heard):
                for event in heard:
                    self._trace(session, event)
        with self._lock:
            self._live[manager, session] = None
            self._live.move_to_end((manager, session))
            rested = self._live.popitem(last=False)[0] if len(self._live) > _LIVE else None
        if rested is not None:
            rested[0].forget(rested[1])

    def close(self) -> None:
        self._open.close()

    def _observe(self, event: Event) -> None:
        events: list[Event] | None = getattr(self._heard, "events", None)
        if events is not None:
            events.append(event)


def configured(home: Path, model: str, profile: Profile | None) -> CompactConfig:
    """What holds for a model: the operator's configuration, and what its profile changes.

    Each model has a folder of its own, below the one that is configured or else below Compact's home.
    """
    file = find_file() or find_file(home)
    gathered = gather(file, overrides={"model": profile.catalogue_name if profile else model})
    config = gathered.config()
    own = next(value for value in gathered.values if value.setting.path == "storage.path")
    root = home / "gateway" if own.origin.kind == "default" else Path(config.storage.path)
    storage = config.storage.model_copy(update={"path": str(root / folder_name(model, profile))})
    policy = config.policy
    if profile and profile.threshold != INHERIT and profile.threshold / 100 > policy.target_pct:
        policy = policy.model_copy(update={"trigger_pct": profile.threshold / 100})
    return config.model_copy(update={"storage": storage, "policy": policy})


def folder_name(model: str, profile: Profile | None) -> str:
    """A name for the model's folder: legible, and never another model's."""
    name = f"{model}/{profile.name if profile else ''}".encode("utf-8", "surrogatepass")
    return f"{_PLAIN.sub('-', model)[:40].strip('.-') or 'model'}-{sha256(name).hexdigest()[:8]}"
