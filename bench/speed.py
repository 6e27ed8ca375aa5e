"""How fast conversations are condensed and planned, beside one cold count of their tokens; and what memory it takes.

Counting is not what is measured: all counts are known before the clock starts. Everything else is: each run begins with
the conversation parsed anew. All presets are run as `compact plan` runs them, with answers as long as a model's would
be. Times are processor times, the shortest of some runs, and the cold count is taken again right after each way:
machines differ, and are slower one minute than the next; ratios hardly are.
"""

from __future__ import annotations

import gc
import json
import sys
import sysconfig
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import count
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, TextIO

import compact
from bench.recount import forget
from compact.app import Condensation, choose, counter_for, read_transcript
from compact.app.estimating import Asking
from compact.formats import parse, render
from compact.messages import Conversation
from compact.providers import Provider, presets

SIZES = (10_000, 100_000, 1_000_000, 5_000_000)
LARGE = 1_000_000
"""From this many tokens on, memory is measured, and runs are fewer."""
ROUNDS = 6
"""What takes milliseconds is measured again and again: a machine may be slow for longer than that."""
TARGET = 0.5
LEVELS = ("verbatim", "formatting", "superseded")
TRUNCATIONS = ("v1", "v2")
MOST = {"lossless": 10, "truncation": 1, "all presets": 30}
"""How many cold counts each may take."""
BYTES = 2
"""How many times the parsed conversation condensing may allocate, from `LARGE` on."""

