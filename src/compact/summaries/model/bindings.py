"""Which words a value stands beside: by them, a value is found that a summary moved to another thing.

A value is doubted only where the sources contradict it: what is said of it stands beside another value of its kind,
and little of that beside the value itself. That the sources do not say it is no reason, because a summary uses words
of its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, filterfalse, product
from typing import NamedTuple

from compact.summaries.model.words import WORD, digits, is_name, kind_of, normal, plain, spellings, words

_KINDS = {
    "number": r"#\d+",
    "date": r"\d{1,4}[/.-]\d{1,2}[/.-]\d{2,4}",
    "clock": r"\d{1,2}:\d\d",
    "time": r"\d[\d,]*\.\d+(?:m?s|min|h)",
    "amount": r"\d[\d,]*\.\d+",
    "count": r"\d{3,5}",
    "version": r"v?\d+(?:\.\d+){2,}",
    "id": r"\d{6,}",
    "name with a number": r"[a-z_]+_\d{3,}",
    "hash": r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}",
    "code": r"(?=\D*\d)(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+){2,}",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in _KINDS.items()}
"""Values that belong to one thing each. Numbers below a hundred belong to many."""
_WORD = re.compile(rf"(?<![\w:]){_KINDS['clock']}(?![\w:])|{WORD.pattern}")
_BEFORE_COUNT, _AFTER_COUNT = re.compile(r"(?:\A\s*|[:-]|\blines?[ (])\Z", re.IGNORECASE), re.compile(r"[:→-]")
"""What makes a number the number of a line: a count of nothing."""
_CLAUSES = re.compile(r"[;—]\s|,\s(?![^()]{0,80}\))|[.!?]\s|\n|\s(?:and|while|but|only|instead|–)\s")
_SEVERAL = re.compile(r"\}\s*,\s*\{")
"""Objects in a row: each of them is a passage, too."""
_DATA = ("{", "[", "<", "|", '"')
"""What a passage begins with that is data and not prose."""
_LONGEST = 600
"""Characters of a passage or a clause; a longer one is about many things."""
_FEW = 3
"""Values of a kind that may all belong to the one thing that a passage is about."""
_FREQUENT, _EVERYWHERE = 60, 200
"""Places of a value, and of a word, that says nothing because it stands in so many."""
_BESIDE_OTHER, _BESIDE_ITSELF, _MORE = 0.3, 0.4, 1.3
"""How much of what is said must stand beside the other value alone, and may stand beside the value itself; and how
many times as much the first must be."""
_SWAPPED = {True: (0.3, 0.6), False: (0.1, 0.3)}
"""How much better each of two must fit in the other's clause, and both together: values, and names."""
_MOST_PLACES = 40
_MOST_CLAUSES = 60
"""A statement with more of them is a list; comparing all with all would take too long."""


class Passage(NamedTuple):
    """A line, a sentence or an object, who wrote it, and its words as they are compared."""

    text: str
    writer: str
    words: Collection[str]

    @property
    def shape(self) -> tuple[str, bool]:
        """What two passages have in common that tell the same sort of thing: who wrote them, and whether it is data."""
        return self.writer, self.text.lstrip().startswith(_DATA)


class Value(NamedTuple):
    """A value as it is written and as it is compared, its kind, and the words nearer to it than to others of it."""

    text: str
    key: str
    kind: str
    beside: frozenset[str]


