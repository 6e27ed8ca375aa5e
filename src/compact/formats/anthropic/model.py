"""What a Claude model accepts, told from its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from compact.formats.format import text_of
from compact.messages import Json

Version: TypeAlias = tuple[int, int]

# claude-opus-4-8-20260601, anthropic.claude-opus-4-5-v1:0: a minor version has two digits at most, a date has eight.
_FAMILY_FIRST = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?(?!\d)")
# claude-3-5-sonnet-20241022, claude-2.1
_VERSION_FIRST = re.compile(r"claude-(?P<major>\d{1,2})(?:[-.](?P<minor>\d{1,2}))?(?:-(?P<family>[a-z]+))?(?!\d)")


def family_and_version(name: str) -> tuple[str, Version] | None:
    """The model's family and version (("opus", (4, 8))), or None for a name that does not say."""
    lowered = name.lower()
    found = _FAMILY_FIRST.search(lowered) or _VERSION_FIRST.search(lowered)
    if found is None:
        return None
    return found["family"] or "", (int(found["major"]), int(found["minor"] or 0))


def refuses_prefill(body: Mapping[str, Json]) -> bool:
    return _version(body) >= (4, 6)


def takes_system_messages(body: Mapping[str, Json]) -> bool:
    """Whether the model is known to accept role "system" inside the messages (Opus 4.8 and all that came later)."""
    return _version(body) >= (4, 8)


def binds_thinking(body: Mapping[str, Json]) -> bool:
    """Whether a thinking block counts only after the very conversation it was made in (from Fable 5.1 on).

    Mythos 5.1 came without the check.
    """
    known = family_and_version(text_of(body.get("model")))
    return known is not None and known[1] >= (5, 1) and known != ("mythos", (5, 1))


def _version(body: Mapping[str, Json]) -> Version:
    known = family_and_version(text_of(body.get("model")))
    return known[1] if known else (0, 0)
