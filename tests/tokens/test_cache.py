from __future__ import annotations

import random
import threading
import tracemalloc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import TokenCountError
from compact.tokens.cache import CountCache


class Counting:
    """Counts characters, and how often it was asked for each text."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, text: str) -> int:
        self.asked[text] += 1
        return len(text)


def test_a_text_is_counted_once() -> None:
    count = Counting()
    cache = CountCache(count)
    assert [cache("some text"), cache("some " + "text"), cache("")] == [9, 9, 0]
    assert cache("") == 0  # zero is remembered too
    assert count.asked == {"some text": 1, "": 1}
    assert (cache.hits, cache.misses, len(cache)) == (2, 2, 2)


def test_what_was_not_asked_for_lately_is_forgotten() -> None:
    count = Counting()
    cache = CountCache(count, max_chars=100_000)
    for number in range(2000):
        cache(f"{number} " * 100)
        cache("asked for again and again")
    assert count.asked["asked for again and again"] == 1
    assert len(cache) < 1000
    cache("0 " * 100)
    assert count.asked["0 " * 100] == 2


def test_a_text_too_long_to_keep_is_counted_and_not_kept() -> None:
    count = Counting()
    cache = CountCache(count, max_chars=4000)
    cache("short")
    assert [cache("x" * 1000), cache("x" * 1000)] == [1000, 1000]
    assert count.asked["x" * 1000] == 2
    assert len(cache) == 1
    assert cache("short") == 5
    assert count.asked["short"] == 1


@given(st.lists(st.text(max_size=30)), st.integers(0, 3000))
def test_it_counts_what_the_counter_counts_and_stays_within_its_bounds(texts: list[str], max_chars: int) -> None:
    cache = CountCache(len, max_chars=max_chars)
    for text in texts:
        assert cache(text) == len(text)
        assert cache.chars <= 2 * max_chars
    assert cache.hits + cache.misses == len(texts)


@pytest.mark.parametrize("length", [5, 2000])
def test_memory_is_bounded_for_short_and_for_long_texts(length: int) -> None:
    cache = CountCache(len, max_chars=300_000)
    tracemalloc.start()
    peaks = []
    for turn in range(6):
        tracemalloc.reset_peak()
        for number in range(900_000 // (length + 100)):
            cache(f"{turn}:{number}:".ljust(length, "x"))
        peaks.append(tracemalloc.get_traced_memory()[1])
    tracemalloc.stop()
    assert max(peaks) < 3.5 * cache.max_chars
    assert peaks[-1] < 1.2 * peaks[1]


def test_a_failure_is_not_remembered() -> None:
    failing = True

    def count(text: str) -> int:
        if failing:
            raise TokenCountError("the tokenizer failed")
        return len(text)

    cache = CountCache(count)
    with pytest.raises(TokenCountError):
        cache("text")
    failing = False
    assert cache("text") == 4


def test_threads_get_right_counts_and_the_bounds_hold() -> None:
    texts = [chr(97 + number % 26) * number for number in range(1, 400)]
    cache = CountCache(len, max_chars=30_000)  # turns over all the time
    together = threading.Barrier(8)

    def ask(seed: int) -> int:
        chance = random.Random(seed)
        together.wait()
        wrong = 0
        for _ in range(20_000):
            text = chance.choice(texts)
            wrong += cache(text) != len(text)
        return wrong

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 0
    kept = {**cache._old, **cache._young}
    assert all(tokens == len(text) for text, tokens in kept.items())
    assert cache.chars == sum(len(text) + 128 for part in (cache._old, cache._young) for text in part)
    assert cache.chars <= 2 * cache.max_chars
    assert cache.misses >= len(texts)


def test_a_thread_does_not_wait_for_another_ones_long_text() -> None:
    started, may_end = threading.Event(), threading.Event()

    def count(text: str) -> int:
        if text == "long":
            started.set()
            assert may_end.wait(10)
        return len(text)

    cache = CountCache(count)
    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(cache, "long")
        assert started.wait(10)
        assert cache("short") == 5
        may_end.set()
        assert long.result(10) == 4
