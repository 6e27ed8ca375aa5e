"""What stands beside what in the sources, and which two terms of a statement would fit better in each other's place.

A summary that gives the value of one thing to another names nothing unknown. But the words around a value stand around
it in the sources too, so two terms that were exchanged each find more of their company where the other one stands.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Literal, TypeAlias

from compact.summaries.model.words import COMMON, WORD, digits, is_name, normal, plain, spellings, stem

_LINE, _TEXT = 3, 100
"""How far apart the ends of two lines are, and those of two texts, in words."""
_CLOSE = 6
"""At this distance in the sources, in words, a term is half as close as beside."""
_REACH = 4
"""Words of a statement that belong to a term."""
_COMPANY = 6
"""So many of the words around a term are looked at, those first that are nearest and rarest."""
_MOST_PLACES = 40
_MOST_ALIKE = 6
"""A statement with more terms of one kind is a list."""
_FREQUENT = 150
"""A plain word that occurs more often belongs to nothing."""
_Standing: TypeAlias = Literal["parallel", "other", "word"]
_GAINS: dict[_Standing, tuple[float, float, float]] = {
    "parallel": (0.15, 0.06, 0.02),
    "other": (0.19, 0.1, 0.05),
    "word": (1.0, 0.15, 0.05),
}
"""How much better two terms must fit in each other's place: both together, or less where each of them does.

Terms of one kind with the same word beside them, other terms of one kind, plain words with the same word beside them.
Fitted on true statements and on such with two terms exchanged: fewer than 1 in 100 of the true ones are doubted."""
_BREAK = re.compile(r"[;,.:!?—–(]\s|\n|\s(?:and|while|but|whereas|or)\s")
_FAR, _NEAR = re.compile(r"[;.!?\n—–]\s"), re.compile(r"[,:()]")
_SAYS = re.compile(r"(?<![\w`./-])(?!(?:and|or)\b)[^\W\d_A-Z]{2,}(?![\w`/(-])")
"""Between the items of a list there is no word that says something."""
_JOINING = frozenset({"and", "while", "but", "or"})
_ARTICLES = frozenset({"", "the", "a", "an", "and", "or"})
_FIGURE = re.compile(r"[#$€£v]*\d[\d.,:/%-]*[a-zA-Z%]{0,3}")
_FILE = re.compile(r".*\.[a-z]{1,4}")


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of a statement that the sources know: how it is compared, its kind, where it stands, what is beside it."""

    key: str
    kind: str
    at: int
    text: str
    before: str
    after: str
    span: tuple[int, int]


