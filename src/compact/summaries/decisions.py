"""What the assistant decided, found out or reported, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compact.facts import Source, sentences_in
from compact.summaries.candidates import Candidate, best, recent, substance
from compact.summaries.items import Item, Section
from compact.summaries.quoting import quote
from compact.summaries.reading import Reading, Utterance

_CONCLUDING = (
    r"root cause|\bthe (?:problem|issue|bug|cause|fix|solution|reason|key|answer) (?:is|was|here)\b|turns out"
    r"|\bdecid(?:ed|e to)\b|conclu(?:de|sion)|\bgo with\b"
)
_REASONING = (
    r"\b(?:because|therefore|instead of|rather than|which means|this means|so that)\b"
    r"|\bi (?:found|recommend|chose|suggest)\b|\brecommend"
)
_REPORTING = (
    r"\b(?:fixed|confirmed|verified|pass(?:es|ing)|works now|resolved|completed?|implemented|added|removed|renamed"
    r"|moved|created|updated|changed|successfully|booked|cancelled|refunded|reserved|scheduled)\b"
)
_QUALIFYING = r"\b(?:must|should|cannot|never|always|only|need to|will|won't|doesn't|isn't|note|however)\b"
_CUES = ((3.0, _CONCLUDING), (2.5, _REASONING), (2.0, _REPORTING), (1.0, _QUALIFYING))
_DECIDING = tuple((weight, re.compile(cue)) for weight, cue in _CUES)
_PREAMBLE = re.compile(
    r"(?:(?:now|ok|okay|great|perfect|good|first|next|then|excellent|alright|sure)[,!. ]{1,3})*"
    r"(?:let me|let's|i'll|i will|i'm going to|now i|i need to|i can see|here's|here is|would you like|want me to"
    r"|feel free|is there anything|you're welcome|how can i|do you|to get started|could you|please provide|please share"
    r"|can you)\b"
)
_SHORT_ANSWER = 40
_SHORTEST_QUESTION = 15
_SHORTEST_SENTENCE = 20
_LONGEST_QUESTION = 160


def decision_items(reading: Reading, most: int) -> Iterator[Item]:
    """The best sentences that decide, conclude or report; and each short answer of the user with its question."""
    asked: Utterance | None = None
    candidates: list[Candidate] = []
    for spoken in reading.utterances:
        if spoken.source is Source.USER:
            if asked and len(spoken.text) <= _SHORT_ANSWER and (question := _question(asked.text)):
                text = f'asked "{question}", the user answered "{quote(spoken.text)}"'
                value = 4 + 4 * recent(spoken.index, reading.length)
                yield Item(Section.DECISIONS, text, (asked.message_id, spoken.message_id), spoken.index, value)
            asked = None
            continue
        asked = spoken if spoken.closing else None
        candidates += _decisions(spoken, 1.5 * spoken.closing + 3 * recent(spoken.index, reading.length))
    yield from best(candidates, most)


def _decisions(spoken: Utterance, bonus: float) -> Iterator[Candidate]:
    for sentence in sentences_in(spoken.text):
        is_heading = "#" in spoken.text[max(0, sentence.start - 5) : sentence.start]
        if not is_heading and (worth := _worth(sentence.text)):
            yield Candidate(Section.DECISIONS, spoken, sentence, worth + bonus)


def _worth(sentence: str) -> float:
    lower = sentence.lower()
    if (
        len(lower) < _SHORTEST_SENTENCE
        or lower.count("|") > 1
        or lower.rstrip("*_ ").endswith(("?", ":"))
        or _PREAMBLE.match(lower)
    ):
        return 0
    cue = next((weight for weight, pattern in _DECIDING if pattern.search(lower)), 0.0)
    named = substance(sentence)
    return cue + 0.5 * named if cue > 1 or named > 1 or (cue and named) else 0


def _question(text: str) -> str:
    last = text.rstrip()[-2 * _LONGEST_QUESTION :]
    question = (
        quote(last[max(last.rfind("\n"), last.rfind(". ")) + 1 :], _LONGEST_QUESTION) if last.endswith("?") else ""
    )
    return question if len(question) > _SHORTEST_QUESTION else ""
