"""Sessions of three windows and more: every request fits, is valid, and holds the first task and all pins.

The vendors are fake, the requests are real: each goes over HTTP to a server that enforces the window and the wire
rules. These are the small versions of what `make soak` runs.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from compact.formats import FORMATS, parse, violations
from compact.testing.vendors import FakeVendors
from tests.app.talking import OFFLINE, STRATEGIES, Course, Talk, connected, converse, turn

SMALL = 6_000
FEW_RUNS = 6
RELOADS = 10
"""Compactions after which the state is read from disk again."""
EVERY = [(format, strategy) for format in FORMATS for strategy in (*STRATEGIES, OFFLINE)]


def vendor(window: int) -> Iterator[HTTPConnection]:
    with FakeVendors(window=window) as server:
        yield from connected(server)


@pytest.fixture(scope="module")
def small() -> Iterator[HTTPConnection]:
    yield from vendor(SMALL)


def three_windows(talk: Talk, connection: HTTPConnection, each: int) -> None:
    """A session of three times the window, in which nothing may go wrong."""
    with talk:
        converse(talk, Course(3 * talk.window, each, pins=3), connection, random.Random(talk.format + talk.strategy))
    assert talk.failures == []
    assert talk.said() >= 3 * talk.window
    assert talk.requests > 20
    assert talk.compactions > 1
    # Where cutting what is new is enough, the account stays as it is; it does not stay so for long.
    assert 1 < talk.summaries <= talk.compactions


@pytest.mark.laws
@pytest.mark.parametrize(("format", "strategy"), EVERY[::5])
def test_three_small_windows(tmp_path: Path, small: HTTPConnection, format: str, strategy: str) -> None:
    three_windows(Talk(format, SMALL, tmp_path, strategy), small, each=500)


def run_many(folder: Path, connection: HTTPConnection, runs: range) -> dict[str, int]:
    """Short sessions of all kinds; each failure is counted, and told with the seed it can be repeated with."""
    failures: list[str] = []
    requests = compactions = 0
    for seed in runs:
        rng = random.Random(seed)
        format, strategy = rng.choice(EVERY)
        course = Course(rng.randint(SMALL, 3 * SMALL), rng.randint(100, 900), rng.randint(0, 3), rng.random())
        with Talk(format, SMALL, folder, strategy, id=f"run-{seed}") as talk:
            converse(talk, course, connection, rng)
        failures += [f"{seed} ({format}, {strategy}): {failure}" for failure in talk.failures]
        requests, compactions = requests + talk.requests, compactions + talk.compactions
    assert failures == []
    assert compactions >= len(runs)
    return {"runs": len(runs), "requests": requests, "compactions": compactions, "failures": len(failures)}


@pytest.mark.laws
@pytest.mark.no_cover  # tracing would make it take several times as long, and other tests cover the same lines
def test_a_few_runs(tmp_path: Path, small: HTTPConnection) -> None:
    assert run_many(tmp_path, small, range(-FEW_RUNS, 0))["failures"] == 0


def compact_often(talk: Talk, connection: HTTPConnection, times: int) -> None:
    """So many compactions in a row, with the state read from disk again after each tenth."""
    rng = random.Random(times)
    for number in range(3):
        talk.pin()
        talk.say(turn(rng, number, 100))
    reloaded = 0
    for number in range(3, 40 * times):
        *question, done = turn(rng, number, 400)
        talk.say(question)
        talk.ask(connection, whole=number % 2 == 0)
        found = violations(parse(talk._body()))
        talk.failures += [f"request {talk.requests}: {violation.text}" for violation in found]
        if talk.compactions // RELOADS > reloaded:
            reloaded += 1
            again = talk.opened()
            view = again.preflight(talk.id, talk.log, system=talk._system(), tools=list(talk.frame.tools))
            if json.dumps(view) != json.dumps(talk.sent):
                talk.failures.append(f"request {talk.requests}: after a restart it comes out otherwise")
            talk.manager.close()
            talk.manager = again
        talk.say([done])
        if talk.compactions >= times:
            break
    talk.manager.close()
    assert talk.failures == []
    assert (talk.compactions, reloaded) == (times, times // RELOADS)


@pytest.mark.parametrize(("format", "strategy"), EVERY[1::9])
def test_a_dozen_compactions_in_a_row(tmp_path: Path, small: HTTPConnection, format: str, strategy: str) -> None:
    compact_often(Talk(format, SMALL, tmp_path, strategy), small, 12)
