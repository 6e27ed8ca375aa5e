"""Outlines of what was written into a file: the lines that say most of what is in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from compact.history.quoting import shorten
from compact.summaries.offline.records import Piece, words_in

_DECLARES = re.compile(
    r"\s*(?:#{1,4} |(?:(?:export|default|async|public|private|protected|static|abstract|pub(?:\([^)]{1,20}\))?) )*"
    r"(?:def|class|func|function|fn|type|interface|struct|enum|impl|trait|module|create table|describe|test|it)\b"
    r"|export (?:const|let|var) \w{1,60}\b|const \w{1,60} = (?:async )?(?:\(|function)"
    r"|(?!(?:try|else|finally|except)\b)[\w-]{1,40}:$)",
    re.IGNORECASE,
)
_REMARKS = re.compile(r"\s*(?://|#|\*|--|/\*\*?|\"\"\")\s*\w+[\s,:-]{1,3}\w+[\s,:-]{1,3}\w+")
_SIGNS = re.compile(r"^\s*/?\*{1,2}\s|\*/\s*$")
"""What begins and ends a comment of several lines."""
_BRANCHES = re.compile(
    r"\s*(?:[-+]\s*)?(?:if|elif|else if|switch|case|match|when|return|yield|assert|expect|for|while)\b", re.IGNORECASE
)
_BRANCH, _BELOW, _LONGEST_CONDITION = 0.8, 1.2, 5
"""What a line that decides something is worth in an outline, and one below a comment; and the lines of a condition."""
_ASKS = re.compile(r"\s*(?:[}-]\s*)?(?:else )?(?:if|elif|while|switch|match|when|assert|expect)\b")
_CODED = re.compile(r"[\"'`][A-Z][A-Z0-9]*_[A-Z0-9_]{2,60}[\"'`]")
"""A name that is written as a constant, such as the code of an error."""
_LETTERS = re.compile(r"\w{2}")
_FAILS = re.compile(r"\b(?:raise|throw|errors?\.New|Errorf|panic|reject)\b")
_PASSES_ON = re.compile(r"%w|\berr(?:or)?\b\)?;?$")
"""An error that is only handed on."""
_SETS = re.compile(r"\s*[\w$'\"\[\].-]{1,60}(?:: |\s?:?=\s)(?=.*['\"\d]|.*\|\|)(?!.*[({]$)")
"""A line that gives something a value."""
_MARKUP = re.compile(
    r"\s*(?:[a-z-]{1,40}: (?=[^;]*(?:\d|#[0-9a-f]{3}))[^,{}]{1,80};$"
    r"|(?:class\w*|style|d|fill|stroke\w*|viewBox)=|</?(?:svg|path)\b)"
)
"""A line that says how something looks."""
_JOIN, _MORE = " / ", "…"
_LONGEST_LINE, _MOST_SHARED = 120, 3
"""Characters of a line in an outline; and how many shared words count."""


def outline(text: str, words: Mapping[str, int], longest: int, *, rest: bool = True) -> str:
    """The lines of something written that say most of what is in it, in order.

    These are headings and declarations, then comments and errors, then what shares the most longer words with those;
    where there is room, conditions and what is returned, and the `rest` from its beginning.
    """
    lines = text.split("\n")
    first = {line.strip(): at for at, line in reversed(list(enumerate(lines)))}
    shared = (min(len(words.keys() & words_in(line)), _MOST_SHARED) for line in lines)
    own = _weights(lines) if rest else map(_outlined, lines)
    weights = [weight + more for weight, more in zip(own, shared, strict=True)]
    weights = [weight if first[lines[at].strip()] == at else 0.0 for at, weight in enumerate(weights)]
    chosen: set[int] = set()
    left = longest
    for at in sorted(range(len(lines)), key=lambda at: (-weights[at], at)):
        price = min(len(lines[at].strip()), _LONGEST_LINE) + len(_JOIN)
        price += 0 if at - 1 in chosen or at + 1 in chosen else len(_JOIN)
        if weights[at] <= (0.0 if rest else _BRANCH) or left < _LONGEST_LINE // 3:
            break
        if price <= left:
            chosen.add(at)
            left -= price
    told: list[str] = []
    last = -1
    for at in sorted(chosen):
        if any(map(_LETTERS.search, lines[last + 1 : at])):
            told.append(_MORE)
        told.append(shorten(_SIGNS.sub("", lines[at]).rstrip("{:").strip(), _LONGEST_LINE))
        last = at
    return _JOIN.join([*told, _MORE] if any(map(_LETTERS.search, lines[last + 1 :])) else told)


def _weights(lines: Sequence[str]) -> list[float]:
    """What each line is worth: also for the comment above it, or for the condition that it is a part of."""
    weights = [_outlined(line) for line in lines]
    left = 0
    for at, (line, following) in enumerate(pairwise(lines)):
        left = 0 if line.lstrip().startswith(")") else left - 1
        if _ASKS.match(line) and line.rstrip().endswith("("):
            left = _LONGEST_CONDITION
        least = _BELOW if _REMARKS.match(line) else _BRANCH if left > 0 else 0.0
        if _LETTERS.search(following) and not _MARKUP.match(following):
            weights[at + 1] = max(weights[at + 1], least)
    return weights


def _outlined(line: str) -> float:
    if _DECLARES.match(line):
        return 3.0
    if _REMARKS.match(line) or (_FAILS.search(line) and not _PASSES_ON.search(line)):
        return 1.5
    if _MARKUP.match(line) or not _LETTERS.search(line):
        return 0.0
    return _BRANCH if _BRANCHES.match(line) or _CODED.search(line) else 0.3 if _SETS.match(line) else 0.1


def declares(text: str, piece: Piece) -> bool:
    """Whether a line of code or of a document says what stands below it."""
    return _DECLARES.match(text, piece.start, piece.end) is not None
