"""Sentences that may be quoted, and what they are worth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from heapq import nlargest
from typing import NamedTuple

from compact.facts import Span
from compact.summaries.items import Item, Section, rank
from compact.summaries.quoting import quote
from compact.summaries.reading import Utterance

LONGEST_QUOTE = 240
_LOOK = 300
_HALF_LIFE = 20
_MOST_NAMED = 4
_NAMED = re.compile(
    r"\d[\d.,:]*|`[^`]{1,60}`|\b\w+_\w+|\b[a-z]+[A-Z]\w*|(?<=[a-z,] )[A-Z][a-z]{2,}|[\w-]+/[\w./-]+"
    r"|\b[A-Z][A-Z0-9]{2,}\b"
)


class Candidate(NamedTuple):
    """A sentence before it is cleaned up: that is done for the few that can be chosen."""

    section: Section
    spoken: Utterance
    sentence: Span
    value: float
    tier: int = 0
    note: str = ""


def best(candidates: Iterable[Candidate], most: int) -> Iterator[Item]:
    """The lines of the best candidates, at most so many."""
    for chosen in nlargest(most, candidates, key=lambda one: rank(one.tier, one.value, len(one.sentence.text))):
        spoken, sentence = chosen.spoken, chosen.sentence
        if text := quote(spoken.named(sentence.text), LONGEST_QUOTE):
            order = spoken.index + sentence.start / (len(spoken.text) + 1)
            ids = (spoken.message_id,)
            text = text[1:].removesuffix('"') if text[0] == '"' else text
            is_whole = sentence.end - sentence.start == len(spoken.text)
            beside = f" (with {spoken.beside}, no longer shown)" if spoken.beside and is_whole else ""
            yield Item(chosen.section, f'"{text}"{beside}', ids, order, chosen.value, chosen.tier, chosen.note)


def recent(index: float, length: int) -> float:
    """1 for the last message, half of it twenty messages ago, and so on."""
    return 1 / (1 + (length - index) / _HALF_LIFE)


def substance(sentence: str) -> float:
    """How much a sentence names: numbers, names in code, proper names."""
    return min(len(_NAMED.findall(sentence[:_LOOK])), _MOST_NAMED)
