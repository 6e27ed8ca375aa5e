"""A session as people have them, and the recipes to compact it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

import compact
from compact.app import resolve_recipe
from compact.formats import FORMATS, parse, render, request_body
from compact.messages import Conversation, Json
from compact.providers import Recipe, presets

TASK = "Port the parser in src/parse.py to Rust. Never touch setup.cfg."
CORRECTION = "No, use serde, not nom. Keep the public API as it is."
LAST = "Go on with the tests."
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAGQAAABkCAIAAAD/gAIDAAAA" + "A" * 200  # the head of a picture of 100 by 100 pixels
)

WAYS: dict[str, dict[str, Any]] = {
    **{
        f"lossless {level}": {"provider": "lossless", "config": {"level": level}}
        for level in ("verbatim", "superseded")
    },
    **{preset.name: {"preset": preset.name} for preset in presets()},
    "native": {"provider": "native"},
    "auto": {"recipe": "auto"},
}
EVERY_WAY = pytest.mark.parametrize("way", WAYS)
EVERY_FORMAT = pytest.mark.parametrize("format", FORMATS)
SUMMARIZING = ("native", "cost", "balanced", "auto")
SUPPRESSING: dict[str, Any] = {
    "provider": "smart",
    "config": {
        "passes": [
            {
                "id": "suppress",
                "selection": {"type": "preserve_recent", "keep_recent": 2},
                "individual": {
                    "defaults": {
                        "tool_results": {"operation": "suppress"},
                        "tool_parameters": {"operation": "suppress"},
                    }
                },
            }
        ]
    },
}

UNKNOWN: dict[str, Json] = {
    "openai-chat": {"role": "user", "content": [{"type": "hologram", "beam": [1, {"a": None}]}]},
    "openai-responses": {"type": "hologram", "id": "h1", "beam": [1, {"a": None}]},
    "anthropic-messages": {"role": "user", "content": [{"type": "hologram", "beam": [1, {"a": None}]}]},
    "google-gemini": {"role": "user", "parts": [{"hologram": {"beam": [1, {"a": None}]}}]},
}


def call(id: str, name: str, **arguments: Json) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def source(number: int, lines: int = 60) -> str:
    return "\n".join(f"def handle_{number}_{line}(value): return value * {line}" for line in range(lines))


def step(number: int, mark: str = "") -> list[Json]:
    """Two calls at once, and their results; the mark tells the ids of a second time from the first."""
    path, command = f"src/module_{number}.py", f"pytest -q tests/test_{number}.py --maxfail=2{number}"
    read, test = f"r{number}{mark}", f"t{number}{mark}"
    calls = [call(read, "read_file", path=path), call(test, "run", command=command)]
    failed = f"FAILED tests/test_{number}.py::test_port\n{number + 3} failed, {100 + number} passed"
    return [
        {"role": "assistant", "content": f"I look at {path}.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": read, "content": source(number)},
        {"role": "tool", "tool_call_id": test, "content": failed},
    ]


def session(steps: int = 10, *, current: bool = True) -> list[Json]:
    """A task, steps with a correction among them, a last word, and a step that is under way."""
    messages: list[Json] = [{"role": "user", "content": TASK}]
    for number in range(steps):
        messages += step(number)
        messages += [{"role": "user", "content": CORRECTION}] if number == 3 else []
    messages.append({"role": "user", "content": LAST})
    if current:
        messages.append(
            {"role": "assistant", "content": None, "tool_calls": [call("now", "run", command="cargo test")]}
        )
        messages.append({"role": "tool", "tool_call_id": "now", "content": source(99, 30)})
    return messages


def in_format(messages: list[Json], format: str) -> Conversation:
    """The messages in another vendor's format, read from a request of its."""
    converted = compact.convert(parse(messages, format="openai-chat"), format, lossy=True)
    return parse(request_body(converted), format=format)


def sessions(messages: list[Json]) -> Iterator[Conversation]:
    """The messages in every format."""
    yield from (in_format(messages, format) for format in FORMATS)


def condense(messages: list[Json] | Conversation, way: str, target: float | None = None) -> compact.Result:
    """Condense, and see to it that what was given is left alone."""
    before = deepcopy(render(messages) if isinstance(messages, Conversation) else messages)
    result = compact.condense(messages, target=target, **WAYS[way])
    assert (render(messages) if isinstance(messages, Conversation) else messages) == before
    return result


def stopping(way: str) -> Recipe:
    """The recipe by itself: it stops where its own passes end."""
    named = {"name" if key == "recipe" else key: value for key, value in WAYS[way].items()}
    return replace(resolve_recipe(**named), when_missed="stop")


def written(value: Json) -> str:
    """Everything that is said, in one text."""
    return json.dumps(value, ensure_ascii=False)


def thought(number: int) -> Json:
    """A step with the reasoning that led to it, in the Responses format."""
    return [
        {"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": f"sealed{number}" * 8},
        {"type": "function_call", "call_id": f"a{number}", "name": "read_file", "arguments": '{"path": "a.py"}'},
        {"type": "function_call", "call_id": f"b{number}", "name": "read_file", "arguments": '{"path": "b.py"}'},
        {"type": "function_call_output", "call_id": f"a{number}", "output": source(number)},
        {"type": "function_call_output", "call_id": f"b{number}", "output": source(number + 50)},
    ]


def signed(number: int) -> Json:
    """A step with signed thinking, in the Messages format."""
    uses = [
        {"type": "tool_use", "id": f"{id}{number}", "name": "read_file", "input": {"path": f"{id}.py"}} for id in "ab"
    ]
    results = [
        {"type": "tool_result", "tool_use_id": f"{id}{number}", "content": source(number + more)}
        for id, more in (("a", 0), ("b", 50))
    ]
    thinking = {"type": "thinking", "thinking": f"First both files, {number}.", "signature": f"c2lnbmVk{number:04}" * 4}
    return [{"role": "assistant", "content": [thinking, *uses]}, {"role": "user", "content": results}]
