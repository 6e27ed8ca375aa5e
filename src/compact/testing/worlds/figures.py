"""Whether a value stands with its own thing."""

from __future__ import annotations

import re
from functools import lru_cache

from compact.testing.worlds.judgement import Reading, Reason
from compact.testing.worlds.views import View


@lru_cache(maxsize=4096)
def _shape(value: str) -> re.Pattern[str]:
    """Anything written as the value is."""
    pattern = "".join(r"\d" if letter.isdigit() else "[.,]" if letter == "." else re.escape(letter) for letter in value)
    return re.compile(rf"(?<!\d)(?<!\d[.,:]){pattern}(?![\d:])")


def read_value(view: View) -> tuple[Reading, Reason]:
    """Whether the part of the line that belongs to the thing has its value, or that of another."""
    value = view.truth.value or ""
    found = {match[0].replace(",", ".") for match in _shape(value).finditer(view.own)}
    if not found and view.below:
        found = {match[0].replace(",", ".") for match in _shape(value).finditer(view.below)}
    if value in found:
        return Reading.TRUE, Reason.NOTHING
    return (Reading.FALSE, Reason.VALUE) if found else (Reading.MENTION, Reason.NOTHING)
