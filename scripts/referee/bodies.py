"""Requests to work on: from the worlds of this tree, in all formats, and from real transcripts."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import compact
from compact.formats import request_body
from compact.testing.worlds import make_world

Body: TypeAlias = Mapping[str, Any]
FORMATS: Final = ("openai-chat", "anthropic-messages", "openai-responses", "google-gemini")
KEYS: Final = ("messages", "input", "contents")
"""Where the messages of a request are."""
STEPS: Final = 60
"""Requests of a session at most, usually."""


@cache
def world_body(seed: int, tokens: int | None = None, format: str = "") -> Body:
    """The request of a world; each fourth is in the same format, unless one is named."""
    world = make_world(seed, tokens=tokens)
    return request_body(compact.convert(world.body, format or FORMATS[seed % len(FORMATS)]))


class NoTranscripts(Exception):
    """A folder that was given for its transcripts has none."""


def transcripts(data: Path) -> Iterator[tuple[str, Body]]:
    """The names and the requests of the transcripts in the folder and the folders in it, the largest first."""
    found = 0
    files = [file for file in (*data.glob("*.json"), *data.glob("*/*.json")) if not file.name.endswith(".qa.json")]
    for file in sorted(files, key=lambda file: (-file.stat().st_size, file)):
        content = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(content, dict) and "messages" in content:
            found += 1
            name = file.relative_to(data).with_suffix("").as_posix()
            yield name, {key: content[key] for key in ("system", "messages") if key in content}
    if not found:
        raise NoTranscripts(f'no transcripts in {data}: JSON files with "messages" belong in it or in folders of it')


def key_of(body: Body) -> str:
    """Where the messages of this request are."""
    return next(key for key in KEYS if key in body)


def lengths(messages: Sequence[Body], steps: int = STEPS) -> list[int]:
    """How many messages each request of a growing session has: all before a turn of the model, and in the end all."""
    own = [_is_models(message) for message in messages]
    found = [at for at in range(1, len(own)) if own[at] and not own[at - 1]]
    every = -(-len(found) // steps) or 1
    return [*found[every - 1 :: every], len(messages)]


def limited(body: Body, tokens: int) -> Body:
    """The request with a limit to its answer, by the name that its format has for it."""
    if "contents" in body:
        return {**body, "generationConfig": {"maxOutputTokens": tokens}}
    return {**body, "max_output_tokens" if "input" in body else "max_tokens": tokens}


def frequent_word(messages: Sequence[Body]) -> str:
    """The longer word that is most frequent in the first half, so that a search finds it in what was removed."""
    texts = "\n".join(_texts(messages[: len(messages) // 2]))
    words = Counter(re.findall(r"[^\W\d_]{5,}", texts))
    return max(sorted(words), key=words.__getitem__, default="nothing")


def _is_models(message: Body) -> bool:
    return message.get("role") in ("assistant", "model") or message.get("type") in ("function_call", "reasoning")


def _texts(value: Any) -> Iterator[str]:
    """The longer texts in a value; keys, roles and ids are short."""
    if isinstance(value, str):
        yield from [value] if len(value) > 40 else []
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(inner)
