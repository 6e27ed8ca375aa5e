"""What a user told the model to do, or never to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from compact.facts.sentences import sentences_in


class Strength(IntEnum):
    """How much a sentence directs: a wish (should, prefer), a request (please, can you, do this), a rule (never)."""

    WISH = 1
    REQUEST = 2
    RULE = 3


class Directive(NamedTuple):
    """A sentence of a user that directs."""

    text: str
    start: int
    end: int
    strength: Strength


# A sentence without any of these words, and without an imperative at its start, is not looked at further. The lists
# hold the languages that people write to models in most.
_PRESCRIBING = """
mustn't mustn’t shall forbidden mandatory
muss müssen darf dürfen niemals immer unbedingt
doit doivent jamais toujours obligatoire
debe deben debes nunca siempre
deve devem sempre devi deves
должен должна должны нельзя никогда всегда обязательно
"""
_ASKING = """
must never always please pls don't don’t dont not sure need needs want can could should shouldn't shouldn’t would will
let's let’s lets prefer rather i'd i’d have only important
bitte soll sollte sollen brauche möchte kannst könnten lass nicht kein keine nur
plaît veuillez veux voudrais faut peux pouvez pas
favor quiero necesito puedes podrías quero preciso você favore voglio bisogna puoi
пожалуйста хочу надо нужно можешь давай не только
"""
_prescribing = frozenset(_PRESCRIBING.split())
_asking = frozenset(_ASKING.split())

_RULE = re.compile(
    r"\bmust\b(?! (?:say|admit|have|confess|be honest|feel|look|be so))"
    r"|(?:^|[,;:(–—-] ?|\b(?:and|but|so|please|then|just|also) )(?:do not|don['’]?t)\b"
    r"|(?:^|[,;:(–—-] ?|\b(?:please|should|shall|and|but) )(?:never|always)\b(?! mind)"
    r"|\b(?:make|be) sure\b(?! (?:i|we)\b)|^only\b|^important[:!]|\bonly (?:use|if|when|after)\b"
    r"|\bshouldn['’]t\b(?! have)|\bshould (?:not|only)\b(?! (?:just|have))"
    r"|\b(?:nicht|keine?|ne .{1,40} pas|ne pas|не)\b"
)
_REQUEST = re.compile(
    r"\b(?:please|pls|let['’]?s)\b|\b(?:can|could|would|will) (?:you|we|u)\b"
    r"|(?:^|[,;:.!(–—-] ?|\b(?:and|but|so|then|also|now|hi|yes|no) )(?:i|we|you)"
    r"(?:['’]d| would| do| really| just| also| still)? (?:need|want|have to|like you|like to|rather|prefer)\b"
    r"(?<!you want)(?! (?:to )?(?:share|say|tell|admit|talk|confess))"
    r"|\b(?:bitte|kannst du|könnten sie|lass uns|veuillez|peux-tu|pouvez-vous|por favor|puedes|podrías|você pode)\b"
    r"|\b(?:per favore|puoi|пожалуйста|можешь|давай|plaît)\b"
)
_WISH = re.compile(
    r"\bshould\b(?! have)|(?<!\bwe )(?<!\byou )(?<!\bthey )\bneeds? to\b|\bprefer\b|\bwould like\b"
    r"|\b(?:soll|sollten?|sollen|brauche|möchte|nur)\b"
    r"|\b(?:je veux|voudrais|il faut|quiero|necesito|hay que|quero|preciso|voglio|bisogna|хочу|надо|нужно|только)\b"
)
# Who tells a story directs nobody: "I felt that everything should be perfect".
_NARRATING = re.compile(r"\b(?:i|my|me|myself)\b")
_OTHER_SCRIPTS = re.compile(
    r"(必须|必須|不要|不能|不得|禁止|永远|总是|只能|务必|必ず|ないで|절대|항상|반드시|하지 마)"
    r"|请|需要|应该|希望|ください|お願い|したい|해 ?주세요|원해"
)
_FILLER = re.compile(
    r"(?:(?:ok|okay|yes|yeah|yep|no|please|and|then|now|also|first|next|finally|so|alright|great|thanks|hmm+|well|just|but)\b"
    r"[\s,.:!-]{0,3}+){0,4}"
)
_VERBS = """
add adjust allow analyse analyze answer apply ask assume avoid bring build bump cancel change check choose clean close
combine commit compare complete consider continue convert copy correct create debug define delete deploy describe
design disable document double-check download draft drop edit enable ensure examine execute expand explain explore
export extend extract file fill find finish fix focus follow format generate get give go group handle have help hide
identify ignore implement import improve include increase insert install integrate investigate keep kill launch leave
limit list load look make mark mention merge migrate move open optimise optimize pass pick plan port proceed propose
provide publish pull push put read rebase recheck redo reduce refactor reject release remember remove rename reorder
repeat replace reply report reproduce rerun reset resolve respond restart restore return revert review rewrite run
save scan search select send set shorten show skip solve sort split start stop submit suggest summarise summarize
support switch tell test translate treat try turn undo update upgrade use validate verify wait wrap write
"""
_NOUNS = "design document file format list plan report test"
_DETERMINER = re.compile(
    r"[\s,]{1,3}(?:the|this|that|these|those|it|them|all|each|every|only|an?|my|our|for|with|if|me|to)\b"
)
_verbs = frozenset(_VERBS.split())
_nouns = frozenset(_NOUNS.split())
_WORDS = re.compile(r"[^\W\d_][\w'’-]*")
_PART_OF_NAME = re.compile(r":|[./=(]\w")  # `reproduce.py` and `run: ok` command nothing
_NUMBERED = re.compile(r"\d{1,6}[:→|]|File \"|\w+\.\w{1,5}:\d")
_LOOK = 300


def directives_in(text: str) -> Iterator[Directive]:
    """The sentences of a user's text that direct, outside fenced code."""
    for span in sentences_in(text):
        if _is_code(span.text):
            continue
        strength = _strength(span.text[:_LOOK].lower())
        if strength:
            yield Directive(*span, strength)


def _is_code(line: str) -> bool:
    """Whether a line was pasted from a program or a log: a word in it commands nobody."""
    head = line[:_LOOK]
    return sum(map(str.isalpha, head)) + head.count(" ") < 0.7 * len(head) or _NUMBERED.match(head) is not None


def _strength(sentence: str) -> Strength | None:
    words = _WORDS.findall(sentence)
    if not _prescribing.isdisjoint(words):
        return Strength.RULE
    if not _asking.isdisjoint(words):
        if _RULE.search(sentence):
            return Strength.RULE
        if _REQUEST.search(sentence):
            return Strength.REQUEST
        if _WISH.search(sentence) and not _NARRATING.search(sentence):
            return Strength.WISH
    if not sentence.isascii() and (found := _OTHER_SCRIPTS.search(sentence)):
        return Strength.RULE if found[1] else Strength.REQUEST
    return Strength.REQUEST if _is_imperative(sentence) else None


def _is_imperative(sentence: str) -> bool:
    filler = _FILLER.match(sentence)
    verb = _WORDS.match(sentence, filler.end() if filler else 0)
    if verb is None or verb[0].removeprefix("re-") not in _verbs or _PART_OF_NAME.match(sentence, verb.end()):
        return False
    # "Test results" is a heading, "test it" and a mere "test" are not.
    return verb[0] not in _nouns or verb.end() == len(sentence) or _DETERMINER.match(sentence, verb.end()) is not None
