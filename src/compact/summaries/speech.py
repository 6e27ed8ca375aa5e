"""What the user and the assistant said that is worth repeating in their own words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import nlargest
from typing import NamedTuple

from compact.facts import Directive, Source, Span, Strength, directives_in, sentences_in
from compact.summaries.items import Item, Section
from compact.summaries.quoting import LONGEST, quote
from compact.summaries.reading import Reading, Utterance

ANSWERED = ", answered"
_WHOLE = 240
_RULES_A_TURN = 6
_SHORT_ANSWER = 40
_CHATTER = 6
_SHORTEST_QUESTION = 15
_CUES = (
    (
        3.0,
        r"root cause|\bthe (?:problem|issue|bug|cause|fix|solution|reason|key|answer) (?:is|was|here)\b|turns out"
        r"|\bdecid(?:ed|e to)\b|conclu(?:de|sion)|\bgo with\b",
    ),
    (
        2.5,
        r"\b(?:because|therefore|instead of|rather than|which means|this means|so that)\b"
        r"|\bi (?:found|recommend|chose|suggest)\b|\brecommend",
    ),
    (
        2.0,
        r"\b(?:fixed|confirmed|verified|pass(?:es|ing)|works now|resolved|completed?|implemented|added|removed|renamed|moved"
        r"|created|updated|changed|successfully|booked|cancelled|refunded|reserved|scheduled)\b",
    ),
    (1.0, r"\b(?:must|should|cannot|never|always|only|need to|will|won't|doesn't|isn't|note|however)\b"),
)
_DECIDING = tuple((weight, re.compile(cue)) for weight, cue in _CUES)
_PREAMBLE = re.compile(
    r"(?:(?:now|ok|okay|great|perfect|good|first|next|then|excellent|alright|sure)[,!. ]{1,3})*"
    r"(?:let me|let's|i'll|i will|i'm going to|now i|i need to|i can see|here's|here is|would you like|want me to|feel free"
    r"|is there anything|you're welcome|how can i|do you|to get started|could you|please provide|please share|can you)\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"\b(?:my|i'm|i am|i've|i have|i was|i like|i love|i prefer|i hate|name is|i live|i work|allergic|birthday|i bought"
    r"|i decided|i started|i went|i joined|i tried)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\d[\d.,:]*|`[^`]{1,60}`|\b\w+_\w+|\b[a-z]+[A-Z]\w*|(?<=[a-z,] )[A-Z][a-z]{2,}|[\w-]+/[\w./-]+|\b[A-Z][A-Z0-9]{2,}\b"
)


class _Candidate(NamedTuple):
    """A sentence and what it is worth, before it is cleaned up: that is done for the few that may be chosen."""

    value: float
    section: Section
    spoken: Utterance
    sentence: Span


def user_items(reading: Reading, most: int) -> Iterator[Item]:
    """The user's turns: short ones whole, of long ones what directs; then the best of what else the user said."""
    turns = [spoken for spoken in reading.utterances if spoken.source is Source.USER]
    answered = _answered(reading.utterances)
    others: list[_Candidate] = []
    for position, turn in enumerate(turns):
        recency = recent(turn.index, reading.length) + 0.75 * (position in (0, len(turns) - 1))
        found = list(directives_in(turn.text))
        if found and len(turn.text) <= _WHOLE and "```" not in turn.text:
            item = directive_item(quote(turn.text), (turn.message_id,), turn.index, strongest(found), recency)
            yield answer(item) if turn.index in answered else item
            continue
        musts = _musts(found)
        for directive in found:
            if directive in musts:
                # A sentence that announces a list is nothing without it.
                whole = turn.text[directive.start :] if directive.text[-1] == ":" else directive.text
                order = turn.index + directive.start / (len(turn.text) + 1)
                item = directive_item(quote(whole, _WHOLE), (turn.message_id,), order, directive.strength, recency)
                yield answer(item) if turn.index in answered else item
            elif directive.text[-1] != ":":
                span = Span(*directive[:3])
                others.append(_Candidate(directive.strength + 3 * recency, Section.DIRECTIVES, turn, span))
        others += _said(turn, {directive.start for directive in found}, recency)
    yield from _best(others, most)


def _musts(found: list[Directive]) -> set[Directive]:
    """Of a long turn, the first request and the first rules."""
    rules = [directive for directive in found if directive.strength is Strength.RULE]
    requests = [directive for directive in found if directive.strength is Strength.REQUEST]
    return {*rules[:_RULES_A_TURN], *requests[:1], *requests[-1:]}


