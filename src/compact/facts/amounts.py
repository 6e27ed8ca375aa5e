"""Numbers that say something: amounts, sizes, dates, ids; not the numbers of lines, of items in a list, indices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from compact.facts.sentences import Span

_UNITS = """
% ms s sec secs second seconds min mins minute minutes h hr hrs hour hours day days week weeks month months year years
b kb mb gb tb kib mib gib bytes byte px pt rem em fps hz khz mhz ghz k m km cm mm kg g lb lbs miles usd eur gbp
dollars euros cents percent tokens token lines files tests times people persons am pm
"""
_COUNTED = "line lines ln col column offset limit step item page chunk task phase part section"
_units = frozenset(_UNITS.split())
_counted = frozenset(_COUNTED.split())

# Begins with a digit and nothing optional, which the engine finds fastest; what stands before is looked at after.
_TOKEN = re.compile(r"\d[\w.,:/-]*%?")
_SHAPE = re.compile(
    r"(\d{4}[-/]\d\d?(?:[-/]\d\d?)?|\d\d?/\d\d?/\d{2,4}|\d\d?:\d\d(?::\d\d)?|(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)(%|[A-Za-z]{1,4})?"
)
_NEXT_WORD = re.compile(r" ?(%|[A-Za-z]{1,8}\b)")
_COUNTED_BEFORE = re.compile(r"([A-Za-z]{1,8})[\s\"':=#.(~-]{0,4}\Z")
_FILE_BEFORE = re.compile(r"\.\w{1,5}:\Z")
_AFTER_POSITION = frozenset("\t→:|│).-+,")
_GLUE = frozenset("._/@\\#-")
_LONGEST = 40
_REMEMBERED = 1 << 12


def numbers_in(text: str) -> Iterator[Span]:
    """The numbers of a text, with the unit that follows them, without separators of thousands."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        # A single digit counts or numbers something nearby; alone it says nothing.
        if len(token) == 1 and text[match.end() : match.end() + 1] not in (" ", "%"):
            continue
        start = match.start()
        before = text[start - 1 : start]
        if before.isalnum() or (before in _GLUE and before):
            continue
        found = _read(token)
        if found is None:
            continue
        number, unit, length = found
        end = start + length
        if not unit:
            following = _NEXT_WORD.match(text, end)
            if following and following[1].lower() in _units:
                unit, end = following[1].lower(), following.end()
            elif length == 1 or (length == 2 and token[0] == "0") or _is_position(text, start, end):
                continue
        currency = before if before and before in "$€£" else ""
        yield Span(currency + number + (" " if len(unit) > 2 else "") + unit, start - len(currency), end)


@lru_cache(_REMEMBERED)
def _read(token: str) -> tuple[str, str, int] | None:
    """The number a token is, its unit, and how much of the token they take; None where it is something else."""
    token = token[:_LONGEST].rstrip(".,:/-")
    shape = _SHAPE.fullmatch(token)
    if not shape:
        head = re.split(r"[:,]", token, maxsplit=1)[0]
        return _read(head) if head != token and head else None
    unit = (shape[2] or "").lower()
    if unit and unit not in _units:
        return None
    return shape[1].replace(",", ""), unit, len(token)


def _is_position(text: str, start: int, end: int) -> bool:
    """Whether a number only says where something stands: the number of a line, of an item of a list, an index."""
    if not text[start:end].isdigit():
        return ":" in text[start:end] and _FILE_BEFORE.search(text[max(0, start - 8) : start]) is not None
    before, after = text[start - 1 : start], text[end : end + 1]
    if (before == ":" and after == ":") or (before in ("[", ",", "+") and after in ("]", ",", ":")):
        return True
    lead = text[max(0, start - 14) : start]
    if after in _AFTER_POSITION and (lead.rstrip(" \t")[-1:] or "\n") in "\n\r>":
        return True
    if _FILE_BEFORE.search(lead):
        return True
    word = _COUNTED_BEFORE.search(lead)
    return word is not None and word[1].lower() in _counted
