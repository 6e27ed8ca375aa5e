"""What a conversation is compacted with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from compact.policies import Configuration
from compact.providers.provider import Provider

WhenMissed: TypeAlias = Literal["stop", "continue"]
"""What is done where the recipe's own passes do not reach the target: nothing, or `auto` goes on from there."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A provider with its settings, under a name."""

    name: str
    provider: Provider
    settings: Configuration
    when_missed: WhenMissed = "continue"

    def changed(self, **settings: Any) -> Recipe:
        """The recipe with some settings changed, those that its provider has."""
        known = {name: value for name, value in settings.items() if name in type(self.settings).model_fields}
        return replace(self, settings=self.settings.model_copy(update=known)) if known else self

    def with_handles(self) -> Recipe:
        """The recipe with handles switched on, wherever in its settings that can be set."""
        return replace(self, settings=_with_handles(self.settings))


def _with_handles(settings: Configuration) -> Configuration:
    changed: dict[str, object] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if name == "handles":
            changed[name] = True
        elif isinstance(value, Configuration):
            changed[name] = _with_handles(value)
        elif isinstance(value, tuple):
            changed[name] = tuple(_with_handles(each) if isinstance(each, Configuration) else each for each in value)
    return settings.model_copy(update=changed)
