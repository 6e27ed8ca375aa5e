"""What a compression of a stored session tells, and what is said where a request does not fit."""

from __future__ import annotations

from decimal import Decimal

import pytest

from compact.engine.stored.service import Wish
from compact.errors import CompactionBlocked, InsufficientBudget
from compact.messages import Json
from compact.ports import CompactionFacts, Completion, ModelConfig
from tests.app.stored.conftest import THRESHOLD, WINDOW, Desk, user


def test_the_events_of_a_compression_are_those_of_every_entry_point(desk: Desk) -> None:
    desk.model.answer = lambda _: Completion("# Done\n\n- What was said,\n- in short.", Decimal("0.01"), trusted=True)
    desk.say(30)
    tokens = desk.sessions.context("a").tokens
    done = desk.sessions.compress("a", Wish(retention=0, note="tabs"))
    names = [event.name.removeprefix("compact.") for event in desk.events]
    assert names[:3] == ["token_estimate", "trigger_decision", "compression_started"]
    assert names[-4:] == ["pruned_messages", "summary_created", "condensed", "compression_finished"]
    (estimate,), (decision,) = desk.told("token_estimate"), desk.told("trigger_decision")
    assert estimate["t_est"] == sum(estimate["breakdown"].values()) == tokens
    assert (decision["triggered"], decision["reason"], decision["policy"]["trigger_pct"]) == (True, "tabs", 0.95)
    facts = done.report.facts
    assert desk.told("condensed") == [facts.to_json()]
    assert (facts.source, facts.trigger, facts.model) == ("chat", "manual", "gpt-4o")
    assert (facts.cost, facts.written_by) == (Decimal("0.02"), ())
    assert facts.why_offline == "there was nothing to ask a model about"  # nothing but trusted code has answered
    assert CompactionFacts.from_json(done.snapshot.content["facts"]) == facts
    (pruned,), (created,) = desk.told("pruned_messages"), desk.told("summary_created")
    assert pruned["pruned_count"] == facts.removed == done.messages
    assert pruned["undo"] == "summaries.undo('a')"
    assert created["strategy"] == facts.strategy == "general"
    seconds = {event.name: event.seconds for event in desk.events}
    assert 0 < seconds["compact.summary_created"] < seconds["compact.condensed"] == facts.seconds
    assert done.tokens_before == tokens
    assert done.tokens_after == desk.sessions.context("a").tokens


def test_the_page_is_told_of_a_compression_in_the_words_that_it_shows(desk: Desk) -> None:
    desk.model.answer = lambda _: Completion("# Done\n\n- What was said,\n- in short.", trusted=True)
    desk.say(30)
    tokens = desk.sessions.context("a").tokens
    done = desk.sessions.compress("a", Wish(retention=0))
    (began,), (ended,) = desk.told("compression_started"), desk.told("compression_finished")
    facts = {"trigger": "manual", "tokens": tokens, "threshold": 0.95, "threshold_from": "default"}
    assert began == {**facts, "messages": began["messages"]}
    assert began["messages"] > 0
    after = {"messages": done.messages, "after": done.tokens_after, "snapshot": done.snapshot.id}
    assert ended == {**facts, **after, "preview": "What was said, in short. What was said, in short."}


def test_every_request_tells_its_size_and_how_near_a_compression_is(desk: Desk) -> None:
    desk.say(10)
    desk.sessions.prepare("a")
    assert [event.name for event in desk.events] == ["compact.token_estimate", "compact.trigger_decision"]
    desk.say(57, 10)
    tokens = desk.sessions.prepare("a").tokens
    assert desk.told("near") == [{"t_est": tokens, "trigger_at": THRESHOLD, "left": THRESHOLD - tokens}]
    assert 0 < THRESHOLD - tokens < THRESHOLD / 10


def test_offline_no_model_is_asked_and_the_events_say_why(desk: Desk) -> None:
    desk.say(30)
    done = desk.sessions.compress("a", Wish(offline=True))
    (ended,) = desk.told("compression_finished")
    (condensed,) = desk.told("condensed")
    assert desk.model.asked == []
    assert condensed["written_by"] == []
    assert condensed["why_offline"] == done.report.why_offline == "it was asked for without a model"
    assert 0 < len(ended["preview"]) <= 200


@pytest.mark.parametrize(("minimum", "warned"), [(-1, False), (0, False), (1, True)])
def test_a_session_below_the_minimum_is_compressed_with_a_warning(desk: Desk, minimum: int, warned: bool) -> None:
    desk.say(30)
    tokens = desk.sessions.context("a").tokens
    desk.sessions.preferences.change({"minimum_tokens": tokens + minimum})
    done = desk.sessions.compress("a", Wish(retention=0))
    told = f"{tokens:,} tokens are below the minimum of {tokens + minimum:,}: there is little to gain"
    assert (told in done.warnings) is warned


def test_a_request_that_does_not_fit_is_refused_with_what_can_be_done(desk: Desk) -> None:
    desk.say(80)
    needed = desk.sessions.context("a").tokens
    assert needed > WINDOW
    desk.sessions.set_automatic("a", False)
    with pytest.raises(InsufficientBudget, match="Automatic compaction is off for this session") as raised:
        desk.sessions.prepare("a")
    assert (raised.value.needed, raised.value.budget) == (needed, WINDOW)
    assert f"{needed:,} tokens are more than the {WINDOW:,} that the model reads." in str(raised.value)
    desk.sessions.set_automatic("a", None)
    desk.sessions.preferences.change({"automatic": False})
    with pytest.raises(InsufficientBudget, match="Automatic compaction is off in the settings"):
        desk.sessions.prepare("a")
    desk.sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", needed, 1000))
    assert desk.sessions.prepare("a").tokens == needed
    desk.sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", needed - 1, 1000))
    with pytest.raises(InsufficientBudget, match="in the settings"):
        desk.sessions.prepare("a")


def test_a_block_holds_until_the_risk_is_acknowledged(desk: Desk) -> None:
    desk.sessions.store.change("a", {"blocked": "It failed."})
    with pytest.raises(CompactionBlocked, match=r"It failed\. To go on without a summary, acknowledge the risk\."):
        desk.sessions.prepare("a")
    desk.sessions.acknowledge("a")
    assert desk.sessions.prepare("a").messages == []


def test_a_pin_holds_the_call_with_its_results_and_nothing_else(desk: Desk) -> None:
    calls: list[Json] = [
        {"id": f"call_{number}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        for number in (1, 2)
    ]
    results: list[Json] = [{"role": "tool", "tool_call_id": call["id"], "content": "done"} for call in calls]
    desk.say(60)
    asked: Json = {"role": "assistant", "content": None, "tool_calls": calls}
    ids = [one.id for one in desk.sessions.append("a", [user("read both"), asked, *results, user("and?")])]
    desk.say(60, 60)
    assert desk.sessions.pin("a", ids[0]) == ids[:1]
    assert desk.sessions.pin("a", ids[3]) == ids[1:4]
    assert desk.sessions.pin("a", ids[2], pinned=False) == ids[1:4]
    first = desk.sessions.store.history("a", limit=1)[0].id
    assert desk.sessions.pin("a", first) == [first]
