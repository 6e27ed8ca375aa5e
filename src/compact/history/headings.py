"""Headings and lines of the summaries that versions before wrote without a model: stored conversations hold them."""

from __future__ import annotations

import re

USERS_WORDS = ("Task and directives (the user's words)", "Also said by the user")
OTHERS_WORDS = (
    "State",
    "Findings and errors (tool-reported)",
    "Decisions and answers",
    "Key facts",
    "Key facts (tool-reported)",
    "Last steps",
)
_HEADINGS = frozenset(f"## {title}" for title in (*USERS_WORDS, *OTHERS_WORDS))
_IDS = re.compile(r"[\w.:-]{1,64}(?:,[\w.:-]{1,64}){0,9}\]")


def is_heading(line: str) -> bool:
    return line in _HEADINGS


def is_item(line: str) -> bool:
    """Whether the line is written as items were, with the messages it comes from."""
    return line.startswith("- ") and _IDS.fullmatch(line.rstrip().rpartition(" [")[2]) is not None
