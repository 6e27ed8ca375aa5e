"""What events say of a compaction, number by number."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from compact.engine import Outcome
from compact.engine.events import (
    decision_events,
    discarded_event,
    error_event,
    estimate_event,
    prepared_event,
    pruned_event,
    public_events,
    result_events,
)
from compact.engine.report import PassReport, percent, share
from compact.formats import parse
from compact.messages import Conversation, EditKind, Fold, Pass, apply_plan, frame_account
from compact.policies import Decision, Threshold, should_condense
from compact.policies.threshold import EffectiveThreshold
from compact.ports import CompactionFacts, Event
from tests.providers.conversations import assistant, gauge_for, step, user

ROLES = ("developer",)
FACTS = CompactionFacts(id="5f", strategy="second", removed=4, seconds=1.25)
ROOM = Threshold().divide(1500)
DECISION = Decision(triggered=False, reason="too few", used=500, trigger_at=900, minimum=0, room=ROOM)
THRESHOLD = EffectiveThreshold(0.6, 0.3, "model", "mine:m")


def talk() -> Conversation:
    messages: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be kind."},
        user("Begin."),
        *step("c1", "read", {"path": "a.py"}, "x = 1"),
        assistant("Read."),
        user("And?"),
        *step("c2", "read", {"path": "b.py"}, "y = 2"),
        {**user("Good."), "meta": {"protected": True}},
        assistant("Thanks."),
        user("Go on."),
    ]
    return parse(messages)


def done(name: str, before: int, after: int, **given: Any) -> PassReport:
    usual: dict[str, Any] = {"edits": 1, "asked": 0, "cost": None, "seconds": 0.5, "notes": (), "skipped": ""}
    return PassReport(**{"name": name, "tokens_before": before, "tokens_after": after, **usual, **given})


def test_an_estimate_says_what_takes_the_tokens() -> None:
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}
    given = [user("Begin."), {"role": "developer", "content": "Be kind."}, {"role": "system", "content": "Mind tabs."}]
    conversation = parse(given, system="Brief.", tools=[tool])
    gauge = gauge_for(conversation)
    first, second, third = map(gauge.message, conversation.messages)
    assert conversation.system is not None
    system = gauge.message(conversation.system)
    breakdown = {"system": system + third, "developer": second, "messages": first}
    frame = gauge.frame(conversation)
    breakdown["tools_schema"] = frame - system
    event = estimate_event("gpt-4o", DECISION, frame, system, gauge.roles(conversation))
    assert event == Event(
        "compact.token_estimate",
        {"model": "gpt-4o", "t_est": 500, "max_tokens": 1500, "usage_pct": 0.3333, "breakdown": breakdown},
    )
    assert sum(breakdown.values()) == gauge.conversation(conversation)


def test_a_decision_says_by_which_policy_and_claims_nothing_of_what_comes_of_it() -> None:
    policy = {"trigger_pct": 0.6, "target_pct": 0.3, "trigger_from": "model mine:m", "strategy": "coding"}
    facts = {"triggered": False, "reason": "too few", "policy": policy}
    (only,) = decision_events(DECISION, {"strategy": "coding"}, THRESHOLD)
    assert only == Event("compact.trigger_decision", facts)
    (noted,) = decision_events(DECISION, {"strategy": "coding"}, THRESHOLD, "it was asked for")
    assert noted.properties == {**facts, "triggered": True, "reason": "it was asked for"}


def test_a_compaction_that_is_near_is_an_event_until_it_comes() -> None:
    def near(used: int, **threshold: Any) -> list[Any]:
        given = {"share": 0.6, **threshold}
        decision = should_condense(used, 1500, Threshold.model_validate(given))
        events = decision_events(decision, {}, THRESHOLD)
        return [event.properties for event in events if event.name == "compact.near"]

    assert near(809) == near(900) == []
    assert near(810) == [{"t_est": 810, "trigger_at": 900, "left": 90}]
    assert near(899) == [{"t_est": 899, "trigger_at": 900, "left": 1}]
    assert near(899, automatic=False) == []
    assert near(899, minimum=1200) == []
    assert near(1100, minimum=1200) == [{"t_est": 1100, "trigger_at": 1200, "left": 100}]
    by_hand = should_condense(850, 1500, Threshold(share=0.6))
    assert [event.name for event in decision_events(by_hand, {}, THRESHOLD, "now")] == ["compact.trigger_decision"]


def test_events_of_the_engine_have_our_names_and_of_a_summary_its_failure_alone() -> None:
    assert list(public_events(Event("summary_retry", {"a": 1}, 2.0))) == [Event("compact.summary_retry", {"a": 1}, 2.0)]
    assert list(public_events(Event("compact.error"))) == [Event("compact.error")]
    assert list(public_events(Event("summary_created", {"offline": True}))) == []
    (failed,) = public_events(Event("summary_created", {"reason": "down"}))
    assert failed == error_event("summary_failure", "down", "offline")
    told = Event("summary_pruned", {"kind": "failure", "reason": "down"})
    pruned = error_event("summary_failure", "down", "pruning-only")
    assert list(public_events(told)) == [pruned, replace(told, name="compact.summary_pruned")]


def test_an_error_says_what_was_done_instead() -> None:
    facts = {"error_type": "OverBudget", "message": "too long", "fallback": "auto"}
    assert error_event("OverBudget", "too long", "auto") == Event("compact.error", facts, failed=True)
    assert error_event("OverBudget", "too long").properties["fallback"] == ""


def test_a_compaction_says_what_went_and_what_was_written() -> None:
    before = talk()
    gauge = gauge_for(before)
    ids = [message.id for message in before.messages]
    fold = Fold(tuple(ids[2:5]), frame_account("A was read.", 3), EditKind.SUMMARIZED)
    marker = Fold((ids[5],), None, EditKind.PRUNED)
    after, plan = apply_plan(before, (Pass("Summary", (fold, marker)),))
    asked = tuple(Event("summary_requested", {"strategy": name}) for name in ("first", "second"))
    outcome = Outcome(after, plan, (done("a", 9, 8), done("b", 8, 7)), asked, asking=2.0)
    written = replace(FACTS, written_by=("m",))
    pruned = pruned_event(before, after, written, ROLES, "undo('s', 1)")
    created, condensed = result_events(before, outcome, written, gauge)
    assert pruned == Event(
        "compact.pruned_messages",
        {
            "pruned_count": 4,
            "layers": {"pinned": 2, "first": 1, "summary": 1, "recent": len(after) - 4},
            "kept": {"pinned": 2, "recent_turns": 1, "tool_pairs": 1},
            "undo": "undo('s', 1)",
        },
    )
    assert condensed == Event("compact.condensed", written.to_json(), 1.25)
    size, source = gauge.text(fold.text), sum(map(gauge.message, before.messages[2:5]))
    facts = {
        "strategy": "second",
        "input_messages": 3,
        "summary_tokens": size,
        "compression_ratio": round(size / source, 4),
        "summary": fold.text,
    }
    assert created == Event("compact.summary_created", {**facts, "written_by": ["m"]}, 2.0)
    unasked = Outcome(after, plan, outcome.passes, asked)
    (offline, _) = result_events(before, unasked, replace(FACTS, why_offline="no key"), gauge)
    assert offline == Event("compact.summary_created", {**facts, "why_offline": "no key"}, 1.0)
    (bare, _) = result_events(before, Outcome(after, plan, ()), FACTS, gauge)
    assert bare == Event("compact.summary_created", facts, 0)


def test_what_was_prepared_says_what_its_passes_came_to() -> None:
    passes = (done("a", 90, 80, cost=Decimal("0.25")), done("b", 80, 70), done("c", 70, 60, cost=Decimal("0.5")))
    outcome = Outcome(talk(), (), passes)
    facts = {"tokens_before": 90, "tokens_after": 60, "cost": "0.75"}
    assert prepared_event(outcome, 11, 0.5) == Event("compact.background_prepared", {"messages": 11, **facts}, 0.5)
    assert discarded_event(outcome, "late") == Event("compact.background_discarded", {"reason": "late", **facts})
    assert discarded_event(None, "late") == Event("compact.background_discarded", {"reason": "late"})
    alone = discarded_event(Outcome(talk(), (), passes[1:2]), "late")
    assert alone.properties == {"reason": "late", "tokens_before": 80, "tokens_after": 70}


def test_shares_are_told_in_whole_percent() -> None:
    assert (share(200, 100), share(100, 200), share(0, 5), share(1, 0)) == (-0.5, 1.0, 0.0, -1.0)
    assert [percent(each, "+") for each in (0.25, -0.25, 0.001, -0.001)] == ["+25%", "-25%", "0%", "0%"]
    assert [percent(each) for each in (0.25, -0.25, 0)] == ["25%", "-25%", "0%"]
