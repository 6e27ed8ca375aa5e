"""What secrets look like: the built-in rules, read from the data file beside this module."""

# ruff: noqa: RUF001  # quotes and signs of eight languages

from __future__ import annotations

import base64
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from compact.redaction.names import SecretNames, any_spelling, built_in_names, lowered, parts_of, spellings
from compact.redaction.places import Place
from compact.redaction.plausible import CHECKS, Check
from compact.redaction.readers import READERS, Reader
from compact.redaction.tries import trie

_NEAR = 300
_SECRET = frozenset({"v", "u", "w", "t", "x", "y", "z"})
"""The groups of a pattern that may hold the secret, which is the last of them; without one it is the whole match."""
_QUOTED = ("v", "t", "x")
_ALWAYS = ("password", "key", "secret", "phrase")
"""The classes of names below which every string of JSON is a secret."""
_LINKS = ("said", "pair", "element", "block", "option")
"""The groups of a pattern that show how a name and its value are linked, other than by a sign."""
_ALONE = "(?:(?<![A-Za-z])|(?<=[a-z])(?-i:(?=[A-Z])))"
_FOLLOWED = {
    "a sign": (
        *(
            "=",
            ":",
            '"',
            "'",
            "\\",
            " =",
            " :",
            "*",
            "：",
            "是",
            "为",
            ">",
            "|",
            " |",
            ",",
            ";",
            "\t",
            "&quot;",
            "»",
            "”",
        ),
        *(" is ", " ist ", " lautet ", " est ", " es ", " è ", " é ", " - ", " — ", " auf "),
    ),
    "a cell": (",", "|", " |", ";", "\t"),
    "a word": (" ", ".", "。"),
}
"""The sign behind a short name, so that the name is not sought within words."""
_DISTINCT = 5
_TELLING = 5
"""So long a name is sought without a sign."""
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
    reader: Reader | None = None
    links: tuple[str, ...] = ()
    is_name: bool = False
    """True if the anchor names the secret. Within a secret that is found already it does not."""

    def find(self, text: str, anchor: int) -> Iterable[tuple[int, int]]:
        """The places of the secrets whose anchor stands at `anchor`."""
        if anchor < self.back:
            return ()
        found = self.pattern.match(text, anchor - self.back)
        if found is None or (self.near and not self._is_near(text, anchor)):
            return ()
        if self.reader is not None:
            return self.reader(found)
        group = found.lastgroup if found.lastgroup in _SECRET else None
        start, end = found.span(group) if group else found.span()
        if self.check is None:
            return ((start, end),)
        link = next((name for name in self.links if found[name] is not None), "")
        length = self.check(Place(text, found.start(), start, end, quoted=group in _QUOTED, link=link))
        return ((start, start + length),) if length else ()

    def _is_near(self, text: str, anchor: int) -> bool:
        before = text[max(0, anchor - _NEAR) : anchor + 1].lower()
        return any(word in before for word in self.near)


@dataclass(frozen=True, slots=True)
class Fields:
    """Which names of JSON fields are sensitive."""

    endings: frozenset[str]
    heads: frozenset[str]
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
    return tuple(rules), _fields(data["fields"])


def _fields(data: Mapping[str, Any]) -> Fields:
    kinds = built_in_names()
    names, heads = (
        {parts_of(spelling) for names in found for name in names for spelling in spellings(name)}
        for found in (
            [kinds[kind].closed for kind in _ALWAYS],
            [kinds[kind].open for kind in _ALWAYS],
        )
    )
    glued = {name for name in names if not name.isascii()}
    return Fields(
        frozenset(data["endings"]) | names, frozenset(heads), (*data["glued"], *glued), frozenset(data["harmless"])
    )


def _resolved(fragments: Mapping[str, str]) -> dict[str, str]:
    resolved: dict[str, str] = {}
    for name, pattern in fragments.items():
        resolved[name] = _filled(pattern, resolved)
    return resolved


def _filled(pattern: str, fragments: Mapping[str, str]) -> str:
    return _FRAGMENT.sub(lambda name: fragments[name[1]], pattern)


def _prefix(entry: Mapping[str, Any], fragments: Mapping[str, str]) -> Rule:
    pattern = f"(?<![A-Za-z0-9]){trie(entry['anchors'])}(?:{_filled(entry['pattern'], fragments)})"
    reader = READERS[entry["reader"]] if "reader" in entry else None
    compiled = re.compile(pattern, re.ASCII | re.VERBOSE)
    return Rule(entry["kind"], tuple(entry["anchors"]), compiled, any_case=False, reader=reader)


def _start(name: str) -> str:
    """So much of a name as leads to it: the letters before the first that may have an accent, if they are many."""
    plain = next((at for at, letter in enumerate(name) if not letter.isascii()), len(name))
    return name[:plain] if plain >= _DISTINCT else name


def _base64_numbers() -> list[str]:
    """How numbers begin in base64, save what letters alone are."""
    numbers = (base64.b64encode(str(number).encode()).decode() for number in range(100, 1000))
    return [number for number in numbers if not number.isalpha()]


def _word(entry: Mapping[str, Any], fragments: Mapping[str, str]) -> Rule:
    kinds = [built_in_names()[kind] for kind in entry.get("names", ())]
    anchors = [_start(spelling) for names in kinds for name in names for spelling in spellings(name)]
    anchors = anchors or entry.get("anchors") or _base64_numbers()
    own = {"name": _name(kinds, fragments, alone="before" in entry)} if kinds else {"anchor": trie(anchors)}
    pattern = _filled(entry["pattern"], {**fragments, **own})
    if "before" in entry:
        closed = {_start(spelling) for names in kinds for name in names.closed for spelling in spellings(name)}
        signs = _FOLLOWED[entry["before"]] + ((",",) if entry.get("comma") else ())
        anchors = [
            name + sign
            for name in anchors
            for sign in (signs if name.isascii() and (len(name) < _TELLING or name in closed) else ("",))
        ]
    flags = re.ASCII | re.VERBOSE | (0 if entry.get("exact") else re.IGNORECASE)
    compiled = re.compile(pattern, flags)
    return Rule(
        entry["kind"],
        tuple(dict.fromkeys(anchors if entry.get("numbers") else map(lowered, anchors))),
        compiled,
        any_case=not entry.get("numbers"),
        back=entry.get("back", 0),
        near=tuple(entry.get("near", ())),
        check=CHECKS[entry["check"]] if "check" in entry else None,
        reader=READERS[entry["reader"]] if "reader" in entry else None,
        links=tuple(link for link in _LINKS if link in compiled.groupindex),
        is_name=bool(kinds),
    )


def _name(kinds: Iterable[SecretNames], fragments: Mapping[str, str], *, alone: bool) -> str:
    """A regular expression for one of the names, up to the sign behind it."""
    ends = {"keyend": [name for names in kinds for name in names.closed]}
    ends["openend"] = [name for names in kinds for name in names.open]
    branches = []
    for end, names in ends.items():
        short = [name for name in names if alone and len(name) < _TELLING]
        long = [name for name in names if name not in short]
        branches += [_ALONE + any_spelling(short) + fragments[end]] if short else []
        branches += [any_spelling(long) + fragments[end]] if long else []
    return f"(?:{'|'.join(branches)})"
