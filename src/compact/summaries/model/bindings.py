"""Which words a value stands beside: by them, a value is found that a summary moved to another thing.

A value is doubted only where the sources contradict it: what is said of it stands beside another value of its kind,
and little of that beside the value itself. That the sources do not say it is no reason, because a summary uses words
of its own.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, product
from math import log
from typing import NamedTuple

from compact.summaries.model.words import WORD, digits, is_name, kind_of, normal, plain, stem, words

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
_LABEL = r"[A-Za-z]{3,12} \d{1,2}(?![\w,:%-]*\d|\.\d)\b"
_WORD = re.compile(rf"(?<![\w:]){_KINDS['clock']}(?![\w:])|{WORD.pattern}")
_VALUE = re.compile(rf"(?<!\w){_LABEL}|{_WORD.pattern}")
_IS_LABEL, _LABELS = re.compile(_LABEL), re.compile(r"[*_`]*\s?[:.)(—–]")
"""A word with a number, such as "Test 2"; and what follows it where it stands before the thing it is the label of."""
_BEFORE_COUNT, _AFTER_COUNT = re.compile(r"(?:\A\s*|[:-]|\blines?[ (])\Z", re.IGNORECASE), re.compile(r"[:→-]")
"""What makes a number the number of a line: a count of nothing."""
_CLAUSES = re.compile(r"[;—]\s|,\s(?![^()]{0,80}\))|[.!?]\s|\n|\s(?:and|while|but|only|instead|–)\s")
_SENTENCES = re.compile(r"[;—]\s|[.!?]\s|\n|,?\s(?:while|but|whereas)\s")
"""Where what is said of one thing ends, however many clauses it has."""
_BELOW, _BELOW_LINE = 4, 12
"""Lines below a term that may be about it; and below a line that is named by its number."""
_ENOUGH = 3
"""Words that tell together what one or two would not."""
_OF_A_LINE = " of a line"
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
_BESIDE_OTHER, _BESIDE_ITSELF, _NO_THIRD = 0.35, 0.7, 0.8
"""How much of what is said must stand in one passage with the other value; and how much of that may stand beside the
value itself, and beside a third one."""
_TELLS, _STAYS = 0.3, 0.25
"""What the words of a term must count for that stand beside another, by that of a word that occurs once; and how much
may stand beside the term itself, by what stands beside the others."""
_LINE_BEFORE = re.compile(r"(?:\blines? \(?|[^\W\d]:)\Z", re.IGNORECASE)
_NUMBERED = re.compile(r"\b(?:items?|steps?|tasks?|tests?|points?|phases?|parts?|sections?|questions?|rounds?) \Z")
_LINE = re.compile(r"\A\s*\d+[→:|-]|:\d+(?=:)")
"""What stands before the number of a line in prose; and such numbers in what a tool shows."""
_MOST_CLAUSES, _PAIR = 60, 3
"""A statement with more of them is a list; comparing all with all would take too long."""


class Passage(NamedTuple):
    """A line, a sentence or an object, who wrote it, its words as they are compared, and the files it belongs to."""

    text: str
    writer: str
    words: Collection[str]
    files: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[str, bool]:
        """What two passages have in common that tell the same sort of thing: who wrote them, and whether it is data."""
        return self.writer, self.text.lstrip().startswith(_DATA)


class Term(NamedTuple):
    """A value or a name as it is written and as it is looked for, and what could stand in its place."""

    text: str
    key: str
    kind: str


class Value(NamedTuple):
    """A value as it is written and as it is compared, its kind, and the words nearer to it than to others of it."""

    text: str
    key: str
    kind: str
    beside: frozenset[str]


@dataclass
class Bindings:
    """The values of passages; `places` says in which of them a word stands, `weight` what it counts for."""

    passages: Sequence[Passage]
    places: Mapping[str, Sequence[int]]
    weight: Callable[[str], float]
    _read: dict[int, tuple[Value, ...]] = field(default_factory=dict)
    _where: dict[Term, list[int]] = field(default_factory=dict)
    _found: dict[Term, set[str]] = field(default_factory=dict)

    def misplaced(self, text: str) -> tuple[str, str] | None:
        """A value of a statement, and the one that the sources have in its place."""
        short = [clause for clause in _CLAUSES.split(plain(text)) if len(clause) <= _LONGEST]
        read = [tuple(values_in(clause, told=True)) for clause in short]
        listed = {value.kind for values in read for value in values if not value.beside}
        for clause, values in zip(short, read, strict=True):
            named = {value.key for value in values}
            for value in values:
                other = None if value.kind in listed else self._rival(value)
                # Words between two values of one clause may belong to either.
                if other and other.key not in named and other.text not in clause:
                    return value.text, other.text
        return None

    def exchanged(self, text: str) -> tuple[str, str] | None:
        """Two terms of a statement of which each stands beside the words of the other in the sources, not its own."""
        found = (self._exchanged_in(apart.split(plain(text))) for apart in (_CLAUSES, _SENTENCES))
        # What is said of two that are named together holds for both.
        return next((pair for pair in filter(None, found) if not _are_together(*pair, text)), None)

    def _exchanged_in(self, clauses: Sequence[str]) -> tuple[str, str] | None:
        if len(clauses) > _MOST_CLAUSES:
            return None
        read = [(clause, set(words(clause)), self._terms(clause)) for clause in clauses]
        named = Counter(kind for kind, _ in {(term.kind, term.key) for _, _, terms in read for term in terms})
        for (text, one, firsts), (more, other, seconds) in combinations([each for each in read if each[2]], 2):
            for first, second in product(firsts, seconds):
                alike = first.kind == second.kind and first.key not in other and second.key not in one
                if alike and named[first.kind] > _PAIR and not any(map(str.isdigit, first.key + second.key)):
                    continue  # of a list of names, words say nothing about one of them
                if alike and (
                    self._are_crossed(first, second, one - other, other - one)
                    or self._are_moved(first, second, _without(text, firsts, seconds), _without(more, seconds, firsts))
                ):
                    return first.text, second.text
        return None

    def _rival(self, value: Value) -> Value | None:
        """The value of the passage that has most of what is said, if none with the value itself has nearly as much.

        No third one may have about as much beside it.
        """
        said = sorted(word for word in value.beside if word in self.places)
        at = [
            place for place in self._places_of(value.key) if any(_are_same(value, one) for one in self._values(place))
        ]
        if not said or not 0 < len(at) <= _FREQUENT:
            return None
        own = max(self._said_around(place, value.kind, said) for place in at)
        least = max(_BESIDE_OTHER * self._sum(said), own / _BESIDE_ITSELF)
        shapes = {self.passages[place].shape for place in at}
        found: dict[str, tuple[float, int, Value]] = {}
        for place, beside in self._said_in(said).items():
            if beside >= least and self.passages[place].shape in shapes:
                for other in self._fellows(place, value.kind):
                    found[other.key] = max(found.get(other.key, (0.0, 0, other)), (beside, place, other))
        (most, where, best), *others = sorted(found.values(), reverse=True) or [(0.0, 0, value)]
        third = any(beside > _NO_THIRD * most and place != where for beside, place, _ in others)
        return None if third or best is value else best

    def _said_in(self, said: Collection[str]) -> dict[int, float]:
        """How much of what is said each passage has."""
        found: defaultdict[int, float] = defaultdict(float)
        for word in said:
            if len(self.places[word]) <= _EVERYWHERE:
                for place in self.places[word]:
                    found[place] += self.weight(word)
        return found

    def _said_around(self, place: int, kind: str, said: Collection[str]) -> float:
        """How much of it a passage has with the one before or after, where that has no other value of the kind."""
        own = self.passages[place].words
        near = (n for n in (place - 1, place + 1) if 0 <= n < len(self.passages))
        free = [self.passages[n].words for n in near if all(one.kind != kind for one in self._values(n))]
        return max(self._sum(word for word in said if word in own or word in beside) for beside in (own, *free))

    def _fellows(self, place: int, kind: str) -> list[Value]:
        """The values of the kind in a passage, where they may belong to one thing."""
        found = [one for one in self._values(place) if one.kind == kind]
        return found if len({one.key for one in found}) <= _FEW else []

    def _values(self, place: int) -> tuple[Value, ...]:
        if place not in self._read:
            text = self.passages[place].text
            self._read[place] = tuple(values_in(text)) if _is_about_one(text) else ()
        return self._read[place]

    def _terms(self, clause: str) -> list[Term]:
        """The values and names of a clause."""
        found = []
        for word in _WORD.finditer(clause):
            kind = kind_of(word[0]).rstrip("sml")
            if kind and is_name(word[0]):
                name = normal(word[0])
                line = name.isdigit() and _LINE_BEFORE.search(clause, 0, word.start())
                if name.isdigit() and len(name) == 1 and _NUMBERED.search(clause, 0, word.start()):
                    continue  # "item 3" counts nothing
                key = name if ":" in name or digits(name) not in self.places else digits(name)
                found.append(Term(word[0], key, f"{kind}{_OF_A_LINE}" if line else kind))
        return found

    def _are_crossed(self, first: Term, second: Term, one: set[str], other: set[str]) -> bool:
        """Whether the words of each of two terms stand beside the other one, and hardly any beside their own."""
        named = {*words(first.text), *words(second.text)}
        return self._cross(one - named, other - named, self._beside(first), self._beside(second))

    def _are_moved(self, first: Term, second: Term, one: set[str], other: set[str]) -> bool:
        """The same for what is said of two terms and of what goes with them, such as a code and its name.

        Here words of their names and of the lines below them tell as well, but no two words alone.
        """
        one, other = one.difference(other, words(first.text)), other.difference(one, words(second.text))
        if len(one) + len(other) < _ENOUGH or not one or not other:
            return False
        here, there = self._beside(first), self._beside(second)
        if not here or not there:
            return False
        here, there = here | self._below(first, second), there | self._below(second, first)
        moved = len((one & there) - here) + len((other & here) - there)
        return moved >= _ENOUGH and self._cross(one, other, here, there)

    def _cross(self, one: set[str], other: set[str], here: set[str], there: set[str]) -> bool:
        """Whether one stands there and the other here, and hardly anything the other way round."""
        if not here or not there:
            return False
        away, back = self._sum((one & there) - here), self._sum((other & here) - there)
        stays = self._sum((one & here) - there) + self._sum((other & there) - here)
        return min(away, back) >= _TELLS * self._once and stays <= _STAYS * (away + back)

    def _below(self, term: Term, rival: Term) -> set[str]:
        """The words of the name of a term and of the lines below it, as far as the rival does not stand there."""
        ends = set(self._at(rival))
        size = _BELOW_LINE if term.kind.endswith(_OF_A_LINE) else _BELOW
        found = set(words(term.text))
        for place in self._at(term):
            for at in range(place + 1, min(place + 1 + size, len(self.passages))):
                if at in ends or not self.passages[at].text:
                    break
                found.update(self.passages[at].words)
        return found

    def _at(self, term: Term) -> list[int]:
        """Where the term stands, where these are few places; the number of a line is no value in it."""
        if term not in self._where:
            at = self._places_of(term.key)
            at = at if len(at) <= _FREQUENT else ()
            at = [place for place in at if _is_about_one(self.passages[place].text)]
            if ":" in term.key:
                at = [place for place in at if term.text in self.passages[place].text]
            if term.key == term.text and term.kind == "9":
                at = [place for place in at if term.text in _LINE.sub(" ", self.passages[place].text)]
            self._where[term] = at
        return self._where[term]

    def _beside(self, term: Term) -> set[str]:
        """The words of the passages that have the term, and of its name.

        What calls wrote and read of a file stands beside its name, and the name beside that.
        """
        if term not in self._found:
            about = [*(self.passages[place] for place in self._at(term)), *self._within(term)]
            files = {file for one in about for file in one.files}
            self._found[term] = {word for one in about for word in one.words}.union(words("\n".join(files)))
        return self._found[term]

    def _within(self, term: Term) -> list[Passage]:
        """What calls wrote and read of the file that the term names."""
        if term.kind != "file":
            return []
        names = (file for file in self._by_file if are_same_file(file, term.key))
        return [passage for file in names for passage in self._by_file[file]]

    @cached_property
    def _by_file(self) -> dict[str, list[Passage]]:
        found: defaultdict[str, list[Passage]] = defaultdict(list)
        for passage in self.passages:
            for file in passage.files:
                found[file].append(passage)
        return found

    def _places_of(self, key: str) -> Sequence[int]:
        """Where a value may stand; one of several parts stands where the rarest of them does."""
        return min((self.places.get(part, ()) for part in key.split(":")), key=len)

    @property
    def _once(self) -> float:
        """What a word counts for that stands in one place."""
        return log(1 + len(self.passages) / 2)

    def _sum(self, found: Iterator[str] | Collection[str]) -> float:
        return sum(map(self.weight, found))


def _are_together(one: str, other: str, text: str) -> bool:
    """Whether two names stand side by side in a statement, with nothing but "and" between them."""
    pair = rf"{re.escape(one)}[`*_]*(?:\(\))?[`*_]*(?: and |, | / |/)[`*_]*{re.escape(other)}"
    return re.search(pair, text) is not None


def _without(clause: str, terms: Sequence[Term], others: Sequence[Term]) -> set[str]:
    """The words of a clause without those of its terms for which the other clause has terms of the same kind."""
    kinds = {other.kind for other in others}
    for term in terms:
        if term.kind in kinds:
            clause = clause.replace(term.text, " ")
    return set(words(clause))


def values_in(text: str, *, told: bool = False) -> Iterator[Value]:
    """The values of a text, each with the words between the one of its kind before it and the one after it.

    What is `told` need not be written like a label to be one.
    """
    found = list(_VALUE.finditer(text))
    kinds = [_kind_of(word, told=told) for word in found]
    if not any(kinds):
        return
    spelled = [tuple(words(word[0])) for word in found]
    keys = [_key_of(word[0], kind) for word, kind in zip(found, kinds, strict=True)]
    for at, kind in enumerate(kinds):
        if kind:
            others = [n for n, too in enumerate(kinds) if too == kind and keys[n] != keys[at]]
            start = max((n + 1 for n in others if n < at), default=0)
            end = min((n for n in others if n > at), default=len(found))
            beside = {word for near in spelled[start:end] for word in near if not word.isdigit() or len(word) > 2}
            yield Value(found[at][0], keys[at], kind, frozenset(beside.difference(spelled[at])))


def _key_of(word: str, kind: str) -> str:
    """What a value is compared by; of one of several parts, a colon stands between them."""
    if kind.startswith("label"):
        return ":".join(words(word))
    return digits(normal(word)) if kind == "amount" else normal(word)


def _is_about_one(passage: str) -> bool:
    """Whether a passage may be about one thing: it is short, and no row of objects."""
    return len(passage) <= _LONGEST and not _SEVERAL.search(passage)


def are_same_file(one: str, other: str) -> bool:
    """Whether two paths may be those of one file, as far as the folders are written out."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _are_same(one: Value, other: Value) -> bool:
    return one.key == other.key and one.kind == other.kind


def _kind_of(word: re.Match[str], *, told: bool) -> str:
    """The kind of a value, empty for other words and for the number of a line."""
    bare, text = word[0].casefold().strip("'.-"), word.string
    if bare.isalpha():
        return ""
    if _IS_LABEL.fullmatch(bare):
        return f"label {stem(bare.split()[0])}" if told or _LABELS.match(text, word.end()) else ""
    kind = next((kind for kind, pattern in _PATTERNS.items() if pattern.fullmatch(bare)), "")
    numbers_line = kind == "count" and (
        _BEFORE_COUNT.search(text, 0, word.start()) or _AFTER_COUNT.match(text, word.end())
    )
    if kind == "name with a number":
        kind += f" {bare.rpartition('_')[0]}"  # the number of a card is not that of a person
    return "" if numbers_line else kind
