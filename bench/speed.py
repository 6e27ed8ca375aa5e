"""How fast conversations are compacted and planned, beside one cold count of their tokens; and what memory it takes.

Counting is not what is measured: all counts are known before the clock starts. Everything else is: each run begins with
the conversation parsed anew. `auto` writes its account without a model. All presets are run as `compact plan` runs
them, with answers as long as a model's would be. Times are processor times, the shortest of some runs, and the cold
count is taken again right after each recipe: machines differ, and are slower one minute than the next; ratios hardly
are. `python -m bench.speed 10000 100000` measures those sizes alone.
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
from compact.app import Condensation, counter_for, read_transcript, resolve_recipe
from compact.engine import AskModel
from compact.formats import parse, render
from compact.messages import Conversation
from compact.ports import Answer, Ask, Completion
from compact.providers import Recipe, presets

SIZES = (10_000, 100_000, 500_000, 1_000_000, 5_000_000)
LARGE = 1_000_000
"""From this many tokens on, memory is measured, and runs are fewer."""
ROUNDS = 6
"""What takes milliseconds is measured again and again: a machine may be slow for longer than that."""
TARGET = 0.5
LEVELS = ("verbatim", "formatting", "superseded")
TRUNCATIONS = ("v1", "v2")
MOST = {"auto": 10, "lossless": 10, "truncation": 1, "all presets": 30}
"""How many cold counts each may take."""
GROWTH = 10
"""How many times the smaller size the larger one is that times are compared between."""
BYTES = 2
"""How many times the parsed conversation condensing may allocate, from `LARGE` on."""


@dataclass(frozen=True, slots=True)
class Timed:
    """What is timed under a name: one recipe or several, down to a target, with what answers their questions."""

    name: str
    target: float | None
    recipes: Sequence[Recipe]
    ask: AskModel | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """A conversation's tokens; by what was timed, the seconds it took and those of one cold count then."""

    tokens: int
    seconds: dict[str, tuple[float, float]]


def run(out: TextIO, sizes: Sequence[int] = SIZES) -> None:
    """Prints the measurements as tables."""
    names = [timed.name for timed in _timed_recipes()]
    bounds = [MOST[name.split(":")[0]] if ":" in name else MOST.get(name, MOST["truncation"]) for name in names]
    print("milliseconds of processor time; in brackets, how many cold counts that is\n", file=out)
    print(f"{'':22} {'tokens':>9} {'cold':>8}" + "".join(f" {name:>21}" for name in names), file=out)
    session = files("compact.cli") / "transcripts" / "session.openai-chat.json"
    _row(out, "bundled session", measure(read_transcript(session.read_bytes())), names)
    measured = {}
    for size in sizes:
        measured[size] = measure(generated(size))
        _row(out, "generated", measured[size], names)
    print(f"{'at most':22} {'':>18}" + "".join(f" {f'({bound:.1f})':>21}" for bound in bounds), file=out)
    _growth(out, measured, names)
    print("\nmegabytes allocated at most; in brackets, how many times the parsed conversation\n", file=out)
    for size in (size for size in sizes if size >= LARGE):
        parsed, peaks = allocated(size)
        shown = "".join(f"  {name} {peak / 1e6:.0f} ({peak / parsed:.2f})" for name, peak in peaks.items())
        print(f"{size:>9,} tokens  parsed {parsed / 1e6:.0f}{shown}  at most ({BYTES:.2f})", file=out, flush=True)


def measure(conversation: Conversation) -> Measured:
    """The conversation counted cold and compacted by every recipe that has a bound."""
    messages = render(conversation)
    tokens = Condensation(conversation, "gpt-4o", None).tokens
    runs = 2 if tokens >= LARGE else 5
    seconds = {}
    for timed in _timed_recipes():
        several, target = len(timed.recipes) > 1, timed.target
        taken, cold = [], []
        for _ in range(1 if tokens >= LARGE or several else ROUNDS):
            _condense(Condensation(conversation, "gpt-4o", target), timed)  # counts what has to be counted
            fresh = (Condensation(parse(messages), "gpt-4o", target) for _ in range(2 if several else runs))
            taken += [_timed(partial(_condense, condensation, timed)) for condensation in fresh]
            cold += [_timed(lambda: compact.count_tokens(messages), forget) for _ in range(runs)]
        seconds[timed.name] = min(taken), min(cold)
    return Measured(tokens, seconds)


def _condense(condensation: Condensation, timed: Timed) -> None:
    for recipe in timed.recipes:
        condensation.run(recipe, timed.ask)


def _timed_recipes() -> Iterator[Timed]:
    yield Timed("auto", TARGET, [resolve_recipe("auto")])
    for level in LEVELS:
        yield Timed(f"lossless:{level}", None, [resolve_recipe(f"lossless:{level}")])
    for name in TRUNCATIONS:
        yield Timed(name, TARGET, [resolve_recipe(name)])
    yield Timed("all presets", TARGET, [resolve_recipe(preset.name) for preset in presets()], _answer)


def _answer(asks: Sequence[Ask]) -> tuple[Answer, ...]:
    """Answers of a model's length: a quarter of what they are about, or as long as they may be."""
    count = counter_for("gpt-4o").text
    lengths = [max(1, min(ask.max_tokens, count(ask.material) // 4)) for ask in asks]
    return tuple(Completion(("word " * length).strip(), estimated=True) for length in lengths)


def _growth(out: TextIO, measured: dict[int, Measured], names: Sequence[str]) -> None:
    """How many times as long the largest size takes as one a tenth of it."""
    largest = max(measured)
    if (small := measured.get(largest // GROWTH)) is None:
        return
    seconds = measured[largest].seconds
    shown = "".join(f" {seconds[name][0] / small.seconds[name][0]:>21.1f}" for name in names)
    tokens = measured[largest].tokens / small.tokens
    print(f"{f'{largest:,} / {largest // GROWTH:,}':22} {tokens:>9.1f} {'':>8}{shown}", file=out, flush=True)


def allocated(size: int) -> tuple[int, dict[str, int]]:
    """Bytes of the parsed conversation, and the most that each recipe allocates beside it."""
    body = json.dumps(render(generated(size)))
    parsed, peaks = 0, {}
    for timed in _timed_recipes():
        if len(timed.recipes) == 1:
            _condense(Condensation(parse(json.loads(body)), "gpt-4o", timed.target), timed)
            gc.collect()
            tracemalloc.start()
            conversation = parse(json.loads(body))
            condensation = Condensation(conversation, "gpt-4o", timed.target)
            parsed = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            _condense(condensation, timed)
            peaks[timed.name] = tracemalloc.get_traced_memory()[1] - parsed
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
    """Processor time; garbage is collected meanwhile, but only among what the work itself allocates.

    The benchmark holds several conversations at once: to look through them all would be counted as work.
    """
    before()
    gc.collect()
    gc.freeze()
    began = process_time()
    work()
    taken = process_time() - began
    gc.unfreeze()
    return taken


if __name__ == "__main__":
    run(sys.stdout, [int(size) for size in sys.argv[1:]] or SIZES)
