"""The managers that compact what the gateway passes on: one for each model."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock, Thread
from time import monotonic
from typing import Final, TypeAlias

from compact import CompactManager
from compact.app.profiles import OFFLINE
from compact.app.recipes import resolve_recipe
from compact.app.summarizers import choose_summarizers
from compact.app.thresholds import Serving, gateway_threshold
from compact.engine.variants import variant_at
from compact.errors import InvalidInput
from compact.messages import Json
from compact.policies import CompactConfig, EffectiveThreshold, Profile
from compact.server.stored import StoredModels
from compact.settings.compaction import Gathered, find_file, gather
from compact.settings.recipes import default_recipe

LEAST: Final = 1000
"""Tokens of a window that is worth compacting for."""
_MOST: Final = 64
"""Models that are served at a time: what a client calls a model must not fill the memory."""
_WINDOWS: Final = 1000
"""Models whose windows vendors told; for the same reason."""
_LIVE: Final = 500
"""Conversations that are held in memory; others are taken up again from what was kept, or counted anew."""
_LIVE_BYTES: Final = 256 * 1024 * 1024
"""Bytes of the requests that they came in, together."""
_CLOSING: Final = 5.0
_PLAIN: Final = re.compile(r"[^A-Za-z0-9._-]+")

_NOTHING_STORED: Final = StoredModels(lambda _: None)

_Key: TypeAlias = tuple[str, str]


@dataclass(slots=True, eq=False)
class _Made:
    """A manager, what it was made by, and how many use it now.

    That is its profile, the recipe that was to be used, and how often what is stored of models had changed by then.

    One that is not found any more is closed once it is not used.
    """

    manager: CompactManager
    profile: Profile | None
    recipe: str
    changes: int
    users: int = 0
    found: bool = True


class Managers:
    """Makes a manager when a model is first asked for; may be used from many threads."""

    def __init__(
        self, home: Path, *, recall: bool = False, address: str = "", stored: StoredModels = _NOTHING_STORED
    ) -> None:
        """Managers below a home; with `recall` the gateway gives models the tools to look up what was removed.

        `address` is that of the server behind models without a profile. `stored` has the limits and
        thresholds that were set, or told of models: they are read when a manager is made, which is done anew after a
        change.
        """
        self._stored = stored
        self._home = home
        self._recall = recall
        self._variant = variant_at(address)
        self._live: OrderedDict[tuple[CompactManager, str], int] = OrderedDict()
        self._lock = Lock()
        self._made: OrderedDict[_Key, _Made] = OrderedDict()
        self._windows: OrderedDict[_Key, int] = OrderedDict()
        self._closed = False

    @contextmanager
    def using(self, model: str, profile: Profile | None) -> Iterator[CompactManager]:
        """The manager for a model as its profile wants it, which is open as long as the block lasts.

        Beyond so many models, the one that was asked for longest ago is let go of. InvalidInput where all are in use.
        """
        made, left = self._take(model, profile)
        try:
            for manager in left:
                manager.close()
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
    def fitting(self, model: str, profile: Profile | None, window: int, share: float) -> Iterator[CompactManager]:
        """A manager for one request that must fit into less than the model's window, down to a share of its target.

        What it kept, the model's own finds once that has forgotten the session.
        """
        config = self._configured(model, profile)
        policy = config.policy.model_copy(update={"target_pct": config.policy.target_pct * share})
        config = config.model_copy(update={"max_context_tokens": window, "policy": policy})
        with self._opened(config, profile) as manager:
            yield manager

    def narrow(self, model: str, profile: Profile | None, window: int) -> None:
        """Know from now on that the model's window is smaller than was thought."""
        key = _key(model, profile)
        with self._lock:
            self._windows[key] = max(window, LEAST)
            self._windows.move_to_end(key)
            if len(self._windows) > _WINDOWS:
                self._windows.popitem(last=False)
        self.renew(model, profile)

    def renew(self, model: str, profile: Profile | None) -> None:
        """Make the model's manager anew for the next request, with the window and the calibration known by then.

        The earlier manager stays open for those that still work with it; what it kept, the new one finds.
        """
        with self._lock:
            left = self._leave(_key(model, profile))
        for manager in left:
            manager.close()

    def hold(self, manager: CompactManager, session: str, size: int = 0) -> None:
        """Note that the manager holds the session, of so many bytes; beyond so much, those that rested longest go."""
        rested = []
        with self._lock:
            self._live[manager, session] = size
            self._live.move_to_end((manager, session))
            while len(self._live) > _LIVE or (len(self._live) > 1 and sum(self._live.values()) > _LIVE_BYTES):
                rested.append(self._live.popitem(last=False)[0])
        for other, left in rested:
            other.forget(left)

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

    def _take(self, model: str, profile: Profile | None) -> tuple[_Made, list[CompactManager]]:
        """The manager, with one more who uses it, and those that are to be closed for it."""
        key, left = _key(model, profile), list[CompactManager]()
        recipe = (profile.recipe if profile else "") or default_recipe()
        with self._lock:
            made, changes = self._made.get(key), self._stored.changes
            if made is not None and (made.profile, made.recipe, made.changes) != (profile, recipe, changes):
                left, made = self._leave(key), None
            if made is None:
                oldest = self._resting() if len(self._made) >= _MOST else None
                made = _Made(self._make(model, profile), profile, recipe, changes)
                left += self._leave(oldest) if oldest is not None else []
                self._made[key] = made
            self._made.move_to_end(key)
            made.users += 1
        return made, left

    def _leave(self, key: _Key) -> list[CompactManager]:
        """Find the manager no more; it is given back where it can be closed now, being unused."""
        made = self._made.pop(key, None)
        if made is None:
            return []
        made.found = False
        if made.users:
            return []
        self._let_go(made.manager)
        return [made.manager]

    def _resting(self) -> _Key:
        """The model that was asked for longest ago and that is not used now."""
        found = next((key for key, made in self._made.items() if not made.users), None)
        if found is None:
            raise InvalidInput(f"{_MOST} models are served already", field="model", remedy="Use one of them.")
        return found

    def _make(self, model: str, profile: Profile | None) -> CompactManager:
        if self._closed:
            raise InvalidInput("no model is served any more", field="model", remedy="Start the server again.")
        config = self._configured(model, profile)
        if window := self._windows.get(_key(model, profile)):
            config = config.model_copy(update={"max_context_tokens": window})
        return self._opened(config, profile)

    def _configured(self, model: str, profile: Profile | None) -> CompactConfig:
        config = configured(self._home, model, profile, self._stored)
        if not profile and not config.variant:
            config = config.model_copy(update={"variant": self._variant})
        return config.model_copy(update={"recall": True}) if self._recall else config

    def _opened(self, config: CompactConfig, profile: Profile | None) -> CompactManager:
        """The manager; a profile tells better than a model's name who the conversations go to.

        A key in the gateway's environment pays for summaries only where a profile is configured.
        """
        if not config.profile and not choose_summarizers(recipe=resolve_recipe(policy=config.policy)):
            config = config.model_copy(update={"profile": OFFLINE})
        serving = Serving(profile, self._stored.find(config.model))
        manager = CompactManager(config, threshold=_threshold(config, profile, self._stored), serving=serving)
        manager.source = "gateway"
        return manager

    def _let_go(self, manager: CompactManager) -> None:
        for known in [known for known in self._live if known[0] is manager]:
            del self._live[known]


