"""Relations: a name with its value or its file on one line, as the session uses them together later."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import product
from typing import TypeAlias

from compact.facts import Fact, Kind, numbers_in
from compact.lab.retention import AHEAD, text_of
from compact.messages import Message

Relation: TypeAlias = tuple[Fact, Fact]
"""A name, and the number or the path that stands beside it."""

_LONGEST = 300
"""Characters of a line within which two things stand together; longer lines are taken apart."""
_WORD = re.compile(r"[\w$#@.+-]+(?:/[\w$#@.+-]+)*")
_PART = re.compile(rf".{{1,{_LONGEST}}}(?:\s|\Z)|\S{{{_LONGEST}}}")


def used_together(
    seen: Sequence[Message], following: Sequence[Message], needed: Collection[Fact]
) -> frozenset[Relation]:
    """The relations among the needed facts that were seen, and that the assistant soon writes on one line again."""
    used = (message for message in following[:AHEAD] if message.role in ("assistant", "model"))
    facts = _by_spelling(needed)
    return frozenset(_related(map(text_of, used), facts) & _related(map(text_of, seen), facts))


def missing_relations(needed: Collection[Relation], text: str) -> set[Relation]:
    """The needed relations of which no line of the text has both."""
    return set(needed) - _related([text], _by_spelling({fact for pair in needed for fact in pair}))


def _by_spelling(facts: Iterable[Fact]) -> dict[str, Fact]:
    return {_tail(fact.text) if fact.kind is Kind.PATH else fact.text: fact for fact in facts}


def _related(texts: Iterable[str], facts: dict[str, Fact]) -> set[Relation]:
    found: set[Relation] = set()
    for text in texts:
        for line in _lines(text):
            here = {facts[word] for word in _spellings(line) if word in facts}
            names = [fact for fact in here if fact.kind is Kind.IDENTIFIER]
            values = [fact for fact in here if fact.kind is not Kind.IDENTIFIER]
            found.update(product(names, values))
    return found


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield from [line] if len(line) <= _LONGEST else _PART.findall(line)


def _spellings(line: str) -> Iterator[str]:
    """The words of a line, with the last two parts of paths, and its numbers as they are compared."""
    for word in _WORD.findall(line):
        yield from (word, word.rstrip("."), _tail(word))
    if any(map(str.isdigit, line)):
        yield from (number.text for number in numbers_in(line))


def _tail(path: str) -> str:
    return "/".join(path.strip("/").split("/")[-2:])
