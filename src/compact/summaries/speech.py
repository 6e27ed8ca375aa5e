"""Whether somebody said what is reported of them.

A report holds if each of its clauses is made of the words of one sentence, and says "not" where that does. So words
cannot be picked from all over a message and put together to a demand that nobody made, nor a "never" be left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

# Words that report what somebody wants, or hold a sentence together; they need not be that person's own.
_REPORTING = """
the and for that this these those with from into its are was were has have had been being their them they then than also
which when where while how who what all any each both such like via per about after before until there here only still
user users person customer client requester human wants want wanted asks ask asked asking requests request requested
says say said tells told states stated needs need needed requires required requirement wishes wish would should must
shall will can could may task goal original initial first please explicitly instructs instructed instruction
expects expected insists insisted prefers preferred directs directed demands demanded ensure make makes sure
does did doing done correctly properly use uses used using
"""
_reporting = frozenset(_REPORTING.split())
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|without|don['’]?t|doesn['’]?t|won['’]?t|can['’]?t|cannot|mustn['’]?t|shouldn['’]?t|stop|avoid"
    r"|nicht|keine?|nie|niemals|pas|jamais|nunca|не|нельзя|никогда)\b"
    r"|不|别|勿|ない|금지|마세요"
)
# A negation is compared by itself, so that "don't" and "never" say the same.
_NEGATING = "not no never none without don don't don’t doesn't doesn’t won't won’t can't can’t cannot mustn't shouldn't"
_negating = frozenset(_NEGATING.split())
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|es|s|e|ly)\Z")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[\n。！？]+")  # noqa: RUF001 - Chinese and Japanese end sentences with these
_CLAUSE = re.compile(r"[,:()–—\"“”]+(?=\s|\Z)|(?<=\s)[(\"“–—-]+|\s(?:and|but|then|or|so)\s", re.IGNORECASE)
_SHORT = 2  # letters: too few to tell anything


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, or a clause of one; `sentence` is what it was cut from, as it was written.

    `mixed`: it says "not" in one clause and not in another, so that only its clauses say what is denied.
    """

    stems: frozenset[str]
    sentence: str
    negated: bool
    mixed: bool = False

    def has(self, stem: str) -> bool:
        # Scripts that put no spaces between words are compared as they are written.
        return stem in self.stems or (not stem.isascii() and stem in self.sentence.casefold())


class Speech:
    """What was said, to be compared with what is reported of it."""

    def __init__(self, text: str) -> None:
        self._units: list[_Unit] = []
        self._where: defaultdict[str, list[int]] = defaultdict(list)
        for sentence in _SENTENCE.split(text):
            clauses = [unit for clause in _CLAUSE.split(sentence) if (unit := _unit(clause, sentence))]
            if len(clauses) > 1 and (whole := _unit(sentence, sentence)):
                self._add(replace(whole, mixed=len({clause.negated for clause in clauses}) > 1))
            for clause in clauses:
                self._add(clause)

    def holds(self, report: str) -> bool:
        """Whether the report says nothing that was not said here."""
        clauses = [clause for clause in _clauses(report) if clause.stems]
        return bool(clauses) and all(map(self._holds, clauses))

    def nearest(self, report: str, share: float) -> str | None:
        """The sentence that has most of the report's words, if it has at least that share of them."""
        unit = _unit(report, report)
        if unit is None or not unit.stems:
            return None
        shared = Counter(at for stem in unit.stems for at in self._where.get(stem, ()))
        count, at = max(((count, -at) for at, count in shared.items()), default=(0, 0))
        return self._units[-at].sentence.strip() if count and count >= share * len(unit.stems) else None

    def _add(self, unit: _Unit) -> None:
        for stem in unit.stems:
            self._where[stem].append(len(self._units))
        self._units.append(unit)

    def _holds(self, clause: _Unit) -> bool:
        # The rarest word leads to the few sentences that can hold it.
        known = [self._where[stem] for stem in clause.stems if stem in self._where]
        for at in min(known, key=len, default=range(len(self._units))):
            unit = self._units[at]
            if clause.negated == unit.negated and not unit.mixed and all(map(unit.has, clause.stems)):
                return True
        return False


def _clauses(report: str) -> Iterator[_Unit]:
    for sentence in _SENTENCE.split(report):
        for clause in _CLAUSE.split(sentence):
            if unit := _unit(clause, sentence):
                yield unit


def _unit(text: str, sentence: str) -> _Unit | None:
    lower = text.casefold()
    words = [word for word in _WORD.findall(lower) if word not in _reporting and word not in _negating]
    stems = frozenset(_ENDING.sub("", word) for word in words if len(word) > _SHORT or not word.isascii())
    negated = _NEGATION.search(lower) is not None
    return _Unit(stems, sentence, negated) if stems or negated else None
