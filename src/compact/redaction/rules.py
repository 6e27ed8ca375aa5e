"""What secrets look like: the built-in rules, read from the data file beside this module."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from compact.redaction.plausible import CHECKS, Check, Place

_NEAR = 300
_SECRET = ("v", "u", "w")
"""The groups of a pattern that may hold the secret; without one it is the whole match."""
_FRAGMENT = re.compile(r"\{([a-z]+)\}")


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One kind of secret: where to look for it, and how to tell it."""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    any_case: bool
    back: int = 0
    near: tuple[str, ...] = ()
    check: Check | None = None

    def find(self, text: str, anchor: int) -> tuple[int, int] | None:
        """The place of the secret whose anchor stands at `anchor`."""
        if anchor < self.back:
            return None
        found = self.pattern.match(text, anchor - self.back)
        if found is None or (self.near and not self._is_near(text, anchor)):
            return None
        group = next((name for name in _SECRET if name in self.pattern.groupindex and found[name] is not None), None)
        start, end = found.span(group) if group else found.span()
        if self.check is None:
            return start, end
        length = self.check(Place(text, found.start(), start, end, quoted=group == "v"))
        return (start, start + length) if length else None

    def _is_near(self, text: str, anchor: int) -> bool:
        before = text[max(0, anchor - _NEAR) : anchor + 1].lower()
        return any(word in before for word in self.near)


@dataclass(frozen=True, slots=True)
class Fields:
    """Which names of JSON fields are sensitive."""

    endings: frozenset[str]
    glued: tuple[str, ...]
    harmless: frozenset[str]


@cache
def built_in() -> tuple[tuple[Rule, ...], Fields]:
    """The rules and field names that ship with this release."""
    data = tomllib.loads((files("compact.redaction") / "rules.toml").read_text(encoding="utf-8"))
    fragments = _resolved(data["fragments"])
    rules = [_prefix(entry, fragments) for entry in data["prefix"]] + [
        _word(entry, fragments) for entry in data["word"]
    ]
    fields = data["fields"]
    return tuple(rules), Fields(frozenset(fields["endings"]), tuple(fields["glued"]), frozenset(fields["harmless"]))


def _resolved(fragments: Mapping[str, str]) -> dict[str, str]:
    resolved: dict[str, str] = {}
    for name, pattern in fragments.items():
        resolved[name] = _filled(pattern, resolved)
    return resolved


def _filled(pattern: str, fragments: Mapping[str, str]) -> str:
    return _FRAGMENT.sub(lambda name: fragments[name[1]], pattern)


def _any(anchors: list[str]) -> str:
    return f"(?:{'|'.join(re.escape(anchor) for anchor in sorted(anchors, key=len, reverse=True))})"


def _prefix(entry: Mapping[str, Any], fragments: Mapping[str, str]) -> Rule:
    pattern = f"(?<![A-Za-z0-9]){_any(entry['anchors'])}(?:{_filled(entry['pattern'], fragments)})"
    return Rule(entry["kind"], tuple(entry["anchors"]), re.compile(pattern, re.ASCII | re.VERBOSE), any_case=False)


def _word(entry: Mapping[str, Any], fragments: Mapping[str, str]) -> Rule:
    pattern = _filled(entry["pattern"], {**fragments, "anchor": _any(entry["anchors"])})
    flags = re.ASCII | re.VERBOSE | (0 if entry.get("exact") else re.IGNORECASE)
    return Rule(
        entry["kind"],
        tuple(anchor.lower() for anchor in entry["anchors"]),
        re.compile(pattern, flags),
        any_case=True,
        back=entry.get("back", 0),
        near=tuple(entry.get("near", ())),
        check=CHECKS[entry["check"]] if "check" in entry else None,
    )
