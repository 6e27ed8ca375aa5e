"""What two versions of the gateway add to a request, in one run: `python -m bench.against FOLDER [--tokens 100000]`.

FOLDER is another checkout, such as a worktree of an earlier commit. Each request goes to the vendor, to this gateway
and to the other one in turn, in all three formats, as an agent's history grows and its cache mark moves along.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TextIO

import httpx2

from bench.gateway import TOKEN, Part, process

REQUESTS = 200
_WARMING = 5
_TEXT = " ".join(["the", "gateway", "passes", "every", "request", "on", "and", "looks", "at", "what", "is", "new"] * 16)
_STEP = 400
"""Tokens of a call and its result, about."""

Body = dict[str, Any]


def run(out: TextIO, folder: Path, tokens: int) -> None:
    """Print the figures."""
    with (
        TemporaryDirectory() as home,
        TemporaryDirectory() as other,
        process("upstream") as upstream,
        process("gateway", upstream.url, home) as here,
        process("gateway", upstream.url, other, folder=folder) as there,
    ):
        for name, (path, request) in FORMATS.items():
            mine, others = _measured(upstream, (here, there), path, [request(at, tokens) for at in range(_ALL)])
            print(f"{name}, {tokens:,} tokens: here +{mine:.2f} ms, there +{others:.2f} ms", file=out, flush=True)


_ALL = REQUESTS + _WARMING


def _measured(upstream: Part, gateways: tuple[Part, Part], path: str, bodies: Sequence[Body]) -> tuple[float, float]:
    """Milliseconds that each gateway adds, as the median of all requests."""
    added: tuple[list[float], list[float]] = ([], [])
    headers = {"authorization": f"Bearer {TOKEN}", "x-api-key": TOKEN, "content-type": "application/json"}
    with httpx2.Client(headers=headers, timeout=120) as client:
        for number, body in enumerate(bodies):
            content = json.dumps(body).encode()
            direct = _taken(client, f"{upstream.url}/v1{path}", content)
            order = (0, 1) if number % 2 else (1, 0)
            for which in order:
                through = _taken(client, f"{gateways[which].url}/v1{path}", content)
                if number >= _WARMING:
                    added[which].append(1000 * (through - direct))
    return median(added[0]), median(added[1])


def _taken(client: httpx2.Client, url: str, content: bytes) -> float:
    began = perf_counter()
    client.post(url, content=content).raise_for_status()
    return perf_counter() - began


def _steps(at: int, tokens: int) -> range:
    return range(tokens // _STEP + at)


def _chat(at: int, tokens: int) -> Body:
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Read the files."}]
    for step in _steps(at, tokens):
        function = {"name": "read", "arguments": json.dumps({"path": f"src/f{step}.py"})}
        call = {"id": f"call_{step}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{step}", "content": f"{step}: {_TEXT}"})
    return {"model": "gpt-4.1", "messages": messages}


def _responses(at: int, tokens: int) -> Body:
    items: list[Any] = [{"role": "user", "content": "Read the files."}]
    for step in _steps(at, tokens):
        arguments = json.dumps({"path": f"src/f{step}.py"})
        items.append({"type": "function_call", "call_id": f"c{step}", "name": "read", "arguments": arguments})
        items.append({"type": "function_call_output", "call_id": f"c{step}", "output": f"{step}: {_TEXT}"})
    return {"model": "gpt-4.1", "input": items}


def _messages(at: int, tokens: int) -> Body:
    messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "Read the files."}]}]
    for step in _steps(at, tokens):
        call = {"type": "tool_use", "id": f"t{step}", "name": "read", "input": {"path": f"src/f{step}.py"}}
        messages.append({"role": "assistant", "content": [call]})
        text = {"type": "text", "text": f"{step}: {_TEXT}"}
        messages.append(
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{step}", "content": [text]}]}
        )
    messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    return {"model": "claude-opus-4-8", "max_tokens": 1024, "messages": messages}


FORMATS: dict[str, tuple[str, Callable[[int, int], Body]]] = {
    "Chat": ("/chat/completions", _chat),
    "Responses": ("/responses", _responses),
    "Messages": ("/messages", _messages),
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokens", type=int, default=100_000)
    given = parser.parse_args()
    run(sys.stdout, given.folder.resolve(), given.tokens)
