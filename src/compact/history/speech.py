"""What kind of thing a sentence says: an order, a correction, a reason, an announcement; in eight languages."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from compact.facts import directives_in, sentences_in

QUESTION_MARKS = ("?", "？", "؟")  # noqa: RUF001 - the marks themselves

_AGREED = re.compile(r"(?:n['’]t (?:it|you|they|we|that)(?: (?:think|agree|say))?|, right|you know)\?$", re.IGNORECASE)
_LONGEST_TEXT = 40_000
_OPENING = re.compile(
    r"(?:(?:now|first|next|then|ok(?:ay)?|good|great|perfect|so|and|alright)\b[\s,.!:—-]{1,3}){0,3}", re.IGNORECASE
)
_CLAUSE = re.compile(r"[,;(—–،、，]|\b(?:which|that|because|since|die|que|qui|который)\b")  # noqa: RUF001 - commas
_ENGLISH = re.compile(r"\b(?:the|and|of|is|it|was|that|to)\b")
_SHORT, _CORRECTION = 160, 80
_LETTERS = re.compile(r"[a-zà-ÿа-яё(]")
_LATIN = frozenset(("en", "de", "fr", "es"))
"""The languages whose texts may be all ASCII."""
_VOWELS = re.compile("[\u064b-\u0652]")
"""Marks that Arabic is written with or without."""


@lru_cache(4096)
def orders(sentence: str) -> bool:
    """Whether something is to be done always, or never; or what is said is called a rule."""
    if sentence.rstrip().endswith(QUESTION_MARKS):
        return False
    plain = _plain(sentence)
    return _says("ruling", plain) or (_says("ordering", plain) and not _says("telling", plain))


def generalizes(request: str) -> bool:
    """Whether a request holds for all cases, so that it is a rule: what its first clause says."""
    if request.rstrip().endswith(QUESTION_MARKS):
        return False
    return _says("universal", _CLAUSE.split(_plain(request), maxsplit=1)[0])


def share_of_reasons(text: str) -> float:
    """The part of the sentences that tells a decision, a reason, or what speaks against something."""
    said = [span.text for span in sentences_in(text[:_LONGEST_TEXT])]
    return sum(decides(each) or explains(each) for each in said) / max(len(said), 1)


def decides(text: str) -> bool:
    """Return True if a choice is told, or who agreed to it."""
    return _says("deciding", _plain(text))


def narrates(text: str) -> bool:
    """Whether somebody speaks of themselves."""
    return _says("narrating", _plain(text))


def recounts(sentence: str) -> bool:
    """Whether people say what they did, began or gave up, or what they want now."""
    return _says("happening", _plain(sentence))


def corrects(text: str) -> bool:
    """Whether a person takes something back that was said before, or puts something else in its place."""
    plain = _plain(text)
    if _says("correcting", plain):
        return True
    if not _says("replacing", plain):
        return False
    said = (span.text for span in sentences_in(plain))
    return any(_says("replacing", each) and _replaces(each) for each in said)


def _replaces(sentence: str) -> bool:
    """Whether the sentence directs, or is short enough to be a correction; a story is neither."""
    if _says("narrating", sentence):
        return False
    return len(sentence) <= _CORRECTION or not _ENGLISH.search(sentence) or any(directives_in(sentence))


def explains(text: str) -> bool:
    """Whether a reason is given."""
    return _says("explaining", _plain(text))


def asks(sentence: str) -> bool:
    """Whether a sentence is a question that wants an answer; "isn't it?" only wants agreement."""
    return sentence.endswith(QUESTION_MARKS) and not _AGREED.search(sentence)


def leans(sentence: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    plain = _plain(sentence)
    return any(words.match(plain) for words in _words("leaning", latin=plain.isascii()))


def answers(text: str) -> bool:
    """Whether a text says little to one who does not know the question: it begins with "Yes", or leans on it."""
    plain = _plain(text)
    return leans(text) or any(words.match(plain) for words in _words("answering", latin=plain.isascii()))


def without_announcements(text: str) -> str:
    """The text without sentences that only announce what the speaker does next, where they are short."""
    kept = [line for line in text.split("\n") if line.strip()]
    lines = []
    for line in kept:
        spans = list(sentences_in(line))
        said = [span.text for span in spans if not (len(span.text) <= _SHORT and _announces(span.text))]
        lines.append(line if len(said) == len(spans) else " ".join(said))
    return "\n".join(line for line in lines if line.strip())


@cache
def common_words() -> frozenset[str]:
    """Words that say nothing about what is asked, in lower case."""
    return frozenset(word for words in _table()["common"].values() for word in words)


def _announces(sentence: str) -> bool:
    plain = _plain(sentence)
    found = _OPENING.match(plain)
    return any(words.match(plain, found.end() if found else 0) for words in _words("announcing", latin=plain.isascii()))


def _plain(text: str) -> str:
    """The text as words are looked for in it: in lower case, without the marks that Arabic may be written with."""
    return text.lower() if text.isascii() else _VOWELS.sub("", text).lower()


def _says(kind: str, plain: str) -> bool:
    for words in _words(kind, latin=plain.isascii()):  # noqa: SIM110 - any() takes a third more time
        if words.search(plain):
            return True
    return False


@cache
def _words(kind: str, *, latin: bool) -> tuple[re.Pattern[str], ...]:
    """The words of a kind: of the languages that a text in those letters can be in."""
    table = _table()[kind]
    chosen = [word for language, words in table.items() if not latin or language in _LATIN for word in words]
    spelled = "|".join(word for word in chosen if _LETTERS.match(word))
    others = "|".join(word for word in chosen if not _LETTERS.match(word))
    # Letters are tried where a word begins, and nowhere else.
    found = [rf"\b(?:{spelled})\b" if spelled else "", others]
    return tuple(re.compile(each) for each in found if each)


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((files(__package__) / "speech.toml").read_text(encoding="utf-8"))
