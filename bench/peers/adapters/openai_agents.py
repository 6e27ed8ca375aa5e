"""OpenAI Agents SDK: `ToolOutputTrimmer`, which works on items of the Responses API."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from bench.peers.serving import Left, Prepared, Task, Wire, mildest, serve, text_of

Trimmer = import_module("agents.extensions").ToolOutputTrimmer
run_config = import_module("agents.run_config")
LENGTHS = (4_000, 2_000, 1_000, 500, 200)
"""Characters a tool's output may have, from mild to hard."""


def _items(messages: Sequence[Wire]) -> list[dict[str, Any]]:
    """The messages as items; each says at which message it belongs."""
    items: list[dict[str, Any]] = []
    for index, wire in enumerate(messages):
        if wire["role"] == "tool":
            item = {"type": "function_call_output", "call_id": wire["tool_call_id"], "output": text_of(wire)}
            items.append({**item, "at": index})
            continue
        if wire.get("content") or not wire.get("tool_calls"):
            items.append({"role": wire["role"], "content": text_of(wire), "at": index})
        for call in wire.get("tool_calls") or ():
            function = call["function"]
            item = {"type": "function_call", "call_id": call["id"], "name": function["name"]}
            items.append({**item, "arguments": function["arguments"], "at": index})
    return items


def _back(messages: Sequence[Wire], items: Sequence[dict[str, Any]]) -> list[Wire]:
    changed = {
        item["at"]: item["output"]
        for item in items
        if item.get("type") == "function_call_output" and item["output"] != text_of(messages[item["at"]])
    }
    return [{**wire, "content": changed[index]} if index in changed else wire for index, wire in enumerate(messages)]


def trim(task: Task) -> Prepared:
    return _prepared(task, Trimmer())


def trim_best(task: Task) -> Prepared:
    """Only the newest turn untouched, and outputs cut no shorter than the budget asks for."""
    return mildest(task, [partial(_prepared, task, Trimmer(1, length, length // 2)) for length in LENGTHS])


def _prepared(task: Task, trimmer: Any) -> Prepared:
    items = _items(task.messages)
    return Prepared(lambda: _filtered(trimmer, items), lambda left: Left(_back(task.messages, left)))


def _filtered(trimmer: Any, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    # The trimmer reads no more of its argument than the input.
    data = run_config.CallModelData(run_config.ModelInputData(items, None), None, None)
    left: list[dict[str, Any]] = trimmer(data).input
    return left


WAYS = {"trim": trim, "trim-best": trim_best}

if __name__ == "__main__":
    serve(WAYS, sys.argv[1:])
