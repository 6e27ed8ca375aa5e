"""What a manager costs its caller, beside others' trimming: over 1,000 turns, and where nothing is to be done.

Compact counts exactly, checks the vendor's rules and keeps what it removes; the others do less. Each gets the session
in the form it likes best, made before the clock starts: LangChain message objects, the Agents SDK Responses items.
Processor times tell what is done, wall times also how busy the machine and its disk are.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any, TextIO

import compact
from compact import CompactConfig, CompactManager
from compact.formats import convert, parse, render
from tests.app.watching import watched_files

TURNS = 1_000
WINDOW = 128_000
BUDGET = 126_500
RESULT_LINES = 40
ANSWER_SECONDS = 1.0
"""What a turn of the model is taken to last: short of what they do."""
SAMPLE = 10
"""Every so many turns the slow ones are measured."""
MESSAGES = 1_000
TOKENS = 200_000
CALLS = 300
MOST_MS = 2.0
MOST_TRACING_US = 50.0
MOST_SHARE = 0.1

Turn = list[dict[str, Any]]
Trim = Callable[[int], object]


def run(out: TextIO) -> None:
    """Prints the measurements as tables."""
    turns = [_turn(Random(number), number) for number in range(TURNS)]
    total = compact.count_tokens([message for turn in turns for message in turn], model="gpt-4o")
    print(f"{TURNS:,} turns, {4 * TURNS:,} messages, {total:,} tokens, a window of {WINDOW:,}\n", file=out)
    _header(out)
    compactions, times = _session(turns)
    _row(out, f"Compact, preflight ({len(compactions)} compactions, offline)", times)
    for name, peer in (("langchain-core", _langchain), ("openai-agents", _agents)):
        try:
            ways = peer(turns)
        except ImportError as error:
            print(f"{name}: not measured ({error})", file=out, flush=True)
            continue
        for way, trim in ways:
            _row(out, f"{name} {version(name)}, {way}", [_timed(trim, at) for at in range(0, TURNS, SAMPLE)])
    wall = sum(spent.wall for spent in times)
    share = sum(spent.wall for spent in compactions) / (wall + TURNS * ANSWER_SECONDS)
    print(
        f"\ncompactions take {share:.2%} of a session whose model takes {ANSWER_SECONDS:.0f} s to answer; ",
        end="",
        file=out,
    )
    print(f"at most {MOST_SHARE:.0%}", file=out, flush=True)
    _warm(out)
    _tracing(out)


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of one call: of the thread's processor time, and of wall time."""

    processor: float
    wall: float


def _header(out: TextIO) -> None:
    print(f"{'milliseconds a request':50} {'processor':>19} {'wall':>29}", file=out)
    print(f"{'':50} {'p50':>9} {'p99':>9} {'p50':>9} {'p99':>9} {'largest':>9}", file=out)


def _row(out: TextIO, label: str, times: Sequence[Spent]) -> None:
    processor, wall = ([getattr(spent, kind) * 1e3 for spent in times] for kind in ("processor", "wall"))
    figures = [quantiles(series, n=100, method="inclusive")[at] for series in (processor, wall) for at in (49, 98)]
    print(f"{label:50}" + "".join(f" {figure:>9.3f}" for figure in (*figures, max(wall))), file=out, flush=True)


def _timed(work: Callable[[int], object], number: int = 0) -> Spent:
    wall, processor = time.perf_counter(), time.thread_time()
    work(number)
    return Spent(time.thread_time() - processor, time.perf_counter() - wall)


def _turn(rng: Random, number: int) -> Turn:
    """A request, a call with its result, and an answer."""
    path = f"src/module_{number % 90}.py"
    lines = [f"{line:4}→    value_{line} = {rng.randrange(10**6)}" for line in range(RESULT_LINES)]
    function = {"name": "read_file", "arguments": json.dumps({"path": path})}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return [
        {"role": "user", "content": f"Step {number}: what does {path} hold?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": "\n".join(lines)},
        {"role": "assistant", "content": f"{path} holds {RESULT_LINES} values; the first is {rng.randrange(10**6)}."},
    ]


def _session(turns: Sequence[Turn]) -> tuple[list[Spent], list[Spent]]:
    """The session through a manager, one preflight a turn: what those that compacted took, and what each took."""
    compacting: list[Spent] = []
    times: list[Spent] = []
    with _manager(WINDOW) as manager:
        sent: list[Any] = []

        def preflight(number: int) -> None:
            sent[:] = manager.preflight("s", [*sent, *turns[number]])

        for number in range(len(turns)):
            before = manager.report("s")
            times.append(_timed(preflight, number))
            if manager.report("s") is not before:
                compacting.append(times[-1])
    return compacting, times


@contextmanager
def _manager(window: int, **tracing: Any) -> Iterator[CompactManager]:
    with TemporaryDirectory() as folder:
        config = {"model": "gpt-4o", "max_context_tokens": window, "profile": "offline", "storage": {"path": folder}}
        if tracing.get("jsonl"):
            tracing["jsonl"] = str(Path(folder, tracing["jsonl"]))
        config["tracing"] = {"agents_sdk": False, **tracing}
        with CompactManager(CompactConfig.model_validate(config)) as manager:
            yield manager


