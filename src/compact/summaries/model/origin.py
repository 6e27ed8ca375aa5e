"""Where the words of a statement come from: who wrote the sentence that has most of them.

It judges no truth. A program can verify what it says: which sentences of the messages have which words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import cached_property
from math import log

from compact.facts import sentences_in
from compact.history.speech import QUESTION_MARKS
from compact.summaries.model.words import plain, words

_MOST_PLACES = 200
"""A word that more sentences of a voice have is taken to stand in each of them."""
_COPIED, _SAID, _UNKNOWN = 0.75, 0.6, 0.6
"""The share of a statement's words that a sentence of others has where it comes from there; that a sentence of the user
or of the assistant has where they said it; and that stands in no message where it comes from nowhere."""
LABEL = re.compile(
    r" ?\[(?:only in (?P<place>[^\[\]\n]{1,80}?)(?:, repeated by the assistant)?"
    r"|(?P<own>the assistant's words)|stands in no message)\]"
)
"""The label of a statement, as it stands behind it."""
_LEAST, _FEW, _SHORT = 2, 3, 4
"""The words of the shortest statement that is looked for; of one that may stand nowhere; and of one that no longer line
has by chance."""
_PART = 3
"""A short statement comes from a sentence with at most so many times its words."""
ADDRESS = re.compile(
    r"(?<![\w.-])(?:[\w.+-]+@)?(?:[\w-]+\.)+"
    r"(?:com|org|net|info|biz|io|ai|co|app|dev|cloud|site|xyz|eu|de|fr|es|it|uk|ru|cn|jp|us|example|test|invalid|local)"
    r"(?![\w(-]|\.\w)",
    re.IGNORECASE,
)
"""The address of a mail, or a host with a usual ending that is none of a file's."""


class Voice(IntFlag):
    """Who wrote a text. What the user agreed to is theirs and the assistant's."""

    USER = 1
    ASSISTANT = 2
    PROGRAM = 4
    TOOL = 8


NOBODY = Voice(0)
FOREIGN = Voice.PROGRAM | Voice.TOOL


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the words it is compared by, whose it is, and in plain words where it stands."""

    text: str
    words: frozenset[str]
    voice: Voice = NOBODY
    place: str = ""

    @property
    def asks(self) -> bool:
        """True if it is a question."""
        return self.text.rstrip("\"'”»)*_ ").endswith(QUESTION_MARKS)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a statement comes from that is not the user's: whose words they are, the label, and the sentence found."""

    voice: Voice
    label: str
    sentence: Sentence | None = None


