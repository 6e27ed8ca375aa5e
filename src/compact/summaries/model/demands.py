"""What a statement says that could be a demand: its sentences, and whether they give an order or announce one."""

from __future__ import annotations

import re

from compact.facts import directives_in
from compact.history.speech import corrects
from compact.history.speech import orders as is_order
from compact.summaries.model.words import CODE, plain

PARTS = re.compile(r"[;:(),—–]\s|[.!?]\s")
SENTENCES = re.compile(r"(?<=[.!?。])\s+(?=\S+\s)|\s[—–]\s")
_LONGEST = 1_000
"""Characters of a text that is taken apart further."""
_COLONS = re.compile(r":(?=\s)")
_JOINTS = re.compile(r":\s+|(?<=[a-z])\s+(?=[A-Z]|[^\W\x00-\u024f])")
COMMENT = re.compile(r"\s*(?:#|//|/?\*|--)")
PRESCRIBED = re.compile(
    r"\b(?:is|are) (?:required|mandatory|forbidden|prohibited|obligatory|to be)\b"
    r"|\A\W*(?:the |our |your )?(?:\w+ )?(?:task|goal|job|mission|priority) (?:is|are) (?:now |to )"
    r"|\A\W*(?:\w+ ){0,2}(?:note|notice|task|goal|rule|policy|constraint|requirement|instruction|order|reminder)s?\b"
    r"[^.:;]{0,40}:",
    re.IGNORECASE,
)
"""What is called necessary, or announced as a task or a rule, without an order."""
_MARKS = " -*_•>#"
_AS_CODE = re.compile(r'["`={}<>]|\w\(|\A\W*\||\|\W*\Z|;\s*\Z')
"""What stands in a quotation, in code or in a table, not in prose."""


def prose_in(line: str) -> set[str]:
    """What a line says in prose."""
    return {text for text in texts_in(line) if _is_prose(CODE.sub("", plain(text)))}


def texts_in(line: str) -> set[str]:
    """What a line says: all of it, its sentences, what a colon separates, and what two lines became one by."""
    found = {line, *SENTENCES.split(line)}
    found |= {text[at:] for text in found if len(text) <= _LONGEST for at in _ends(_JOINTS, text)}
    found |= {text[:at] for text in found if len(text) <= _LONGEST for at in _ends(_COLONS, text)}
    return {text.strip(_MARKS) for text in found}


def _is_prose(text: str) -> bool:
    return not _AS_CODE.search(text) and any(map(str.isalpha, text))


def prescribes(text: str) -> bool:
    """Whether a text gives an order, or calls something necessary, a task or a rule."""
    return directs(text) or PRESCRIBED.search(text) is not None


def directs(text: str) -> bool:
    """Whether a text, or a clause of it, gives an order or takes one back."""
    if is_order(text) or corrects(text):
        return True
    clauses = map(str.strip, PARTS.split(text))
    return any(clause.startswith(one.text) for clause in clauses for one in directives_in(clause))


def _ends(pattern: re.Pattern[str], text: str) -> list[int]:
    return [found.end() for found in pattern.finditer(text)]
