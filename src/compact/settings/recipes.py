"""The recipe that is used where none is named: a setting that holds at every entry point."""

from __future__ import annotations

import os
from typing import Final, Literal, TypeAlias

from compact.errors import InvalidConfiguration
from compact.settings.documents import dump_document, read_document, replace_private
from compact.settings.home import home

DEFAULT: Final = "auto"
VARIABLE: Final = "COMPACT_RECIPE"
_FILE: Final = "recipe.json"

Source: TypeAlias = Literal["environment", "chosen", "built-in"]


def default_recipe() -> str:
    """The name of the recipe that `COMPACT_RECIPE` gives, or that was chosen for this home; else `auto`."""
    return os.environ.get(VARIABLE, "").strip() or _chosen() or DEFAULT


def default_source() -> Source:
    """Where the default recipe comes from."""
    if os.environ.get(VARIABLE, "").strip():
        return "environment"
    return "chosen" if _chosen() else "built-in"


def choose_default(name: str) -> None:
    """Make a recipe the default of this home."""
    path = home() / _FILE
    replace_private(path, dump_document({"recipe": name}, path))


def _chosen() -> str:
    path = home() / _FILE
    if not path.is_file():
        return ""
    value = read_document(path)
    name = value.get("recipe") if isinstance(value, dict) else None
    if not isinstance(name, str):
        problem, remedy = "must be the name of a recipe", "Write one there, or delete the file."
        raise InvalidConfiguration(problem, field=f"{path}: recipe", remedy=remedy)
    return name
