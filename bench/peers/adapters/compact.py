"""Compact itself, measured like its peers: what is timed takes its own types and gives them back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import compact
from bench.peers.serving import Left, Prepared, Task, Tokens, Way, serve, texts_of
from compact.app import counting
from compact.formats import parse
from compact.ports import Answer, Ask, Completion
from compact.tokens import load_encoding

SMALLEST, LARGEST = 64, 64_000
"""Tokens of a summary."""


def condense(task: Task, **options: Any) -> Prepared:
    _forget()
    conversation = parse(task.messages, format="openai-chat")
    return Prepared(partial(compact.condense, conversation, model="gpt-4o", target=task.budget, **options), _finish)


def _forget() -> None:
    """Counts and words of an earlier request would be an advantage."""
    for known in (counting._counter, counting._cache):
        known.cache_clear()
    load_encoding("o200k_base")._tokenizer.clear_cache()


def summarized(task: Task) -> Prepared:
    """An offline summary as large as the budget allows: what must stay is measured with the smallest one first."""
    _forget()
    conversation = parse(task.messages, format="openai-chat")

    def sized(tokens: int) -> compact.Result:
        config = {"max_summary_tokens": min(max(tokens, SMALLEST), LARGEST)}
        return compact.condense(conversation, recipe="native", config=config, model="gpt-4o", target=task.budget)

    def run() -> compact.Result:
        return sized(task.budget - (sized(SMALLEST).report.tokens_after - SMALLEST))

    return Prepared(run, _finish)


def _finish(result: compact.Result) -> Left:
    return Left(result.messages, [text for wire in compact.restore(result) for text in texts_of(wire)])


def asking(task: Task, **options: Any) -> Prepared:
    """With the stand-in that everybody else summarizes with."""

    def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(Completion(task.scribe.summarize(one.material)) for one in asks)

    return condense(task, ask=ask, **options)


RECIPES = ("auto", "v1", "v2", "speed", "cost", "balanced", "quality", "layers", "native")
WAYS: dict[str, Way] = {
    **{name: partial(condense, recipe=name) for name in RECIPES},
    "lossless": partial(condense, recipe="lossless:superseded"),
    "summary": summarized,
    "auto-model": partial(asking, recipe="auto"),
    "balanced-model": partial(asking, recipe="balanced"),
    "quality-model": partial(asking, recipe="quality"),
}

if __name__ == "__main__":
    # One vocabulary in memory, as in every other adapter.
    Tokens._tokenizer = load_encoding("o200k_base")._tokenizer
    serve(WAYS, sys.argv[1:])
