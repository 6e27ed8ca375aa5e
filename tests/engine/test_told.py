"""The events of a manager, with all their properties."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from compact.engine.driver import Outcome
from compact.engine.report import PassReport, Report
from compact.engine.telling import told_decision, told_discarded, told_error, told_estimate, told_prepared, told_result
from compact.formats import parse
from compact.messages import Json
from compact.policies import Decision, EffectiveThreshold, Policy
from compact.ports import Event
from tests.providers.conversations import assistant, gauge_for, step, user

FIRST = PassReport("Dedup", 1000, 600, 3, 0, Decimal("0.1"), 0.1, (), "")
SECOND = PassReport("Summary", 600, 500, 0, 1, Decimal("0.2"), 0.2, (), "")
SKIPPED = PassReport("Prune", 500, 500, 0, 1, None, 0.2, (), "no gain")
REPORT = Report("Smart", (FIRST, SECOND, SKIPPED), 1000, 500, 600, 50, 1.23456789)
CONVERSATION = parse([{"role": "user", "content": "a"}], format="openai-chat")


def outcome(*passes: PassReport) -> Outcome:
    return Outcome(CONVERSATION, (), passes)


@pytest.mark.parametrize(
    ("passes", "told"),
    [
        ([FIRST], {"tokens_before": 1000, "tokens_after": 600, "cost": "0.1"}),
        ([FIRST, SECOND, SKIPPED], {"tokens_before": 1000, "tokens_after": 500, "cost": "0.3"}),
        ([SKIPPED], {"tokens_before": 500, "tokens_after": 500}),
    ],
)
def test_what_was_prepared_tells_its_tokens_and_what_was_paid(passes: list[PassReport], told: dict[str, Json]) -> None:
    done = outcome(*passes)
    assert told_prepared(done, 7, 1.5) == Event("compact.background_prepared", {"messages": 7, **told}, 1.5)
    assert told_discarded(done, "late") == Event("compact.background_discarded", {"reason": "late", **told})
    assert told_discarded(None, "late") == Event("compact.background_discarded", {"reason": "late"})


def test_an_error_tells_what_was_done_instead() -> None:
    told = {"error_type": "kind", "message": "text", "fallback": ""}
    assert told_error("kind", "text") == Event("compact.error", told, failed=True)
    assert told_error("kind", "text", "offline").properties["fallback"] == "offline"


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (REPORT, {"custom_handler": False}),
        (
            replace(REPORT, written_by=("a", "b"), why_offline="no key", cost=Decimal(0)),
            {"custom_handler": True, "written_by": ["a", "b"], "cost": "0"},
        ),
        (replace(REPORT, why_offline="no key"), {"custom_handler": False, "why_offline": "no key"}),
    ],
)
def test_a_result_tells_its_passes_and_who_wrote(report: Report, told: dict[str, Json]) -> None:
    expected = {
        "provider": "Smart",
        "automatic": True,
        "custom_prompt": False,
        "tokens_before": 1000,
        "tokens_after": 500,
        "seconds": 1.234568,
        "passes": [
            {"name": "Dedup", "tokens_before": 1000, "tokens_after": 600},
            {"name": "Summary", "tokens_before": 600, "tokens_after": 500},
        ],
    }
    event = told_result(report, automatic=True, custom_prompt=False)
    assert event == Event("compact.condensed", expected | told, 1.23456789)
    assert told_result(report, automatic=False, custom_prompt=True).properties["custom_prompt"] is True


@pytest.mark.parametrize("format", ["openai-chat", "anthropic-messages"])
def test_an_estimate_tells_what_takes_the_tokens(format: str) -> None:
    said: list[Json] = [{"role": "user", "content": "question"}, {"role": "assistant", "content": "a long answer"}]
    if format == "openai-chat":
        first: list[Json] = [{"role": "system", "content": "be brief"}, {"role": "developer", "content": "be kind"}]
        conversation = parse([*first, *said], format=format)
    else:
        conversation = parse({"system": "be brief", "messages": said}, format=format)
    gauge = gauge_for(conversation)
    event = told_estimate("m", conversation, Decision(False, "", 300, 700, 600, 650, 0), gauge)
    sizes = {"system": 0, "developer": 0, "messages": 0}
    for message in (*conversation.messages, *filter(None, [conversation.system])):
        role = message.role if message.role in ("system", "developer") else "messages"
        sizes[role] += gauge.message(message)
    system = gauge.message(conversation.system) if conversation.system else 0
    assert event == Event(
        "compact.token_estimate",
        {
            "model": "m",
            "t_est": 300,
            "max_tokens": 700,
            "usage_pct": 0.4286,
            "breakdown": {**sizes, "tools_schema": gauge.frame(conversation) - system},
        },
    )


DECISION = Decision(False, "enough room", 300, 700, 600, 650, 0)
POLICY = Policy(keep_recent_turns=2, keep_tool_io_pairs=1, roles_never_prune=("system",))
THRESHOLD = EffectiveThreshold(0.8, 0.4, "global")


def test_a_decision_tells_the_policy_that_led_to_it() -> None:
    told = {
        "trigger_pct": 0.8,
        "target_pct": 0.4,
        "trigger_from": THRESHOLD.origin,
        "hard_cap_buffer": POLICY.hard_cap_buffer,
        "strategy": POLICY.strategy,
    }
    event = told_decision(DECISION, POLICY, THRESHOLD)
    expected = {"triggered": False, "reason": "enough room", "policy": told}
    assert event == Event("compact.trigger_decision", expected)
    by_hand = told_decision(DECISION, POLICY, THRESHOLD, "by hand").properties
    assert by_hand == {"triggered": True, "reason": "by hand", "policy": told}
    assert told_decision(replace(DECISION, triggered=True), POLICY, THRESHOLD).properties["triggered"] is True


@pytest.mark.parametrize(("turns", "recent", "pruned"), [(0, 0, 0), (1, 1, 0), (2, 2, 0), (5, 2, 6)])
def test_a_decision_tells_what_is_meant_to_stay_and_go(turns: int, recent: int, pruned: int) -> None:
    more = [wire for number in range(turns) for wire in (user(f"{number}?"), assistant(f"{number}."))]
    calls = [wire for number in range(2) for wire in step(f"c{number}", "read", {}, "done")]
    system: Json = {"role": "system", "content": "be brief"}
    conversation = parse([system, user("begin"), *calls, *more], format="openai-chat")
    properties = told_decision(DECISION, POLICY, THRESHOLD, conversation=conversation).properties
    assert properties["kept"] == {"pinned": 1, "recent_turns": recent, "tool_pairs": 1}
    assert properties["pruned_count"] == pruned + 2  # one of the calls goes with its result
