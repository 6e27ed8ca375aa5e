"""Which names of JSON fields say that a secret follows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from compact.redaction.names import parts_of
from compact.redaction.rules import Fields

_NUMBER = re.compile(r"_?[0-9]{1,3}\Z")
_LONGEST = 200


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
        if parts[-1].endswith(fields.glued):
            return True
        return any(
            "_".join(parts[at:]) in endings or any("_".join(parts[at:end]) in fields.heads for end in range(at + 1, len(parts) + 1))
            for at in range(len(parts))
        )

    return judge