class SentenceIndex:
    """Sentences, and for each voice those that a word stands in."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self.sentences = tuple(sentences)

    @cached_property
    def _places(self) -> dict[Voice, dict[str, list[int]]]:
        places: dict[Voice, dict[str, list[int]]] = {voice: defaultdict(list) for voice in Voice}
        for at, sentence in enumerate(self.sentences):
            for voice in sentence.voice:
                own = places[voice]
                for word in sentence.words:
                    own[word].append(at)
        return places

    def holders(self, word: str) -> Voice:
        """Whose words it is among."""
        held = NOBODY
        for voice, own in self._places.items():
            if word in own:
                held |= voice
        return held

    def weigh(self, among: Iterable[str]) -> dict[str, float]:
        """Return the weight of each word: the rarer, the heavier."""
        count = 1 + len(self.sentences)
        every = self._places.values()
        return {word: log(1 + count / (1 + sum(len(own.get(word, ())) for own in every))) for word in sorted(among)}

    def shares(self, weights: dict[str, float], voices: Voice) -> dict[int, float]:
        """The share of the weights that each sentence of the voices has, of those that have any."""
        everywhere, reached = 0.0, defaultdict[int, float](float)
        for word, weight in weights.items():
            places = [at for voice in voices for at in self._places[voice].get(word, ())[: _MOST_PLACES + 1]]
            everywhere += weight if (frequent := len(places) > _MOST_PLACES) else 0.0
            for at in set(places):
                reached[at] += 0.0 if frequent else weight
        whole = sum(weights.values()) or 1.0
        return {at: (weight + everywhere) / whole for at, weight in reached.items()}


def sentences_of(text: str, voice: Voice = NOBODY, place: str = "") -> Iterator[Sentence]:
    """The sentences of a text, code in fences included."""
    for span in sentences_in(plain(text).replace("```", "\n").replace("~~~", "\n")):
        found = {*words(span.text), *(map(str.casefold, ADDRESS.findall(span.text)) if "." in span.text else ())}
        if found:
            yield Sentence(span.text, frozenset(found), voice, place)


def origin(part: Sentence, index: SentenceIndex, *, alone: bool = False) -> Origin | None:
    """Where a statement, or a part of one, comes from; None where the user said it, or where it cannot be said.

    With `alone`, only what stands in foreign text alone, or nowhere: the assistant may have said it.
    """
    if len(part.words) < _LEAST:
        return None
    if found := _sent_elsewhere(part, index, alone=alone):
        return found
    weights = index.weigh(part.words)
    said, asked = _by_user(part, index, weights)
    if said >= _SAID:
        return None
    spoken, own = _best(index, weights, Voice.ASSISTANT)
    if found := _copied(part, index, weights, asked):
        return found if spoken < _SAID else None if alone else _repeated(found)
    if asked < _SAID and len(part.words) >= _FEW and _lacking(index, weights) >= _UNKNOWN:
        return Origin(NOBODY, "stands in no message")
    if alone or asked >= _SAID or spoken < _SAID or own is None:
        return None
    found = _copied(own, index, index.weigh(own.words))
    return _repeated(found) if found else Origin(Voice.ASSISTANT, "the assistant's words", own)


def _lacking(index: SentenceIndex, weights: dict[str, float]) -> float:
    """The share of the weights that stands in no message."""
    return sum(weight for word, weight in weights.items() if not index.holders(word)) / sum(weights.values())


def _sent_elsewhere(part: Sentence, index: SentenceIndex, *, alone: bool) -> Origin | None:
    """An address that the user never gave: whoever gave it directs where something goes."""
    for word in sorted(filter(ADDRESS.fullmatch, part.words)):
        holders = index.holders(word)
        if holders & Voice.USER or (alone and (holders & Voice.ASSISTANT or not holders)):
            continue
        if not holders:
            return Origin(NOBODY, "stands in no message")
        holding = [index.sentences[at] for at in index.shares({word: 1.0}, holders & FOREIGN or holders)]
        if not holders & FOREIGN:
            return Origin(Voice.ASSISTANT, "the assistant's words", holding[0])
        found = _foreign(holding, holding[0])
        return _repeated(found) if holders & Voice.ASSISTANT else found
    return None


def _by_user(part: Sentence, index: SentenceIndex, weights: dict[str, float]) -> tuple[float, float]:
    """The most of the words that a sentence of the user has, and that a question of theirs has.

    What the assistant proposed and the user agreed to counts, unless the assistant had it from somebody else.
    """
    shares, sentences = index.shares(weights, Voice.USER), index.sentences
    asking = {at for at in shares if sentences[at].asks and part.text.rstrip(" .?") not in sentences[at].text}
    said = max((share for at, share in shares.items() if at not in asking), default=0.0)
    asked = max((shares[at] for at in asking), default=0.0)
    if said >= _SAID:
        theirs = (at for at, share in shares.items() if share >= _SAID and at not in asking)
        if all(sentences[at].voice & Voice.ASSISTANT for at in theirs) and _copied(part, index, weights):
            said = 0.0
    return said, asked


def _best(index: SentenceIndex, weights: dict[str, float], voice: Voice) -> tuple[float, Sentence | None]:
    shares = index.shares(weights, voice)
    if not shares:
        return 0.0, None
    at = max(shares, key=lambda at: (shares[at], -at))
    return shares[at], index.sentences[at]


def _copied(part: Sentence, index: SentenceIndex, weights: dict[str, float], asked: float = 0.0) -> Origin | None:
    """The sentence of a tool or a program that has the words; no fewer of them than a question of the user has.

    It says little else where the statement is short: a long line has a few words by chance.
    """
    shares = index.shares(weights, FOREIGN)
    found = [
        at
        for at, share in shares.items()
        if share >= _COPIED
        and (share >= asked if not index.sentences[at].asks else share > asked)
        and (len(part.words) >= _SHORT or _PART * share * len(part.words) >= len(index.sentences[at].words))
    ]
    if not found:
        return None
    best = index.sentences[max(found, key=lambda at: (shares[at], -at))]
    return _foreign([index.sentences[at] for at in found], best)


def _foreign(found: Sequence[Sentence], best: Sentence) -> Origin:
    places = {one.place for one in found}
    return Origin(best.voice, f"only in {best.place if len(places) == 1 else 'text of tools and programs'}", best)


def _repeated(found: Origin) -> Origin:
    return Origin(found.voice, f"{found.label}, repeated by the assistant", found.sentence)
