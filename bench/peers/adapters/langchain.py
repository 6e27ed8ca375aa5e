"""LangChain: `trim_messages`, `SummarizationMiddleware` and the clearing of tool results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from bench.peers.serving import Left, Prepared, Task, Way, Wire, mildest, serve, split_system

middleware = import_module("langchain.agents.middleware")
core = import_module("langchain_core.messages")
counting = import_module("langchain_core.messages.utils")
models = import_module("langchain_core.language_models")
TAILS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)


class Exchange:
    """LangChain's messages for ours, and ours again for those that came back as they went."""

    def __init__(self, messages: Sequence[Wire]) -> None:
        self.native: list[Any] = core.convert_to_messages([_plain(wire) for wire in messages])
        self._known = {}
        for index, (message, wire) in enumerate(zip(self.native, messages, strict=True)):
            message.id = f"m{index}"
            self._known[message.id] = core.convert_to_openai_messages(message), wire

    def back(self, native: Sequence[Any]) -> list[Wire]:
        return [self._wire(message) for message in native]

    def _wire(self, message: Any) -> Wire:
        now: Wire = core.convert_to_openai_messages(message)
        before, wire = self._known.get(message.id, (None, now))
        return wire if now == before else now


def _plain(wire: Wire) -> Wire:
    """Only what the framework knows, and never no content."""
    keys = ("role", "content", "name", "tool_calls", "tool_call_id")
    return {"content": "", **{key: wire[key] for key in keys if wire.get(key) is not None}}


def _exact(task: Task) -> Callable[[Sequence[Any]], int]:
    """The budget's own count of LangChain's messages, each converted once."""
    known: dict[int, tuple[Any, int]] = {}

    def count(messages: Sequence[Any]) -> int:
        total = 3
        for message in messages:
            if id(message) not in known:
                known[id(message)] = message, task.tokens.message(core.convert_to_openai_messages(message))
            total += known[id(message)][1]
        return total

    return count


def trim(task: Task, *, best: bool) -> Prepared:
    exchange = Exchange(task.messages)
    count = _exact(task) if best else counting.count_tokens_approximately
    run = partial(
        core.trim_messages,
        exchange.native,
        max_tokens=task.budget,
        token_counter=count,
        strategy="last",
        include_system=True,
        start_on=("human", "ai") if best else "human",
        end_on=("human", "tool"),
    )
    return Prepared(run, lambda native: Left(exchange.back(native)))


def summarize_best(task: Task) -> Prepared:
    return mildest(task, [partial(summarize, task, share) for share in TAILS])


def summarize(task: Task, tail: float | None = None) -> Prepared:
    """As documented, or with exact counts and a tail of this share of the budget."""
    system, rest = split_system(task.messages)
    exchange = Exchange(rest)
    room = task.budget - task.tokens.messages(system)
    settings: dict[str, Any] = {"keep": ("messages", 20)}
    if tail is not None:
        keep = max(int(room * tail) - task.scribe.size, 1)
        settings = {"keep": ("tokens", keep), "token_counter": _exact(task), "trim_tokens_to_summarize": None}
    summarizer = middleware.SummarizationMiddleware(
        models.FakeListChatModel(responses=[""]),
        trigger=("tokens", max(room, 1)),
        summarizer=lambda messages: task.scribe.summarize(counting.get_buffer_string(messages)),
        **settings,
    )

    def run() -> list[Any]:
        change = summarizer.before_model({"messages": exchange.native}, None)
        if change is None:
            return list(exchange.native)
        return [message for message in change["messages"] if not isinstance(message, core.RemoveMessage)]

    return Prepared(run, lambda native: Left([*system, *exchange.back(native)]))


def clear(task: Task, *, best: bool) -> Prepared:
    exchange = Exchange(task.messages)
    count = _exact(task) if best else counting.count_tokens_approximately

    def run() -> list[Any]:
        messages = list(exchange.native)
        enough = max(count(messages) - task.budget, 0) if best else 0
        edit = middleware.ClearToolUsesEdit(trigger=task.budget, clear_at_least=enough, keep=3, clear_tool_inputs=best)
        edit.apply(messages, count_tokens=count)
        return messages

    return Prepared(run, lambda native: Left(exchange.back(native)))


WAYS: dict[str, Way] = {
    "trim": partial(trim, best=False),
    "trim-best": partial(trim, best=True),
    "summarize": summarize,
    "summarize-best": summarize_best,
    "clear": partial(clear, best=False),
    "clear-best": partial(clear, best=True),
}

if __name__ == "__main__":
    serve(WAYS, sys.argv[1:])
