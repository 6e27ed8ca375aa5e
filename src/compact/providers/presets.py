"""Presets: a provider with settings, under a name. The built-in ones are data; others are read from documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

from compact.errors import InvalidConfiguration
from compact.messages import Json
from compact.policies import Configuration, configure
from compact.providers.recipe import WhenMissed
from compact.providers.registry import provider

Form: TypeAlias = Literal["json", "yaml"]
_LONGEST_NAME = 64


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
    return read_presets(json.loads((files("compact.providers") / "presets.json").read_text(encoding="utf-8")))


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


def read_presets(value: Json) -> tuple[Preset, ...]:
    """The presets that a document holds; whether their settings are good is for `validate` to say."""
    entries = value.get("presets") if isinstance(value, dict) and set(value) == {"presets"} else None
    if not isinstance(entries, dict):
        raise InvalidConfiguration(
            "must be an object of presets by their names, and stand alone",
            field="presets",
            remedy='Write {"presets": {"mine": {"description": …, "provider": …, "settings": {…}}}}.',
        )
    return tuple(_preset(name, entry) for name, entry in entries.items())


def dump_presets(presets: Iterable[Preset], form: Form = "json") -> str:
    """The presets as the text of a document that `read_presets` reads."""
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
    import yaml

    # Through JSON, so that no two places share an object: YAML would write the second as an alias.
    text: str = yaml.safe_dump(json.loads(json.dumps(value)), sort_keys=False, allow_unicode=True)
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
