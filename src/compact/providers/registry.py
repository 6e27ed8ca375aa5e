"""All providers: the built-in ones, those that a program registers, and those that other distributions offer.

A distribution offers a provider by an entry point of the group `compact.providers`, named as the provider's id, that
leads to the provider or its class. Nothing is imported before it is asked for, and what cannot be imported is listed
with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from compact.errors import InvalidConfiguration
from compact.providers.provider import Capabilities, Provider

GROUP = "compact.providers"
DEFAULT = "native"
BUILT_IN = {
    "auto": "compact.providers.auto:AutoProvider",
    "native": "compact.providers.native:NativeProvider",
    "lossless": "compact.providers.lossless:LosslessProvider",
    "truncation": "compact.providers.truncation:TruncationProvider",
    "smart": "compact.providers.smart:SmartProvider",
    "layers": "compact.providers.layers:LayersProvider",
}
_ATTRIBUTES = ("id", "name", "description", "version", "capabilities", "settings", "condense")
_registered: dict[str, Provider] = {}


@dataclass(frozen=True, slots=True)
class Listed:
    """A provider by its id and where it comes from; without one, `error` says why."""

    id: str
    origin: str
    provider: Provider | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Traits:
    """What to expect of a provider, beside its capabilities: a column of the comparison."""

    speed: str
    reduction: str
    loss: str
    cost: str
    configurability: str
    lossless_phase: str
    best_for: str


COMPARISON = {
    "auto": Traits("fast (< 1 s)", "any", "low", "$0-0.03", "medium", "no", "everything"),
    "native": Traits(
        "medium (2-5 s)", "48% (0-98%)", "medium", "$0.001-0.03", "low", "no", "conversations without tools"
    ),
    "lossless": Traits("fast (< 1 s)", "10% (0-46%)", "none", "$0", "low", "yes", "quality"),
    "truncation": Traits("very fast (< 100 ms)", "11% (0-65%)", "high", "$0", "medium", "no", "speed"),
    "smart": Traits(
        "variable (0-10 s)", "50% (16-87%)", "configurable", "$0-0.05", "very high", "optional", "power users"
    ),
    "layers": Traits(
        "medium (2-5 s)", "37% (0-97%)", "medium", "$0.001-0.03", "medium", "no", "agents that run for long"
    ),
}


def register(provider: Provider) -> None:
    """Let this process know the provider by its id: in recipes, policies and commands that it runs.

    Another provider that was registered under the same id is replaced; a built-in one cannot be.
    """
    require_provider(provider)
    if provider.id in BUILT_IN:
        raise InvalidConfiguration(
            f"{provider.id!r} is a built-in provider", field="provider.id", remedy="Give yours another id."
        )
    _registered[provider.id] = provider


def require_provider(value: object) -> None:
    """Raise InvalidConfiguration, naming what is missing, where the value is no provider."""
    if missing := _missing_in(value):
        raise InvalidConfiguration(
            f"{type(value).__name__} has no {missing}",
            field="provider",
            remedy="Give a provider's id, or an object with what compact.providers.Provider lists.",
        )


def _missing_in(value: object) -> str:
    return ", ".join(name for name in _ATTRIBUTES if not hasattr(value, name))


def comparison() -> list[dict[str, str]]:
    """The built-in providers side by side: a row for each feature, a column for each provider."""
    columns = {id: _column(provider(id).capabilities, traits) for id, traits in COMPARISON.items()}
    features = next(iter(columns.values()))
    return [{"feature": name} | {id: column[name] for id, column in columns.items()} for name in features]


def provider(id: str) -> Provider:
    """The provider of that id; InvalidConfiguration where there is none, or where it cannot be loaded."""
    if id in _registered:
        return _registered[id]
    listed = _built_in(id) if id in BUILT_IN else _installed(id)
    if listed is None:
        known = ", ".join(sorted(provider_ids()))
        raise InvalidConfiguration(f"{id!r} is unknown", field="provider", remedy=f"Known providers: {known}.")
    if listed.provider is None:
        remedy = f"Repair or remove what provides it ({listed.origin})."
        raise InvalidConfiguration(f"{id!r} cannot be loaded: {listed.error}", field="provider", remedy=remedy)
    return listed.provider


def provider_ids() -> tuple[str, ...]:
    """The ids of all providers; none of them is loaded."""
    return tuple(dict.fromkeys((*BUILT_IN, *_registered, *(point.name for point in entry_points(group=GROUP)))))


def providers() -> tuple[Listed, ...]:
    """Every provider there is: the built-in ones first, then registered ones, then others by their names."""
    registered = (Listed(id, "this process", found) for id, found in _registered.items())
    return (*map(_built_in, BUILT_IN), *registered, *_others())


def _built_in(id: str) -> Listed:
    module, _, name = BUILT_IN[id].partition(":")
    try:
        made = getattr(import_module(module), name)()
    except (ImportError, AttributeError) as error:
        return Listed(id, "compact", None, str(error))
    return Listed(id, "compact", made)


def _installed(id: str) -> Listed | None:
    return next((_load(point) for point in entry_points(group=GROUP) if point.name == id), None)


def _others() -> Iterator[Listed]:
    taken = {*BUILT_IN, *_registered}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        if point.name in taken:
            yield Listed(point.name, _origin(point), None, f"another provider is called {point.name!r} already")
        else:
            taken.add(point.name)
            yield _load(point)


def _load(point: EntryPoint) -> Listed:
    try:
        found: Any = point.load()
        made = found() if isinstance(found, type) else found
        if missing := _missing_in(made):
            raise TypeError(f"it has no {missing}")
        if made.id != point.name:
            raise ValueError(f"its id is {made.id!r}, and its entry point is called {point.name!r}")
    except Exception as error:  # noqa: BLE001 - somebody else's code: one broken plugin must not take the others with it
        return Listed(point.name, _origin(point), None, f"{type(error).__name__}: {error}")
    return Listed(point.name, _origin(point), made)


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value


def _column(capabilities: Capabilities, traits: Traits) -> dict[str, str]:
    def said(able: bool) -> str:  # noqa: FBT001 - one word for each
        return "yes" if able else "no"

    return {
        "speed": traits.speed,
        "token reduction": traits.reduction,
        "information loss": traits.loss,
        "API cost": traits.cost,
        "configurability": traits.configurability,
        "lossless phase": traits.lossless_phase,
        "multi-pass": said(capabilities.multi_pass),
        "batch mode": said(capabilities.batch),
        "individual mode": said(capabilities.individual),
        "profile support": "yes",
        "best for": traits.best_for,
    }
