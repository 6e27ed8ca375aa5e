"""Which names of JSON fields say that a secret follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from compact.redaction.names import built_in_names, parts_of, spellings
from compact.redaction.rules import Fields

_NUMBER = re.compile(r"_?[0-9]{1,3}\Z")
_LONGEST = 200
SECRET, DOUBTFUL = 2, 1
"""How sure a name is that a secret follows."""
_PREPOSITIONS = frozenset({"de", "di", "del", "dell", "della", "do", "da", "du", "des", "от", "для"})
_DOUBTFUL = ("short", "pin", "session", "vague")


def judge_names(fields: Fields, own: Iterable[str] = ()) -> Callable[[object], int]:
    """A test of names: SECRET for the built-in and the user's own, DOUBTFUL where the value has to look like one."""
    endings = fields.endings | {parts_of(name) for name in own}
    kinds = built_in_names()
    doubtful = {parts_of(spelling) for kind in _DOUBTFUL for name in kinds[kind] for spelling in spellings(name)}

    @lru_cache(maxsize=4096)
    def judge(name: object) -> int:
        if not isinstance(name, str) or len(name) > _LONGEST:
            return 0
        every = _NUMBER.sub("", parts_of(name)).split("_")
        said = next((at for at, part in enumerate(every) if at and part in _PREPOSITIONS), len(every))
        parts = every[:said]  # token_de_acceso
        if parts[-1] == "token" and parts[-2:-1] and parts[-2] in fields.harmless:
            return 0
        if parts[-1].endswith(fields.glued) or any("_".join(parts[at:]) in endings for at in range(len(parts))):
            return SECRET
        spans = {"_".join(every[at:end]) for at in range(len(every)) for end in range(at + 1, len(every) + 1)}
        return SECRET if spans & fields.heads else DOUBTFUL if spans & doubtful else 0

    return judge
