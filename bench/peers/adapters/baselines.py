"""Ways that need no model and no library: the newest messages, every string cut alike, observations masked."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from bench.peers.serving import Left, Prepared, Task, Wire, serve, split_system, text_of

KEPT_OBSERVATIONS = 10


def last_messages(task: Task) -> list[Wire]:
    """The instructions and the newest messages that fit, beginning where no result has lost its call."""
    system, rest = split_system(task.messages)
    room = task.budget - task.tokens.messages(system)
    start = len(rest)
    while start and (room := room - task.tokens.message(rest[start - 1])) >= 0:
        start -= 1
    while start < len(rest) and rest[start]["role"] == "tool":
        start += 1
    return [*system, *rest[start:]]


def first_and_last_messages(task: Task) -> list[Wire]:
    """As before, with the first thing the user said."""
    system, rest = split_system(task.messages)
    if not rest or rest[0]["role"] != "user":
        return last_messages(task)
    head = [*system, rest[0]]
    room = task.budget - task.tokens.messages(head)
    return [*head, *last_messages(replace(task, messages=rest[1:], budget=room))]


def cut_alike(task: Task) -> list[Wire]:
    """Every string of every message cut at the one length at which they fit together."""
    low, high = 0, max(len(text) for wire in task.messages for text in _strings(wire))
    while low < high:
        middle = (low + high + 1) // 2
        if task.tokens.messages([_cut(wire, middle) for wire in task.messages]) <= task.budget:
            low = middle
        else:
            high = middle - 1
    return [_cut(wire, low) for wire in task.messages]


def masked(task: Task, kept: int = KEPT_OBSERVATIONS) -> list[Wire]:
    """All observations but the newest replaced by how many lines they had."""
    observations = _observations(task.messages)
    old = set(observations[: len(observations) - kept])
    return [_mask(wire) if index in old else wire for index, wire in enumerate(task.messages)]


def masked_to_fit(task: Task) -> list[Wire]:
    """As many of the newest observations kept as the budget has room for."""
    low, high = 0, len(_observations(task.messages))
    while low < high:
        middle = (low + high + 1) // 2
        if task.tokens.messages(masked(task, middle)) <= task.budget:
            low = middle
        else:
            high = middle - 1
    return masked(task, low)


def _observations(messages: list[Wire]) -> list[int]:
    """Where tools answered; agents without tool calls are told in the user's name, after the task."""
    if any(wire["role"] == "tool" for wire in messages):
        return [index for index, wire in enumerate(messages) if wire["role"] == "tool"]
    pairs = pairwise(enumerate(messages))
    return [index for (_, before), (index, wire) in pairs if wire["role"] == "user" and before["role"] == "assistant"]


def _mask(wire: Wire) -> Wire:
    text = text_of(wire)
    note = f"[{text.count(chr(10)) + 1} lines of output omitted]"
    return {**wire, "content": note} if len(note) < len(text) else wire


def _strings(wire: Wire) -> Iterator[str]:
    yield text_of(wire)
    for call in wire.get("tool_calls") or ():
        yield call["function"]["arguments"]


def _cut(wire: Wire, length: int) -> Wire:
    content = wire.get("content")
    cut = {**wire, "content": text_of(wire)[:length] if content is not None else None}
    if calls := wire.get("tool_calls"):
        cut["tool_calls"] = [_cut_call(call, length) for call in calls]
    return cut


def _cut_call(call: Wire, length: int) -> Wire:
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
    except ValueError:
        return call
    return {**call, "function": {**function, "arguments": json.dumps(_shorten(arguments, length), ensure_ascii=False)}}


def _shorten(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return value[:length]
    if isinstance(value, list):
        return [_shorten(item, length) for item in value]
    return {key: _shorten(item, length) for key, item in value.items()} if isinstance(value, dict) else value


def _prepared(function: Callable[[Task], list[Wire]]) -> Callable[[Task], Prepared]:
    return lambda task: Prepared(lambda: function(task), Left)


WAYS = {
    "last": _prepared(last_messages),
    "first-last": _prepared(first_and_last_messages),
    "cut-alike": _prepared(cut_alike),
    "mask-10": _prepared(masked),
    "mask-fit": _prepared(masked_to_fit),
}

if __name__ == "__main__":
    serve(WAYS, sys.argv[1:])
