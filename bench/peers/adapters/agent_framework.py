"""Microsoft agent-framework: its strategies, which exclude messages from what is sent and keep them in the list."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from bench.peers.serving import Left, Prepared, Task, Wire, serve, text_of, texts_of

framework = import_module("agent_framework")
Message, Content = framework.Message, framework.Content


class Exchange:
    """The framework's messages for ours, and ours again for those that came back as they went."""

    def __init__(self, messages: Sequence[Wire]) -> None:
        self.native = [_native(wire) for wire in messages]
        self._known = {id(native): wire for native, wire in zip(self.native, messages, strict=True)}

    def left(self, native: Sequence[Any]) -> Left:
        """What is sent, and what stays in the list without being sent."""
        sent = {id(message) for message in native}
        kept = [message for message in self.native if id(message) not in sent]
        texts = [text for message in kept for text in texts_of(self._known[id(message)])]
        return Left([self._known.get(id(message)) or _wire(message) for message in native], texts)


def _native(wire: Wire) -> Any:
    if wire["role"] == "tool":
        return Message("tool", [Content.from_function_result(wire["tool_call_id"], result=text_of(wire))])
    contents = [Content.from_text(text_of(wire))] if text_of(wire) else []
    for call in wire.get("tool_calls") or ():
        function = call["function"]
        contents.append(Content.from_function_call(call["id"], function["name"], arguments=function["arguments"]))
    return Message(wire["role"], contents)


def _wire(message: Any) -> Wire:
    return {"role": str(message.role), "content": message.text}


class ExactTokenizer:
    """The budget's own vocabulary; the framework counts its messages as JSON."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def count_tokens(self, text: str) -> int:
        return self._task.tokens.text(text)


class Client:
    """The stand-in for a model, as a chat client."""

    def __init__(self, task: Task) -> None:
        self._task = task

    async def get_response(self, messages: Sequence[Any], **_: Any) -> Any:
        text = "\n".join(message.text for message in messages)
        return framework.ChatResponse(messages=[Message("assistant", [self._task.scribe.summarize(text)])])


def _prepared(task: Task, strategy: Any) -> Prepared:
    exchange = Exchange(task.messages)
    # A copy of the list: strategies insert their summaries into it.
    messages = list(exchange.native)
    return Prepared(lambda: asyncio.run(framework.apply_compaction(messages, strategy=strategy)), exchange.left)


def context_window(task: Task) -> Prepared:
    """The documented strategy, with a window of which the budget is the share at which it truncates."""
    window = int(task.budget / framework.ContextWindowCompactionStrategy.DEFAULT_TRUNCATION_THRESHOLD)
    strategy = framework.ContextWindowCompactionStrategy(max_context_window_tokens=window, max_output_tokens=0)
    return _prepared(task, strategy)


def context_window_best(task: Task) -> Prepared:
    """Exact counts, down to the budget and no further, and the first request stays."""
    strategy = framework.ContextWindowCompactionStrategy(
        max_context_window_tokens=task.budget,
        max_output_tokens=0,
        tokenizer=ExactTokenizer(task),
        tool_eviction_threshold=1.0,
        truncation_threshold=1.0,
        preserve_first_user_group=True,
    )
    return _prepared(task, strategy)


def composed(task: Task) -> Prepared:
    """Strategies from gentle to hard within a budget, as the documentation composes them."""
    tokenizer = framework.CharacterEstimatorTokenizer()
    strategies = [
        framework.ToolResultCompactionStrategy(keep_last_tool_call_groups=1),
        framework.SummarizationStrategy(client=Client(task)),
        framework.SlidingWindowStrategy(keep_last_groups=20),
    ]
    return _prepared(
        task,
        framework.TokenBudgetComposedStrategy(token_budget=task.budget, tokenizer=tokenizer, strategies=strategies),
    )


def composed_best(task: Task) -> Prepared:
    """Exact counts, more tool results whole, a summary of everything older, and the fallback for the rest."""
    tokenizer = ExactTokenizer(task)
    strategies = [
        framework.ToolResultCompactionStrategy(keep_last_tool_call_groups=4),
        framework.SummarizationStrategy(client=Client(task), target_count=20, max_summary_input_tokens=None),
    ]
    return _prepared(
        task,
        framework.TokenBudgetComposedStrategy(token_budget=task.budget, tokenizer=tokenizer, strategies=strategies),
    )


WAYS = {
    "window": context_window,
    "window-best": context_window_best,
    "composed": composed,
    "composed-best": composed_best,
}

if __name__ == "__main__":
    serve(WAYS, sys.argv[1:])
