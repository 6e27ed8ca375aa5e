"""pydantic-ai-harness: tiers of compaction, from cheap to expensive, and its sliding window."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from bench.peers.serving import Left, Prepared, Task, Wire, mildest, serve, text_of

compaction = import_module("pydantic_ai_harness.compaction")
kinds = import_module("pydantic_ai.messages")
FunctionModel = import_module("pydantic_ai.models.function").FunctionModel
READING = ("read", "view", "cat", "open_file")
TAILS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
PATHS = ("file_path", "path", "filePath", "filename")


class Exchange:
    """The harness's messages for ours, and ours again for parts that came back as they went."""

    def __init__(self, messages: Sequence[Wire]) -> None:
        self.native: list[Any] = []
        self._known: dict[int, tuple[Any, Wire]] = {}
        names: dict[str, str] = {}
        for wire in messages:
            if wire["role"] == "assistant":
                calls = wire.get("tool_calls") or ()
                names |= {call["id"]: call["function"]["name"] for call in calls}
                parts: list[Any] = [kinds.TextPart(text_of(wire))] if text_of(wire) or not calls else []
                parts += [kinds.ToolCallPart(_name(call), call["function"]["arguments"], call["id"]) for call in calls]
                self.native.append(kinds.ModelResponse(parts))
            else:
                parts = [_request_part(wire, names)]
                # Results stand together in one request, as the framework itself writes them.
                if wire["role"] == "tool" and self.native and isinstance(self.native[-1], kinds.ModelRequest):
                    self.native[-1].parts.extend(parts)
                else:
                    self.native.append(kinds.ModelRequest(parts))
            self._known |= {id(part): (part, wire) for part in parts}

    def back(self, native: Sequence[Any]) -> list[Wire]:
        wires: list[Wire] = []
        for message in native:
            if isinstance(message, kinds.ModelResponse):
                wires.append(self._response(message))
            else:
                wires += [self._request(part) for part in message.parts]
        return wires

    def _response(self, message: Any) -> Wire:
        found = [self._known.get(id(part), (None, None))[1] for part in message.parts]
        if found and found[0] is not None and all(wire is found[0] for wire in found):
            return found[0]
        texts = [part.content for part in message.parts if isinstance(part, kinds.TextPart)]
        calls = [_call(part) for part in message.parts if isinstance(part, kinds.ToolCallPart)]
        wire: Wire = {"role": "assistant", "content": "\n".join(texts) or (None if calls else "")}
        return {**wire, "tool_calls": calls} if calls else wire

    def _request(self, part: Any) -> Wire:
        if id(part) in self._known:
            return self._known[id(part)][1]
        content = part.content if isinstance(part.content, str) else "\n".join(map(str, part.content))
        if isinstance(part, kinds.ToolReturnPart):
            return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
        return {"role": "system" if isinstance(part, kinds.SystemPromptPart) else "user", "content": content}


def _request_part(wire: Wire, names: dict[str, str]) -> Any:
    if wire["role"] == "tool":
        return kinds.ToolReturnPart(names.get(wire["tool_call_id"], "tool"), text_of(wire), wire["tool_call_id"])
    return (kinds.UserPromptPart if wire["role"] == "user" else kinds.SystemPromptPart)(text_of(wire))


def _name(call: Wire) -> str:
    name: str = call["function"]["name"]
    return name


def _call(part: Any) -> Wire:
    arguments = part.args if isinstance(part.args, str) else json.dumps(part.args or {}, ensure_ascii=False)
    return {"id": part.tool_call_id, "type": "function", "function": {"name": part.tool_name, "arguments": arguments}}


def file_key(call: Any) -> str | None:
    """The file that a call reads whole, by the names that coding agents give such tools."""
    if call.tool_name.lower().split("_")[0] not in READING:
        return None
    try:
        arguments = call.args_as_dict()
    except ValueError:
        return None
    if any(key in arguments for key in ("offset", "limit", "view_range")):
        return None
    return next((str(arguments[key]) for key in PATHS if key in arguments), None)


def _model(task: Task) -> Any:
    """The stand-in, which is given the prompt as the harness writes it."""

    def respond(messages: list[Any], _: Any) -> Any:
        texts = [str(part.content) for message in messages for part in message.parts if hasattr(part, "content")]
        return kinds.ModelResponse([kinds.TextPart(task.scribe.summarize("\n".join(texts)))])

    return FunctionModel(respond)


def _prepared(task: Task, strategy: Any) -> Prepared:
    exchange, model = Exchange(task.messages), _model(task)
    run = partial(compaction.compact_now, strategy, exchange.native, model=model)
    return Prepared(lambda: asyncio.run(run()), lambda native: Left(exchange.back(native)))


def tiers(task: Task) -> Prepared:
    """The tiers that the documentation recommends."""
    steps = [
        compaction.DeduplicateFileReads(file_key=file_key),
        compaction.ClearToolResults(max_tokens=1, keep_pairs=3),
        compaction.SummarizingCompaction(max_messages=1, keep_messages=20),
    ]
    return _prepared(task, compaction.TieredCompaction(tiers=steps, target_tokens=task.budget))


def tiers_best(task: Task) -> Prepared:
    """Exact counts, a tail by tokens, and a window as the last tier so that the budget is met."""
    return mildest(task, [partial(_prepared, task, _tiers(task, share)) for share in TAILS])


def _tiers(task: Task, share: float) -> Any:
    count: Callable[[str], int] = task.tokens.text
    tail = max(int(task.budget * share) - task.scribe.size, 1)
    steps = [
        compaction.ClampOversizedMessages(max_part_tokens=2_000, tokenizer=count),
        compaction.DeduplicateFileReads(file_key=file_key),
        compaction.ClearToolResults(max_tokens=1, keep_pairs=3, tokenizer=count),
        compaction.SummarizingCompaction(max_messages=1, keep_tokens=tail, tool_return_max_chars=None, tokenizer=count),
        compaction.SlidingWindowCompaction(max_messages=1, keep_tokens=tail, tokenizer=count),
    ]
    return compaction.TieredCompaction(tiers=steps, target_tokens=task.budget, tokenizer=count)


def window(task: Task) -> Prepared:
    return _prepared(task, compaction.SlidingWindowCompaction(max_messages=1, keep_messages=40))


def window_best(task: Task) -> Prepared:
    """Exact counts, and a tail by tokens: the one that is asked for is only the least that is kept."""
    return mildest(task, [partial(_prepared, task, _window(task, share)) for share in TAILS])


def _window(task: Task, share: float) -> Any:
    keep = max(int(task.budget * share), 1)
    return compaction.SlidingWindowCompaction(max_messages=1, keep_tokens=keep, tokenizer=task.tokens.text)


WAYS = {"tiers": tiers, "tiers-best": tiers_best, "window": window, "window-best": window_best}

if __name__ == "__main__":
    serve(WAYS, sys.argv[1:])