def _langchain(turns: Sequence[Turn]) -> list[tuple[str, Trim]]:
    from langchain_core.messages import convert_to_messages, trim_messages
    from langchain_core.messages.utils import count_tokens_approximately

    messages = convert_to_messages([message for turn in turns for message in turn])

    def trim(number: int, counter: Any) -> object:
        given = messages[: 4 * (number + 1)]
        return trim_messages(given, max_tokens=BUDGET, token_counter=counter, strategy="last", start_on="human")

    plain = (message for turn in turns for message in turn)
    counts = (compact.count_tokens([wire], model="gpt-4o") for wire in plain)
    # Counted once for each message, as Compact does.
    known = {id(message): count for message, count in zip(messages, counts, strict=True)}

    def exact(given: Any) -> int:
        return sum(known[id(message)] for message in given)

    return [
        ("trim_messages, estimated", lambda number: trim(number, count_tokens_approximately)),
        ("trim_messages, known counts", lambda number: trim(number, exact)),
    ]


def _agents(turns: Sequence[Turn]) -> list[tuple[str, Trim]]:
    from agents import Agent
    from agents.extensions import ToolOutputTrimmer
    from agents.run import CallModelData, ModelInputData

    chat = parse([message for turn in turns for message in turn], format="openai-chat")
    items: list[Any] = render(convert(chat, "openai-responses"))
    trimmer, agent = ToolOutputTrimmer(), Agent(name="measured")

    def trim(number: int) -> object:
        given = items[: 4 * (number + 1)]
        return trimmer(
            CallModelData(model_data=ModelInputData(input=given, instructions=None), agent=agent, context=None)
        )

    return [("ToolOutputTrimmer", trim)]


def plain_dicts() -> list[dict[str, Any]]:
    """A thousand messages that hold 200,000 tokens."""
    messages = [{"role": ("user", "assistant")[number % 2], "content": _words(number)} for number in range(MESSAGES)]
    assert compact.count_tokens(messages, model="gpt-4o") >= TOKENS
    return messages


def _words(number: int) -> str:
    return "\n".join(f"Line {line} of answer {number} tells what became of part {line * number}." for line in range(13))


def _warm(out: TextIO) -> None:
    """A preflight that changes nothing, of the caller's own objects and of what another process would hand over."""
    messages = plain_dicts()
    tokens = compact.count_tokens(messages, model="gpt-4o")
    print(f"\nwarm preflight that changes nothing: {MESSAGES:,} messages as plain dicts, {tokens:,} tokens\n", file=out)
    _header(out)
    with _manager(10 * TOKENS) as manager:
        manager.preflight("s", messages)
        for label, held in (("the same objects", list), ("equal ones, decoded from JSON", _decoded)):
            _row(out, label, [_timed(partial(_preflight, manager, held(messages))) for _ in range(CALLS)])
        print(f"{'at most':50} {MOST_MS:>9.3f} {'':>9} {MOST_MS:>9.3f}", file=out)
        with watched_files() as seen:
            for _ in range(CALLS):
                manager.preflight("s", messages)
        print(f"\nfiles touched in {CALLS} calls: {len(seen)} {seen[:3] or ''}; at most 0", file=out, flush=True)


def _decoded(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    decoded: list[dict[str, Any]] = json.loads(json.dumps(messages))
    return decoded


def _tracing(out: TextIO) -> None:
    """What tracing adds to a preflight, by turns with and without it; what it sends later is another thread's."""
    messages = plain_dicts()
    tells = {"a file": {"jsonl": "events.jsonl"}, "a dead collector": {"ariadne": "http://127.0.0.1:9"}}
    print("\nmicroseconds that tracing adds to that preflight\n", file=out)
    print(f"{'':50} {'p50':>9} {'at most':>9}", file=out)
    for name, settings in tells.items():
        # The exporter's complaints are not what is measured.
        with redirect_stderr(StringIO()), _manager(10 * TOKENS) as silent, _manager(10 * TOKENS, **settings) as telling:
            telling.preflight("s", messages)
            silent.preflight("s", messages)
            added = [_difference(silent, telling, messages, number % 2) for number in range(CALLS)]
        print(f"{f'to {name}':50} {median(added) * 1e6:>9.1f} {MOST_TRACING_US:>9.1f}", file=out, flush=True)


def _difference(silent: CompactManager, telling: CompactManager, messages: list[dict[str, Any]], order: int) -> float:
    """The processor seconds that one takes more than the other; the second to be called finds warm caches."""
    managers = (silent, telling) if order else (telling, silent)
    spent = {manager: _timed(partial(_preflight, manager, messages)).processor for manager in managers}
    telling._keeper._tracer.flush(1.0)
    return spent[telling] - spent[silent]


def _preflight(manager: CompactManager, messages: list[dict[str, Any]], _: int) -> None:
    manager.preflight("s", messages)


if __name__ == "__main__":
    run(sys.stdout)
