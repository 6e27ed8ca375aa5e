"""The events of decisions and compactions: the same at every entry point."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from compact.engine.driver import Outcome
from compact.engine.gauge import Gauge
from compact.messages import Conversation, Fold, Json, Message, is_removed_marker, is_summary, summary_handle
from compact.policies import Decision, EffectiveThreshold, Room
from compact.ports import CompactionFacts, Event


def estimate_event(model: str, decision: Decision, frame: int, system: int, roles: Mapping[str, int]) -> Event:
    """How many tokens the next request takes, and what takes them.

    `frame` are the tokens around the messages, of which `system` are the system prompt's; `roles` those of messages.
    """
    breakdown = {"system": system, "developer": 0, "tools_schema": frame - system, "messages": 0}
    for role, tokens in roles.items():
        breakdown[role if role in ("system", "developer") else "messages"] += tokens
    return Event(
        "compact.token_estimate",
        {
            "model": model,
            "t_est": decision.used,
            "max_tokens": decision.window,
            "usage_pct": round(decision.usage, 4),
            "breakdown": breakdown,
        },
    )


def decision_events(
    decision: Decision, policy: Mapping[str, Json], threshold: EffectiveThreshold, note: str = ""
) -> Iterator[Event]:
    """True if a compaction begins, and why; before it does, how near it is."""
    triggered = decision.triggered or bool(note)
    set_ = {"trigger_pct": threshold.share, "target_pct": threshold.target, "trigger_from": threshold.origin}
    told: dict[str, Json] = {"triggered": triggered, "reason": note or decision.reason, "policy": {**set_, **policy}}
    yield Event("compact.trigger_decision", told)
    if decision.left is not None and not triggered:
        sizes = {"t_est": decision.used, "trigger_at": decision.used + decision.left, "left": decision.left}
        yield Event("compact.near", sizes)


def lowered_event(used: int, room: Room, limit: int) -> Event:
    """The limit of an answer was lowered, as it did not fit into the window beside the input."""
    sizes = {"window": room.limits.total, "input": used, "buffer": room.buffer}
    return Event("compact.max_tokens_lowered", {"requested": room.answer.limit, "max_tokens": limit, **sizes})


def error_event(kind: str, message: str, fallback: str = "") -> Event:
    """Build the event for an error, with what was done instead."""
    return Event("compact.error", {"error_type": kind, "message": message, "fallback": fallback}, failed=True)


def public_events(event: Event) -> Iterator[Event]:
    """An event of the engine under our name; of the summary itself the compaction says more.

    That there is none, or none of the model's, is an error besides, with what was done instead.
    """
    told = event.properties
    if event.name == "summary_pruned":
        yield error_event(f"summary_{told['kind']}", str(told["reason"]), "pruning-only")
    elif event.name == "summary_created":
        if "reason" in told:
            yield error_event("summary_failure", str(told["reason"]), "offline")
        return
    yield replace(event, name=f"compact.{event.name.removeprefix('compact.')}")


def pruned_event(
    before: Conversation, after: Conversation, facts: CompactionFacts, roles: Collection[str], undo: str
) -> Event:
    """Count what a compaction kept and removed; messages of these roles are always kept.

    `undo` says how to take the compaction back.
    """
    view = after.messages
    kept = {message.id for message in view}
    fixed = {message.id for message in before.messages if message.fixed or message.role in roles}
    pinned, first = len(fixed & kept), len((_first(before.messages) - fixed) & kept)
    summaries = sum(map(is_summary, view))
    recent = [message for message in view if message.id not in fixed | _first(before.messages)]
    layers = {"pinned": pinned, "first": first, "summary": summaries}
    left = {"pinned": pinned, "recent_turns": _turns(recent), "tool_pairs": sum(len(one.calls) for one in recent)}
    layers |= {"recent": len(view) - sum(layers.values())}
    told: dict[str, Json] = {"pruned_count": facts.removed, "layers": layers, "kept": left, "undo": undo}
    return Event("compact.pruned_messages", told)


def result_events(before: Conversation, outcome: Outcome, facts: CompactionFacts, gauge: Gauge) -> Iterator[Event]:
    """Yield events for the summaries of a compaction, and at last its record."""
    sizes = {message.id: gauge.message(message) for message in before.messages}
    folds = (edit for step in outcome.plan for edit in step.edits if isinstance(edit, Fold))
    author: dict[str, Json] = {"why_offline": facts.why_offline} if facts.why_offline else {}
    author = {"written_by": list(facts.written_by)} if facts.written_by else author
    for fold in (fold for fold in folds if summary_handle(fold.text) and not is_removed_marker(fold.text)):
        size, source = gauge.text(fold.text), sum(sizes.get(id, 0) for id in fold.messages)
        yield Event(
            "compact.summary_created",
            {
                "strategy": facts.strategy,
                "input_messages": len(fold.messages),
                "summary_tokens": size,
                "compression_ratio": round(size / source, 4) if source else 0.0,
                "summary": fold.text,
                **author,
            },
            outcome.asking or sum(done.seconds for done in outcome.passes),
        )
    yield Event("compact.condensed", facts.to_json(), facts.seconds)


def prepared_event(outcome: Outcome, messages: int, seconds: float) -> Event:
    """That a compaction of so many messages is ready for when it is needed."""
    return Event("compact.background_prepared", {"messages": messages, **_passes(outcome)}, seconds)


def discarded_event(outcome: Outcome | None, why: str) -> Event:
    """That a compaction was prepared in vain, or could not be prepared."""
    return Event("compact.background_discarded", {"reason": why, **(_passes(outcome) if outcome else {})})


def _first(messages: Sequence[Message]) -> set[str]:
    """The id of the first task, which stays too."""
    said = (message.id for message in messages if message.from_user and not is_summary(message))
    return set(islice(said, 1))


def _turns(messages: Sequence[Message]) -> int:
    return sum(message.from_user and not is_summary(message) for message in messages)


def _passes(outcome: Outcome) -> dict[str, Json]:
    """The passes of a compaction that may never be applied, and their cost."""
    first, *_, last = (*outcome.passes, *outcome.passes)
    told: dict[str, Json] = {"tokens_before": first.tokens_before, "tokens_after": last.tokens_after}
    spent = [done.cost for done in outcome.passes if done.cost is not None]
    return {**told, "cost": str(sum(spent))} if spent else told
