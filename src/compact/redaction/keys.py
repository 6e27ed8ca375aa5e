"""Which names of JSON fields say that a secret follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from compact.redaction.names import built_in_names, parts_of, spellings
from compact.redaction.rules import Fields

_NUMBER = re.compile(r"_?[0-9]{1,3}\Z")
_LONGEST = 200
_PREPOSITIONS = frozenset({"de", "di", "del", "dell", "della", "do", "da", "du", "des", "от", "для"})
_DOUBTFUL = ("short", "pin", "session", "vague")


def sensitive(fields: Fields, own: Iterable[str] = ()) -> Callable[[object], bool]:
    """A test for sensitive names: the built-in ones and the user's own."""
    endings = fields.endings | {parts_of(name) for name in own}

    @lru_cache(maxsize=4096)
    def judge(name: object) -> bool:
        if not isinstance(name, str) or len(name) > _LONGEST:
            return False
        joined = _NUMBER.sub("", parts_of(name))
        every = parts = joined.split("_")
        if parts[-1] == "token" and parts[-2:-1] and parts[-2] in fields.harmless:
            return False
        said = next((at for at, part in enumerate(parts) if at and part in _PREPOSITIONS), len(parts))
        parts = parts[:said]  # token_de_acceso
        if parts[-1].endswith(fields.glued):
            return True
        if any("_".join(parts[at:]) in endings for at in range(len(parts))):
            return True
        spans = ((at, end) for at in range(len(every)) for end in range(at + 1, len(every) + 1))
        return any("_".join(every[at:end]) in fields.heads for at, end in spans)

    return judge


def doubtful() -> Callable[[object], bool]:
    """A test for names below which only what has the look of a secret is one."""
    kinds = built_in_names()
    names = {parts_of(spelling) for kind in _DOUBTFUL for name in kinds[kind] for spelling in spellings(name)}

    @lru_cache(maxsize=4096)
    def judge(name: object) -> bool:
        if not isinstance(name, str) or len(name) > _LONGEST:
            return False
        parts = _NUMBER.sub("", parts_of(name)).split("_")
        return any("_".join(parts[at:end]) in names for at in range(len(parts)) for end in range(at + 1, len(parts) + 1))

    return judge
