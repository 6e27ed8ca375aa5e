"""What a preflight costs that has nothing to do; the benchmark `overhead` tells the figures."""

from __future__ import annotations

import json
from time import thread_time

import pytest

from tests.app.test_manager import Bench, make, talk
from tests.app.watching import watched_files

__all__ = ["make"]


def test_the_hook_sees_what_a_compaction_writes(make: Bench) -> None:
    with watched_files() as seen:
        make().preflight("s", talk(20))
    assert "open" in seen


def test_a_warm_preflight_touches_no_file(make: Bench) -> None:
    manager = make(1_000_000)
    messages = talk(50)
    manager.preflight("s", messages)
    with watched_files() as seen:
        for number in range(50, 60):
            messages = [*messages, *talk(1, number)]
            assert manager.preflight("s", messages) == messages
            assert manager.preflight("s", json.loads(json.dumps(messages))) == messages
    assert seen == []


@pytest.mark.clock
def test_a_warm_preflight_takes_little_more_than_comparing(make: Bench) -> None:
    manager = make(10_000_000)
    messages = talk(500)
    manager.preflight("s", messages)
    taken = []
    for _ in range(20):
        began = thread_time()
        manager.preflight("s", messages)
        taken.append(thread_time() - began)
    assert min(taken) < 0.002


def test_no_thread_is_started_where_nobody_listens(make: Bench) -> None:
    silent = make(tracing={"agents_sdk": False})
    telling = make(tracing={"jsonl": str(make.folder / "events.jsonl")})
    for manager in (silent, telling):
        manager.preflight("s", talk(2))
    assert silent._keeper._tracer._line._thread is None
    assert telling._keeper._tracer._line._thread is not None
    telling.close()
    assert len((make.folder / "events.jsonl").read_text().splitlines()) == 2
    assert len(make.watcher.events) == 4
