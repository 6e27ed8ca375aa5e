"""What the assistant decided, found out or reported, in its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compact.facts import Source, sentences_in
from compact.facts.sentences import word_count
from compact.summaries.candidates import Candidate, best, recent, substance
from compact.summaries.items import Item, Section
from compact.summaries.quoting import quote
from compact.summaries.reading import Reading, Utterance

_CONCLUDING = (
    r"root cause|\bthe (?:problem|issue|bug|cause|fix|solution|reason|key|answer) (?:is|was|here)\b|turns out"
    r"|\bdecid(?:ed|e to)\b|conclu(?:de|sion)|\bgo with\b|原因|问题(?:是|在于|出在)|決定|决定|結論|结论"
)
_REASONING = (
    r"\b(?:because|therefore|instead of|rather than|which means|this means|so that)\b"
    r"|\bi (?:found|recommend|chose|suggest)\b|\brecommend|因为|因此|所以|而不是|建议|発見|ため(?:に|です)|おすすめ"
)
_REPORTING = (
    r"\b(?:fixed|confirmed|verified|pass(?:es|ing)|works now|resolved|completed?|implemented|added|removed|renamed"
    r"|moved|created|updated|changed|successfully|booked|cancelled|refunded|reserved|scheduled)\b"
    r"|修复|已经|完成|改为|添加了|删除了|通过|修正|追加し|変更し|削除し|しました"
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
_COURTESY = re.compile(r"\b(?:how|what) (?:can|may) i (?:help|assist|do)\b|\banything else\b", re.IGNORECASE)
_SHORT_ANSWER = 40
_SHORTEST_QUESTION = 15
_SHORTEST_SENTENCE = 20
_FEWEST_WORDS = 6
_LONGEST_QUESTION = 160
_ASKED = ("?", "？")  # noqa: RUF001 - Chinese and Japanese


def answer_items(reading: Reading) -> Iterator[Item]:
    """Each short answer of the user with its question."""
    asked: Utterance | None = None
    for spoken in reading.utterances:
        if spoken.source is not Source.USER:
            asked = spoken if spoken.closing else None
            continue
        if asked and len(spoken.text) <= _SHORT_ANSWER and (question := _question(asked.text)):
            text = f'asked "{question}", {spoken.speaker or "the user"} answered "{quote(spoken.text)}"'
            ids, value = (asked.message_id, spoken.message_id), 4 + 4 * recent(spoken.index, reading.length)
            yield Item(Section.DECISIONS, text, ids, spoken.index, value, tier=1)
        asked = None


def decision_items(reading: Reading, most: int) -> Iterator[Item]:
    """The best sentences that decide, conclude or report."""
    candidates: list[Candidate] = []
    for spoken in reading.utterances:
        if spoken.source is not Source.USER:
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
        (len(lower) < _SHORTEST_SENTENCE and word_count(lower) < _FEWEST_WORDS)
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
    if not last.endswith(_ASKED):
        return ""
    start = max(last.rfind(end, 0, -1) for end in ("\n", ". ", *"。！？"))  # noqa: RUF001 - Chinese and Japanese
    question = quote(last[start + 1 :], _LONGEST_QUESTION)
    if _COURTESY.search(question):
        return ""
    return question if len(question) > _SHORTEST_QUESTION or word_count(question) > _FEWEST_WORDS // 2 else ""
