"""headroom: `compress`, which looks at what tool output is made of. It takes no budget.

The model is the one that it assumes by itself: for OpenAI's it would fetch a vocabulary.
Its text compressor is a model that has to be downloaded from a hub; it is off here, in every row.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from bench.peers.serving import Left, Prepared, Task, Wire, serve, text_of

# Before the import: nothing is reported, fetched or looked up.
os.environ |= {"HEADROOM_BEACON": "off", "HEADROOM_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
HASH = re.compile(r"(?:hash=|<<ccr:)([0-9a-f]{8,64})")


def compress(task: Task, **settings: Any) -> Prepared:
    headroom = import_module("headroom")
    # A pipeline remembers what it has compressed, which would favour it when the same conversation comes again.
    module = sys.modules["headroom.compress"]
    module.__dict__["_pipeline"] = None
    module.__dict__["_get_pipeline"]()
    run = partial(
        headroom.compress,
        list(task.messages),
        model_limit=task.budget,
        **{**settings, "kompress_model": "disabled"},
    )
    return Prepared(run, lambda result: Left(result.messages, list(_stored(result.messages))))


def _stored(messages: Sequence[Wire]) -> Iterator[str]:
    """What the markers in the messages can be exchanged for."""
    store = import_module("headroom.cache.compression_store").get_compression_store()
    for key in dict.fromkeys(key for wire in messages for key in HASH.findall(text_of(wire))):
        if (entry := store.retrieve(key)) is not None:
            yield entry.original_content


def compress_best(task: Task) -> Prepared:
    """The profile for coding agents with the highest savings, repeated output told apart, nothing recent exempt."""
    os.environ["HEADROOM_DEDUPE"] = "1"
    return compress(task, savings_profile="agent-90", protect_recent=0, min_tokens_to_compress=50)


WAYS = {"compress": compress, "compress-best": compress_best}

if __name__ == "__main__":
    serve(WAYS, sys.argv[1:])