class Ties:
    """Where each word of the texts stands, counted in words."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._places: Mapping[str, list[int]]
        self._places, self._size = _count(texts)

    def exchanged(self, text: str) -> tuple[str, str] | None:
        """The two terms of a statement that fit much better in each other's place, if there are two."""
        text = plain(text)
        terms = list(self._terms(text))
        where: defaultdict[str, list[_Term]] = defaultdict(list)
        for term in terms:
            where[term.key].append(term)
        for one, other in _alike(where.values()):
            standing = self._standing(one, other, text)
            if standing and self._gains(one, other, terms, standing):
                return one[0].text, other[0].text
        return None

    def _standing(self, one: list[_Term], other: list[_Term], text: str) -> _Standing | None:
        """How the two stand in the statement, None where nobody would exchange them."""
        first, second = one[0], other[0]
        if not _SAYS.search(text, first.span[1], second.span[0]):
            return None
        apart = _BREAK.search(text, first.span[1], second.span[0] + 1) is not None
        shared = {(first.before, second.before), (first.after, second.after)}
        beside = {here for here, there in shared if here == there and here not in _ARTICLES} if apart else set()
        if first.kind:
            return "parallel" if beside else "other"
        rare = max(len(self._places[first.key]), len(self._places[second.key])) <= _FREQUENT
        return "word" if beside - COMMON and rare and len(one) + len(other) < 4 else None

    def _gains(self, one: list[_Term], other: list[_Term], terms: Sequence[_Term], standing: _Standing) -> bool:
        """Whether the two fit much better in each other's place."""
        first, second = one[0].key, other[0].key
        rest = [term for term in terms if term.key not in (first, second)]
        here, there = ([self._company(term.at, rest) for term in found] for found in (one, other))
        gains = self._fit(first, there) - self._fit(first, here), self._fit(second, here) - self._fit(second, there)
        much, together, each = _GAINS[standing]
        return sum(gains) > much or (sum(gains) > together and min(gains) >= each)

    def _company(self, at: int, rest: Iterable[_Term]) -> list[tuple[float, str]]:
        """The words around a place in a statement, and how much each counts."""
        weighed = ((self._weight(term.key) / (1 + abs(term.at - at) / _REACH) ** 2, term.key) for term in rest)
        return sorted(weighed, reverse=True)[:_COMPANY]

    def _fit(self, key: str, companies: Sequence[Sequence[tuple[float, str]]]) -> float:
        return sum(self._closeness(key, company) for company in companies) / len(companies)

    def _closeness(self, key: str, company: Sequence[tuple[float, str]]) -> float:
        """How much of the company stands around the term where most of it does, from 0 to 1."""
        whole = sum(weight for weight, _ in company)
        places = self._places[key]
        if len(places) > _MOST_PLACES:
            places = [*places[: _MOST_PLACES // 2], *places[-_MOST_PLACES // 2 :]]
        others = [(weight, self._places[other]) for weight, other in company]
        best = 0.0
        for place in places:
            found = 0.0
            for weight, theirs in others:
                after = bisect(theirs, place)
                distance = theirs[after] - place if after < len(theirs) else self._size
                if after and place - theirs[after - 1] < distance:
                    distance = place - theirs[after - 1]
                found += weight / (1 + distance / _CLOSE)
            best = max(best, found)
        return best / whole if whole else 0.0

    def _weight(self, key: str) -> float:
        return log(1 + self._size / (1 + 20 * len(self._places[key])))

    def _terms(self, text: str) -> Iterator[_Term]:
        """The words of a statement that stand in the sources."""
        found = list(WORD.finditer(text))
        at = last = 0
        for number, word in enumerate(found):
            between = text[last : word.start()]
            at += 1 + (6 if _FAR.search(between) else 2 if _NEAR.search(between) else 0)
            last = word.end()
            name = normal(word[0])
            at += 2 if name in _JOINING else 0
            if name in COMMON:
                continue
            before = normal(found[number - 1][0]) if number else ""
            after = normal(found[number + 1][0]) if number + 1 < len(found) else ""
            key, kind = _key(word[0]), kind_of(word[0])
            if kind == "9s" and between in (" ", " #") and (label := f"{stem(before)} {key}") in self._places:
                key, kind = label, f"9 {stem(before)}"
            elif key not in self._places:
                key = name.rpartition("/")[2]
            if key in self._places:
                yield _Term(key, kind, at, word[0], before, after, word.span())


def _alike(terms: Iterable[list[_Term]]) -> Iterator[tuple[list[_Term], list[_Term]]]:
    """The pairs that somebody could exchange: of one kind, or plain words that have the same word beside them."""
    groups: defaultdict[str, list[list[_Term]]] = defaultdict(list)
    for found in terms:
        first = found[0]
        beside = {f"{first.before} …", f"… {first.after}"} if first.before != first.after else {f"… {first.after}"}
        for name in {first.kind} if first.kind else beside:
            groups[name].append(found)
    for group in groups.values():
        if len(group) <= _MOST_ALIKE:
            yield from combinations(group, 2)


def _count(texts: Iterable[str]) -> tuple[dict[str, list[int]], int]:
    """Where each word stands, and after how many words the texts end; a number also with the word before it."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    at = 0
    for text in texts:
        for line in text.split("\n"):
            before = ""
            for word in WORD.findall(line):
                at += 1
                found = spellings(word)
                for key in found:
                    places[key].append(at)
                if before and len(word) < 4 and word[-1].isdecimal() and word.lstrip("#").isdecimal():
                    places[f"{before} {_key(word)}"].append(at)
                before = found[0] if found else ""
            at += _LINE
        at += _TEXT
    return dict(places), at


def _key(word: str) -> str:
    name = normal(word)
    if _FIGURE.fullmatch(name) and name[-1].isdecimal():
        return digits(name.lstrip("#$€£"))
    return name if is_name(word) else stem(name)


def kind_of(word: str) -> str:
    """What could be exchanged for it: numbers of its size, files, names spelled like it; empty for other words."""
    bare = word.strip("\"'`")
    if _FIGURE.fullmatch(bare):
        bare = bare.removeprefix("#")
        signs = re.sub(r"\d+", "", bare)
        return f"9{signs}" + ("" if signs else "s" if len(bare) < 3 else "m" if len(bare) < 6 else "l")
    if not is_name(word):
        return ""
    if bare[0].isdecimal():
        return "9"
    if _FILE.fullmatch(bare):
        return "file"
    for sign in "/._":
        if sign in bare:
            return f"{sign}{'T' if bare.startswith('test') else ''}{'A' if bare.isupper() else ''}"
    return "Aa" if bare[0].isupper() else "aA"
