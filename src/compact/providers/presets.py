"""Presets: a provider with settings, under a name. The built-in ones are data; others are read from JSON or YAML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Literal, TypeAlias, get_args

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import Configuration, configure
from compact.providers.recipe import WhenMissed
from compact.providers.registry import provider

LARGEST = 1_000_000
"""Bytes of a file of presets."""

Form: TypeAlias = Literal["json", "yaml"]
_LONGEST_NAME = 64
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Preset:
    """A provider and its settings, ready to use."""

    name: str
    description: str
    provider: str
    settings: Mapping[str, Json]
    when_missed: WhenMissed = "continue"


@cache
def presets() -> tuple[Preset, ...]:
    """The built-in presets."""
    return read_presets((files("compact.providers") / "presets.json").read_text(encoding="utf-8"), "json")


def find_preset(name: str, custom: Iterable[Preset] = ()) -> Preset:
    """The preset of that name, built in or custom; InvalidConfiguration names the known ones."""
    known = {preset.name: preset for preset in (*custom, *presets())}
    try:
        return known[name]
    except KeyError:
        remedy = f"Known presets: {', '.join(known)}."
        raise InvalidConfiguration(f"{name!r} is unknown", field="preset", remedy=remedy) from None


def validate(preset: Preset) -> Configuration:
    """The preset's settings, read by its provider; InvalidConfiguration names what is wrong."""
    return configure(provider(preset.provider).settings, preset.settings, under=f"presets.{preset.name}.settings")


def read_presets(text: str, form: Form) -> tuple[Preset, ...]:
    """The presets that a text holds; whether their settings are good is for `validate` to say."""
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise InvalidConfiguration(
            f"more than {LARGEST:,} bytes", field="presets", remedy="Split them over several files."
        )
    value = _parse_json(text) if form == "json" else _parse_yaml(text)
    entries = value.get("presets") if isinstance(value, dict) and set(value) == {"presets"} else None
    if not isinstance(entries, dict):
        raise InvalidConfiguration(
            "must be an object of presets by their names, and stand alone",
            field="presets",
            remedy='Write {"presets": {"mine": {"description": …, "provider": …, "settings": {…}}}}.',
        )
    return tuple(_preset(name, entry) for name, entry in entries.items())


def dump_presets(presets: Iterable[Preset], form: Form = "json") -> str:
    """The presets as a text that `read_presets` reads back."""
    value = {
        "presets": {
            preset.name: {
                "description": preset.description,
                "provider": preset.provider,
                "settings": dict(preset.settings),
                **({"when_missed": preset.when_missed} if preset.when_missed != "continue" else {}),
            }
            for preset in presets
        }
    }
    if form == "json":
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    # Through JSON, so that no two places share an object: YAML would write the second as an alias.
    text: str = _yaml().safe_dump(json.loads(json.dumps(value)), sort_keys=False, allow_unicode=True)
    return text


def _preset(name: Json, entry: Json) -> Preset:
    field = f"presets.{name}"
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME:
        remedy = f"Use a text of at most {_LONGEST_NAME} characters."
        raise InvalidConfiguration("is no name for a preset", field=field, remedy=remedy)
    if not isinstance(entry, dict):
        raise InvalidConfiguration("must be an object", field=field, remedy="Give it a provider and settings.")
    if unknown := set(entry) - {"description", "provider", "settings", "when_missed"}:
        known = "Known: description, provider, settings, when_missed."
        raise InvalidConfiguration("is unknown", field=f"{field}.{min(map(str, unknown))}", remedy=known)
    description, chosen, settings = entry.get("description", ""), entry.get("provider"), entry.get("settings", {})
    if not isinstance(chosen, str):
        raise InvalidConfiguration(
            "must be the id of a provider", field=f"{field}.provider", remedy='For example "smart".'
        )
    if not isinstance(description, str):
        raise InvalidConfiguration("must be a text", field=f"{field}.description", remedy="Say what it is good for.")
    if not isinstance(settings, dict):
        raise InvalidConfiguration("must be an object", field=f"{field}.settings", remedy="Give settings by name.")
    missed = entry.get("when_missed", "continue")
    if missed not in get_args(WhenMissed):
        raise InvalidConfiguration(
            "must be stop or continue", field=f"{field}.when_missed", remedy="Write one of them."
        )
    return Preset(name, description, chosen, settings, missed)


def _parse_json(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable("JSON", error) from None


def _parse_yaml(text: str) -> Json:
    yaml = _yaml()
    try:
        _require_plain(yaml, text)
        return yaml.safe_load(text)
    except InvalidConfiguration:
        raise
    except (yaml.YAMLError, ValueError) as error:
        raise _unreadable("YAML", error) from None


def _require_plain(yaml: Any, text: str) -> None:
    """Refuse what takes a parser for ever: a few nested aliases are billions of values, and depth costs its square."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise InvalidConfiguration("aliases are not allowed", field="presets", remedy="Write the values out.")
        if depth > _DEEPEST:
            raise InvalidConfiguration(
                f"more than {_DEEPEST} levels", field="presets", remedy="Presets need fewer than ten."
            )


def _yaml() -> Any:
    try:
        return import_module("yaml")
    except ImportError:
        raise InvalidConfiguration(
            "YAML needs the package PyYAML, which is not installed",
            field="presets",
            remedy="Install it (pip install pyyaml), or use JSON.",
        ) from None


def _unreadable(what: str, error: Exception) -> InvalidConfiguration:
    return InvalidConfiguration(f"{what} cannot be read: {error}", field="presets", remedy="Correct the text.")
