"""Presets of one's own, kept in `presets.json` under Compact's home."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from compact.errors import InvalidConfiguration
from compact.providers.presets import Preset, read_presets, validate
from compact.providers.presets import find_preset as find_among
from compact.providers.presets import presets as built_in
from compact.settings.documents import read_document, state_of
from compact.settings.home import home

_KINDS = (".json", ".yaml", ".yml")


def load_presets(path: Path) -> tuple[Preset, ...]:
    """The presets in a .json, .yaml or .yml file, each validated.

    One that is a built-in one word for word is left out; no other may be called as a built-in one.
    """
    if path.suffix.lower() not in _KINDS:
        raise InvalidConfiguration(
            f"{path.name} is of no known kind", field="presets", remedy="Name the file .json, .yaml or .yml."
        )
    found = tuple(preset for preset in read_presets(read_document(path)) if preset not in built_in())
    taken = {preset.name for preset in built_in()}
    for preset in found:
        if preset.name in taken:
            raise InvalidConfiguration("is built in", field=f"presets.{preset.name}", remedy="Choose another name.")
        validate(preset)
    return found


def own_presets_path() -> Path:
    """Where one's own presets are kept."""
    return home() / "presets.json"


def own_presets() -> tuple[Preset, ...]:
    """One's own presets; read again only when the file changed."""
    path = own_presets_path()
    state = state_of(path)
    return () if state is None else _load_own(path, state)


def find_preset(name: str) -> Preset:
    """The preset of that name, built in or one's own; InvalidConfiguration names the known ones.

    One's own are looked at only where the name is not built in, so that a damaged file spoils no other preset.
    """
    known = any(preset.name == name for preset in built_in())
    return find_among(name, () if known else own_presets())


@lru_cache(maxsize=4)
def _load_own(path: Path, _state: tuple[int, int, int]) -> tuple[Preset, ...]:
    try:
        return load_presets(path)
    except InvalidConfiguration as error:
        field = error.field if error.field == str(path) else f"{path}: {error.field}"
        raise InvalidConfiguration(error.problem, field=field, remedy=error.remedy) from None
