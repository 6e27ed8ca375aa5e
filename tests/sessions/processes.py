"""Work on a database that other processes do: `python -m tests.sessions.processes WORK URL ...`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from compact.ports import NewMessage
from compact.sessions import open_store
from compact.sessions.jobs import Jobs

ROOT = Path(__file__).parents[2]


def spawn(work: str, *arguments: object) -> subprocess.Popen[str]:
    # Without bytecode on disk every process would compile SQLAlchemy anew, which takes a second.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-W", "error", "-m", "tests.sessions.processes", work, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)


def finished(process: subprocess.Popen[str]) -> list[str]:
    """What it printed; an AssertionError where it failed."""
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return printed.splitlines()


def tell(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def open_and_close(url: str) -> None:
    open_store(url).close()


def append(url: str, session: str, name: str, groups: str, size: str) -> None:
    """Append groups of messages; each is told once it is stored."""
    with open_store(url) as store:
        for group in range(int(groups)):
            texts = [f"{name} {group} {number}" for number in range(int(size))]
            store.append(session, [NewMessage(json.dumps(text).encode(), "user", text, 3, "c") for text in texts])
            tell(name, group)


def hold(url: str, session: str) -> None:
    """Compact, for ever."""
    with open_store(url) as store, store.compacting(session, 0) as held:
        tell(held)
        time.sleep(600)


def work_off(url: str, worker: str, batch: str) -> None:
    """Do jobs until there are none; each is told, with whether it counted."""
    with open_store(url) as store:
        jobs = Jobs(store)
        while claimed := jobs.claim(worker, 5, batch=batch):
            for job in claimed:
                tell(job.key, jobs.finish(job, {"by": worker}))


WORK: dict[str, Callable[..., None]] = {work.__name__: work for work in (open_and_close, append, hold, work_off)}

if __name__ == "__main__":
    WORK[sys.argv[1]](*sys.argv[2:])
