"""Many at once, and some that die: nothing acknowledged is lost, and nobody waits for the dead."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compact.errors import InvalidInput
from compact.sessions import open_store
from compact.sessions.store import DatabaseStore
from tests.sessions.postgres import Server, started
from tests.sessions.processes import finished, spawn
from tests.sessions.test_store import new, said, summary


def _texts(store: DatabaseStore, session: str) -> list[str]:
    every = store.history(session, limit=10_000)
    assert [one.position for one in every] == list(range(len(every)))
    assert store.session(session).messages == len(every)
    return [json.loads(one.raw) for one in every]


def _are_whole(texts: list[str], size: int) -> None:
    """Groups stand together, in the order in which their writer stored them."""
    groups = [tuple(texts[at : at + size]) for at in range(0, len(texts), size)]
    for group in groups:
        name, number, _ = group[0].split()
        assert group == tuple(f"{name} {number} {at}" for at in range(size))
    heads = [group[0].split()[:2] for group in groups]
    for name in {head[0] for head in heads}:
        numbers = [int(number) for who, number in heads if who == name]
        assert numbers == list(range(len(numbers)))


def test_threads_append_to_one_session_and_lose_nothing(store: DatabaseStore) -> None:
    new(store)

    def write(name: int) -> None:
        for group in range(15):
            texts = [f"{name} {group} {number}" for number in range(3)]
            store.append("s", [said(text) for text in texts])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    texts = [one["content"] for one in map(json.loads, (one.raw for one in store.history("s", limit=1000)))]
    assert len(texts) == 4 * 15 * 3
    _are_whole(texts, 3)


def test_processes_append_to_one_session_and_lose_nothing(store: DatabaseStore, url: str) -> None:
    new(store)
    writers = [spawn("append", url, "s", name, 15, 3) for name in ("a", "b", "c")]
    assert [len(finished(writer)) for writer in writers] == [15, 15, 15]
    texts = _texts(store, "s")
    assert len(texts) == 3 * 15 * 3
    _are_whole(texts, 3)


def test_of_many_who_summarize_the_same_only_one_is_kept(store: DatabaseStore) -> None:
    new(store)
    last = store.append("s", [said(), said()])[-1].id
    with ThreadPoolExecutor(4) as threads:
        kept = list(threads.map(lambda number: store.put_snapshot(summary("s", last, str(number)), None), range(8)))
    assert [one for one in kept if one is not None] == store.snapshots("s", retired=True)
    assert len(store.snapshots("s")) == 1


def test_many_who_create_the_same_session_make_one(store: DatabaseStore) -> None:
    def create(_: int) -> bool:
        try:
            new(store)
        except InvalidInput:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(create, range(8))) == 1


def test_many_who_recount_and_pin_across_sessions_do_not_block_each_other(store: DatabaseStore) -> None:
    ids = [store.append(new(store, f"s{number}").id, [said()])[0].id for number in range(4)]

    def change(number: int) -> None:
        order = ids if number % 2 else ids[::-1]
        store.recount(dict.fromkeys(order, number), "c")
        store.pin(f"s{number % 4}", [ids[number % 4]], pinned=True)
        store.set("global", {str(key): number for key in (range(5) if number % 2 else range(5, 0, -1))})

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(change, range(24)))
    assert [store.history(f"s{number}")[0].pinned for number in range(4)] == [True] * 4


def test_one_compacts_at_a_time_and_the_others_are_told(store: DatabaseStore, url: str) -> None:
    new(store)
    new(store, "t")
    with open_store(url) as other, store.compacting("s", 0) as first:
        assert first
        for elsewhere in (store, other):
            with elsewhere.compacting("s", 0.05) as second:
                assert not second
            with elsewhere.compacting("t", 0) as third:
                assert third
        other.append("s", [said()])  # to append, nobody has to wait
    with pytest.raises(RuntimeError, match="own"), store.compacting("s", 0):
        raise RuntimeError("what fails inside is the caller's own")
    with store.compacting("s", 0) as again:
        assert again


def test_whoever_waits_gets_it_when_the_block_ends(store: DatabaseStore) -> None:
    new(store)
    held: list[int] = []

    def compact(number: int) -> None:
        with store.compacting("s", 60) as mine:
            assert mine
            held.append(number)
            assert held == [number]
            time.sleep(0.005)
            held.clear()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(compact, range(8)))


def test_a_compaction_is_free_again_when_its_process_is_killed(store: DatabaseStore, url: str) -> None:
    new(store)
    process = spawn("hold", url, "s")
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    with store.compacting("s", 0) as mine:
        assert not mine
    process.kill()
    process.communicate()
    with store.compacting("s", 30) as mine:
        assert mine


@pytest.fixture
def durable_server() -> Iterator[Server]:
    yield from started(durable=True)


def _kill_while_appending(url: str, session: str, name: str) -> int:
    """Kill a process in the middle of its appends; how many groups it was told are stored."""
    process = spawn("append", url, session, name, 100_000, 5)
    assert process.stdout is not None
    seen = [process.stdout.readline() for _ in range(20)]
    process.kill()
    return len(seen) + len(process.communicate()[0].splitlines())


def test_a_killed_writer_loses_nothing_acknowledged_on_sqlite(tmp_path: Path) -> None:
    place = f"sqlite:///{tmp_path}/s.db"
    with open_store(place) as store:
        new(store)
    acknowledged = {name: _kill_while_appending(place, "s", name) for name in ("a", "b")}
    with open_store(place) as store:
        texts = _texts(store, "s")
    _are_whole(texts, 5)
    for name, groups in acknowledged.items():
        assert groups <= sum(text.startswith(f"{name} ") for text in texts) / 5 <= groups + 1


def test_a_killed_writer_and_a_killed_server_lose_nothing_acknowledged_on_postgres(durable_server: Server) -> None:
    place = durable_server.url(durable_server.create())
    with open_store(place) as store:
        new(store)
        first = _kill_while_appending(place, "s", "a")
        second = spawn("append", place, "s", "b", 100_000, 5)
        assert second.stdout is not None
        seen = [second.stdout.readline() for _ in range(20)]
        durable_server.crash()
        told = len(seen) + len(second.communicate()[0].splitlines())
        durable_server.start()
        texts = _texts(store, "s")
        _are_whole(texts, 5)
        for name, groups in (("a", first), ("b", told)):
            assert groups <= sum(text.startswith(f"{name} ") for text in texts) / 5 <= groups + 1
        store.append("s", [said("after")])
