"""Summaries written anew, by hand and from elsewhere; what is told of it all, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from inspect import signature
from typing import Any

import pytest

from compact.app.counting import counter_for
from compact.app.stored import StoredSessions
from compact.engine.stored.service import Compression, Preview, Wish
from compact.engine.stored.snapshots import read_summary
from compact.errors import (
    CompactError,
    CompactionBlocked,
    InsufficientBudget,
    InvalidConversation,
    NotFound,
    StoredPlanMismatch,
)
from compact.formats import parse
from compact.messages import EditKind, Pass, Replace, Where, message_bytes, plan_to_json
from compact.ports import Ask, Completion, Event, Failure, StoredSession, Usage
from tests.app.stored.conftest import WINDOW, Desk, turn


def compacted(desk: Desk, turns: int = 30, wish: Wish | None = None) -> Compression:
    desk.say(turns)
    return desk.sessions.compress("a", wish or Wish(retention=0))


def test_what_a_compression_does_is_told_with_every_number(desk: Desk) -> None:
    desk.model.answer = lambda _: Completion("## Done\n- Tabs are\n  skipped.\n" + "word " * 100, trusted=True)
    desk.say(30)
    told: list[Event] = []

    def observe(id: str, event: Event) -> None:
        assert id == "a"
        told.append(event)

    with StoredSessions(desk.url, ask=desk.model, observe=observe) as sessions:
        sessions.preferences.change({"prompt": "Be brief."})
        done = sessions.compress("a", Wish(retention=0))
    assert {event.name.partition(".")[0] for event in told} == {"compact"}
    (began,) = (event for event in told if event.name == "compact.compression_started")
    ended = told[-1]
    facts = {"trigger": "manual", "tokens": done.tokens_before, "threshold": 0.95, "threshold_from": "default"}
    assert (began.name, began.properties) == ("compact.compression_started", {**facts, "messages": 58})
    assert (ended.name, ended.failed, ended.seconds) == ("compact.compression_finished", False, done.seconds)
    preview = dict(ended.properties).pop("preview")
    assert ended.properties == {
        **facts,
        "messages": done.messages,
        "after": done.tokens_after,
        "snapshot": done.snapshot.id,
        "preview": preview,
    }
    assert preview.startswith("Tabs are skipped. word word")
    assert len(preview) == 200
    assert done.snapshot.content["trigger"] == "manual"
    assert done.report.facts.custom_prompt
    assert done.seconds > 0


def test_a_failure_is_told_with_its_reason(desk: Desk) -> None:
    desk.say(30)
    desk.model.answer = lambda _: Failure("down")
    with pytest.raises(CompactionBlocked) as caught:
        desk.sessions.compress("a")
    (began,), (failed,) = desk.told("compression_started"), desk.told("compression_failed")
    assert failed == {**began, "reason": str(caught.value)}
    assert desk.told("error") == [
        {"error_type": "CompactionBlocked", "message": str(caught.value), "fallback": ""},
    ]
    assert desk.told("condensed") == []
    assert desk.events[-1].failed
    assert desk.told("compression_finished") == []
    assert not desk.sessions.session("a").blocked


def test_a_compression_by_hand_warns_below_the_minimum_alone(desk: Desk) -> None:
    desk.say(10)
    tokens = desk.sessions.context("a").tokens
    desk.sessions.preferences.change({"minimum_tokens": tokens})
    assert desk.sessions.foresee("a", Wish(retention=0), desk.model).warnings == ()
    desk.sessions.preferences.change({"minimum_tokens": tokens + 1})
    foreseen = desk.sessions.foresee("a", Wish(retention=0), desk.model)
    warning = f"{tokens:,} tokens are below the minimum of {tokens + 1:,}: there is little to gain"
    assert foreseen.warnings == (warning,)
    done = desk.sessions.compress("a", Wish(retention=0))
    assert done.warnings == foreseen.warnings
    assert (foreseen.messages, foreseen.tokens_before) == (done.messages, done.tokens_before)
    assert foreseen.tokens_after < foreseen.tokens_before == tokens


def test_what_would_fail_is_foreseen_as_nothing_with_the_reason(desk: Desk) -> None:
    desk.say(30)
    tokens = desk.sessions.context("a").tokens
    desk.sessions.preferences.change({"minimum_tokens": 0})

    def down(asks: Any) -> tuple[Failure, ...]:
        return tuple(Failure("down") for _ in asks)

    foreseen = desk.sessions.foresee("a", Wish(retention=0), down)
    assert replace(foreseen, warnings=()) == Preview(0, tokens, tokens)
    (warning,) = foreseen.warnings
    assert "down" in warning
    assert desk.events == []
    assert desk.sessions.summaries.standing("a") == []


def test_a_second_summary_is_written_anew_on_the_first_one(desk: Desk) -> None:
    first = compacted(desk).snapshot
    desk.say(10, 30)
    second = desk.sessions.compress("a", Wish(retention=0)).snapshot
    assert second.content["version"] == 2
    desk.say(2, 40)
    desk.model.answer = lambda _: Completion("Better words.", trusted=True)
    done = desk.sessions.summaries.regenerate("a")
    new = done.snapshot
    assert [one.id for one in desk.sessions.summaries.standing("a")] == [first.id, new.id]
    assert new.cutoff == second.cutoff
    same = ("messageRange", "version", "messages")
    assert [new.content[name] for name in same] == [second.content[name] for name in same]
    assert (new.content["trigger"], new.content["replaces"]) == ("regenerated", second.id)
    sent = desk.sessions.context("a").messages
    assert sent[-4:] == [*turn(40), *turn(41)]
    desk.sessions.summaries.undo("a")
    assert desk.sessions.summaries.standing("a")[-1].content == second.content


def test_words_of_a_person_and_of_another_session_are_told_and_stored_with_where_they_are_from(desk: Desk) -> None:
    done = compacted(desk)
    edited = desk.sessions.summaries.edit("a", "Mine.")
    assert desk.told("summary_changed") == [{"snapshot": edited.id, "trigger": "edited"}]
    assert (edited.content["trigger"], edited.content["replaces"]) == ("edited", done.snapshot.id)
    assert "from" not in edited.content
    desk.sessions.create(StoredSession(id="b", model="gpt-4o", format="openai-chat"))
    taken = desk.sessions.summaries.take_over("b", "a")
    assert (taken.content["trigger"], taken.content["from"], taken.content["words"]) == ("imported", "a", "Mine.")
    assert "replaces" not in taken.content
    again = desk.sessions.summaries.take_over("b", "a")
    assert (again.content["words"], again.content["replaces"]) == ("Mine.\n\nMine.", taken.id)
    assert read_summary(again).number == 2
    desk.events.clear()
    desk.sessions.summaries.undo("b")
    assert desk.told("undone") == [{"snapshot": again.id}]
    assert desk.sessions.summaries.standing("b")[-1].content["words"] == "Mine."
    desk.sessions.summaries.undo("b")
    assert desk.sessions.summaries.standing("b") == []


def test_where_there_is_no_summary_that_is_said(desk: Desk) -> None:
    desk.say(3)
    for change in (
        desk.sessions.summaries.regenerate,
        lambda id: desk.sessions.summaries.edit(id, "Mine."),
        lambda id: desk.sessions.summaries.take_over(id, id),
    ):
        with pytest.raises(NotFound, match=r"session a has no summary. Compress it first.") as caught:
            change("a")
        assert caught.value.field == "session"
    with pytest.raises(CompactError, match="a"):
        desk.sessions.summaries.undo("a")
    assert desk.events == []


def test_a_summary_that_came_in_between_is_not_written_over(desk: Desk) -> None:
    compacted(desk)
    desk.say(10, 30)

    def meanwhile(_: Ask) -> Completion:
        with StoredSessions(desk.url) as others:
            others.summaries.edit("a", "Theirs.")
        return Completion("Ours.", trusted=True)

    desk.model.answer = meanwhile
    with pytest.raises(CompactionBlocked, match="compressed by another process in the meantime"):
        desk.sessions.compress("a", Wish(retention=0))
    (standing,) = desk.sessions.summaries.standing("a")
    assert standing.content["words"] == "Theirs."


def test_a_plan_that_does_not_fit_is_named_with_its_summary(desk: Desk) -> None:
    made = compacted(desk).snapshot
    (stored, *_) = desk.sessions.history("a")
    wrong = Pass("Wrong", (Replace(Where("0", 7), "x", EditKind.TRUNCATED),))
    plan = plan_to_json((*read_summary(made).plan, wrong))
    assert stored.id in made.content["view"]
    desk.sessions.store.put_snapshot(replace(made, content={**made.content, "plan": plan}), made.id, replace=True)
    with pytest.raises(StoredPlanMismatch, match=r"summary \d+ of session a cannot be used: .*Undo the summary"):
        desk.sessions.context("a")


@pytest.mark.parametrize(
    ("own", "everywhere", "remedy"),
    [
        (None, True, "Compact the session, unpin messages"),
        (False, True, "off for this session, so nothing was removed"),
        (None, False, "off in the settings, so nothing was removed"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_helps(
    desk: Desk, own: bool | None, everywhere: bool, remedy: str
) -> None:
    desk.say(80)
    desk.sessions.set_automatic("a", own)
    desk.sessions.preferences.change({"automatic": everywhere})
    tokens = desk.sessions.context("a").tokens
    assert desk.sessions.context("a").automatic is (own is not False and everywhere)
    with desk.sessions.store.compacting("a", 1), pytest.raises(InsufficientBudget) as caught:
        desk.sessions.prepare("a", wait=0)
    assert (caught.value.needed, caught.value.budget) == (tokens, WINDOW)
    assert f"{tokens:,} tokens are more than the {WINDOW:,} that the model reads. " in str(caught.value)
    assert remedy in str(caught.value)


def test_what_just_fits_is_sent(desk: Desk) -> None:
    desk.say(20)
    desk.sessions.preferences.change({"automatic": False})
    tokens = desk.sessions.context("a").tokens
    (config,) = desk.sessions.models()
    desk.sessions.preferences.put_model(replace(config, max_input=tokens))
    assert desk.sessions.prepare("a").tokens == tokens
    desk.sessions.preferences.put_model(replace(config, max_input=tokens - 1))
    with pytest.raises(InsufficientBudget):
        desk.sessions.prepare("a")


def test_messages_are_stored_with_what_is_counted_and_usage_with_the_last_one(desk: Desk) -> None:
    asked, answered = turn(1)
    first, last = desk.sessions.append("a", [message_bytes(asked), answered], Usage(input=70, output=30))
    assert (first.role, last.role) == ("user", "assistant")
    messages = parse([asked, answered], format="openai-chat").messages
    assert [first.tokens, last.tokens] == [counter_for("gpt-4o").message(one) for one in messages]
    assert first.counter == last.counter == "o200k_base*1@openai"
    assert (first.input_tokens, first.output_tokens, last.input_tokens, last.output_tokens) == (None, None, 70, 30)
    assert desk.sessions.append("a", [], Usage(input=1, output=1)) == []
    assert [one.position for one in desk.sessions.search("parse_1 skips")] == [1]
    with pytest.raises(InvalidConversation, match="is no JSON") as caught:
        desk.sessions.append("a", [asked, b"{no json"])
    assert caught.value.field == "messages[1]"
    assert desk.sessions.session("a").messages == 2


def test_a_session_without_an_id_gets_one_and_its_model_is_known_from_then_on(desk: Desk) -> None:
    made = [desk.sessions.create(StoredSession("", "gpt-4o", "openai-chat")) for _ in range(2)]
    assert all(len(one.id) == 32 and int(one.id, 16) for one in made)
    assert made[0].id != made[1].id
    with pytest.raises(CompactError):
        desk.sessions.create(StoredSession("c", "gpt-4o", "no-format"))
    assert [one.id for one in desk.sessions.sessions()] == [made[1].id, made[0].id, "a"]
    desk.sessions.create(StoredSession("c", "unheard-of", "openai-chat"))
    assert "unheard-of" in {config.model for config in desk.sessions.models()}


def test_a_pin_reaches_those_that_belong_to_the_message_and_no_other(desk: Desk) -> None:
    desk.say(120)
    stored = desk.sessions.history("a", limit=1000)
    assert desk.sessions.pin("a", stored[230].id) == [stored[230].id]
    assert desk.sessions.pin("a", stored[0].id) == [stored[0].id]
    pinned = [one.position for one in desk.sessions.history("a", limit=1000) if one.pinned]
    assert pinned == [0, 230]
    assert desk.sessions.pin("a", stored[0].id, pinned=False) == [stored[0].id]
    assert [one.position for one in desk.sessions.history("a", limit=1000) if one.pinned] == [230]


def test_usage_without_a_summary_is_what_the_counter_says(desk: Desk) -> None:
    said = desk.say(5)
    counted = counter_for("gpt-4o").conversation(parse(said, format="openai-chat"))
    assert desk.sessions.usage("a") == counted.by_kind
    compacted(desk)
    kinds = desk.sessions.usage("a")
    assembled, _ = desk.sessions.reader.now("a")
    (account,) = [one for one in assembled.conversation.messages if one.id in assembled.made]
    whole = counter_for("gpt-4o").conversation(assembled.conversation).by_kind
    summary = counter_for("gpt-4o").message(account)
    assert kinds == {**whole, "text": whole["text"] - summary, "summary": summary}


def test_a_request_waits_half_a_minute_for_another_compaction(desk: Desk) -> None:
    for call in (desk.sessions.prepare, desk.sessions.compress):
        assert signature(call).parameters["wait"].default == 30


def test_messages_that_another_tokenizer_counted_are_counted_again_for_good(desk: Desk) -> None:
    desk.say(3)
    stored = desk.sessions.history("a")
    right = [one.tokens for one in stored]
    desk.sessions.store.recount({stored[1].id: 9999}, "o200k_base*3@openai")
    desk.sessions.store.recount({stored[2].id: 7777}, stored[2].counter)  # who counts so is believed
    expected = sum(right) - right[2] + 7777
    frame = desk.sessions.context("a").tokens - expected
    assert 0 <= frame < 20
    assert [one.tokens for one in desk.sessions.history("a")] == [*right[:2], 7777, *right[3:]]
    assert {one.counter for one in desk.sessions.history("a")} == {"o200k_base*1@openai"}
    assert json.loads(stored[1].raw) == turn(0)[1]
