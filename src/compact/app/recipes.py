"""Recipes by name: one function resolves them for every entry point, another lists those that can be compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final

from compact.app.presets import all_presets
from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import Configuration, Policy, configure
from compact.providers import Preset, Provider, Recipe, WhenMissed, find_provider
from compact.providers import presets as built_in_presets
from compact.providers.registry import BUILT_IN, provider_ids, providers, require_provider
from compact.providers.smart.settings import SmartSettings
from compact.settings.presets import find_preset
from compact.settings.recipes import default_recipe

_LEVELS: Final = ("verbatim", "formatting", "superseded")
_LOSSLESS: Final = "lossless"
_NEAR: Final = 2
"""How many names are offered in place of an unknown one."""
_STOPPING: Final = ("layers", _LOSSLESS)
"""Providers that do only what they are named for: others go on where a target is missed."""
_POLICY: Final = {
    "keep_recent_turns": "recent_turns",
    "keep_tool_io_pairs": "tool_pairs",
    "roles_never_prune": "roles_kept",
    "strategy": "strategy",
    "summary_tokens": "max_summary_tokens",
    "on_summary_failure": "on_failure",
}
"""Fields of a policy, and the settings of providers that they are about."""


def resolve_recipe(
    name: str | None = None,
    *,
    provider: str | Provider | None = None,
    preset: str | None = None,
    config: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
) -> Recipe:
    """The recipe of that name: a preset, or a provider with its defaults; without a name, the default one.

    `provider` and `preset` say which of the two is meant; a provider may be an object, too. `config` changes settings,
    deep inside groups too; so do the fields of a policy that were set. InvalidConfiguration names what is unknown, or
    has no place in the recipe.
    """
    if config is not None and not isinstance(config, Mapping):
        raise InvalidConfiguration(
            f"{config!r} is no mapping"[:100],
            field="config",
            remedy='Give names and values, such as {"level": "verbatim"}.',
        )
    named = _only(name, provider, preset, policy)
    preset_, found, chosen = _find(named, provider, preset) if isinstance(named, str) else (None, named, {})
    settings = merge_settings(preset_.settings if preset_ else {}, chosen)
    settings = merge_settings(settings, _from_policy(policy, found) if policy else {})
    missed: WhenMissed = preset_.when_missed if preset_ else "stop" if found.id in _STOPPING else "continue"
    label = _label(preset_, found, chosen)
    if config and "passes" in config:
        settings.pop("target_reduction", None)  # it was set for the preset's own passes
    read = configure(found.settings, merge_settings(settings, config or {}), under="config")
    written = {*(config or {}), *(preset_.settings if preset_ and preset_ not in built_in_presets() else ())}
    return Recipe(label, found, read, missed, _runs_all_passes(read, written))


def list_recipes() -> Iterator[tuple[str, str]]:
    """The names of all recipes that are compared, each with what it does: the default, lossless levels, presets."""
    yield "auto", find_provider("auto").description
    yield "layers", find_provider("layers").description
    yield "native", find_provider("native").description
    yield from ((f"{_LOSSLESS}:{level}", _ABOUT[level]) for level in _LEVELS)
    yield from ((preset.name, preset.description) for preset in all_presets())


def known_recipes() -> Iterator[tuple[str, str]]:
    """The names of all recipes that can be chosen: those that are compared, then every other provider there is."""
    compared = dict(list_recipes())
    yield from compared.items()
    for listed in providers():
        if listed.provider is not None and listed.id not in compared:
            yield listed.id, listed.provider.description


_ABOUT: Final = {
    "verbatim": "Repeated text becomes references; the condensed messages alone give everything back.",
    "formatting": "Repeated text and needless layout.",
    "superseded": "Repeated text, needless layout, and answers that later ones replaced.",
}


def _runs_all_passes(settings: Configuration, written: Collection[str]) -> bool:
    """Whether the passes are among the settings that a person wrote, and none of these sets a target."""
    return isinstance(settings, SmartSettings) and "passes" in written and settings.target_reduction is None


def merge_settings(settings: Mapping[str, Json], changes: Mapping[str, Json]) -> dict[str, Json]:
    """The settings with the changes made; groups are merged, not replaced."""
    merged = dict(settings)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = merge_settings(merged[key], value) if both else value
    return merged


def _only(
    name: str | None, provider: str | Provider | None, preset: str | None, policy: Policy | None
) -> str | Provider:
    """The one name or provider that was given; the default where none was."""
    if provider is not None and not isinstance(provider, str):
        require_provider(provider)
    given = {"recipe": name, "provider": provider, "preset": preset}
    named = {field: value for field, value in given.items() if value}
    if len(named) > 1:
        one, other = list(named)[:2]
        raise InvalidConfiguration(f"cannot be given beside a {other}", field=one, remedy="Name one or the other.")
    own = policy.chosen if policy is not None else ""
    return next(iter(named.values()), None) or own or default_recipe()


def _find(name: str, provider: object, preset: str | None) -> tuple[Preset | None, Provider, dict[str, Json]]:
    """The preset, if it is one; the provider; and the settings that the name itself says."""
    base, colon, level = name.partition(":")
    if not preset and base == _LOSSLESS and colon:
        return None, find_provider(base), {"level": level}
    if provider or (not preset and _is_provider(name)):
        return None, find_provider(name), {}
    try:
        found = find_preset(name)
    except InvalidConfiguration as error:
        if preset:
            raise
        raise InvalidConfiguration(error.problem, field="recipe", remedy=_near(name)) from None
    return found, find_provider(found.provider), {}


def _near(name: str) -> str:
    """The names that are most like this one, and all that there are."""
    known = list(dict.fromkeys((*provider_ids(), *(one.name for one in all_presets()))))
    near = get_close_matches(name, known, _NEAR)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"{meant}Known recipes: {', '.join(known)}."


def _is_provider(name: str) -> bool:
    """Whether a provider has that name; what is installed is looked through only for names that are not our own."""
    ours = name in BUILT_IN or any(name == preset.name for preset in built_in_presets())
    return name in BUILT_IN if ours else name in provider_ids()


def _label(preset: Preset | None, provider: Provider, chosen: Mapping[str, Json]) -> str:
    if preset is not None:
        return preset.name
    return f"{provider.id}:{chosen['level']}" if chosen else provider.id


def _from_policy(policy: Policy, provider: Provider) -> dict[str, Json]:
    """The settings that the policy changes; InvalidConfiguration where a field was set that has no place."""
    changes: dict[str, Json] = {}
    for field, setting in _POLICY.items():
        if field not in policy.model_fields_set:
            continue
        if setting not in provider.settings.model_fields:
            raise InvalidConfiguration(
                f"has no place in {provider.name}, which was chosen",
                field=f"policy.{field}",
                remedy="Leave it out, or choose a recipe that has it, such as auto or layers.",
            )
        changes[setting] = getattr(policy, field)
        try:
            configure(provider.settings, {setting: changes[setting]})
        except InvalidConfiguration as error:
            raise InvalidConfiguration(error.problem, field=f"policy.{field}", remedy=error.remedy) from None
    return changes
