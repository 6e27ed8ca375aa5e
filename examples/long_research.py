"""A research session of several times the model's window, with a compaction whenever that is nearly full.

The findings are made up and the answers too: no key is needed. It uses no framework, only `CompactManager`.
"""

from random import Random
from typing import Any

from compact import CompactConfig, CompactManager, count_tokens

WINDOW = 32_000
TOPICS = ("salinity", "currents", "plankton", "whales", "ice", "storms")


def finding(number: int, random: Random) -> str:
    """What a source says: much, of which a few lines matter."""
    topic = TOPICS[number % len(TOPICS)]
    rows = "\n".join(f"station {row}: {topic} {random.uniform(0, 40):.2f}" for row in range(110))
    return f"Source {number} on {topic} (doi:10.9999/ocean.{number})\n{rows}\nConclusion: {topic} rises at station 7."


def main() -> None:
    random = Random(7)
    config = CompactConfig(model="gpt-4o", max_context_tokens=WINDOW, profile="offline")
    messages: list[Any] = [
        {"role": "system", "content": "You are a careful researcher. Cite every source."},
        {"role": "user", "content": "How does the ocean change? Read all sources."},
    ]
    read = rounds = largest = 0
    with CompactManager(config) as manager:
        for number in range(90):
            function = {"name": "fetch", "arguments": f'{{"source": {number}}}'}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            text = finding(number, random)
            read += count_tokens([{"role": "tool", "tool_call_id": "call", "content": text}], model=config.model)
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"call_{number}", "content": text},
                {"role": "assistant", "content": f"Source {number}: {TOPICS[number % len(TOPICS)]} rises."},
                {"role": "user", "content": "Go on."},
            ]
            ready = manager.prepare("long-research", messages)
            messages = ready.messages
            largest = max(largest, count_tokens(messages, model=config.model))
            if ready.compacted:
                rounds += 1
                print(f"after source {number}: {ready.tokens_before:,} tokens became {ready.tokens_after:,}")
    print(f"read {read:,} tokens in a window of {WINDOW:,}: {rounds} compactions, never more than {largest:,} sent")


main()
