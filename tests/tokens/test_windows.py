"""Long texts are counted window by window, and exactly as they are counted at once."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compact.tokens.encodings import ENCODINGS, Encoding, load
from compact.tokens.windows import WINDOW, count_in_windows
from tests.tokens.oracle import oracle, texts
from tests.tokens.test_encodings import LONG_TEXTS

# Where a pattern may go wrong that begins in the middle: case, digits in threes, contractions, and lines behind signs.
PARTS = [
    "a",
    "ab",
    "A",
    "Ab",
    " ",
    "  ",
    "\n",
    "\r\n",
    "/",
    "!",
    "!\n",
    "'",
    "'s",
    "'LL",
    "’",
    "=",
    "_",
    "\t",
    "1",
    "22",
]
PARTS += [
    "٣",
    "²",
    "é",
    "\u0301",
    "日本",
    "亚洲AV",
    "AV",
    "Ǆ",
    "ºC",
    "❤\ufe0f",
    "👨\u200d👩",
    "<|endoftext|>",
    "</div>",
    "▁",
]
RUNS = st.lists(st.tuples(st.lists(st.sampled_from(PARTS), min_size=1, max_size=6), st.integers(1, 400)), max_size=6)
LARGEST_WINDOW = 4 * WINDOW


def at_once(encoding: Encoding, text: str) -> int:
    return len(encoder(encoding, text)(text)) // 4


def encoder(encoding: Encoding, text: str) -> Callable[[str], bytes]:
    return encoding._encode_ordinary if encoding._spells_special(text) else encoding._encode_flat


def windowed(encoding: Encoding, text: str, window: int) -> int:
    return count_in_windows(text, encoder(encoding, text), encoding._tokenizer.decode_token_bytes, window)


@pytest.mark.parametrize("name", ENCODINGS)
@given(runs=RUNS, window=st.integers(60, 900))
@example(runs=[(["ab"], 1), (["日本"], 400), (["亚洲AV"], 1)], window=200)
@example(runs=[(["!\n"], 1), (["\n"], 400), (["  ", "\n"], 2)], window=200)
def test_windows_add_up_to_the_whole_wherever_they_are_cut(
    name: str, runs: list[tuple[list[str], int]], window: int
) -> None:
    encoding, text = load(name), "".join("".join(parts) * times for parts, times in runs)
    assert windowed(encoding, text, window) == at_once(encoding, text)


@pytest.mark.parametrize("name", ENCODINGS)
def test_windows_add_up_to_the_whole_of_varied_texts(name: str) -> None:
    many = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts(seed=7, amount=600)]
    encoding = load(name)
    for text in ("".join(many[first : first + 60]) for first in range(0, 600, 60)):
        for window in (150, 1000):
            assert windowed(encoding, text, window) == at_once(encoding, text)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("kind", LONG_TEXTS)
def test_texts_of_several_windows_are_counted_as_tiktoken_counts_them(name: str, kind: str) -> None:
    text = LONG_TEXTS[kind](3 * WINDOW)
    if "spaces" in kind:
        text = text[: 2 * WINDOW]  # its engine gives up on more of them
    assert load(name).count(text) == len(oracle(name).encode_ordinary(text))


@pytest.mark.parametrize(
    "kind", [*(kind for kind in LONG_TEXTS if kind not in ("digits", "quotes", "changing case")), "special"]
)
def test_no_word_is_so_long_that_it_is_encoded_at_once(kind: str) -> None:
    # What is encoded at once stays in the tokenizer's memory, and holds up the other threads.
    text = "a" * 1_000_000 + "<|endoftext|>" if kind == "special" else LONG_TEXTS[kind](1_000_000)
    encoding, longest = load("o200k_base"), 0
    encode = encoder(encoding, text)

    def measured(piece: str) -> bytes:
        nonlocal longest
        longest = max(longest, len(piece))
        return encode(piece)

    assert count_in_windows(text, measured, encoding._tokenizer.decode_token_bytes) == encoding.count(text)
    assert longest <= LARGEST_WINDOW


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc: Linux only")
def test_a_long_word_leaves_no_memory_behind() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096

    encoding = load("o200k_base")
    for kind in LONG_TEXTS:
        encoding.count(LONG_TEXTS[kind](WINDOW))
    before = resident()
    for word in ("a", "中", "="):
        encoding.count(word * 8_000_000)
    assert resident() - before < 100_000_000  # 600 MB where each is encoded at once


@pytest.mark.clock
@pytest.mark.parametrize("kind", ["one letter", "Chinese", "base64", "line breaks"])
def test_other_threads_go_on_while_a_long_text_is_counted(kind: str) -> None:
    encoding, text, done, waits = load("o200k_base"), LONG_TEXTS[kind](4_000_000), Event(), [0.0]

    def watch() -> None:
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0.001)
            waits.append(-last + (last := time.perf_counter()))

    watching = Thread(target=watch)
    watching.start()
    encoding.count(text)
    done.set()
    watching.join()
    assert sorted(waits)[int(len(waits) * 0.99)] < 0.2


def test_a_text_that_spells_special_tokens_is_counted_in_windows_too() -> None:
    words = random.Random(3).choices(["word", " and", "<|endoftext|>", "\n", "中文"], k=60_000)
    text = "".join(words)
    assert len(text) > 3 * WINDOW
    assert load("o200k_base").count(text) == len(oracle("o200k_base").encode_ordinary(text))
