"""The key that signs accounts: it holds at every entry point, and comes from the environment, never from a file."""

from __future__ import annotations

import os
from typing import Final

from compact.errors import InvalidConfiguration
from compact.messages import Seal
from compact.policies.compaction import LEAST_KEY

VARIABLE: Final = "COMPACT_SEAL_KEY"


def seal_of(key: str = "") -> Seal | None:
    """The seal of the key, or else of the one in `COMPACT_SEAL_KEY`; None where there is none."""
    key = key or os.environ.get(VARIABLE, "").strip()
    if not key:
        return None
    if len(key) < LEAST_KEY:
        remedy = f"Set it to a secret of at least {LEAST_KEY} characters, the same for all replicas."
        raise InvalidConfiguration("the key is too short", field=VARIABLE, remedy=remedy)
    return Seal(key)
