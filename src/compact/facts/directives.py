"""What a user told the model to do, or never to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
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
mustn't mustn’t forbidden mandatory
muss müssen darf dürfen niemals immer unbedingt
doit doivent jamais toujours obligatoire
debe deben debes nunca siempre
deve devem sempre devi deves
должен должна должны нельзя никогда всегда обязательно
"""
_ASKING = """
must never always shall please pls don't don’t dont not sure need needs want can could should shouldn't shouldn’t
would will let's let’s lets prefer rather i'd i’d have only important
bitte soll sollte sollen brauche möchte kannst könnten lass nicht kein keine nur
plaît veuillez veux voudrais faut peux pouvez pas
favor quiero necesito puedes podrías quero preciso você favore voglio bisogna puoi
пожалуйста хочу надо нужно можешь давай не только
"""
# Each of these has a word in all that the pattern of its name finds; looking words up takes a tenth of the time.
_RULING = """
must shall never always don't don’t dont not sure only important should shouldn't shouldn’t nicht kein keine pas не
"""
_WISHING = """
should need needs prefer like soll sollte sollten sollen brauche möchte nur veux voudrais faut quiero necesito hay
quero preciso voglio bisogna хочу надо нужно только
"""
_LASTING = """
now forward henceforth here answer reply respond write speak talk
"""
_prescribing, _asking, _ruling, _wishing, _lasting = (
    frozenset(words.split()) for words in (_PRESCRIBING, _ASKING, _RULING, _WISHING, _LASTING)
)

