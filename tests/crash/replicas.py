"""Several processes on one database, killed and started again at random: what they had stored is all there.

Run as a program it is one of the processes: python -m tests.crash.replicas URL LEDGER SEED.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from compact.app.stored import StoredSessions
from compact.errors import CompactionBlocked, StorageError
from compact.messages import Json
from compact.ports import ModelConfig, StoredSession

WINDOW = 3000
PATIENCE = 60.0
LEAST_KILLS = 3


@dataclass(frozen=True, slots=True)
class Tally:
    """What was tried, and what was found."""

    kills: int
    acknowledged: int
    messages: int
    summaries: int


def name_of(number: int) -> str:
    return f"session-{number}"


def prepare_database(url: str, sessions: int) -> None:
    with StoredSessions(url) as stored:
        stored.preferences.put_model(ModelConfig("mine", "small", WINDOW))
        stored.preferences.change({"profile": "offline", "minimum_tokens": 500, "retention_tokens": 300})
        for number in range(sessions):
            stored.create(StoredSession(id=name_of(number), model="small", format="openai-chat"))


def replica(url: str, ledger: Path, seed: int, sessions: int) -> None:
    """Append and prepare for ever; what was acknowledged is written down, and only then the next begins."""
    rng = random.Random(seed)
    with StoredSessions(url) as stored, ledger.open("a") as book:
        for turn in range(sys.maxsize):
            session = name_of(rng.randrange(sessions))
            said = [_said("user", seed, turn), _said("assistant", seed, turn)]
            stored.append(session, said)
            book.write(json.dumps([session, [message["content"][:40] for message in said]]) + "\n")
            book.flush()
            os.fsync(book.fileno())
            try:
                sent = stored.prepare(session, [{"role": "user", "content": "Go on."}], wait=5)
            except CompactionBlocked as error:
                raise SystemExit(f"blocked: {error}") from error
            assert sent.tokens <= WINDOW


def _said(role: str, seed: int, turn: int) -> dict[str, Json]:
    words = (
        f"{seed}/{turn}/{role} ".ljust(40, ".") + f" mend src/mod_{turn}.py, which fails with error {turn * 7}. " * 6
    )
    return {"role": role, "content": words}


def torment(url: str, folder: Path, seconds: float, *, seed: int = 0, replicas: int = 4, sessions: int = 200) -> Tally:
    """Kill and restart the replicas for so long; AssertionError tells what was lost."""
    prepare_database(url, sessions)
    rng = random.Random(seed)
    running: dict[Path, subprocess.Popen[bytes]] = {}
    started, kills = 0, 0
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until or kills < LEAST_KILLS:
            assert time.monotonic() < until + PATIENCE, "the processes do not get on"
            while len(running) < replicas:
                started += 1
                ledger = folder / f"{started}.jsonl"
                running[ledger] = _start(url, ledger, started, sessions)
            time.sleep(rng.uniform(0.1, 0.8))
            assert all(process.poll() is None for process in running.values()), _why(running)
            if busy := [ledger for ledger in running if ledger.exists() and ledger.stat().st_size]:
                _kill(running.pop(rng.choice(busy)))
                kills += 1
    finally:
        for process in running.values():
            _kill(process)
    return _examined(url, folder, kills, sessions)


def _kill(process: subprocess.Popen[bytes]) -> bytes:
    process.kill()
    return process.communicate()[1]


def _start(url: str, ledger: Path, seed: int, sessions: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.crash.replicas", url, str(ledger), str(seed), str(sessions)]
    return subprocess.Popen(command, stderr=subprocess.PIPE)


def _why(running: dict[Path, subprocess.Popen[bytes]]) -> str:
    ended = [process for process in running.values() if process.poll() is not None]
    return "\n".join(_kill(process).decode(errors="replace")[-2000:] for process in ended)


def _examined(url: str, folder: Path, kills: int, sessions: int) -> Tally:
    """Everything acknowledged is there once and in order, every session goes on, no cutoff has two summaries."""
    promised: defaultdict[str, list[list[str]]] = defaultdict(list)
    for ledger in folder.glob("*.jsonl"):
        for line in ledger.read_text().splitlines(keepends=True):
            if line.endswith("\n"):
                session, said = json.loads(line)
                promised[session].append(said)
    messages = summaries = 0
    with StoredSessions(url) as stored:
        began = time.monotonic()
        for number in range(sessions):
            session = name_of(number)
            rows = stored.history(session, limit=1_000_000)
            assert [row.position for row in rows] == list(range(len(rows))), "positions have gaps"
            history = [json.loads(row.raw)["content"][:40] for row in rows]
            at = {text: position for position, text in enumerate(history)}
            assert len(at) == len(history), "a message is there twice"
            for asked, answered in promised[session]:
                assert at[answered] == at[asked] + 1, "a pair was torn apart"
            cutoffs = [one.cutoff or 0 for one in stored.summaries.standing(session)]
            assert cutoffs == sorted(set(cutoffs)), "two summaries have one cutoff"
            stored.prepare(session, [{"role": "user", "content": "Still there?"}])
            messages += len(history)
            summaries += len(cutoffs)
        assert time.monotonic() - began < PATIENCE, "somebody who died still blocks"
    return Tally(kills, 2 * sum(map(len, promised.values())), messages, summaries)


def run_replica(arguments: list[str]) -> None:
    url, ledger, seed, sessions = arguments
    try:
        replica(url, Path(ledger), int(seed), int(sessions))
    except StorageError as error:  # the whole point is that there is none
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    run_replica(sys.argv[1:])