Way = tuple[Provider, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """A conversation's tokens; for each way to condense it the seconds it took, and those of one cold count then."""

    tokens: int
    seconds: dict[str, tuple[float, float]]


def run(out: TextIO) -> None:
    """Prints the measurements as tables."""
    names = (*(f"lossless:{level}" for level in LEVELS), *TRUNCATIONS, "all presets")
    bounds = [MOST[name.split(":")[0]] if ":" in name else MOST.get(name, MOST["truncation"]) for name in names]
    print("milliseconds of processor time; in brackets, how many cold counts that is\n", file=out)
    print(f"{'':22} {'tokens':>9} {'cold':>8}" + "".join(f" {name:>21}" for name in names), file=out)
    session = files("compact.cli") / "transcripts" / "session.openai-chat.json"
    _row(out, "bundled session", measure(read_transcript(session.read_bytes())), names)
    for size in SIZES:
        _row(out, "generated", measure(generated(size)), names)
    print(f"{'at most':22} {'':>18}" + "".join(f" {f'({bound:.1f})':>21}" for bound in bounds), file=out)
    print("\nmegabytes allocated at most; in brackets, how many times the parsed conversation\n", file=out)
    for size in (size for size in SIZES if size >= LARGE):
        parsed, peaks = allocated(size)
        shown = "".join(f"  {name} {peak / 1e6:.0f} ({peak / parsed:.2f})" for name, peak in peaks.items())
        print(f"{size:>9,} tokens  parsed {parsed / 1e6:.0f}{shown}  at most ({BYTES:.2f})", file=out, flush=True)


def measure(conversation: Conversation) -> Measured:
    """The conversation counted cold and condensed in every way that has a bound."""
    messages = render(conversation)
    tokens = Condensation(conversation, "gpt-4o", None).tokens
    runs = 2 if tokens >= LARGE else 5
    seconds = {}
    for name, target, ways in _tasks():
        rounds = 1 if tokens >= LARGE or len(ways) > 1 else ROUNDS
        taken, cold = [], []
        for _ in range(rounds):
            _condense(Condensation(conversation, "gpt-4o", target), ways)  # counts what has to be counted
            fresh = (Condensation(parse(messages), "gpt-4o", target) for _ in range(2 if len(ways) > 1 else runs))
            taken += [_timed(partial(_condense, condensation, ways)) for condensation in fresh]
            cold += [_timed(lambda: compact.count_tokens(messages), forget) for _ in range(runs)]
        seconds[name] = min(taken), min(cold)
    return Measured(tokens, seconds)


def _condense(condensation: Condensation, ways: Sequence[Way]) -> None:
    for way in ways:
        condensation.run(*way, Asking(condensation.model, counter_for("gpt-4o").text))


def _tasks() -> Iterator[tuple[str, float | None, Sequence[Way]]]:
    for level in LEVELS:
        yield f"lossless:{level}", None, [choose("lossless", None, {"level": level})]
    for name in TRUNCATIONS:
        yield name, TARGET, [choose(None, name, None)]
    yield "all presets", TARGET, [choose(None, preset.name, None) for preset in presets()]


def allocated(size: int) -> tuple[int, dict[str, int]]:
    """Bytes of the parsed conversation, and the most that each way to condense it allocates beside it."""
    body = json.dumps(render(generated(size)))
    parsed, peaks = 0, {}
    for name, target, ways in _tasks():
        if len(ways) == 1:
            _condense(Condensation(parse(json.loads(body)), "gpt-4o", target), ways)
            gc.collect()
            tracemalloc.start()
            conversation = parse(json.loads(body))
            condensation = Condensation(conversation, "gpt-4o", target)
            parsed = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            _condense(condensation, ways)
            peaks[name] = tracemalloc.get_traced_memory()[1] - parsed
            tracemalloc.stop()
    return parsed, peaks


def generated(tokens: int) -> Conversation:
    """A coding session of about so many tokens over the standard library's source: searches, reads, edits, re-reads."""
    random = Random(tokens)
    sources = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*/*.py"))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Tidy up these modules, one after the other."}]
    chars = 0
    for turn in count():
        path = random.choice(sources)
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
        start = random.randrange(max(1, len(lines) - 40))
        # Later rounds read the same files again, changed: so much source there is not.
        shown = [line.replace("self", f"self{turn % 97}") for line in lines[start : start + random.randrange(20, 200)]]
        for step in _steps(random, turn, str(path), start, shown):
            messages.append(step)
            chars += len(json.dumps(step))
        if chars > 4 * tokens:
            break
    return parse([*messages, {"role": "user", "content": "Thank you. What is left to do?"}])


def _steps(random: Random, turn: int, path: str, start: int, lines: list[str]) -> Iterator[dict[str, Any]]:
    numbered = "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, start + 1))
    yield from _call(f"a{turn}", "read_file", {"path": path, "offset": start, "limit": len(lines)}, numbered)
    edited = [line if random.random() < 0.9 else f"{line}  # step {turn}" for line in lines]
    half = len(lines) // 2
    old, new = "\n".join(lines[:half]), "\n".join(edited[:half])
    yield from _call(f"b{turn}", "edit_file", {"path": path, "old": old, "new": new}, "The file was changed.")
    if random.random() < 0.4:
        again = "\n".join(
            f"{number:6}→{line}" for number, line in enumerate([*edited[:half], *lines[half:]], start + 1)
        )
        yield from _call(f"c{turn}", "read_file", {"path": path, "offset": start, "limit": len(lines)}, again)
    found = "\n".join(
        f"{path}:{random.randrange(900)}:{line.strip()}" for line in random.sample(lines, min(8, len(lines)))
    )
    yield from _call(f"d{turn}", "bash", {"command": f"grep -n 'step {turn}' {path} | head -8"}, found)
    yield {
        "role": "assistant",
        "content": f"Step {turn} is done: {Path(path).name} reads better now, {half} lines changed.",
    }


def _call(id: str, name: str, arguments: dict[str, Any], answer: str) -> Iterator[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    yield {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}
    yield {"role": "tool", "tool_call_id": id, "content": answer}


def _row(out: TextIO, label: str, measured: Measured, names: Sequence[str]) -> None:
    shown = [f"{taken * 1e3:,.1f} ({taken / cold:.1f})" for taken, cold in map(measured.seconds.__getitem__, names)]
    cold = min(cold for _, cold in measured.seconds.values())
    cells = "".join(f" {cell:>21}" for cell in shown)
    print(f"{label:22} {measured.tokens:>9,} {cold * 1e3:>8.1f}{cells}", file=out, flush=True)


def _timed(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    before()
    gc.collect()
    began = process_time()
    work()
    return process_time() - began


if __name__ == "__main__":
    run(sys.stdout)
