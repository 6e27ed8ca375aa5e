"""What tools print when something went well or wrong, looked for in an output."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

_ANSI = re.compile(r"\x1b\[[0-9;?]*+[A-Za-z]")
_HEAD, _TAIL = 4_000, 16_000
_NEAR_END = 1_500
_LAST_LINES, _LAST_WORDS = 12, 2
_MOST_CASES = 4
_LONGEST = 240
_REMEMBERED = 256
"""Outputs, of at most 20,000 characters, of which it is known what they say: compactions read the same ones again."""


class Found(NamedTuple):
    """A sign: where it stands, and what is quoted of it."""

    start: int
    text: str
    weak: bool = False


@dataclass(frozen=True, slots=True)
class _Sign:
    """A line that says how something went; where it counts."""

    anchors: tuple[str, ...]
    pattern: re.Pattern[str]
    needs: str = ""
    own: bool = False
    named: bool = False
    programs: frozenset[str] = frozenset()
    weak: bool = False
    record: bool = False

    def find(self, text: str, names: Collection[str], start: int = 0) -> Iterator[Found]:
        if not _has(text, self.anchors) or self.needs not in text:
            return
        if self.programs and not self.programs.intersection(names):
            return
        for match in self.pattern.finditer(text, start):
            if not self.named or match["name"] in names:
                yield Found(match.start("q"), _line(match["q"]), self.weak)


@dataclass(frozen=True, slots=True)
class _Tally:
    """How a tool sums up a run."""

    anchors: tuple[str, ...]
    bad: re.Pattern[str] | None
    good: re.Pattern[str] | None
    cases: re.Pattern[str] | None
    every: bool


class _Signs(NamedTuple):
    tallies: tuple[_Tally, ...]
    errors: tuple[_Sign, ...]
    last: tuple[_Sign, ...]
    fine: tuple[_Sign, ...]
    own: tuple[_Sign, ...]


@dataclass(frozen=True, slots=True)
class Signs:
    """All signs of an output, by kind: sums that are bad or good, errors, and what was done."""

    bad: tuple[Found, ...] = ()
    good: tuple[Found, ...] = ()
    errors: tuple[Found, ...] = ()
    fine: tuple[Found, ...] = ()
    records: tuple[Found, ...] = ()
    words: tuple[Found, ...] = ()


@cache
def _built_in() -> _Signs:
    data = tomllib.loads((files("compact.history.outcomes") / "signs.toml").read_text(encoding="utf-8"))
    signs = {key: tuple(map(_sign, data[key])) for key in ("error", "last", "fine")}
    own = tuple(sign for sign in signs["error"] if sign.own)
    return _Signs(tuple(map(_tally, data["tally"])), signs["error"], signs["last"], signs["fine"], own)


def _sign(entry: dict[str, Any]) -> _Sign:
    flags = {key: entry[key] for key in ("needs", "own", "named", "weak", "record") if key in entry}
    pattern = _compiled(entry["pattern"])
    if pattern is None:
        raise ValueError(f"{entry['tool']} has no pattern")
    return _Sign(tuple(entry["anchors"]), pattern, programs=frozenset(entry.get("programs", ())), **flags)


def _tally(entry: dict[str, Any]) -> _Tally:
    bad, good, cases = (_compiled(entry.get(key, "")) for key in ("bad", "good", "cases"))
    return _Tally(tuple(entry["anchors"]), bad, good, cases, every=entry.get("every", False))


def _compiled(pattern: str) -> re.Pattern[str] | None:
    return re.compile(pattern, re.VERBOSE | re.MULTILINE) if pattern else None


def plain(text: str) -> str:
    """The text without colours; of a very long one its beginning and its end."""
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")  # progress is written over itself
    return _ANSI.sub("", text) if "\x1b" in text else text


@lru_cache(_REMEMBERED)
def complaints(text: str, names: frozenset[str]) -> tuple[Found, ...]:
    """What the shell, or one of the named programs, says of itself: it counts whatever else is shown."""
    found = {each for sign in _built_in().own for each in sign.find(text, names)}
    return tuple(sorted(found))


@lru_cache(_REMEMBERED)
def signs_in(text: str, names: frozenset[str]) -> Signs:
    """The signs of an output that is the tools' own."""
    known = _built_in()
    bad: list[Found] = []
    good: list[Found] = []
    for tally in known.tallies:
        worse, better = _sums(tally, text)
        bad += worse
        good += better
    errors = {each for sign in known.errors for each in sign.find(text, names)}
    end = _end(text, _LAST_LINES)
    vague = {each.start for each in errors if each.weak}
    errors |= {each for sign in known.last for each in sign.find(text, names, end) if each.start not in vague}
    fine = {each for sign in known.fine if not sign.weak for each in sign.find(text, names)}
    records = {each for sign in known.fine if sign.record for each in sign.find(text, names)}
    words = {each for sign in known.fine if sign.weak for each in sign.find(text, names, _end(text, _LAST_WORDS))}
    return Signs(*(tuple(sorted(each)) for each in (bad, good, errors, fine, records, words)))


def _sums(tally: _Tally, text: str) -> tuple[list[Found], list[Found]]:
    """The bad sums with the names of what failed, and the good ones."""
    if not _has(text, tally.anchors):
        return [], []
    bad = list(_matches(tally.bad, text))
    good = list(_matches(tally.good, text))
    if bad and good and not tally.every:
        bad, good = ([], good) if good[-1].start > bad[-1].start else (bad, [])
    if len(good) > 1 and not bad:
        good = [Found(good[-1].start, f"{good[-1].text} (and {len(good) - 1} more)")]
    if bad:
        cases = list(dict.fromkeys(found.text for found in _matches(tally.cases, text)))
        named = cases[:_MOST_CASES] + [f"and {more} more" for more in (len(cases) - _MOST_CASES,) if more > 0]
        bad = [sum_ for sum_ in bad if not any(case in sum_.text for case in cases)] or bad
        last = bad[-1]
        bad = [*bad[:-1], Found(last.start, "\n".join(dict.fromkeys([last.text, *named])))]
    return bad, good


def _has(text: str, anchors: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, anchors))


def _matches(pattern: re.Pattern[str] | None, text: str) -> Iterator[Found]:
    for match in pattern.finditer(text) if pattern else ():
        yield Found(match.start(), _line(match["q"] or match[0]))


def _end(text: str, lines: int) -> int:
    """Where the end of an output begins: its last so many lines."""
    at = len(text.rstrip())
    for _ in range(lines):
        at = text.rfind("\n", 0, max(at, 0))
        if at < 0:
            return 0
    return max(at + 1, len(text) - _NEAR_END, 0)


def _line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]
