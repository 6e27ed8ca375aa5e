"""Exact words of a statement, such as hashes, addresses, dates and amounts: a mark where no message has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import cached_property

from compact.summaries.model.origin import ADDRESS
from compact.summaries.model.words import digits

UNREAD = " (?)"
"""Stands behind an exact word that stands in no message."""
_EXTENSION = (
    r"(?:pyi?|ipynb|[cm]?[jt]sx?|go|rs|java|kts?|[ch]pp|cs|rb|php|swift|sh|sql|jsonl?|toml|ya?ml|xml|html?|s?css|md|rst"
    r"|txt|csv|lock|cfg|ini|env|log|pdf|png|jpe?g|svg|zip|tar|gz|xlsx?|docx?|bak|diff|patch)"
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_EXACT = re.compile(
    rf"(?P<address>(?:https?://[^\s<>\"'`)\]]+|{ADDRESS.pattern}))"
    rf"|(?P<file>(?<![\w.*{{}}])[\w-][\w.-]*\.{_EXTENSION}(?![\w-]|\.\w))"
    r"|(?P<date>\b\d{4}-\d\d-\d\d(?!\d)|\b\d{1,2}\.\d{1,2}\.\d{4}\b"
    rf"|\b(?:{_MONTHS})\s\d{{1,2}},?\s\d{{4}}\b|\b\d{{1,2}}\s(?:{_MONTHS})\s\d{{4}}\b)"
    r"|(?P<amount>[$€£¥]\s?\d[\d.,]*\d|[$€£¥]\s?\d|\b\d[\d.,]*\s?[€£¥](?!\w)|\b\d[\d.,]*\s(?:EUR|USD|GBP|CHF|JPY)\b)"
    r"|(?P<id>(?<![\w./-])#?(?!\d+x\d+\b)(?=[\w-]*\d)(?=[\w-]*[A-Za-z])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\w{6,})(?![\w/-]))"
    r"|(?P<number>(?<![\w.,])\d{6,}(?![\w]|[.,]\d))",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d[\d.,]*")


class ExactWords:
    """The exact words of what was `read`, one line in small letters."""

    def __init__(self, read: str) -> None:
        self._read = read

    def mark_unread(self, text: str) -> tuple[str, list[str]]:
        """The text with a mark behind each exact word that was not read, and those words."""
        unread: list[str] = []

        def mark(found: re.Match[str]) -> str:
            word = found[0].rstrip(".,;:!?")
            if self._has(word, str(found.lastgroup)):
                return found[0]
            unread.append(word)
            return f"{word}{UNREAD}{found[0][len(word) :]}"

        return _EXACT.sub(mark, text.replace(UNREAD, "")), unread

    def _has(self, word: str, kind: str) -> bool:
        if self._begins_word(word.casefold()):
            return True
        if kind == "amount":
            return not self._figures.isdisjoint(map(digits, _NUMBER.findall(word)))
        return kind == "date" and any(map(self._begins_word, _spellings(word)))

    def _begins_word(self, word: str) -> bool:
        """True if a word begins with it: the short form of a hash stands where the hash does."""
        at = self._read.find(word)
        while at > 0 and self._read[at - 1].isalnum():
            at = self._read.find(word, at + 1)
        return at >= 0

    @cached_property
    def _figures(self) -> frozenset[str]:
        return frozenset(map(digits, _NUMBER.findall(self._read)))


def _spellings(word: str) -> Iterator[str]:
    """The ways in which a day is written, with or without its year."""
    found = re.findall(r"\d+|[A-Za-z]+", word)
    named = next((part for part in found if part.isalpha()), "")
    numbers = [int(part) for part in found if part.isdecimal()]
    month = _MONTHS.lower().split("|").index(named.lower()) + 1 if named else numbers[1]
    year, day = (numbers[0], numbers[2]) if numbers[0] > 31 else (numbers[-1], numbers[0])
    try:
        when = date(year, month, day)
    except ValueError:
        return
    for name in (f"{when:%B}".lower(), f"{when:%b}".lower()):
        yield from (f"{name} {day}", f"{day} {name}", f"{day}. {name}")
    yield from (
        f"{when:%Y-%m-%d}",
        f"{day:02}.{month:02}.",
        f"{day}.{month}.",
        f"{month}/{day}/",
        f"{month:02}/{day:02}/",
    )
    yield f"{when:%Y%m%d}"
