"""A file that is held: by one at a time, and given back whole."""

from __future__ import annotations

import os
from pathlib import Path

from compact.sessions.holding import hold_file


def _next_descriptor() -> int:
    """The lowest number that is free: it stays the same where everything that was opened was closed."""
    file = os.open(os.devnull, os.O_RDONLY)
    os.close(file)
    return file


def test_a_file_is_held_by_one_at_a_time_and_closed_and_removed_afterwards(tmp_path: Path) -> None:
    path, before = tmp_path / "held", _next_descriptor()
    for _ in range(3):
        with hold_file(path) as held, hold_file(path) as again:
            assert (held, again) == (True, False)
        assert not path.exists()
    assert _next_descriptor() == before
