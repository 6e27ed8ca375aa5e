"""What the user said: what was asked for, in the user's own words, and what else is worth knowing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from compact.facts import Directive, Source, Span, Strength, directives_in, sentences_in
from compact.facts.sentences import word_count
from compact.summaries.candidates import LONGEST_QUOTE, Candidate, best, recent, substance
from compact.summaries.items import Item, Section
from compact.summaries.quoting import quote, shorten
from compact.summaries.reading import Reading, Utterance

ANSWERED = ", answered"
_RULES_A_TURN = 6
_FIRST_WORDS = 80
_SHORT_TURN = 40  # words: so many are taken whole, whatever they say
_CHATTER = 7
_NOTHING_SAID = re.compile(
    r"\W*(?:(?:ok|okay|yes|yeah|please|great|thanks|now|just)\W+)*"
    r"(?:continue|go on|go ahead|proceed|next|keep going|carry on|do it|/\w+)(?: please)?\W*",
    re.IGNORECASE,
)
_PLEASANTRIES = re.compile(
    r"\W*(?:(?:ok(?:ay)?|yes|yeah|yep|yup|no|nope|thanks?|thank you|thx|great|good|nice|cool|perfect|awesome|amazing"
    r"|excellent|wow|hi|hello|hey|sure|fine|right|bye|goodbye|lol|ha(?:ha)*|please|so much|very much|a lot|again|got it"
    r"|i see|understood|sounds (?:good|great)|looks good|lgtm|good (?:morning|evening|afternoon|night|job|work)"
    r"|well done|that(?:['’]s| is) (?:great|good|fine|nice|all|it|right|perfect)|how are you|there|you too"
    r"|好的?|谢谢|嗯|はい|ありがとう|danke|merci|gracias|ja|oui|si|sí|да|спасибо)\b\W*)+",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"[A-Z][\w ]{0,30}: ")
_PERSONAL = re.compile(
    r"\b(?:my|i'm|i am|i've|i have|i was|i like|i love|i prefer|i hate|name is|i live|i work|allergic|birthday|i bought"
    r"|i decided|i started|i went|i joined|i tried)\b",
    re.IGNORECASE,
)


def user_items(reading: Reading, most: int, kept: Collection[str] = (), told: Collection[int] = ()) -> Iterator[Item]:
    """The user's turns: short ones whole, of long ones what directs, then the best of what else they say.

    Of those that are kept elsewhere, only the first words; `told` are the places of those whose answers are told.
    """
    turns = [_as_kept(spoken, kept) for spoken in reading.utterances if spoken.source is Source.USER]
    yield from _sent([*(turn for turn in reading.sent if turn.message_id not in kept), *turns], reading.length)
    answered = _answered(reading.utterances)
    candidates: list[Candidate] = []
    for turn in turns:
        if turn is not turns[-1] and _NOTHING_SAID.fullmatch(turn.text):
            continue  # it only moved things on
        recency = recent(turn.index, reading.length) + 0.75 * (turn is turns[0] or turn is turns[-1])
        found = list(directives_in(turn.text))
        if not found and turn is turns[0] and word_count(turn.text) > 1 and (reading.actions or _worth(turn.text)):
            # Whatever it looks like, it made the assistant act, or is what the talk is about.
            found = [Directive(*sentence, Strength.REQUEST) for sentence in islice(sentences_in(turn.text), 1)]
        note = ANSWERED if turn.index in answered else ""
        if found and turn.message_id in kept:
            words = Span(shorten(turn.text.strip(), _FIRST_WORDS), 0, len(turn.text))
            candidates.append(_asked(turn, words, strongest(found), recency, note))
            continue
        if found and _is_short(turn):
            candidates.append(_asked(turn, _whole(turn), strongest(found), recency, note))
            continue
        if not found and _is_short(turn) and word_count(turn.text) <= _SHORT_TURN:
            if turn.index not in told and not _says_nothing(turn):
                value = _worth(turn.text) + 2 * recency
                candidates.append(Candidate(Section.SAID, turn, _whole(turn), value, tier=1))
            continue
        candidates += _directives(turn, found, recency, note)
        candidates += _said(turn, {directive.start for directive in found}, recency)
    yield from best(candidates, most)


def strongest(found: Iterable[Directive]) -> Strength:
    return max((directive.strength for directive in found), default=Strength.WISH)


def tier_of(strength: Strength) -> int:
    return 2 if strength is Strength.RULE else 1


def value_of(strength: Strength, recency: float) -> float:
    """What is asked for is worth by how binding and how recent it is."""
    return 3 + 2 * strength + 4 * recency


def answer(item: Item) -> Item:
    """The item marked as answered, if it is a request: a rule stays in force."""
    return replace(item, note=ANSWERED) if item.tier == 1 and item.section is Section.DIRECTIVES else item


def _as_kept(turn: Utterance, kept: Collection[str]) -> Utterance:
    """The turn; of one that goes on standing beside the summary, nothing is out of sight."""
    return replace(turn, beside="") if turn.message_id in kept else turn


def _sent(turns: Iterable[Utterance], length: int) -> Iterator[Item]:
    """A line for images and files, where no quote tells of them."""
    for turn in turns:
        if turn.beside and not (turn.text and _is_short(turn)):
            text = turn.named(f"sent {turn.beside}, no longer shown")
            yield Item(Section.SAID, text, (turn.message_id,), turn.index, 1 + 2 * recent(turn.index, length), tier=1)


def _says_nothing(turn: Utterance) -> bool:
    words = quote(turn.text, LONGEST_QUOTE)
    return not words or bool(_PLEASANTRIES.fullmatch(words) or _NOTHING_SAID.fullmatch(words))


def _is_short(turn: Utterance) -> bool:
    """Whether a turn can be quoted whole."""
    return len(turn.text) <= LONGEST_QUOTE and "```" not in turn.text


def _asked(turn: Utterance, span: Span, strength: Strength, recency: float, note: str) -> Candidate:
    tier = tier_of(strength)
    value = value_of(strength, recency)
    return Candidate(Section.DIRECTIVES, turn, span, value, tier, note if tier == 1 else "")


def _directives(turn: Utterance, found: list[Directive], recency: float, note: str) -> Iterator[Candidate]:
    """Of a long turn, which is mostly pasted: the first rules, the first and the last request; others may follow."""
    rules = [directive for directive in found if directive.strength is Strength.RULE][:_RULES_A_TURN]
    requests = [directive for directive in found if directive.strength is Strength.REQUEST]
    binding = {*rules, *requests[:1], *requests[-1:]}
    for directive in found:
        announces = directive.text.endswith(":")
        if directive in binding:
            # A sentence that announces a list is nothing without it.
            text = turn.text[directive.start :][: 2 * LONGEST_QUOTE] if announces else directive.text
            yield _asked(turn, Span(text, directive.start, directive.end), directive.strength, recency, note)
        elif not announces:
            value = directive.strength + 3 * recency
            yield Candidate(Section.DIRECTIVES, turn, Span(*directive[:3]), value)


def _said(turn: Utterance, told: set[int], recency: float) -> Iterator[Candidate]:
    """What a turn says beside its directives: the first sentence tells most, each further one less."""
    if not told and len(turn.text) <= LONGEST_QUOTE:
        if worth := _worth(turn.text):
            yield Candidate(Section.SAID, turn, _whole(turn), worth + 2 * recency)
        return
    rank = 0
    for sentence in sentences_in(turn.text):
        if sentence.start not in told and _is_prose(sentence.text) and (worth := _worth(sentence.text)):
            rank += 1
            # Of a turn that asks for nothing, one sentence is as good as a short turn.
            tier = 1 if rank == 1 and not told else 0
            yield Candidate(Section.SAID, turn, sentence, (1.5 + worth) / rank + 2 * recency, tier)


def _worth(text: str) -> float:
    """What a statement is worth: what it names, what it tells of the user; thanks and the like are worth nothing."""
    text = _SPEAKER.sub("", text.strip())
    words = word_count(text.strip(" .,!?-"))
    if words < 2:
        return 0
    told = substance(text) + 1.5 * _is_personal(text)
    return told + 0.5 if told or words > _CHATTER else 0


def _whole(turn: Utterance) -> Span:
    return Span(turn.text, 0, len(turn.text))


def _is_personal(text: str) -> bool:
    return _PERSONAL.search(text) is not None


def _is_prose(line: str) -> bool:
    """Whether people talk like this: users paste logs and code, too."""
    words, spaces = word_count(line), line.count(" ")
    return words > 3 and sum(map(str.isalpha, line)) + spaces > 0.85 * len(line) and not line.startswith("at ")


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
