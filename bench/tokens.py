"""How fast tokens are counted: against tiktoken, as conversations grow, and when counted before."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import TextIO

from compact.tokens.cache import CountCache
from compact.tokens.encodings import Encoding, load
from tests.tokens.oracle import oracle

MESSAGE_CHARS = 3000
GROWTH = (10_000, 100_000, 1_000_000, 5_000_000)
REPEATS = 5


def messages(tokens: int) -> list[str]:
    """Different texts of about so many tokens together: the standard library's source, in pieces like messages."""
    sources = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*/*.py"))
    pieces, chars = [], 0
    for turn, path in enumerate(cycle(sources)):
        text = path.read_text(encoding="utf-8", errors="replace")
        for start in range(0, len(text), MESSAGE_CHARS):
            pieces.append(f"{turn}:{start}\n{text[start : start + MESSAGE_CHARS]}")
            chars += len(pieces[-1])
            if chars > 4 * tokens:
                return pieces
    return pieces


def best(work: Callable[[], object], before: Callable[[], object] = lambda: None, repeats: int = REPEATS) -> float:
    """The shortest time of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        before()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def cold(encoding: Encoding, texts: Sequence[str]) -> dict[str, float]:
    """Seconds to count texts that nobody has counted before, by who counts them; all in one run, turn by turn."""
    theirs = oracle(encoding.name).encode_ordinary
    forget = encoding._tokenizer.clear_cache
    ways: dict[str, Callable[[], object]] = {
        "tiktoken": lambda: sum(len(theirs(text)) for text in texts),
        "compact, one by one": lambda: sum(map(CountCache(encoding.count).count, texts)),
        "compact, all at once": lambda: sum(encoding.count_many(texts)),
    }
    if len({work() for work in ways.values()}) != 1:
        raise AssertionError("the counts differ")
    rounds = [{who: best(work, forget, 1) for who, work in ways.items()} for _ in range(REPEATS)]
    return {who: min(seconds[who] for seconds in rounds) for who in ways}


def load_seconds(name: str) -> float:
    """Seconds to import and load a vocabulary in a new process."""
    code = (
        "import time; start = time.perf_counter(); from compact.tokens.encodings import load; "
        f"load({name!r}).count('x'); print(time.perf_counter() - start)"
    )
    runs = [subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True) for _ in range(3)]
    return min(float(run.stdout) for run in runs)


def grown(encoding: Encoding, tokens: int) -> tuple[int, float, float, float]:
    """Tokens, seconds to count them cold and again warm, and bytes of memory that cold counting took at most."""
    texts = messages(tokens)
    total = sum(map(encoding.count, texts))
    seconds = best(
        lambda: sum(map(CountCache(encoding.count).count, texts)),
        encoding._tokenizer.clear_cache,
        repeats=2,
    )
    cache = CountCache(encoding.count)
    sum(map(cache.count, texts))
    warm = best(lambda: sum(map(cache.count, texts)))
    tracemalloc.start()
    sum(map(CountCache(encoding.count).count, texts))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return total, seconds, warm, peak


def warm_nanoseconds(encoding: Encoding) -> float:
    """Nanoseconds to be told again what one text counts."""
    count, texts = CountCache(encoding.count).count, messages(1000)[:1] * 100_000
    count(texts[0])
    return best(lambda: [count(text) for text in texts]) / len(texts) * 1e9


def run(out: TextIO) -> None:
    """Prints the measurements as tables."""

    def line(text: str) -> None:
        print(text, file=out, flush=True)

    texts = messages(200_000)
    size = sum(len(text.encode()) for text in texts) / 1e6
    line(f"Counting {len(texts)} texts, {size:.1f} MB, never counted before")
    for name in ("o200k_base", "cl100k_base"):
        encoding = load(name)
        seconds = cold(encoding, texts)
        for who, taken in seconds.items():
            ratio = seconds["tiktoken"] / taken
            line(f"  {name:12} {who:20} {taken * 1e3:7.1f} ms {size / taken:7.1f} MB/s {ratio:5.1f} x tiktoken")
    encoding = load("o200k_base")
    line("As a conversation grows (o200k_base)")
    for tokens in GROWTH:
        total, taken, warm, peak = grown(encoding, tokens)
        line(f"  {total:>9,} tokens {taken * 1e3:8.1f} ms cold {warm * 1e3:7.2f} ms warm {peak / 1e6:6.1f} MB peak")
    line(f"The same text again: {warm_nanoseconds(encoding):.0f} ns")
    for name in ("o200k_base", "cl100k_base", "gemma3", "gemma4"):
        line(f"Import and load {name}: {load_seconds(name) * 1e3:.0f} ms")


if __name__ == "__main__":
    run(sys.stdout)
