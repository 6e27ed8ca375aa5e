"""What an event costs its caller: `emit` with redaction on, while the collector is dead, or never answers."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from statistics import quantiles
from threading import Thread
from typing import TextIO

from compact.ports import Event
from compact.redaction import Redactor
from compact.tracing import AriadneExporter, Tracer

EMITS = 20_000
PACED = 4_000
PAUSE = 0.000_5
MOST = 50.0
"""Microseconds that 99 of 100 calls stay below."""
EVENTS = (
    Event(
        "compact.token_estimate",
        {
            "model": "gpt-4o",
            "t_est": 101_234,
            "max_tokens": 128_000,
            "usage_pct": 0.7909,
            "breakdown": {"system": 812, "developer": 0, "tools_schema": 4_210, "messages": 96_212},
        },
    ),
    Event(
        "compact.trigger_decision",
        {
            "triggered": False,
            "reason": "79.1 % of the window, below the trigger of 85 %",
            "policy": {"trigger_pct": 0.85, "hard_cap_buffer": 2_000, "strategy": "hybrid"},
        },
    ),
    Event(
        "compact.summary_created",
        {
            "strategy": "hybrid",
            "input_messages": 180,
            "summary_tokens": 1_900,
            "compression_ratio": 0.03,
            "summary": "The user wants the parser to keep comments; src/parser.py was changed. " * 110,
        },
        seconds=4.2,
    ),
)


def run(out: TextIO) -> None:
    """Prints the measurements as a table."""
    print("microseconds of a call of emit(), three kinds of events in turn\n", file=out)
    print(f"{'':44} {'p50':>8} {'p99':>8} {'p99.9':>8} {'largest':>9}", file=out)
    for name, server in (("dead", _dead), ("silent", _silent)):
        for pace, (pause, emits) in PACES.items():
            with server() as url:
                times = measure(url, emits, pause)
            p50, p99, p999 = (quantiles(times, n=1000)[at] for at in (499, 989, 998))
            row = f"{p50:>8.1f} {p99:>8.1f} {p999:>8.1f} {max(times):>9.0f}"
            print(f"{f'{name} collector, {pace}':44} {row}", file=out, flush=True)
    print(f"{'at most':44} {'':>8} {MOST:>8.1f}", file=out)


def measure(url: str, emits: int, pause: Callable[[], None]) -> list[float]:
    """The microseconds of each call."""
    times: list[float] = []
    # The exporter's complaints are not what is measured.
    with redirect_stderr(StringIO()):
        tracer = Tracer([AriadneExporter(url)], Redactor().json)
        tracer.emit("warm-up", EVENTS[0])
        for number in range(emits):
            event = EVENTS[number % len(EVENTS)]
            began = time.perf_counter_ns()
            tracer.emit("session", event)
            times.append((time.perf_counter_ns() - began) / 1e3)
            pause()
        tracer.close()
    return times


def _work() -> None:
    until = time.perf_counter() + PAUSE
    while time.perf_counter() < until:
        pass


def _sleep() -> None:
    time.sleep(PAUSE)


def _go_on() -> None:
    pass


PACES = {
    "one after the other": (_go_on, EMITS),
    "after 0.5 ms of work": (_work, PACED),
    "after 0.5 ms of sleep": (_sleep, PACED),
}


@contextmanager
def _dead() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    yield f"http://127.0.0.1:{port}"


@contextmanager
def _silent() -> Iterator[str]:
    """Accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held: list[socket.socket] = []
        Thread(target=_hold, args=(listener.accept, held), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        for connection in held:
            connection.close()


def _hold(accept: Callable[[], tuple[socket.socket, object]], held: list[socket.socket]) -> None:
    try:
        while True:
            held.append(accept()[0])
    except OSError:
        return