_RULE = re.compile(
    r"\bshall\b(?! (?:i|we)\b)|\bmust\b(?! (?:say|admit|have|confess|be honest|feel|look|be so))"
    # Who does not know or like something forbids nothing.
    r"|(?:^|[,;:(–—-] ?|\b(?:and|but|so|please|then|just|also) )(?:do not|don['’]?t)\b"
    r"(?! (?:really |even |quite |yet |actually )?(?:know|like|think|have|understand|see|remember|care|mind|feel"
    r"|believe|want|need|agree|love|recall|seem|you(?! (?:dare|ever)))\b)"
    r"|(?:^|[,;:(–—-] ?|\b(?:please|should|shall|and|but) )(?:never|always)\b(?! mind)"
    r"|(?<!\bi )(?<!\bi will )(?<!\bi['’]ll )\b(?:make|be) sure\b(?! (?:i|we)\b)"
    r"|^only\b|^important[:!]|\bonly (?:use|if|when|after)\b"
    r"|\bshouldn['’]t\b(?! (?:have|i|we|you|it|he|she|they|be (?:too |so |that )?(?:hard|difficult|long|a problem))\b)"
    r"|\bshould (?:not|only)\b(?! (?:just|have))"
    r"|\b(?:nicht|keine?|ne .{1,40} pas|ne pas|не)\b"
)
_REQUEST = re.compile(
    r"\b(?:please|pls|let['’]?s)\b|\b(?:can|could|would|will) (?:you|we|u)\b|\bif you (?:can|could|would)\b"
    r"|\bwould be (?:nice|lovely|great|good|cool|helpful|ideal|best) if\b"
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
_RECOUNTING = re.compile(
    r"\bi(?:['’]ve| have)? (?:\w+ly |also |even )?(?!(?:decided|agreed|asked|wanted|needed|expected|promised)\b)"
    r"(?:\w{3,}ed|found|felt|saw|thought|knew|began|got|went)\b"
)
_TELLING = re.compile(r"\bfrom now on,? i\b|\bi(?:['’]ll| will| am going to)\b")
# What holds from now on, whether or not it was done once: a ban, a limit, a choice, a language, a correction.
_STANDING = re.compile(
    r"\b(?:from now on|henceforth|from here on)\b|(?:^|[,;:] )going forward\b|\bgoing forward(?:[:.!]|$)"
    r"|\b(?:answer|reply|respond|write|speak|talk)(?: to me)? in"
    r" (?!(?:the|a|an|this|that|my|your|one|more|less|detail)\b)\w+[.!]?$"
)
_STANDING_FIRST = re.compile(
    r"no more \w"
    r"|(?:please )?no (?!(?:\w+ )?(?:problems?|idea|worries|thanks?|need|one|way|wonder|doubt|luck|longer|matter|clue"
    r"|kidding|rush|hurry|pressure|big|errors?|changes?|difference|response|reply|results?|output|success|joke|such|go|it"
    r"|i|we|you|he|she|they|that|this|the|not|but|so|more|can|do|please|use|let|yes|sorry|wait|stop|don['’]?t)\b)"
    r"(?!.*\b(?:named|found|ran|available|left|given|specified|matching|exists?|was|were|is|are|works?|worked)\b)"
    r"[\w'’-]+(?: [\w'’-]+){0,3}[.!]?$"
    r"|(?!not |read |if )[\w'’-]+(?: [\w'’-]+){0,3} only(?:,? please)?[.!]?$"
    r"|(?:(?:no|nope|hm+|sorry|actually|wait)\b[\s,.!-]{0,3})*(?:wrong\b|incorrect\b"
    r"|not (?:that|this|these|those|what i)\b|that(?:['’]s| is| was) (?:not|wrong)|i meant\b"
    r"|(?<=\W)i (?:said|asked for)\b)"
    r"|(?:yes|yeah|yep|ok|okay|sure|fine|good|great)\b[\s,.!-]{1,3}(?:but|except|only|as long as|without)\b"
    r"(?! (?:i (?:did|do|have|was|am|also|think|feel|felt|had)|then (?:when|it|that))\b)"
    r"|(?:réponds|répondez|parle|écris)\b.{0,40}\ben \w|(?:antworte|schreib|sprich)\w*\b.{0,40}\bauf \w"
    r"|(?:responde|contesta|escribe)\w*\b.{0,40}\be[nm] \w|(?:rispondi|scrivi)\b.{0,40}\bin \w"
    r"|(?:отвечай|пиши)\b.{0,40} на \w"
)
_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|any ?more|every time|at all times)\b"
    r"|[,(–—-] ?(?:no|not(?! (?:just|only|merely)\b)) \w"
    r"|\bonly(?: \w+)?[.!]?$"
)
_OTHER_RULES = re.compile(
    r"必须|必須|(?<!要)不要|(?<![我能们])不能|不得|不可以|不许|不准|禁止|永远|总是|只能|只用|仅用|务必|绝不|绝对|一律"
    r"|切勿|请勿|(?<![特区分类级性个识告差鉴判])别(?![的人处名])|从现在(?:起|开始)|今后|以后(?:都|请|要)|而不是|改用"
    r"|用(?:中文|英文|日文)|必ず|ないで|してはいけ|するな|絶対|今後|これからは|ではなく|日本語で|英語で|のみ(?:使|で)"
    r"|절대|항상|반드시|하지 ?마|말고|앞으로|한국어로"
)
_OTHER_REQUESTS = re.compile(
    r"请|帮[我忙]|麻烦|能[否不]|需要|应该|希望|ください|お願い|したい|して(?:欲|ほ)しい|해 ?주세요|해 ?줘|원해"
)
_FILLER = re.compile(
    r"(?:(?:ok|okay|yes|yeah|yep|no(?=\s?[,.:;!–—-])|please|and|then|now|also|first|next|finally|so|alright|great"
    r"|thanks|hmm+|well|just|but)\b[\s,.:!-]{0,3}+){0,4}"
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
_WORDS = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
_PART_OF_NAME = re.compile(r":|[./=(]\w")  # `reproduce.py` and `run: ok` command nothing
_NUMBERED = re.compile(r"\d{1,6}[:→|]|File \"|\w+\.\w{1,5}:\d")
_LOOK = 300
_NO_LETTERS = bytes(sign for sign in range(128) if not (chr(sign).isalpha() or sign == ord(" ")))


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
    if head.isascii():  # ten times faster so
        letters = len(head.encode().translate(None, _NO_LETTERS))
    else:
        letters = sum(map(str.isalpha, head)) + head.count(" ")
    return letters < 0.7 * len(head) or _NUMBERED.match(head) is not None


@lru_cache(4096)
def _strength(sentence: str) -> Strength | None:
    words = _WORDS.findall(sentence)
    if not _prescribing.isdisjoint(words) or (_stands(sentence, words) and not _TELLING.search(sentence)):
        return Strength.RULE
    if not _asking.isdisjoint(words):
        if not _ruling.isdisjoint(words) and _rules(sentence):
            return Strength.RULE
        if _REQUEST.search(sentence):
            return _asked(sentence)
        if not _wishing.isdisjoint(words) and _WISH.search(sentence) and not _NARRATING.search(sentence):
            return Strength.WISH
    if not sentence.isascii():
        if _OTHER_RULES.search(sentence):
            return Strength.RULE
        if _OTHER_REQUESTS.search(sentence):
            return Strength.REQUEST
    return _asked(sentence) if _is_imperative(sentence) else None


def _rules(sentence: str) -> bool:
    """Whether something must or must not be; not where people tell what they saw or learned of it."""
    found = _RULE.search(sentence)
    if found is None:
        return False
    told = found[0].startswith(("must", "should", "only")) and _RECOUNTING.search(sentence, 0, found.start())
    return not told or "you" in sentence


def _stands(sentence: str, words: list[str]) -> bool:
    if _STANDING_FIRST.match(sentence):
        return True
    return not _lasting.isdisjoint(words) and _STANDING.search(sentence) is not None


def _asked(sentence: str) -> Strength:
    """A request is a rule where it says what to do in place of something else: that is not done with once."""
    return Strength.RULE if _INSTEAD.search(sentence) else Strength.REQUEST


def _is_imperative(sentence: str) -> bool:
    filler = _FILLER.match(sentence)
    verb = _WORDS.match(sentence, filler.end() if filler else 0)
    if verb is None or verb[0].removeprefix("re-") not in _verbs or _PART_OF_NAME.match(sentence, verb.end()):
        return False
    # "Test results" is a heading, "test it" and a mere "test" are not.
    return verb[0] not in _nouns or verb.end() == len(sentence) or _DETERMINER.match(sentence, verb.end()) is not None
