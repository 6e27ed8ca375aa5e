"""The report of a run."""

from __future__ import annotations

from decimal import Decimal

from compact.engine.driver import Outcome
from compact.engine.gauge import Gauge
from compact.engine.report import Report
from compact.messages import Conversation, common_prefix
from compact.providers import Recipe


def report_of(recipe: Recipe, before: Conversation, outcome: Outcome, gauge: Gauge, target: int | None) -> Report:
    """What a run came to; what stayed as it was at the front includes system prompt and tools."""
    kept = common_prefix(
        [message.wire for message in before.messages], [message.wire for message in outcome.conversation.messages]
    )
    spent = [done.cost for done in outcome.passes if done.cost is not None]
    return Report(
        provider=recipe.provider.name,
        recipe=recipe.name,
        passes=outcome.passes,
        tokens_before=gauge.conversation(before),
        tokens_after=gauge.conversation(outcome.conversation),
        target=target,
        kept_prefix=gauge.conversation(before.with_messages(before.messages[:kept])),
        seconds=sum(done.seconds for done in outcome.passes),
        cost=sum(spent, Decimal(0)) if spent else None,
        events=outcome.events,
    )