def _threshold(config: CompactConfig, profile: Profile | None, stored: StoredModels) -> EffectiveThreshold:
    return gateway_threshold(config.policy, stored.find(config.model), profile, stored.usual_threshold())


def _key(model: str, profile: Profile | None) -> _Key:
    return model, profile.name if profile else ""


def gather_config(home: Path, overrides: Mapping[str, Json] | None = None) -> Gathered:
    """The operator's configuration: from the working directory, else from Compact's home."""
    return gather(find_file() or find_file(home), overrides=overrides)


def configured(
    home: Path, model: str, profile: Profile | None, stored: StoredModels = _NOTHING_STORED
) -> CompactConfig:
    """Return a model's configuration: the operator's, changed by its profile or by a person.

    Each model has a folder of its own, below the one that is configured or else below Compact's home.
    """
    gathered = gather_config(home, {"model": profile.catalogue_name if profile else model})
    config = gathered.config()
    root = _root(gathered, home)
    storage = config.storage.model_copy(update={"path": str(root / folder_name(model, profile))})
    policy = config.policy.triggered_by(_threshold(config, profile, stored))
    if profile and profile.recipe:
        policy = policy.model_copy(update={"recipe": profile.recipe, "provider": "", "preset": ""})
    variant = (profile.variant or variant_at(profile.url) if profile else "") or config.variant
    return config.model_copy(update={"storage": storage, "policy": policy, "variant": variant})


def storage_root(home: Path) -> Path:
    """The folder with the models' folders; InvalidConfiguration where the configuration cannot be read."""
    return _root(gather_config(home), home)


def _root(gathered: Gathered, home: Path) -> Path:
    own = next(value for value in gathered.values if value.setting.path == "storage.path")
    return home / "gateway" if own.origin.kind == "default" else Path(str(own.value))


def folder_name(model: str, profile: Profile | None) -> str:
    """A name for the model's folder: legible, and never another model's."""
    name = f"{model}/{profile.name if profile else ''}".encode("utf-8", "surrogatepass")
    return f"{_PLAIN.sub('-', model)[:40].strip('.-') or 'model'}-{sha256(name).hexdigest()[:8]}"
