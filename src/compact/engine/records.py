"""The report of a compaction and its record, from what a run did."""

from __future__ import annotations

from decimal import Decimal

from compact.engine.driver import Outcome
from compact.engine.gauge import Gauge
from compact.engine.report import Report
from compact.messages import Conversation, EditKind, common_prefix
from compact.ports import CompactionFacts, PassSizes
from compact.ports.compactions import now
from compact.providers import Recipe


def report_of(recipe: Recipe, before: Conversation, outcome: Outcome, gauge: Gauge, target: int | None) -> Report:
    """Return the report of a run with its record; what stayed at the front includes system prompt and tools."""
    kept = common_prefix(
        [message.wire for message in before.messages], [message.wire for message in outcome.conversation.messages]
    )
    return Report(
        facts=_facts(recipe, before, outcome, gauge),
        passes=outcome.passes,
        target=target,
        kept_prefix=gauge.conversation(before.with_messages(before.messages[:kept])),
        events=outcome.events,
    )


def _facts(recipe: Recipe, before: Conversation, outcome: Outcome, gauge: Gauge) -> CompactionFacts:
    """Make the record of a run."""
    spent = [done.cost for done in outcome.passes if done.cost is not None]
    written = any(edit.kind is EditKind.SUMMARIZED for step in outcome.plan for edit in step.edits)
    created = [event.properties.get("offline") for event in outcome.events if event.name == "summary_created"]
    asked = [event.properties.get("strategy") for event in outcome.events if event.name == "summary_requested"]
    by_model = bool(outcome.models) and not (created and all(created))
    origin, left = outcome.origin, {message.id for message in outcome.conversation.messages}
    # After a refusal, the summary was written by another strategy than the first one asked for.
    usual = recipe.words.get("strategy") or getattr(recipe.settings, "strategy", "")
    strategy = str((asked[-1 if by_model else 0] if asked else usual) or "")
    return CompactionFacts(
        id=origin.id,
        ended_at=now(),
        source=origin.source,
        trigger=origin.trigger,
        provider=outcome.stand_in or recipe.provider.name,
        recipe=recipe.name,
        strategy=strategy if written else "",
        custom_prompt=bool(recipe.words.get("prompt")),
        model=origin.model,
        tokens_before=gauge.conversation(before),
        tokens_after=gauge.conversation(outcome.conversation),
        removed=sum(message.id not in left for message in before.messages),
        cost=sum(spent, Decimal(0)) if spent else None,
        seconds=round(outcome.seconds, 6),
        written_by=outcome.models if written and by_model else (),
        why_offline=_why_offline(outcome) if written and not by_model else "",
        failure=outcome.failure,
        passes=tuple(
            PassSizes(done.name, done.tokens_before, done.tokens_after) for done in outcome.passes if not done.skipped
        ),
    )


def _why_offline(outcome: Outcome) -> str:
    """Why no model wrote the account."""
    if outcome.unasked:
        return outcome.unasked
    failed = (event.properties.get("reason") for event in outcome.events if event.name == "summary_created")
    return str(next(filter(None, failed), "there was nothing to ask a model about"))
