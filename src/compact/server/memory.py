"""Memory that a large request needed, given back to the system."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Final

LARGE: Final = 1 << 22
"""Bytes of a body behind which it is worth the time."""


def give_back() -> None:
    """Return what is free to the system; the allocator of Linux keeps it for the threads that used it."""
    gc.collect()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