def directive_item(text: str, ids: tuple[str, ...], order: float, strength: int, recency: float) -> Item:
    """A line of what a user asked for."""
    tier = 2 if strength == Strength.RULE else 1
    return Item(Section.DIRECTIVES, f'"{text}"', ids, order, 3 + 2 * strength + 4 * recency, tier)


def answer(item: Item) -> Item:
    """The item marked as answered, if it is a request: a rule stays in force."""
    return replace(item, note=ANSWERED) if item.tier == 1 else item


def _answered(utterances: Iterable[Utterance]) -> set[int]:
    """Which turns of the user the assistant answered, without a call still to come."""
    answered: set[int] = set()
    waiting: list[int] = []
    for spoken in utterances:
        if spoken.source is Source.USER:
            waiting.append(spoken.index)
        elif spoken.closing:
            answered.update(waiting)
            waiting.clear()
    return answered


def strongest(found: Iterable[Directive]) -> int:
    return max((directive.strength for directive in found), default=Strength.WISH)


def _said(turn: Utterance, told: set[int], recency: float) -> Iterator[_Candidate]:
    """What a turn says beside its directives: the first sentence tells most, each further one less."""
    if not told and len(turn.text) <= _WHOLE:
        named = substance(turn.text) + 1.5 * (_PERSONAL.search(turn.text) is not None)
        if named or turn.text.count(" ") > _CHATTER:
            yield _Candidate(0.5 + named + 2 * recency, Section.SAID, turn, Span(turn.text, 0, len(turn.text)))
        return
    rank = 0
    for sentence in sentences_in(turn.text):
        if sentence.start not in told and _is_prose(sentence.text):
            rank += 1
            personal = _PERSONAL.search(sentence.text) is not None
            value = (substance(sentence.text) + 2 * personal + 2) / rank + 2 * recency
            yield _Candidate(value, Section.SAID, turn, sentence)


def _is_prose(line: str) -> bool:
    """Whether people talk like this: users paste logs and code, too."""
    words = line.count(" ")
    return words > 2 and sum(map(str.isalpha, line)) + words > 0.85 * len(line) and not line.startswith("at ")


def decision_items(reading: Reading, most: int) -> Iterator[Item]:
    """The best sentences of the assistant that decide, conclude or report, and what the user answered in a word."""
    asked: Utterance | None = None
    candidates: list[_Candidate] = []
    for spoken in reading.utterances:
        recency = recent(spoken.index, reading.length)
        if spoken.source is Source.USER:
            question = _question(asked.text) if asked and len(spoken.text) <= _SHORT_ANSWER else ""
            if asked and question:
                text = f'asked "{question}", the user answered "{quote(spoken.text)}"'
                yield Item(Section.DECISIONS, text, (asked.message_id, spoken.message_id), spoken.index, 4 + 4 * recency)
            asked = None
            continue
        asked = spoken if spoken.closing else None
        for sentence in sentences_in(spoken.text):
            if (worth := _decides(sentence.text)) and "#" not in spoken.text[max(0, sentence.start - 5) : sentence.start]:
                value = worth + 1.5 * spoken.closing + 3 * recency
                candidates.append(_Candidate(value, Section.DECISIONS, spoken, sentence))
    yield from _best(candidates, most)


def recent(index: int, length: int) -> float:
    """1 for the last message, half of it twenty messages ago, and so on."""
    return 1 / (1 + (length - index) / 20)


def substance(sentence: str) -> float:
    """How much a sentence names: numbers, names in code, proper names."""
    return min(len(_NAMED.findall(sentence[:LONGEST])), 4)


def _best(candidates: Iterable[_Candidate], most: int) -> Iterator[Item]:
    def rank(candidate: _Candidate) -> float:
        return candidate.value / (min(len(candidate.sentence.text), LONGEST) + 60)

    for candidate in nlargest(most, candidates, key=rank):
        spoken, sentence = candidate.spoken, candidate.sentence
        order = spoken.index + sentence.start / (len(spoken.text) + 1)
        if text := quote(sentence.text, _WHOLE):
            yield Item(candidate.section, f'"{text}"', (spoken.message_id,), order, candidate.value)


def _question(text: str) -> str:
    last = text.rstrip()[-LONGEST:]
    question = quote(last[max(last.rfind("\n"), last.rfind(". ")) + 1 :], 160) if last.endswith("?") else ""
    return question if len(question) > _SHORTEST_QUESTION else ""


def _decides(sentence: str) -> float:
    if len(sentence) < 20 or sentence.endswith(("?", ":")) or _PREAMBLE.match(sentence):
        return 0
    lower = sentence.lower()
    cue = next((weight for weight, pattern in _DECIDING if pattern.search(lower)), 0.0)
    named = substance(sentence)
    return cue + 0.5 * named if cue > 1 or named > 1 or (cue and named) else 0
