"""Stored sessions are compacted by the engine, from originals and items, by a plan that is kept."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from compact.app.counting import counter_for
from compact.app.recipes import resolve_recipe
from compact.app.stored import StoredSessions
from compact.engine import Gauge, Goal, Inputs, compact
from compact.engine.stored.service import Wish
from compact.engine.stored.snapshots import read_summary
from compact.errors import InsufficientBudget, StoredPlanMismatch
from compact.formats import parse, render, tools_of
from compact.messages import Json, Replace, assuming, is_summary
from compact.ports import ModelConfig, StoredSession
from compact.providers.provider import AccountStyle
from compact.testing.generate import random_body
from tests.app.stored.conftest import Desk, account_in, user
from tests.fixtures.stored.reading import PLACE

LONG = "\n".join(f"line {number}: the parser of module {number} splits at tabs" for number in range(300))


def read_file(number: int, text: str = LONG) -> list[Json]:
    """A call that reads a file, and what it gave."""
    called = {"name": "read_file", "arguments": json.dumps({"path": f"src/mod_{number}.py"})}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": called}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def parts_of(format: str, seed: int) -> tuple[list[Json], Json, list[Json] | None]:
    """The messages, the system prompt and the tools of a made-up request."""
    whole = parse(random_body(Random(seed), format, size=80), format=format)
    system = whole.system.wire if whole.system else None
    return [message.wire for message in whole.messages], system, list(whole.tools) or None


def goal_for(sessions: StoredSessions, id: str) -> Goal:
    """What a session comes down to: half of the window, less what the answer's room takes of the threshold."""
    decision = sessions.context(id).decision
    target = int(int(decision.window * decision.lowered) * 0.5)
    return Goal(min(target, decision.used - 1), decision.budget, decision.trigger_at, decision.room.utmost)


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic-messages", "google-gemini"])
def test_a_session_is_compacted_as_the_engine_compacts_its_conversation(desk: Desk, format: str) -> None:
    compacted = 0
    recipe = resolve_recipe("auto", config={"strategy": "general"}).with_defaults(recent_tokens=1000)
    desk.sessions.preferences.change({"profile": "offline", "minimum_tokens": 0})
    with StoredSessions(desk.url) as sessions:
        for seed in range(5):
            wires, system, tools = parts_of(format, seed)
            id = sessions.create(StoredSession("", "mine", format, system=system, tools=tools)).id
            sessions.append(id, wires)
            whole = assuming(parse(wires, format=format, system=system, tools=tools), {"model": "mine"})
            tokens = sessions.context(id).tokens
            window = max(1000, tokens * 10 // 11)
            sessions.preferences.put_model(ModelConfig("unknown", "mine", window))
            inputs = Inputs(Gauge(counter_for("mine"), tools_of(whole)), window, AccountStyle("system"))
            try:
                done = compact(whole, recipe, goal_for(sessions, id), inputs)
            except InsufficientBudget:
                continue
            if not done.plan:
                continue
            sent = sessions.prepare(id)
            assert json.dumps(sent.messages) == json.dumps(render(done.conversation))
            assert sent.compression is not None
            assert sent.tokens == sent.compression.tokens_after
            compacted += 1
    assert compacted >= 3


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic-messages", "google-gemini"])
def test_what_was_compacted_before_is_read_back_as_the_engine_left_it(desk: Desk, format: str) -> None:
    recipe = resolve_recipe("auto", config={"strategy": "general"}).with_defaults(recent_tokens=1000)
    desk.sessions.preferences.change({"profile": "offline", "minimum_tokens": 0})
    with StoredSessions(desk.url) as sessions:
        id = sessions.create(StoredSession("", "mine", format)).id
        sessions.preferences.put_model(ModelConfig("unknown", "mine", 7500))
        rounds = 0
        for seed in range(10, 16):
            sessions.append(id, parts_of(format, seed)[0])
            assembled, _ = sessions.reader.now(id)
            inputs = Inputs(Gauge(counter_for("mine"), ()), 7500, AccountStyle("system"))
            inputs = replace(inputs, originals=assembled.originals, items=assembled.items)
            try:
                done = compact(assembled.conversation, recipe, goal_for(sessions, id), inputs)
            except InsufficientBudget:
                break
            sent = sessions.prepare(id)
            if sent.compression is not None:
                assert json.dumps(sent.messages) == json.dumps(render(done.conversation))
                rounds += 1
    assert rounds >= 2


def test_what_is_cut_is_cut_from_the_original_each_time(desk: Desk) -> None:
    """The plan holds the edits that stand; each is made of the stored text, never of what an earlier one left."""
    desk.sessions.append("a", [user("Mend the parser.")])
    for number in range(3):
        desk.sessions.append("a", read_file(number, LONG if number == 2 else "fine"))
    with StoredSessions(desk.url) as sessions:
        sessions.preferences.change({"profile": "offline", "minimum_tokens": 0})
        sessions.append("a", [{"role": "assistant", "content": "Read."}, user("And now?")])
        first = sessions.prepare("a")
        assert first.compression is not None
        shown = next(str(one["content"]) for one in first.messages if one["role"] == "tool" and len(one["content"]) > 9)
        assert len(shown) < len(LONG)
        assert sessions.prepare("a").messages == first.messages
        sessions.append("a", [{"role": "assistant", "content": "word " * 2200}, user("Thanks.")])
        sessions.append("a", [{"role": "assistant", "content": "You are welcome."}, user("Go on.")])
        second = sessions.prepare("a")
    assert second.compression is not None
    assert second.summary is not None
    plan = read_summary(second.summary).plan
    edits = [edit for step in plan for edit in step.edits if isinstance(edit, Replace) and edit.where.message == "6"]
    (left,) = (edit.with_ for edit in edits)
    lines = [line for line in left.split("\n") if line not in LONG.split("\n")]
    assert len(lines) == 1  # one gap, though it was cut twice
    assert re.fullmatch(r"\[… \d+ lines omitted …\]", lines[0])
    assert len(left) < len(shown)


def test_the_next_account_takes_over_the_items_of_the_one_before(desk: Desk) -> None:
    with StoredSessions(desk.url) as sessions:
        sessions.preferences.change({"profile": "offline", "retention_tokens": 0})
        desk.sessions.append("a", [user("Port the parser to Rust."), {"role": "assistant", "content": "Gladly."}])
        desk.sessions.append(
            "a", [user("The port is 8412, and never 8413."), {"role": "assistant", "content": "Noted."}]
        )
        desk.say(80, 10)
        first = sessions.prepare("a").summary
        desk.say(50, 100)
        second = sessions.prepare("a")
    assert first is not None
    assert second.summary is not None
    earlier, later = read_summary(first), read_summary(second.summary)
    assert earlier.account is not None
    assert later.account is not None
    told = {item.text: item.sources for item in later.account.items}
    assert any("8412" in text and "2" in sources for text, sources in told.items())
    assert later.number == 2
    assert account_in(second.messages) == later.text
    assert {*told} & {item.text for item in earlier.account.items}


def test_a_request_reads_only_what_stands(desk: Desk) -> None:
    desk.say(80)
    desk.sessions.prepare("a", [user("Go on.")])
    desk.say(60, 80)
    desk.sessions.prepare("a", [user("Go on.")])
    assembled, _ = desk.sessions.reader.now("a")
    assert assembled.summary is not None
    assert len(assembled.messages) == len(desk.sessions.context("a").messages) - 1
    assert len(json.dumps(desk.sessions.summaries.standing("a")[-1].content)) < 20_000


def test_compacting_again_without_new_messages_replaces_the_summary(desk: Desk) -> None:
    desk.say(60)
    desk.sessions.compress("a", Wish(retention=1500))
    before = desk.sessions.context("a").messages
    first = desk.sessions.summaries.standing("a")
    second = desk.sessions.compress("a", Wish(retention=0))
    assert second.tokens_after < second.tokens_before
    assert len(account_in(desk.sessions.context("a").messages)) > 0
    desk.sessions.summaries.undo("a")
    assert desk.sessions.context("a").messages == before
    assert [one.cutoff for one in desk.sessions.summaries.standing("a")] == [one.cutoff for one in first]


def test_a_recipe_that_only_cuts_needs_no_account(desk: Desk) -> None:
    desk.sessions.preferences.change({"recipe": "speed"})
    desk.sessions.append("a", [user("Read them.")])
    for number in range(4):
        desk.sessions.append("a", read_file(number, LONG[:4000]))
    desk.sessions.append("a", [{"role": "assistant", "content": "Read."}])
    sent = desk.sessions.prepare("a", [user("And now?")])
    assert sent.compression is not None
    assert sent.summary is not None
    facts = read_summary(sent.summary).facts
    assert facts is not None
    assert facts.recipe == "speed"
    assert desk.model.asked == []
    assert len(sent.messages) == 11 or read_summary(sent.summary).account is not None
    edited = desk.sessions.summaries.edit("a", "The files are read.")
    assert "The files are read." in account_in(desk.sessions.context("a").messages)
    assert read_summary(edited).number == 2
    desk.sessions.summaries.undo("a")
    assert desk.sessions.context("a").messages == sent.messages[:-1]


@pytest.mark.parametrize("change", [{"plan": 7}, {"plan": []}, {"view": [True]}, {"view": None}])
def test_a_damaged_plan_is_an_error_that_undo_mends(desk: Desk, change: dict[str, Json]) -> None:
    desk.say(30)
    before = desk.sessions.context("a").messages
    made = desk.sessions.compress("a").snapshot
    damaged = replace(made, id=0, content={**made.content, **change})
    desk.sessions.store.put_snapshot(damaged, made.id, replace=True)
    with pytest.raises(StoredPlanMismatch, match=r"summary \d+ of session a cannot be used.*[Uu]ndo"):
        desk.sessions.context("a")
    desk.sessions.summaries.undo("a")
    assert desk.sessions.context("a").messages == before


@pytest.mark.parametrize("session", ["openai-chat.cascade", "anthropic-messages.cascade", "thoughtless"])
def test_what_an_earlier_version_stored_is_compacted_further(tmp_path: Path, session: str) -> None:
    database = Path(shutil.copy(PLACE / "database" / "sessions.db", tmp_path))
    with StoredSessions(database) as sessions:
        before = sessions.context(session).messages
        format = sessions.session(session).format
        done = sessions.compress(session, Wish(retention=0, offline=True))
        assert done.tokens_after == sessions.context(session).tokens < done.tokens_before
        sent = sessions.context(session).messages
        first = next(one for one in parse(sent, format=format).messages if one.from_user and not is_summary(one))
        assert first.text.startswith("Please mend shop/")
        assert sum(map(is_summary, parse(sent, format=format).messages)) == 1
        again = sessions.summaries.regenerate(session, Wish(offline=True))
        assert again.snapshot.content["trigger"] == "regenerated"
        sessions.summaries.undo(session)
        sessions.summaries.undo(session)
        assert json.dumps(sessions.context(session).messages) == json.dumps(before)
