"""The whole proof, with its figures: python -m tests.crash [KILLS] [SEED] [SECONDS]."""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from tests.crash.exhaustion import exhaust
from tests.crash.faults import Way
from tests.crash.killing import kill_again_and_again
from tests.crash.replicas import torment
from tests.crash.workloads import WORKLOADS
from tests.sessions.postgres import started


def main(kills: int = 2000, seed: int = 0, seconds: int = 60) -> None:
    """Print what was tried; an AssertionError tells what was lost."""
    points = 0
    for workload in WORKLOADS:
        for way in Way:
            with tempfile.TemporaryDirectory() as place:
                count = exhaust(workload, way, Path(place))
            points += count
            print(f"{workload.name:10} {way.value:50} {count:5} faults, 0 losses")  # noqa: T201 - a report
    print(f"{points} faults, 0 losses")  # noqa: T201 - likewise
    with tempfile.TemporaryDirectory() as place:
        began = time.monotonic()
        tally = kill_again_and_again(Path(place), kills, seed)
        took = time.monotonic() - began
    print(  # noqa: T201 - likewise
        f"{tally.kills} kills (seed {seed}, {took:.0f} s), {tally.acknowledged} acknowledged writes, 0 losses; "
        f"{tally.in_the_middle} kills left unacknowledged work behind"
    )
    with tempfile.TemporaryDirectory() as place:
        told = torment(f"sqlite:///{place}/sessions.db", Path(place), seconds, seed=seed)
    print(f"SQLite, 4 processes, 200 sessions, {seconds} s: {told}, 0 losses")  # noqa: T201 - likewise
    with contextmanager(started)(durable=True) as server, tempfile.TemporaryDirectory() as place:
        told = torment(server.url(server.create()), Path(place), seconds, seed=seed)
    print(f"PostgreSQL, 4 processes, 200 sessions, {seconds} s: {told}, 0 losses")  # noqa: T201 - likewise


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
