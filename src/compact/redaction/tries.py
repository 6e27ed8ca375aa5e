"""Regular expressions for one of many words."""

from __future__ import annotations

import re
from collections.abc import Iterable


def trie(words: Iterable[str]) -> str:
    """A regular expression for the longest of the words that stands at a place; empty without any."""
    tails: dict[str, dict[str, None]] = {}
    ends = False
    for word in words:
        if word:
            tails.setdefault(word[0], {})[word[1:]] = None
        else:
            ends = True
    if not tails:
        return ""
    branches = [re.escape(first) + trie(rest) for first, rest in sorted(tails.items())]
    if ends:
        return f"(?:{'|'.join(branches)})?"
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
