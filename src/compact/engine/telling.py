"""What a manager tells about its decisions and compactions: events with all their properties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from compact.engine.driver import Outcome
from compact.engine.gauge import Gauge
from compact.engine.report import Report
from compact.messages import Conversation, Fold, Json, Message, is_removed_marker, is_summary, summary_handle
from compact.policies import Decision, EffectiveThreshold, Policy, Room
from compact.ports import Event


def told_estimate(model: str, conversation: Conversation, decision: Decision, gauge: Gauge) -> Event:
    """How many tokens the next request takes, and what takes them."""
    breakdown = {"system": 0, "developer": 0, "tools_schema": 0, "messages": 0}
    for role, tokens in gauge.roles(conversation).items():
        breakdown[role if role in ("system", "developer") else "messages"] += tokens
    system = gauge.message(conversation.system) if conversation.system else 0
    breakdown["system"] += system
    breakdown["tools_schema"] = gauge.frame(conversation) - system
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


def told_decision(
    decision: Decision,
    policy: Policy,
    threshold: EffectiveThreshold,
    note: str = "",
    conversation: Conversation | None = None,
) -> Event:
    """Whether a compaction begins, and why; of a conversation that is to be compacted, what is meant to stay and go."""
    properties: dict[str, Json] = {
        "triggered": decision.triggered or bool(note),
        "reason": note or decision.reason,
        "policy": {
            "trigger_pct": threshold.share,
            "target_pct": threshold.target,
            "trigger_from": threshold.origin,
            "hard_cap_buffer": policy.hard_cap_buffer,
            "strategy": policy.strategy,
        },
    }
    if conversation is not None:
        messages = conversation.messages
        fixed = _pinned(messages, policy)
        pinned, first = len(fixed), len(_first(messages) - fixed)
        recent = [message for message in messages if message.id not in fixed | _first(messages)]
        turns, pairs = min(policy.keep_recent_turns, _turns(recent)), min(policy.keep_tool_io_pairs, _pairs(recent))
        properties["kept"] = {"pinned": pinned, "recent_turns": turns, "tool_pairs": pairs}
        properties["pruned_count"] = max(0, len(messages) - pinned - first - 2 * (turns + pairs))
    return Event("compact.trigger_decision", properties)


def lowered_event(used: int, room: Room, limit: int) -> Event:
    """The limit of an answer was lowered, as it did not fit into the window beside the input."""
    sizes = {"window": room.limits.total, "input": used, "buffer": room.buffer}
    return Event("compact.max_tokens_lowered", {"requested": room.answer.limit, "max_tokens": limit, **sizes})


def told_error(kind: str, message: str, fallback: str = "") -> Event:
    """What went wrong, and what was done instead."""
    return Event("compact.error", {"error_type": kind, "message": message, "fallback": fallback}, failed=True)


def told_compaction(
    before: Conversation, outcome: Outcome, report: Report, gauge: Gauge, policy: Policy
) -> Iterator[Event]:
    """What a compaction kept, removed and wrote."""
    view = outcome.conversation.messages
    kept = {message.id for message in view}
    gone = sum(message.id not in kept for message in before.messages)
    fixed = _pinned(before.messages, policy)
    pinned, first = len(fixed & kept), len((_first(before.messages) - fixed) & kept)
    summaries = sum(map(is_summary, view))
    recent = [message for message in view if message.id not in fixed | _first(before.messages)]
    yield Event(
        "compact.pruned_messages",
        {
            "pruned_count": gone,
            "layers": {
                "pinned": pinned,
                "first": first,
                "summary": summaries,
                "recent": len(view) - pinned - first - summaries,
            },
            "kept": {"pinned": pinned, "recent_turns": _turns(recent), "tool_pairs": _pairs(recent)},
        },
    )
    sizes = {message.id: gauge.message(message) for message in before.messages}
    folds = (edit for step in outcome.plan for edit in step.edits if isinstance(edit, Fold))
    for fold in (fold for fold in folds if summary_handle(fold.text) and not is_removed_marker(fold.text)):
        size, source = gauge.text(fold.text), sum(sizes.get(id, 0) for id in fold.messages)
        yield Event(
            "compact.summary_created",
            {
                "strategy": _strategy(outcome, report) or policy.strategy,
                "input_messages": len(fold.messages),
                "summary_tokens": size,
                "compression_ratio": round(size / source, 4) if source else 0.0,
                "summary": fold.text,
                **_author(report),
            },
            outcome.asking or sum(done.seconds for done in outcome.passes),
        )


def _pinned(messages: Sequence[Message], policy: Policy) -> set[str]:
    """The ids of the messages that are protected, or whose role is."""
    return {message.id for message in messages if message.fixed or message.role in policy.roles_never_prune}


def _first(messages: Sequence[Message]) -> set[str]:
    """The id of the first task, which stays too."""
    said = (message.id for message in messages if message.from_user and not is_summary(message))
    return set(islice(said, 1))


def _turns(messages: Sequence[Message]) -> int:
    return sum(message.from_user and not is_summary(message) for message in messages)


def _pairs(messages: Sequence[Message]) -> int:
    return sum(len(message.calls) for message in messages)


def _strategy(outcome: Outcome, report: Report) -> str:
    """The strategy that the summary was written by; after a refusal, that is another than the first one asked for."""
    asked = [event.properties.get("strategy") for event in outcome.events if event.name == "summary_requested"]
    return str(asked[-1 if report.written_by else 0]) if asked else ""


def _author(report: Report) -> dict[str, Json]:
    """Who wrote the account: models, or why none did."""
    if report.written_by:
        return {"written_by": list(report.written_by)}
    return {"why_offline": report.why_offline} if report.why_offline else {}


def told_prepared(outcome: Outcome, messages: int, seconds: float) -> Event:
    """That a compaction of so many messages is ready for when it is needed."""
    return Event("compact.background_prepared", {"messages": messages, **_passes(outcome)}, seconds)


def told_discarded(outcome: Outcome | None, why: str) -> Event:
    """That a compaction was prepared in vain, or could not be prepared."""
    return Event("compact.background_discarded", {"reason": why, **(_passes(outcome) if outcome else {})})


def _passes(outcome: Outcome) -> dict[str, Json]:
    """What the passes of a compaction that may never be applied came to, and what was paid for them."""
    first, *_, last = (*outcome.passes, *outcome.passes)
    told: dict[str, Json] = {"tokens_before": first.tokens_before, "tokens_after": last.tokens_after}
    spent = [done.cost for done in outcome.passes if done.cost is not None]
    return {**told, "cost": str(sum(spent))} if spent else told


def told_result(report: Report, *, automatic: bool, custom_prompt: bool) -> Event:
    """What a compaction came to."""
    properties: dict[str, Json] = {
        "provider": report.provider,
        "automatic": automatic,
        "custom_prompt": custom_prompt,
        "custom_handler": bool(report.written_by),
        "tokens_before": report.tokens_before,
        "tokens_after": report.tokens_after,
        "seconds": round(report.seconds, 6),
        "passes": [
            {"name": done.name, "tokens_before": done.tokens_before, "tokens_after": done.tokens_after}
            for done in report.passes
            if not done.skipped
        ],
    }
    properties |= _author(report)
    if report.cost is not None:
        properties["cost"] = str(report.cost)
    return Event("compact.condensed", properties, report.seconds)
