"""Haystack: the compactors that its agents are given, called as its hook calls them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from bench.peers.serving import Left, Prepared, Task, Wire, serve, text_of

ChatMessage = import_module("haystack.dataclasses").ChatMessage
ToolCall = import_module("haystack.dataclasses").ToolCall
compaction = import_module("haystack.hooks.compaction")
counters = import_module("haystack.token_counters")


class Exchange:
    """Haystack's messages for ours, and ours again for those that came back as they went."""

    def __init__(self, messages: Sequence[Wire]) -> None:
        names = {call["id"]: _name(call) for wire in messages for call in wire.get("tool_calls") or ()}
        self.native = [_native(wire, names) for wire in messages]
        self._known = {id(native): wire for native, wire in zip(self.native, messages, strict=True)}

    def back(self, native: Sequence[Any]) -> list[Wire]:
        return [self._known.get(id(message)) or message.to_openai_dict_format() for message in native]

    def wire(self, message: Any) -> Wire:
        return self._known.get(id(message)) or message.to_openai_dict_format()


def _name(call: Wire) -> str:
    name: str = call["function"]["name"]
    return name


def _native(wire: Wire, names: dict[str, str]) -> Any:
    if wire["role"] == "tool":
        call = ToolCall(id=wire["tool_call_id"], tool_name=names.get(wire["tool_call_id"], "tool"), arguments={})
        return ChatMessage.from_tool(tool_result=text_of(wire), origin=call)
    plain = {key: wire[key] for key in ("role", "tool_calls") if wire.get(key)}
    return ChatMessage.from_openai_dict_format({**plain, "content": text_of(wire)})


class ExactCounter:
    """The budget's own count, each message converted once."""

    def __init__(self, task: Task, exchange: Exchange) -> None:
        self._task, self._exchange = task, exchange
        self._known: dict[int, tuple[Any, int]] = {}

    def count(self, messages: Sequence[Any], tools: Any = None) -> int:
        del tools
        return 3 + sum(map(self._message, messages))

    def _message(self, message: Any) -> int:
        if id(message) not in self._known:
            self._known[id(message)] = message, self._task.tokens.message(self._exchange.wire(message))
        return self._known[id(message)][1]


class Generator:
    """The stand-in for a model, as a chat generator."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def run(self, messages: Sequence[Any]) -> dict[str, Any]:
        text = "\n".join(message.text or "" for message in messages)
        return {"replies": [ChatMessage.from_assistant(self._task.scribe.summarize(text))]}


class Store:
    """Where results are taken to: the memory of the process."""

    supports_binary_content = False

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    @property
    def texts(self) -> list[str]:
        return list(self.kept.values())

    def write(self, key: str, content: str) -> str:
        self.kept[reference := f"tool_results/{key}"] = content
        return reference

    async def write_async(self, key: str, content: str) -> str:
        return self.write(key, content)

    def read(self, reference: str) -> str:
        return self.kept[reference]


def _prepared(task: Task, compactor: Any, *, exact: bool, store: Store | None = None) -> Prepared:
    exchange = Exchange(task.messages)
    counter = ExactCounter(task, exchange) if exact else counters.ApproximateTokenCounter()

    def run() -> Sequence[Any]:
        left: Sequence[Any] = compactor.compact(exchange.native, task.budget, counter) or exchange.native
        return left

    return Prepared(run, lambda native: Left(exchange.back(native), store.texts if store else []))


def window(task: Task) -> Prepared:
    return _prepared(task, compaction.SlidingWindowCompactor(), exact=False)


def window_best(task: Task) -> Prepared:
    return _prepared(task, compaction.SlidingWindowCompactor(), exact=True)


def prune(task: Task) -> Prepared:
    return _prepared(task, compaction.ToolResultPruningCompactor(), exact=False)


def prune_best(task: Task) -> Prepared:
    return _prepared(task, compaction.ToolResultPruningCompactor(min_tokens=50), exact=True)


def offload(task: Task) -> Prepared:
    store = Store()
    return _prepared(task, compaction.ToolResultOffloadCompactor(store), exact=False, store=store)


def offload_best(task: Task) -> Prepared:
    store = Store()
    return _prepared(task, compaction.ToolResultOffloadCompactor(store, min_tokens=100), exact=True, store=store)


def summarize(task: Task) -> Prepared:
    return _prepared(task, compaction.SummarizationCompactor(Generator(task)), exact=False)


def summarize_best(task: Task) -> Prepared:
    size = task.scribe.size + 32
    compactor = compaction.SummarizationCompactor(Generator(task), approximate_summary_tokens=size)
    return _prepared(task, compactor, exact=True)


WAYS = {
    "window": window,
    "window-best": window_best,
    "prune": prune,
    "prune-best": prune_best,
    "offload": offload,
    "offload-best": offload_best,
    "summarize": summarize,
    "summarize-best": summarize_best,
}

if __name__ == "__main__":
    serve(WAYS, sys.argv[1:])
