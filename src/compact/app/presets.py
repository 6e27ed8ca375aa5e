"""All presets, and keeping those of one's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from pydantic import ValidationError

from compact.errors import InvalidConfiguration, NotFound
from compact.messages import Json
from compact.providers.presets import Form, Preset, dump_presets, read_presets, validate
from compact.providers.presets import presets as built_in
from compact.providers.registry import provider
from compact.settings.documents import exclusive, parse_document, replace_private
from compact.settings.presets import own_presets, own_presets_path

_NAME = re.compile(r"[^\s/\\?#%\x00-\x1f](?:[^/\\?#%\x00-\x1f]{0,62}[^\s/\\?#%\x00-\x1f])?")


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a preset: the path of a field from the preset down, and what to say there."""

    path: tuple[str | int, ...]
    message: str


def all_presets() -> tuple[Preset, ...]:
    """The built-in presets, then one's own."""
    return (*built_in(), *own_presets())


def is_built_in(name: str) -> bool:
    return any(preset.name == name for preset in built_in())


def troubles(preset: Preset) -> tuple[Trouble, ...]:
    """Everything that is wrong with a preset, field by field; nothing where it can be used and kept."""
    found = []
    if not _NAME.fullmatch(preset.name):
        found.append(Trouble(("name",), "Use 1 to 64 characters, without slashes, ?, # and %"))
    elif is_built_in(preset.name):
        found.append(Trouble(("name",), "A built-in preset is called so: choose another name"))
    try:
        kind = provider(preset.provider).settings
        kind.model_validate(dict(preset.settings))
    except InvalidConfiguration as error:
        found.append(Trouble(("provider",), str(error)))
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        found += [Trouble(("settings", *problem["loc"]), _plain(problem["msg"])) for problem in wrong]
    return tuple(found)


def keep_presets(given: Iterable[Preset]) -> tuple[Preset, ...]:
    """Keep presets beside those of before; one of the same name takes the other's place.

    InvalidConfiguration where one cannot be used; then none is kept.
    """
    new = tuple(preset for preset in given if preset not in built_in())
    for preset in new:
        for trouble in troubles(preset):
            field = ".".join(map(str, ("presets", preset.name, *trouble.path)))
            raise InvalidConfiguration(trouble.message, field=field, remedy="Nothing was kept; correct it first.")
    kept = tuple(map(tidy, new))
    add_presets(kept)
    return kept


def add_presets(given: Iterable[Preset]) -> None:
    """Store valid presets beside those of before; one of the same name takes the other's place."""
    new = {preset.name: preset for preset in given}
    if new:
        _change(lambda own: {**own, **new})


def complete_settings(preset: Preset) -> dict[str, Json]:
    """Every setting of the preset's provider with the value it has in it."""
    return validate(preset).model_dump(mode="json")


def tidy(preset: Preset) -> Preset:
    """The preset without the settings that are as usual; its passes are written out even so."""
    settings = validate(preset).model_dump(mode="json", exclude_defaults=True)
    if "passes" in preset.settings and "passes" not in settings:
        settings["passes"] = preset.settings["passes"]
    return replace(preset, settings=settings)


def drop_preset(name: str) -> None:
    """Forget a preset of one's own."""
    if is_built_in(name):
        raise InvalidConfiguration("is built in", field=f"presets.{name}", remedy="Only presets of your own can go.")

    def without(own: Mapping[str, Preset]) -> Mapping[str, Preset]:
        if name not in own:
            raise NotFound("is unknown", field=f"presets.{name}", remedy="Look at the list of presets.")
        return {known: preset for known, preset in own.items() if known != name}

    _change(without)


def import_presets(text: str, form: Form) -> tuple[Preset, ...]:
    """Keep the presets in a text."""
    return keep_presets(read_presets(parse_document(text, form, "presets")))


def settings_schema(id: str) -> Json:
    """The JSON Schema of a provider's settings, with what each of them means."""
    return provider(id).settings.model_json_schema()


def _change(change: Callable[[Mapping[str, Preset]], Mapping[str, Preset]]) -> None:
    with exclusive(own_presets_path()):
        kept = change({preset.name: preset for preset in own_presets()})
        replace_private(own_presets_path(), dump_presets(kept.values()))


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ").removeprefix("Input ").replace("a valid tuple", "a list")
