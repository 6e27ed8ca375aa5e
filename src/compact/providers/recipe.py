"""What a conversation is compacted with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from compact.policies import Configuration, configure
from compact.providers.provider import Provider

WhenMissed: TypeAlias = Literal["stop", "continue"]
"""What is done where the recipe's own passes do not reach the target: nothing, or `auto` goes on from there."""
_WORDS = frozenset({"strategy", "prompt"})
"""A group of settings that has these says how a summary is written."""
_KEPT = ("preserve_recent", "preserve_user_messages", "preserve_assistant_text")
_SAID = ("strategy", "prompt", "detail", "max_summary_tokens")
_Target = TypeVar("_Target", int, float)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A provider with its settings, under a name.

    With `runs_all_passes` it has no target of its own: unless one is given, all passes run. A person wrote them.
    """

    name: str
    provider: Provider
    settings: Configuration
    when_missed: WhenMissed = "continue"
    runs_all_passes: bool = False

    def choose_target(self, given: _Target | None, usual: _Target | None) -> _Target | None:
        """Return the target that was given, else the usual one; None where all passes are to run."""
        return usual if given is None and not self.runs_all_passes else given

    def changed(self, **settings: Any) -> Recipe:
        """The recipe with some settings changed, those that its provider has."""
        known = {name: value for name, value in settings.items() if name in type(self.settings).model_fields}
        return replace(self, settings=self.settings.model_copy(update=known)) if known else self

    def with_defaults(self, **settings: Any) -> Recipe:
        """Return the recipe with other defaults for those of the settings that its provider has."""
        known = {name: value for name, value in settings.items() if name in type(self.settings).model_fields}
        values, was_set = dict(self.settings) | known, self.settings.model_fields_set
        return replace(self, settings=type(self.settings).model_construct(was_set, **values))

    def with_handles(self) -> Recipe:
        """The recipe with handles switched on, wherever in its settings that can be set."""
        return replace(self, settings=_changed(self.settings, _with_handles))

    @property
    def words(self) -> dict[str, Any]:
        """What was set about its first summary: strategy, prompt, detail, and its length as `max_summary_tokens`."""
        found: list[Configuration] = []

        def note(group: Configuration) -> Configuration:
            found.extend([group] if type(group).model_fields.keys() >= _WORDS and group.model_fields_set else [])
            return group

        _changed(self.settings, note)
        if not found:
            return {}
        named = {name: getattr(found[0], name) for name in found[0].model_fields_set}
        named |= {"max_summary_tokens": named["max_tokens"]} if "max_tokens" in named else {}
        return {name: named[name] for name in _SAID if named.get(name)}

    @property
    def kept(self) -> dict[str, Any]:
        """The settings about messages that stay as they are that a person has set, and that `auto` has, too."""
        found = {name: getattr(self.settings, name) for name in _KEPT if name in self.settings.model_fields_set}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def profiles(self) -> tuple[str, ...]:
        """The names of the profiles that its passes ask."""
        found: dict[str, None] = {}

        def note(group: Configuration) -> Configuration:
            found.update(dict.fromkeys(filter(None, [getattr(group, "profile", "")])))
            return group

        _changed(self.settings, note)
        return tuple(found)

    def worded(self, *, unless_said: bool = False, **words: Any) -> Recipe:
        """The recipe with settings about its summaries changed, in every pass that may write one.

        With `unless_said`, passes for which a strategy or a prompt was set keep it.
        """

        def change(group: Configuration) -> Configuration:
            fields = type(group).model_fields
            known = {name: value for name, value in words.items() if name in fields}
            said = any(getattr(group, name) for name in group.model_fields_set & _WORDS)
            if not known or not fields.keys() >= _WORDS or (unless_said and said):
                return group
            checked = configure(type(group), known)
            return group.model_copy(update={name: getattr(checked, name) for name in known})

        return replace(self, settings=_changed(self.settings, change))


def _changed(settings: Configuration, change: Callable[[Configuration], Configuration]) -> Configuration:
    """The settings with a change made to every group in them, and to themselves."""
    found: dict[str, object] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, Configuration):
            found[name] = _changed(value, change)
        elif isinstance(value, tuple):
            found[name] = tuple(_changed(each, change) if isinstance(each, Configuration) else each for each in value)
        if name in found and found[name] == value:
            del found[name]
    return change(settings.model_copy(update=found) if found else settings)


def _with_handles(group: Configuration) -> Configuration:
    return group.model_copy(update={"handles": True}) if "handles" in type(group).model_fields else group
