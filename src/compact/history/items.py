"""The numbered items of a list in a text, and the numbers by which a request names some of them."""

from __future__ import annotations

import re

_NAMED = re.compile(r"(?<![\w.,:/-])#?(\d{1,4})(?![\w/-]|[.,:]\d)")
_NUMBERED = re.compile(r"^[\W_]{0,8}(?:[^\W\d_]{1,20} )?[#(]?(\d{1,4})(?![\w,/-]|[.:]\d)", re.MULTILINE)
_FEWEST = 3
"""A list has at least so many items."""
_LONGEST_REQUEST, _LONGEST_LIST = 600, 100_000


def numbers_named(request: str) -> frozenset[str]:
    """Return the numbers in a short request: "Do step 77 of it" names one."""
    return frozenset(_NAMED.findall(request)) if len(request) <= _LONGEST_REQUEST else frozenset()


def items_of(text: str) -> frozenset[str]:
    """Return the numbers at the beginnings of lines, as "77." or "Step 77:"; none where they are no list."""
    found = frozenset(_NUMBERED.findall(text[:_LONGEST_LIST]))
    return found if len(found) >= _FEWEST else frozenset()


def begins_item(line: str) -> str:
    """Return the number of the item that the line begins; empty where it begins none."""
    found = _NUMBERED.match(line)
    return found[1] if found else ""
