"""Failures, told on standard error once a burst."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from compact.quantities import counted

QUIET: Final = 10.0
"""Seconds without a failure that end a burst."""


class Complaints:
    """Tells the first failure of a burst, and in the end how much was lost in it."""

    def __init__(self, label: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.lost = 0
        self._label = label
        self._clock = clock
        self._failing = False
        self._last = 0.0
        self._counted = 0
        self._closed = False

    def failed(self, reason: str, lost: int = 0) -> None:
        """Note a failure, and that it lost so many spans."""
        self.lost += lost
        self._last = self._clock()
        if not self._failing:
            self._failing = True
            self._tell(f"{reason}; further failures are counted only")

    def worked(self) -> None:
        """Note a success: it ends a burst that has gone quiet."""
        if self._failing and self._clock() - self._last >= QUIET:
            self._settle()

    def close(self) -> None:
        """Tell what was lost, and nothing more after that."""
        self._settle()
        self._closed = True

    def _settle(self) -> None:
        if self.lost > self._counted:
            lost = self.lost - self._counted
            self._tell(f"{counted(lost, 'span')} {'was' if lost == 1 else 'were'} lost")
        self._counted = self.lost
        self._failing = False

    def _tell(self, text: str) -> None:
        if not self._closed:
            say(f"{self._label} {text}")


def say(line: str) -> None:
    """Write a line to standard error, harmless to terminals; nothing happens where there is none."""
    shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{shown}\n")
        sys.stderr.flush()
