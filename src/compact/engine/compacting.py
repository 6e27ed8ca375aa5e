"""One compaction of a session: the provider first, and where that is not enough, the oldest messages go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from compact.engine.driver import AskModel, Judge, Outcome, run
from compact.engine.gauge import Gauge
from compact.engine.guard import floor_of
from compact.errors import InsufficientBudget
from compact.formats import reject
from compact.messages import Conversation
from compact.ports import Event, Observe
from compact.providers import Provider, Task
from compact.providers.giving_way import give_way
from compact.providers.native import slide


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done: by which provider, for a window of what size, down to how many tokens.

    `budget` is what a request may take at most. With `prune` the oldest messages go where the provider is not enough.
    """

    provider: Provider
    settings: Any
    window: int
    budget: int
    target: int
    reads: int | None = None
    prune: bool = True


def compact(
    conversation: Conversation,
    order: Order,
    gauge: Gauge,
    ask: Callable[[Judge], AskModel],
    observe: Observe,
) -> Outcome:
    """Condense the conversation as ordered; InsufficientBudget at once where what must stay does not fit."""
    floor = floor_of(conversation, gauge)
    if floor.total > order.budget:
        raise InsufficientBudget(
            f"{floor}; the budget is {order.budget:,} of {order.window:,}. Protect fewer or shorter messages, cut long "
            "tool results before they are added, shorten the system prompt or the tools, or use a model with a larger "
            "context window.",
            needed=floor.total,
            budget=order.budget,
        )
    judge = Judge(conversation, gauge, reject, observe)
    task = partial(Task, window=order.window, measure=gauge, reads=order.reads)
    aim = task(judge.conversation, judge.tokens, order.target)
    run(order.provider.condense(aim, order.settings), judge, ask(judge))
    if judge.tokens > order.budget and order.prune:
        observe(Event("compact.error", {**_over(judge, order), "fallback": "pruning-only"}, failed=True))
        for way in (slide, give_way):  # some rules forbid to remove messages, and not to shorten them
            if judge.tokens > order.budget:
                run(way(task(judge.conversation, judge.tokens, order.target)), judge, ask(judge))
    return judge.outcome()


def _over(judge: Judge, order: Order) -> dict[str, str]:
    text = f"{judge.tokens:,} tokens were left by {order.provider.name} where {order.budget:,} may be used"
    return {"error_type": "OverBudget", "message": text}