@dataclass(slots=True)
class Bindings:
    """The values of passages; `places` says in which of them a word stands, `weight` what it counts for."""

    passages: Sequence[Passage]
    places: Mapping[str, Sequence[int]]
    weight: Callable[[str], float]
    _read: dict[int, tuple[Value, ...]] = field(default_factory=dict)

    def misplaced(self, text: str) -> tuple[str, str] | None:
        """A value of a statement, and the one that the sources have in its place."""
        short = (clause for clause in _CLAUSES.split(plain(text)) if len(clause) <= _LONGEST)
        clauses = [tuple(values_in(clause)) for clause in short]
        listed = {value.kind for values in clauses for value in values if not value.beside}
        for values in clauses:
            for value in values:
                if value.kind in listed:
                    continue
                if other := self._rival(value, {one.key for one in values}):
                    return value.text, other.text
        return None

    def exchanged(self, text: str) -> tuple[str, str] | None:
        """Two terms of a statement that stand beside each other's words in the sources, and not beside their own."""
        clauses = [(set(words(clause)), self._things(clause)) for clause in _CLAUSES.split(plain(text))]
        if len(clauses) > _MOST_CLAUSES:
            return None
        for (one, firsts), (other, seconds) in combinations(clauses, 2):
            for (first, here, kind), (second, there, too) in product(firsts, seconds):
                figures = kind[:1] == too[:1] == "9"
                if (figures or kind == too) and here not in other and there not in one:
                    least, together = _SWAPPED[figures]
                    gains = self._gains(here, there, one - other, other - one)
                    if min(gains) >= least and sum(gains) >= together:
                        return first, second
        return None

    def _rival(self, value: Value, named: Collection[str]) -> Value | None:
        """The value that what is said belongs to, if it is another: no third one stands beside those words.

        It is none of those that are `named` with the value: words between two of them may belong to either.
        """
        known = min((self.places.get(part, ()) for part in value.key.split(":")), key=len)
        at = [place for place in known if any(_are_same(value, one) for one in self._values(place))]
        said = {word for word in value.beside if word in self.places}
        if not said or not 0 < len(at) <= _FREQUENT:
            return None
        own = said & {word for place in at for word in self._around(place, value)}
        whole, beside_itself = self._sum(said), self._sum(own)
        if beside_itself > _BESIDE_ITSELF * whole:
            return None
        others = self._others(value, said - own, {self.passages[place].shape for place in at})
        owners: defaultdict[str, set[str]] = defaultdict(set)
        for other in others:
            for word in said & other.beside:
                owners[word].add(other.key)
        fellows = {*named, *(one.key for place in at for one in self._fellows(place, value.kind))}
        best, most = None, max(_BESIDE_OTHER * whole, _MORE * beside_itself)
        for other in others:
            beside = self._sum(word for word in said - own if owners[word] == {other.key})
            if other.key not in fellows and beside >= most:
                best, most = other, beside
        return best

    def _around(self, place: int, value: Value) -> set[str]:
        """The words of its passage, and of those before and after that have no other value of its kind."""
        found = {word for one in self._fellows(place, value.kind) for word in one.beside}
        found.update(word for one in self._values(place) if _are_same(one, value) for word in one.beside)
        for near in (place - 1, place + 1):
            if 0 <= near < len(self.passages) and all(one.kind != value.kind for one in self._values(near)):
                found.update(self.passages[near].words)
        return found

    def _fellows(self, place: int, kind: str) -> list[Value]:
        """The values of the kind in a passage, where they may belong to one thing."""
        found = [one for one in self._values(place) if one.kind == kind]
        return found if len({one.key for one in found}) <= _FEW else []

    def _others(self, value: Value, said: set[str], shapes: Collection[tuple[str, bool]]) -> list[Value]:
        """The other values of its kind that one of the words stands beside, in passages of these shapes."""
        places = {place for word in said if len(self.places[word]) <= _EVERYWHERE for place in self.places[word]}
        found = (one for place in places if self.passages[place].shape in shapes for one in self._values(place))
        return [one for one in found if one.kind == value.kind and one.key != value.key]

    def _values(self, place: int) -> tuple[Value, ...]:
        if place not in self._read:
            text = self.passages[place].text
            about_one = len(text) <= _LONGEST and not _SEVERAL.search(text)
            self._read[place] = tuple(values_in(text)) if about_one else ()
        return self._read[place]

    def _things(self, clause: str) -> list[tuple[str, str, str]]:
        """The values and names of a clause that the sources know: as written, as compared, and their kind."""
        named = ((word, normal(word), kind_of(word)) for word in WORD.findall(clause) if is_name(word))
        return [found for found in named if found[1] in self.places]

    def _gains(self, first: str, second: str, one: set[str], other: set[str]) -> tuple[float, float]:
        """How much better each of two terms fits the clause of the other."""
        own, others = one - {first}, other - {second}
        if any(map(str.isdigit, first)):
            own, others = (set(filterfalse(self._is_value, found)) for found in (own, others))
        fits = self._fits
        return fits(first, others) - fits(first, own), fits(second, own) - fits(second, others)

    def _is_value(self, word: str) -> bool:
        return word in self.places and any(map(str.isdigit, word))

    def _fits(self, term: str, beside: set[str]) -> float:
        """The share of the words that a line with the term has at best."""
        whole = self._sum(beside)
        if not whole:
            return 0.0
        at = self.places[term][:_MOST_PLACES]
        return max(self._sum(beside.intersection(self.passages[place].words)) for place in at) / whole

    def _sum(self, found: Iterator[str] | Collection[str]) -> float:
        return sum(map(self.weight, found))


def values_in(text: str) -> Iterator[Value]:
    """The values of a text, each with the words between the one of its kind before it and the one after it."""
    found = list(_WORD.finditer(text))
    kinds = list(map(_kind_of, found))
    if not any(kinds):
        return
    spelled = [spellings(word[0]) for word in found]
    keys = [
        digits(normal(word[0])) if kind == "amount" else normal(word[0])
        for word, kind in zip(found, kinds, strict=True)
    ]
    for at, kind in enumerate(kinds):
        if kind:
            others = [n for n, too in enumerate(kinds) if too == kind and keys[n] != keys[at]]
            start = max((n + 1 for n in others if n < at), default=0)
            end = min((n for n in others if n > at), default=len(found))
            beside = {word for near in spelled[start:end] for word in near if not word.isdigit() or len(word) > 2}
            yield Value(found[at][0], keys[at], kind, frozenset(beside.difference(spelled[at])))


def _are_same(one: Value, other: Value) -> bool:
    return one.key == other.key and one.kind == other.kind


def _kind_of(word: re.Match[str]) -> str:
    """The kind of a value, empty for other words and for the number of a line."""
    bare = word[0].casefold().strip("'.-")
    if bare.isalpha():
        return ""
    kind = next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(bare)), "")
    text = word.string
    numbers_line = kind == "count" and (
        _BEFORE_COUNT.search(text, 0, word.start()) or _AFTER_COUNT.match(text, word.end())
    )
    return "" if numbers_line else kind
