"""The managers that compact what the gateway passes on: one for each model."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock, Thread, local
from time import monotonic
from typing import Final, TypeAlias

from compact import CompactManager
from compact.errors import InvalidInput
from compact.policies import CompactConfig, Profile
from compact.policies.threshold import INHERIT
from compact.ports import Event
from compact.settings.compaction import find_file, gather

LEAST: Final = 1000
"""Tokens of a window that is worth compacting for."""
_MOST: Final = 64
"""Models that are served at a time: what a client calls a model must not fill the memory."""
_WINDOWS: Final = 1000
"""Models whose windows vendors told; for the same reason."""
_LIVE: Final = 500
"""Conversations that are held in memory; others are taken up again from what was kept, or counted anew."""
_CLOSING: Final = 5.0
_TRACED: Final = ("compact.condensed", "compact.error")
_PLAIN: Final = re.compile(r"[^A-Za-z0-9._-]+")

_Key: TypeAlias = tuple[str, str]


@dataclass(slots=True, eq=False)
class _Made:
    """A manager, and how many use it now; one that nobody finds any more is closed once nobody does."""

    manager: CompactManager
    users: int = 0
    found: bool = True


class Managers:
    """Makes a manager when a model is first asked for; may be used from many threads."""

    def __init__(self, home: Path, trace: Callable[[str, Event], None]) -> None:
        self._home = home
        self._trace = trace
        self._live: OrderedDict[tuple[CompactManager, str], None] = OrderedDict()
        self._lock = Lock()
        self._made: OrderedDict[_Key, _Made] = OrderedDict()
        self._windows: OrderedDict[_Key, int] = OrderedDict()
        self._closed = False
        self._heard = local()

    @contextmanager
    def using(self, model: str, profile: Profile | None) -> Iterator[CompactManager]:
        """The manager for a model as its profile wants it, which is open as long as the block lasts.

        Beyond so many models, the one that was asked for longest ago is let go of. InvalidInput where all are in use.
        """
        made, rested = self._take(model, profile)
        try:
            if rested is not None:
                rested.close()
            yield made.manager
        finally:
            with self._lock:
                made.users -= 1
                done = not made.found and not made.users
                if done:
                    self._let_go(made.manager)
            if done:
                made.manager.close()

    @contextmanager
    def fitting(self, model: str, profile: Profile | None, window: int) -> Iterator[CompactManager]:
        """A manager for one request that must fit into less than the model's window.

        What it kept, the model's own finds once that has forgotten the session.
        """
        config = configured(self._home, model, profile).model_copy(update={"max_context_tokens": window})
        with CompactManager(config, observe=self._observe) as manager:
            yield manager

    def narrow(self, model: str, profile: Profile | None, window: int) -> None:
        """Know from now on that the model's window is smaller than was thought.

        The earlier manager stays open for whoever still works with it; what it kept, the new one finds.
        """
        key = _key(model, profile)
        with self._lock:
            self._windows[key] = max(window, LEAST)
            self._windows.move_to_end(key)
            if len(self._windows) > _WINDOWS:
                self._windows.popitem(last=False)
            made = self._made.pop(key, None)
            if made is None:
                return
            made.found = False
            if made.users:
                return
            self._let_go(made.manager)
        made.manager.close()

    @contextmanager
    def at_work(self, manager: CompactManager, session: str) -> Iterator[list[Event]]:
        """The same as `hearing`, for a session that the manager then holds.

        Beyond so many sessions, memory lets go of the one that has rested longest.
        """
        try:
            with self.hearing(session) as heard:
                yield heard
        finally:  # whatever came of it: a session that was refused is held, too
            with self._lock:
                self._live[manager, session] = None
                self._live.move_to_end((manager, session))
                rested = self._live.popitem(last=False)[0] if len(self._live) > _LIVE else None
            if rested is not None:
                rested[0].forget(rested[1])

    @contextmanager
    def hearing(self, session: str) -> Iterator[list[Event]]:
        """The events of what is done to the session inside, on this thread; compactions are traced."""
        heard: list[Event] = []
        self._heard.events = heard
        try:
            yield heard
        finally:
            self._heard.events = None
            if any(event.name in _TRACED for event in heard):
                for event in heard:
                    self._trace(session, event)

    def close(self) -> None:
        """Close them all at the same time, and wait a few seconds for it: each may have something to send."""
        with self._lock:
            self._closed = True
            managers = [made.manager for made in self._made.values()]
            self._made.clear()
            self._live.clear()
        closing = [Thread(target=manager.close, name="compact closing", daemon=True) for manager in managers]
        for thread in closing:
            thread.start()
        until = monotonic() + _CLOSING
        for thread in closing:
            thread.join(max(0.0, until - monotonic()))

    def _take(self, model: str, profile: Profile | None) -> tuple[_Made, CompactManager | None]:
        """The manager, with one more who uses it, and the one that had to make room for it."""
        key = _key(model, profile)
        with self._lock:
            made, rested = self._made.get(key), None
            if made is None:
                oldest = self._resting() if len(self._made) >= _MOST else None
                made = _Made(self._make(model, profile))
                if oldest is not None:
                    rested = self._made.pop(oldest).manager
                    self._let_go(rested)
                self._made[key] = made
            self._made.move_to_end(key)
            made.users += 1
        return made, rested

    def _resting(self) -> _Key:
        """The model that was asked for longest ago and that nobody uses now."""
        found = next((key for key, made in self._made.items() if not made.users), None)
        if found is None:
            raise InvalidInput(f"{_MOST} models are served already", field="model", remedy="Use one of them.")
        return found

    def _make(self, model: str, profile: Profile | None) -> CompactManager:
        if self._closed:
            raise InvalidInput("no model is served any more", field="model", remedy="Start the server again.")
        config = configured(self._home, model, profile)
        if window := self._windows.get(_key(model, profile)):
            config = config.model_copy(update={"max_context_tokens": window})
        return CompactManager(config, observe=self._observe)

    def _let_go(self, manager: CompactManager) -> None:
        for known in [known for known in self._live if known[0] is manager]:
            del self._live[known]

    def _observe(self, event: Event) -> None:
        events: list[Event] | None = getattr(self._heard, "events", None)
        if events is not None:
            events.append(event)


def _key(model: str, profile: Profile | None) -> _Key:
    return model, profile.name if profile else ""


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
