"""Counting again after one new message, through the public function, beside tiktoken counting everything again."""

from __future__ import annotations

import json
import random
from statistics import median
from time import perf_counter
from typing import Any, TextIO

import compact
from compact.app import counting
from compact.tokens import load_encoding
from tests.tokens.oracle import oracle

MESSAGES = 1_000
TOKENS = 200_000


def session() -> list[dict[str, Any]]:
    """A chat session of a thousand messages and about 200,000 tokens, with calls and results."""
    rng = random.Random(7)
    words = [
        "path",
        "token",
        "window",
        "edit",
        "fold",
        "plan",
        "call",
        "result",
        "error",
        "assert",
        "return",
        "import",
        "value",
        "message",
        "count",
    ]

    def text(size: int) -> str:
        return " ".join(rng.choice(words) + str(rng.randrange(10_000)) for _ in range(size))

    messages: list[dict[str, Any]] = []
    while len(messages) < MESSAGES:
        id = f"call_{len(messages)}"
        arguments = json.dumps({"path": f"src/{len(messages)}.py", "query": text(4)})
        call = {"id": id, "type": "function", "function": {"name": "search", "arguments": arguments}}
        messages += [
            {"role": "user", "content": text(10)},
            {"role": "assistant", "content": text(20), "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": text(205)},
            {"role": "assistant", "content": text(25)},
        ]
    return messages


def run(out: TextIO) -> None:
    messages = session()
    tiktoken = oracle("o200k_base")
    total = compact.count_tokens(messages)
    cold, warm, again = [], [], []
    for _ in range(5):
        forget()
        began = perf_counter()
        compact.count_tokens(messages)
        cold.append(perf_counter() - began)
    for index in range(30):
        messages.append({"role": "user", "content": f"And what about case {index}?"})
        began = perf_counter()
        compact.count_tokens(messages)
        warm.append(perf_counter() - began)
    for _ in range(5):
        began = perf_counter()
        sum(len(tiktoken.encode_ordinary(text)) for message in messages for text in _texts(message))
        again.append(perf_counter() - began)
    first, ours, theirs = (median(times) * 1000 for times in (cold, warm, again))
    print(f"{len(messages):,} messages, {total:,} tokens, one appended at a time", file=out)
    print(f"tiktoken, everything   {theirs:8.3f} ms", file=out)
    print(f"compact, never counted {first:8.3f} ms  {theirs / first:,.1f} times as fast", file=out)
    print(f"compact, one new       {ours:8.3f} ms  {theirs / ours:,.0f} times as fast", file=out)
    print(f"  worst of {len(warm)}           {max(warm) * 1000:8.3f} ms", file=out)


def forget() -> None:
    """Make the next count a first one; the tokenizer's own memory of words included."""
    counting._recent._lists = ()
    counting._counter.cache_clear()
    counting._cache.cache_clear()
    load_encoding("o200k_base")._tokenizer.clear_cache()


def _texts(message: dict[str, Any]) -> list[str]:
    calls = message.get("tool_calls", ())
    return [message["role"], message["content"], *(call["function"]["arguments"] for call in calls)]
