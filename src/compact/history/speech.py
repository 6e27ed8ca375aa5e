"""What kind of thing a sentence says: an order, a correction, a reason, an announcement; in eight languages."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files

from compact.facts import sentences_in

QUESTION_MARKS = ("?", "？", "؟")  # noqa: RUF001 - the marks themselves

_LONGEST_TEXT = 40_000
_OPENING = re.compile(
    r"(?:(?:now|first|next|then|ok(?:ay)?|good|great|perfect|so|and|alright)\b[\s,.!:—-]{1,3}){0,3}", re.IGNORECASE
)
_SHORT = 160
_LETTERS = re.compile(r"[a-zà-ÿа-яё(]", re.IGNORECASE)
_VOWELS = re.compile("[\u064b-\u0652]")
"""Marks that Arabic is written with or without."""


def orders(text: str) -> bool:
    """Whether something is to be done always, or never."""
    return _words("ordering").search(_VOWELS.sub("", text)) is not None


def share_of_reasons(text: str) -> float:
    """The part of the sentences that tells a decision, a reason, or what speaks against something."""
    said = [span.text for span in sentences_in(text[:_LONGEST_TEXT])]
    telling = (_words("deciding").search(each) or _words("explaining").search(each) for each in said)
    return sum(map(bool, telling)) / max(len(said), 1)


def narrates(text: str) -> bool:
    """Whether somebody speaks of themselves."""
    return _words("narrating").search(text) is not None


def corrects(text: str) -> bool:
    """Whether a person takes something back that was said before, or puts something else in its place."""
    text = _VOWELS.sub("", text)
    if _words("correcting").search(text):
        return True
    if not _words("replacing").search(text):
        return False
    said = (span.text for span in sentences_in(text))
    return any(_words("replacing").search(each) and not _words("narrating").search(each) for each in said)


def explains(text: str) -> bool:
    """Whether a reason is given."""
    return _words("explaining").search(text) is not None


def leans(sentence: str) -> bool:
    """Whether a sentence needs the one before it to be understood."""
    return _words("leaning").match(sentence) is not None


def without_announcements(text: str) -> str:
    """The text without sentences that only announce what the speaker does next, where they are short."""
    kept = [line for line in text.split("\n") if line.strip()]
    lines = []
    for line in kept:
        spans = list(sentences_in(line))
        said = [span.text for span in spans if not (len(span.text) <= _SHORT and _announces(span.text))]
        lines.append(line if len(said) == len(spans) else " ".join(said))
    return "\n".join(line for line in lines if line.strip())


def _announces(sentence: str) -> bool:
    found = _OPENING.match(sentence)
    return _words("announcing").match(sentence, found.end() if found else 0) is not None


@cache
def _words(kind: str) -> re.Pattern[str]:
    """The words of a kind in all languages."""
    table = tomllib.loads((files(__package__) / "speech.toml").read_text(encoding="utf-8"))
    words = [word for language in table[kind].values() for word in language]
    spelled = "|".join(word for word in words if _LETTERS.match(word))
    others = [word for word in words if not _LETTERS.match(word)]
    # Letters are tried where a word begins, and nowhere else.
    return re.compile("|".join([rf"\b(?:{spelled})\b", *others]), re.IGNORECASE)
