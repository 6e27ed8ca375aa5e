"""What events say of a compaction, number by number."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from compact.engine import Outcome
from compact.engine.report import PassReport, Report, percent, share
from compact.engine.telling import (
    told_compaction,
    told_decision,
    told_discarded,
    told_error,
    told_estimate,
    told_prepared,
    told_result,
)
from compact.formats import parse
from compact.messages import Conversation, EditKind, Fold, Pass, apply_plan, frame_account
from compact.policies import Decision, Policy, Threshold
from compact.policies.threshold import EffectiveThreshold
from compact.ports import Event
from tests.providers.conversations import assistant, gauge_for, step, user

POLICY = Policy(keep_recent_turns=2, keep_tool_io_pairs=1, roles_never_prune=("developer",), strategy="coding")
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


def report(**given: Any) -> Report:
    usual: dict[str, Any] = {"tokens_before": 1000, "tokens_after": 600, "target": 500, "kept_prefix": 3}
    return Report(**{"provider": "Auto", "passes": (), "seconds": 1.25, **usual, **given})


def done(name: str, before: int, after: int, **given: Any) -> PassReport:
    usual: dict[str, Any] = {"edits": 1, "asked": 0, "cost": None, "seconds": 0.5, "notes": (), "skipped": ""}
    return PassReport(**{"name": name, "tokens_before": before, "tokens_after": after, **usual, **given})


def test_an_estimate_says_what_takes_the_tokens() -> None:
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}
    given = [user("Begin."), {"role": "developer", "content": "Be kind."}, {"role": "system", "content": "Mind tabs."}]
    conversation = parse(given, system="Brief.", tools=[tool])
    gauge = gauge_for(conversation)
    event = told_estimate("gpt-4o", conversation, DECISION, gauge)
    first, second, third = map(gauge.message, conversation.messages)
    assert conversation.system is not None
    system = gauge.message(conversation.system)
    breakdown = {"system": system + third, "developer": second, "messages": first}
    breakdown["tools_schema"] = gauge.frame(conversation) - system
    assert event == Event(
        "compact.token_estimate",
        {"model": "gpt-4o", "t_est": 500, "max_tokens": 1500, "usage_pct": 0.3333, "breakdown": breakdown},
    )
    assert sum(breakdown.values()) == gauge.conversation(conversation)


def test_a_decision_says_by_which_policy_and_what_is_meant_to_stay() -> None:
    policy = {
        "trigger_pct": 0.6,
        "target_pct": 0.3,
        "trigger_from": "model mine:m",
        "hard_cap_buffer": POLICY.hard_cap_buffer,
        "strategy": "coding",
    }
    facts = {"triggered": False, "reason": "too few", "policy": policy}
    assert told_decision(DECISION, POLICY, THRESHOLD) == Event("compact.trigger_decision", facts)
    noted = told_decision(DECISION, POLICY, THRESHOLD, "it was asked for", talk())
    # Eleven messages: two pinned, the first task, two turns and one pair of two messages each.
    assert noted.properties == {
        **facts,
        "triggered": True,
        "reason": "it was asked for",
        "kept": {"pinned": 2, "recent_turns": 2, "tool_pairs": 1},
        "pruned_count": 11 - 2 - 1 - 2 * 3,
    }
    few = told_decision(DECISION, POLICY, THRESHOLD, "", parse([user("Begin."), user("And?")]))
    assert few.properties["kept"] == {"pinned": 0, "recent_turns": 1, "tool_pairs": 0}
    assert few.properties["pruned_count"] == 0


def test_an_error_says_what_was_done_instead() -> None:
    facts = {"error_type": "OverBudget", "message": "too long", "fallback": "auto"}
    assert told_error("OverBudget", "too long", "auto") == Event("compact.error", facts, failed=True)
    assert told_error("OverBudget", "too long").properties["fallback"] == ""


def test_a_compaction_says_what_went_and_what_was_written() -> None:
    before = talk()
    gauge = gauge_for(before)
    ids = [message.id for message in before.messages]
    fold = Fold(tuple(ids[2:5]), frame_account("A was read.", 3), EditKind.SUMMARIZED)
    marker = Fold((ids[5],), None, EditKind.PRUNED)
    after, plan = apply_plan(before, (Pass("Summary", (fold, marker)),))
    asked = tuple(Event("summary_requested", {"strategy": name}) for name in ("first", "second"))
    outcome = Outcome(after, plan, (done("a", 9, 8), done("b", 8, 7)), asked, asking=2.0)
    pruned, created = told_compaction(before, outcome, report(written_by=("m",)), gauge, POLICY)
    assert pruned == Event(
        "compact.pruned_messages",
        {
            "pruned_count": 4,
            "layers": {"pinned": 2, "first": 1, "summary": 1, "recent": len(after) - 4},
            "kept": {"pinned": 2, "recent_turns": 1, "tool_pairs": 1},
        },
    )
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
    (_, offline) = told_compaction(before, unasked, report(why_offline="no key"), gauge, POLICY)
    assert offline == Event("compact.summary_created", {**facts, "strategy": "first", "why_offline": "no key"}, 1.0)
    (_, bare) = told_compaction(before, Outcome(after, plan, ()), report(), gauge, POLICY)
    assert bare == Event("compact.summary_created", {**facts, "strategy": "coding"}, 0)


def test_what_was_prepared_says_what_its_passes_came_to() -> None:
    passes = (done("a", 90, 80, cost=Decimal("0.25")), done("b", 80, 70), done("c", 70, 60, cost=Decimal("0.5")))
    outcome = Outcome(talk(), (), passes)
    facts = {"tokens_before": 90, "tokens_after": 60, "cost": "0.75"}
    assert told_prepared(outcome, 11, 0.5) == Event("compact.background_prepared", {"messages": 11, **facts}, 0.5)
    assert told_discarded(outcome, "late") == Event("compact.background_discarded", {"reason": "late", **facts})
    assert told_discarded(None, "late") == Event("compact.background_discarded", {"reason": "late"})
    alone = told_discarded(Outcome(talk(), (), passes[1:2]), "late")
    assert alone.properties == {"reason": "late", "tokens_before": 80, "tokens_after": 70}


def test_a_result_says_what_the_report_says() -> None:
    passes = (done("a", 90, 80), done("b", 80, 80, skipped="nothing to do"))
    told = told_result(report(passes=passes, seconds=0.12345678), automatic=True, custom_prompt=False)
    facts = {
        "provider": "Auto",
        "automatic": True,
        "custom_prompt": False,
        "custom_handler": False,
        "tokens_before": 1000,
        "tokens_after": 600,
        "seconds": 0.123457,
        "passes": [{"name": "a", "tokens_before": 90, "tokens_after": 80}],
    }
    assert told == Event("compact.condensed", facts, 0.12345678)
    written = told_result(report(written_by=("m",), cost=Decimal("0.10")), automatic=False, custom_prompt=True)
    facts |= {"automatic": False, "custom_prompt": True, "custom_handler": True, "seconds": 1.25, "passes": []}
    assert written.properties == {**facts, "written_by": ["m"], "cost": "0.10"}


def test_a_report_reads_line_by_line() -> None:
    passes = (done("Cut", 1000, 600, notes=("3 texts",)), done("Fold", 600, 600, skipped="nothing to do"))
    whole = report(passes=passes, cost=Decimal("0.5"), saved=Decimal("0.25"), written_by=("m", "n"), notes=("Noted.",))
    assert str(whole).split("\n") == [
        "Context condensed using Auto strategy:",
        " - Cut: 1,000 → 600 tokens (-40%); 3 texts",
        " - Fold: skipped, nothing to do",
        " - Total reduction: 40% (saved $0.2500)",
        " - Written by m, n for $0.5000",
        " - Noted.",
        " - Time: 1.2 seconds",
    ]
    assert " - Written by m\n" in str(report(written_by=("m",)))
    assert " - Cost: $0.5000\n - Written offline: no key\n" in str(report(cost=Decimal("0.5"), why_offline="no key"))
    assert "Cost" not in str(report(cost=Decimal(0)))
    assert whole.to_json()["target_met"] is whole.target_met is False
    assert report(target=600).target_met
    assert report(target=None).target_met


def test_shares_are_told_in_whole_percent() -> None:
    assert (share(200, 100), share(100, 200), share(0, 5), share(1, 0)) == (-0.5, 1.0, 0.0, -1.0)
    assert [percent(each, "+") for each in (0.25, -0.25, 0.001, -0.001)] == ["+25%", "-25%", "0%", "0%"]
    assert [percent(each) for each in (0.25, -0.25, 0)] == ["25%", "-25%", "0%"]
