"""The wording of worlds: TOML files, one a language, of every author."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from compact.testing.worlds.truth import Kind

NEUTRAL = "all"
"""The file of an author with what has no language."""
_SLOT = re.compile(r"\{([a-z_]+(?:\.[a-z])?)\}")

Template = Mapping[str, Any]


class Phrases:
    """Templates of a language: those of `tables` joined, and of `others` what none of these has."""

    def __init__(self, tables: Sequence[Mapping[str, Any]], others: Sequence[Mapping[str, Any]] = ()) -> None:
        self._tables: dict[str, Any] = {}
        for table in tables:
            _merge(self._tables, table)
        for table in others:
            _fill(self._tables, table)
        self._chosen: dict[tuple[str, Kind, str], list[Template]] = {}

    def texts(self, *path: str) -> list[str]:
        """The phrases below the keys."""
        found: Any = self._tables
        for key in path:
            found = found[key]
        return [found] if isinstance(found, str) else list(found)

    def templates(self, key: str, kind: Kind, use: str = "") -> list[Template]:
        """The tables of that name for conversations of the kind; for acts, those of the use."""
        wanted = (key, kind, use)
        if wanted not in self._chosen:
            self._chosen[wanted] = [
                table
                for table in self._tables.get(key, ())
                if kind in table.get("kinds", (kind,)) and (not use or use in table["use"])
            ]
        return self._chosen[wanted]


def _merge(into: dict[str, Any], table: Mapping[str, Any]) -> None:
    """Adds a table to another: lists grow, tables are merged, of single words the first stays."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            _merge(into.setdefault(key, {}), value)
        elif isinstance(value, list):
            into[key] = [*into.get(key, ()), *value]
        else:
            into.setdefault(key, value)


def _fill(into: dict[str, Any], table: Mapping[str, Any]) -> None:
    """Adds what is missing."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            _fill(into.setdefault(key, {}), value)
        else:
            into.setdefault(key, value)


def _folder() -> Traversable:
    return files(__package__) / "templates"


@lru_cache
def authors() -> tuple[str, ...]:
    """The folders with templates."""
    return tuple(sorted(entry.name for entry in _folder().iterdir() if entry.is_dir() and entry.name[0] not in "._"))


@lru_cache
def languages() -> tuple[str, ...]:
    """The languages that any author has written."""
    found = {entry.name for author in authors() for entry in (_folder() / author).iterdir()}
    return tuple(sorted(name.removesuffix(".toml") for name in found if name.endswith(".toml") and name != "all.toml"))


@lru_cache
def load_phrases(language: str, chosen: tuple[str, ...]) -> Phrases:
    """The templates of the chosen authors in the language, with those that have none.

    What none of them has written is taken from the other authors.
    """
    others = tuple(author for author in authors() if author not in chosen)
    return Phrases(_tables(language, chosen), _tables(language, others))


def _tables(language: str, chosen: tuple[str, ...]) -> list[dict[str, Any]]:
    found = [_folder() / author / f"{name}.toml" for author in chosen for name in (language, NEUTRAL)]
    return [tomllib.loads(file.read_text(encoding="utf-8")) for file in found if file.is_file()]


def slots(template: str) -> list[str]:
    """The slots of a template, each once, in order."""
    return list(dict.fromkeys(_SLOT.findall(template)))


def substitute(template: str, values: Mapping[str, str]) -> str:
    """The template with its slots filled; a slot without a value stays."""
    return _SLOT.sub(lambda match: values.get(match[1], match[0]), template)


def sentence(text: str) -> str:
    """The text with a capital letter."""
    return text[:1].upper() + text[1:]
