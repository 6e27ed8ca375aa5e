"""Conversations to condense, and a run of a provider over them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from compact.app import counter_for
from compact.engine import AskModel, Gauge, Judge, Outcome, run
from compact.formats import parse, reject, tools_of
from compact.messages import Conversation
from compact.ports import Ask, Completion
from compact.providers import Provider, Task

BUNDLED = Path(__file__).parents[2] / "src" / "compact" / "cli" / "transcripts" / "session.openai-chat.json"
WINDOW = 128_000


def bundled() -> Conversation:
    return parse(json.loads(BUNDLED.read_text(encoding="utf-8")))


def gauge_for(conversation: Conversation) -> Gauge:
    return Gauge(counter_for("gpt-4o"), tools_of(conversation))


def tokens_of(conversation: Conversation) -> int:
    return gauge_for(conversation).conversation(conversation)


def task_for(conversation: Conversation, target: int | None = None) -> Task:
    gauge = gauge_for(conversation)
    originals = {message.id: message for message in conversation.messages}
    return Task(conversation, gauge.conversation(conversation), target, WINDOW, gauge, originals=originals)


def in_short(asks: Sequence[Ask]) -> tuple[Completion, ...]:
    return tuple(Completion("It held what was asked for.") for _ in asks)


def drive(
    provider: Provider, settings: Any, conversation: Conversation, target: int | None = None, ask: AskModel = in_short
) -> Outcome:
    task = task_for(conversation, target)
    judge = Judge(conversation, task.measure, reject)
    return run(provider.condense(task, settings), judge, ask)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def measured(number: int, lines: int = 25) -> str:
    """An answer full of names and values, which is worth as much in a long quote as in its own message."""
    rng = Random(number)
    names = ["parser", "scheduler", "cache", "index", "queue", "socket", "buffer", "kernel"]
    return "\n".join(
        f"[{number}:{at}] {rng.choice(names)}.{rng.choice(names)}_{rng.randrange(10**6)} took {rng.randrange(1000)} ms "
        f"{rng.getrandbits(64):016x}"
        for at in range(lines)
    )


def step(id: str, tool: str, arguments: dict[str, Any] | str, answer: str) -> list[dict[str, Any]]:
    """A call and its result."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": id, "type": "function", "function": {"name": tool, "arguments": raw}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "content": answer},
    ]


def numbered_lines(count: int, words: str = "the quick brown fox jumps over the lazy dog") -> str:
    return "\n".join(f"{number}: {words}" for number in range(1, count + 1))


def contents(conversation: Conversation) -> list[str]:
    """What each message says, calls as their raw arguments."""
    return [
        message.text
        or "".join(result.text for result in message.results)
        or "".join(call.raw for call in message.calls)
        for message in conversation.messages
    ]


def changed(before: Conversation, after: Conversation) -> list[int]:
    """The positions of the messages that say something else now."""
    pairs = zip(contents(before), contents(after), strict=True)
    return [index for index, (one, other) in enumerate(pairs) if one != other]


LONG = numbered_lines(60)
