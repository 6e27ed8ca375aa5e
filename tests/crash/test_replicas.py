"""A few seconds of what `make crash` does for a minute."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crash.replicas import torment
from tests.sessions.postgres import started


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_replicas_that_are_killed_lose_nothing_and_block_nobody(database: str, tmp_path: Path) -> None:
    if database == "sqlite":
        tally = torment(f"sqlite:///{tmp_path}/sessions.db", tmp_path, 6, sessions=3)
    else:
        with contextmanager(started)(durable=True) as server:
            tally = torment(server.url(server.create()), tmp_path, 6, sessions=3)
    assert tally.kills > 2
    assert tally.messages >= tally.acknowledged > 0
    print(tally)  # noqa: T201 - shown with -s
