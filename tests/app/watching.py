"""Watching what a call does to files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

FILES = ("open", "os.", "shutil.", "sqlite3.", "tempfile.")
"""What the names of audit events begin with that tell of files."""


@contextmanager
def watched_files() -> Iterator[list[str]]:
    """The audit events that tell of files; a hook cannot be taken off again, so it is told to be still."""
    seen: list[str] = []
    watching = True

    def hook(event: str, _: object) -> None:
        if watching and event.startswith(FILES):
            seen.append(event)

    sys.addaudithook(hook)
    yield seen
    watching = False
