"""Which names of JSON fields say that a secret follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from compact.redaction.rules import Fields

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"_?[0-9]{1,3}\Z")
_LONGEST = 200


def parts_of(name: str) -> str:
    """A field's name in lower case with its parts joined by underscores: `apiKey`, `API-KEY` → `api_key`."""
    return _OTHER.sub("_", _HUMP.sub("_", name).lower()).strip("_")


def sensitive(fields: Fields, own: Iterable[str] = ()) -> Callable[[object], bool]:
    """A test for sensitive names: the built-in ones and the user's own."""
    endings = fields.endings | {parts_of(name) for name in own}

    @lru_cache(maxsize=4096)
    def judge(name: object) -> bool:
        if not isinstance(name, str) or len(name) > _LONGEST:
            return False
        joined = _NUMBER.sub("", parts_of(name))
        parts = joined.split("_")
        if parts[-1] == "token" and parts[-2:-1] and parts[-2] in fields.harmless:
            return False
        return parts[-1].endswith(fields.glued) or any("_".join(parts[at:]) in endings for at in range(len(parts)))

    return judge
