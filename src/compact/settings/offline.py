"""The switch that keeps Compact from calling any model: `COMPACT_OFFLINE`."""

from __future__ import annotations

import os
from typing import Final

from compact.errors import InvalidConfiguration

VARIABLE: Final = "COMPACT_OFFLINE"
_ON: Final = frozenset({"1", "true", "yes", "on"})
_OFF: Final = frozenset({"", "0", "false", "no", "off"})


def require_online() -> None:
    """InvalidConfiguration where no model may be called."""
    if is_offline():
        raise InvalidConfiguration("is set, so no vendor is contacted", field=VARIABLE, remedy="Unset it.")


def is_offline() -> bool:
    """Whether `COMPACT_OFFLINE` is set; InvalidConfiguration where it is neither on nor off."""
    value = os.environ.get(VARIABLE, "").strip().lower()
    if value in _ON or value in _OFF:
        return value in _ON
    raise InvalidConfiguration(f"is {value[:40]!r}", field=VARIABLE, remedy="Set it to 1, or to 0, or not at all.")
