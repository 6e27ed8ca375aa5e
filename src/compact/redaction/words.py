"""Words that stand behind the name of a secret and are none: types, variables, prose."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_IDENTIFIER = re.compile(r"_*(?:[a-z]+(?:_+[a-z]+)*|[A-Z]+(?:_+[A-Z]+)*|[A-Z]{0,4}[a-z]{2,}(?:[A-Z]{1,4}[a-z]{2,})*)")
_SEPARATOR = re.compile(r"[-. :/]")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TAIL = "?!0123456789_"


@dataclass(frozen=True, slots=True)
class Words:
    """The lists of the data file beside this module."""

    ordinary: frozenset[str]
    parts: frozenset[str]


@cache
def built_in_words() -> Words:
    """The words that ship with this release."""
    data = tomllib.loads((files("compact.redaction") / "words.toml").read_text(encoding="utf-8"))
    ordinary = frozenset(f"{data['code']} {data['names']} {data['prose']}".split())
    return Words(ordinary, frozenset(data["parts"].split()))


def is_ordinary(value: str) -> bool:
    """Whether the value is a type, a keyword, a usual variable or a word of a sentence."""
    return value.rstrip("?!").lower() in built_in_words().ordinary


def is_identifier(value: str) -> bool:
    """Whether the value is written as code writes names; random letters in both cases are not."""
    return _IDENTIFIER.fullmatch(value.rstrip(_TAIL)) is not None


def is_reference(value: str) -> bool:
    """Whether the value is a name of several parts that speak of secrets, types or variables: `adminKey`, `db_pass`."""
    parts = [part.lower() for part in _PART.findall(value)]
    if len(parts) < 2 or built_in_words().parts.isdisjoint(parts):
        return False
    return all(map(is_identifier, _SEPARATOR.split(value)))
