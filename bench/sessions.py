"""The database of stored sessions: appends a second, and what a request waits for as the history grows.

Durability is on in both: SQLite syncs its log with every commit, and so does PostgreSQL (fsync, synchronous_commit).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import TextIO

from compact.app import counter_for, resolve_recipe
from compact.engine.stored.context import counter_name
from compact.engine.stored.service import SessionService
from compact.ports import NewMessage, Snapshot, StoredSession
from compact.sessions import open_store
from compact.sessions.store import DatabaseStore
from tests.sessions.postgres import NO_BINARIES, Server, find_binaries

MODEL = "gpt-4o"
LENGTHS = (1_000, 10_000, 100_000)
"""Messages of a session."""
RECENT = 30
"""Messages after the last summary."""
SUMMARIES = 20
PINNED = 5
GROUPS = ((1, 200), (50, 6_000), (500, 10_000))
"""Messages in a group, and in all."""
CALLS = 1_000
LEAST_RATE = 2_000
MOST_MS = 10.0
VOCABULARY = [f"{stem}{end}" for stem in ("pars", "token", "window", "index", "cache") for end in range(400)]


def run(out: TextIO) -> None:
    """Prints the measurements as tables."""
    print(f"{'messages appended a second':44} {'SQLite':>11} {'PostgreSQL':>11}", file=out)
    with ExitStack() as opened:
        stores = [opened.enter_context(_sqlite()), *opened.enter_context(_postgresql(out))]
        for size, total in GROUPS:
            rates = "".join(f" {_rate(store, size, total):>11,.0f}" for store in stores)
            print(f"{f'in groups of {size}':44}{rates}", file=out, flush=True)
        print(f"{'at least, in groups of 50':44} {LEAST_RATE:>11,} {LEAST_RATE:>11,}\n", file=out)
        print(f"milliseconds, {RECENT} messages after the last of {SUMMARIES} summaries, {PINNED} pinned\n", file=out)
        print(f"{'':44} {'p50':>8} {'p99':>8} {'largest':>9} {'CPU':>8}", file=out)
        for store in stores:
            for length in LENGTHS:
                _fill(store, length)
                _report(store, length, out)
        print(f"{'at most':44} {'':>8} {MOST_MS:>8.3f}", file=out)


@contextmanager
def _sqlite() -> Iterator[DatabaseStore]:
    with TemporaryDirectory() as folder, open_store(f"{folder}/sessions.db") as store:
        yield store


@contextmanager
def _postgresql(out: TextIO) -> Iterator[list[DatabaseStore]]:
    binaries = find_binaries()
    if binaries is None:
        print(f"not measured: {NO_BINARIES}", file=out)
        yield []
        return
    server = Server(binaries, durable=True)
    try:
        server.start()
        with closing(open_store(server.url(server.create()))) as store:
            yield [store]
    finally:
        server.stop()


def _messages(count: int) -> list[NewMessage]:
    """Messages of some 900 characters, as they are stored: their bytes, and their words for the search."""
    rng, made, counter = Random(count), [], counter_name(counter_for(MODEL))
    for number in range(count):
        text = " ".join(rng.choices(VOCABULARY, k=110))
        raw = json.dumps({"role": ("user", "assistant")[number % 2], "content": text}).encode()
        made.append(NewMessage(raw, "user", text, 220, counter))
    return made


def _rate(store: DatabaseStore, size: int, total: int) -> float:
    session, messages = f"groups-{size}", _messages(total)
    store.create(StoredSession(session, MODEL, "openai-chat"))
    began = time.perf_counter()
    for start in range(0, total, size):
        store.append(session, messages[start : start + size])
    return total / (time.perf_counter() - began)


def _fill(store: DatabaseStore, length: int) -> None:
    session = f"of-{length}"
    store.create(StoredSession(session, MODEL, "openai-chat"))
    piece = _messages(1_000)
    ids = [one.id for _ in range(0, length, len(piece)) for one in store.append(session, piece)]
    store.pin(session, ids[: length - RECENT : length // PINNED], pinned=True)
    basis = None
    for number in range(1, SUMMARIES + 1):
        cutoff = ids[(length - RECENT) * number // SUMMARIES - 1]
        content = {"summaryText": "What has been done so far. " * 100}
        made = store.put_snapshot(Snapshot(session, "summary", content, cutoff, 700), basis)
        basis = made.id if made else None
    if store.database.is_postgresql:
        with store.database.writing() as connection:
            connection.exec_driver_sql("ANALYZE")


def _report(store: DatabaseStore, length: int, out: TextIO) -> None:
    """A line for what the store reads, and one for all that a request waits for."""
    name, session = "PostgreSQL" if store.database.is_postgresql else "SQLite", f"of-{length}"
    service = SessionService(store, counter_for, lambda *_: None, lambda _: resolve_recipe(), lambda *_: None)

    def read() -> int:
        active = store.active(session)
        return len(active.recent) + len(active.pinned)

    def prepared() -> int:
        return len(service.context(session).messages) - 1  # the summary is one of them

    for label, work in (("active()", read), ("context()", prepared)):
        times, processor = _times(work)
        p50, p99 = (quantiles(times, n=100)[at] for at in (49, 98))
        figures = f"{p50:>8.3f} {p99:>8.3f} {max(times):>9.3f} {processor:>8.3f}"
        print(f"{f'{name}, {length:,} messages, {label}':44} {figures}", file=out, flush=True)


def _times(work: Callable[[], int]) -> tuple[list[float], float]:
    """How long each call took, and how long this process computed for one, in milliseconds."""
    times, computed = [], time.process_time()
    for _ in range(CALLS):
        began = time.perf_counter()
        found = work()
        times.append((time.perf_counter() - began) * 1e3)
        assert found == RECENT + PINNED
    return times, (time.process_time() - computed) * 1e3 / CALLS


if __name__ == "__main__":
    run(sys.stdout)
