"""The requirements on compressing stored sessions, each as a test that names it (FR-1 and FR-2)."""

from __future__ import annotations

import inspect
import json

import pytest

from compact.engine.stored import compaction, context, reading, service
from compact.engine.stored.service import Wish
from compact.formats import parse
from compact.messages import Json, is_summary
from compact.models import find_model
from compact.policies.stored import StoredSettings
from compact.ports import Completion, ModelConfig, Usage
from compact.summaries.model.strategy import find_strategy
from tests.app.stored.conftest import THRESHOLD, WINDOW, Desk, account_in, fill, turn, user


def test_fr_1_1_1_the_whole_history_is_counted_before_each_request(desk: Desk) -> None:
    empty = desk.sessions.prepare("a").tokens
    one = turn(0)
    desk.sessions.append("a", one)
    assert desk.sessions.prepare("a").tokens > empty
    assert desk.sessions.prepare("a").tokens == desk.sessions.prepare("a").decision.used


def test_fr_1_1_2_counts_are_local_and_kept_with_the_message(desk: Desk) -> None:
    counter = desk.sessions.reader.counter_for("gpt-4o")
    stored = desk.sessions.append("a", turn(0))
    assert [one.tokens for one in stored] == [
        counter.message(parse([wire], format="openai-chat").messages[0]) for wire in turn(0)
    ]
    assert desk.model.asked == []


def test_fr_1_1_3_the_tokenizer_is_the_models_own(desk: Desk) -> None:
    stored = desk.sessions.append("a", [user("hello")])
    assert stored[0].counter.startswith("o200k_base")


def test_fr_1_1_4_everything_that_is_sent_is_counted(desk: Desk) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": '{"path": "a.py"}'}}
    parts: list[Json] = [
        user("What is in a.py?"),
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "import os"},
    ]
    sizes = [desk.sessions.context("a").tokens]
    for part in parts:
        desk.sessions.append("a", [part])
        sizes.append(desk.sessions.context("a").tokens)
    sizes.append(desk.sessions.context("a", [user("And now?")]).tokens)
    desk.sessions.store.change("a", {"system": "Be brief."})
    desk.sessions.store.change("a", {"tools": [{"type": "function", "function": {"name": "read"}}]})
    sizes.append(desk.sessions.context("a", [user("And now?")]).tokens)
    assert sizes == sorted(set(sizes))


def test_fr_1_1_5_reported_usage_is_kept_and_never_decides(desk: Desk) -> None:
    desk.sessions.append("a", turn(0), usage=Usage(input=999_999, output=7))
    last = desk.sessions.history("a")[-1]
    assert (last.input_tokens, last.output_tokens) == (999_999, 7)
    assert not desk.sessions.prepare("a").decision.triggered
    for module in (service, reading, compaction, context):
        source = inspect.getsource(module).replace("input_tokens=usage.input, output_tokens=usage.output", "")
        assert "input_tokens" not in source
        assert "output_tokens" not in source


def test_fr_1_2_1_compression_begins_at_a_share_of_what_the_model_reads(desk: Desk) -> None:
    desk.sessions.preferences.change({"threshold": 0.6})
    while desk.sessions.context("a").tokens < 0.6 * WINDOW:
        assert desk.sessions.prepare("a").compression is None
        desk.say(1, desk.sessions.session("a").messages)
    assert desk.sessions.prepare("a").compression is not None


def test_fr_1_2_2_the_threshold_is_95_percent(desk: Desk) -> None:
    assert StoredSettings().threshold == 0.95
    assert desk.sessions.context("a").decision.trigger_at == THRESHOLD


def test_fr_1_2_3_a_model_may_have_a_threshold_of_its_own(desk: Desk) -> None:
    desk.sessions.preferences.change({"threshold": 0.8})
    desk.sessions.preferences.put_model(ModelConfig("openai", "gpt-4o", WINDOW, threshold=0.5))
    assert desk.sessions.context("a").decision.trigger_at == WINDOW // 2
    effective = desk.sessions.preferences.effective(desk.sessions.session("a"))
    assert effective.origins["threshold"] == "model"


def test_fr_1_2_4_input_and_answer_have_room(desk: Desk) -> None:
    facts = find_model("gpt-4o")
    assert facts.max_input == facts.context_window - (facts.max_output or 0)
    fill(desk)
    long = user("word " * 300)
    assert desk.sessions.context("a", [long]).tokens > desk.sessions.context("a").tokens + 250
    assert desk.sessions.prepare("a", [long]).tokens < THRESHOLD


def test_fr_1_3_1_and_2_recent_messages_are_kept_by_tokens_1000_by_default(desk: Desk) -> None:
    assert StoredSettings().retention_tokens == 1000
    fill(desk)
    sent = desk.sessions.prepare("a", [user("Go on.")])
    kept = last_within(desk, 1000)
    assert sent.messages[-len(kept) - 1 : -1] == kept
    assert sent.compression is not None
    assert sent.compression.warnings == ()


def test_fr_1_3_3_under_layers_exactly_as_many_as_fit_are_kept(desk: Desk) -> None:
    desk.sessions.preferences.change({"recipe": "layers"})
    fill(desk)
    sent = desk.sessions.prepare("a", [user("Go on.")])
    kept = last_within(desk, 1000, exact=True)
    assert [message["role"] for message in sent.messages[:2]] == ["user", "system"]
    assert sent.messages[2:] == [*kept, user("Go on.")]
    fill(desk)
    again = desk.sessions.prepare("a", [user("Go on.")])
    assert "What was said, in short." in account_in(again.messages)
    assert again.messages[2:] == [*last_within(desk, 1000, exact=True), user("Go on.")]


def last_within(desk: Desk, tokens: int, *, exact: bool = False) -> list[Json]:
    """The last messages that fit into so many tokens; where that is not `exact`, from a person's message on."""
    kept: list[Json] = []
    for one in reversed(desk.sessions.history("a", limit=1000)):
        tokens -= one.tokens
        if tokens < 0:
            break
        kept.insert(0, json.loads(one.raw))
    while kept and not exact and kept[0]["role"] != "user":
        del kept[0]
    return kept


def test_fr_1_3_4_what_is_older_goes_into_the_summary(desk: Desk) -> None:
    turns = fill(desk)
    sent = desk.sessions.prepare("a", [user("Go on.")])
    assert sent.compression is not None
    assert sent.compression.messages + len(sent.messages) - 2 == 2 * turns


def test_fr_1_4_1_there_is_one_summary_message(desk: Desk) -> None:
    fill(desk)
    sent = desk.sessions.prepare("a", [user("Go on.")])
    read = parse(sent.messages, format="openai-chat").messages
    assert [message.role for message in read if is_summary(message)] == ["system"]
    assert is_summary(read[1])


def test_fr_1_4_2_an_earlier_summary_goes_into_the_next_one(desk: Desk) -> None:
    words = "The cache key is tenant_42."
    desk.model.answer = lambda _: Completion(words, trusted=True)
    fill(desk)
    desk.sessions.prepare("a", [user("Go on.")])
    fill(desk)
    desk.model.asked.clear()
    desk.sessions.prepare("a", [user("Go on.")])
    assert any(words in ask.instructions for ask in desk.model.asked)
    versions = [one.content["version"] for one in desk.sessions.summaries.standing("a")]
    assert versions == [1, 2]


def test_fr_1_4_3_a_model_is_asked_for_the_summary(desk: Desk) -> None:
    fill(desk)
    desk.sessions.prepare("a", [user("Go on.")])
    assert desk.model.asked
    assert "What was said, in short." in account_in(desk.sessions.prepare("a").messages)


@pytest.mark.parametrize(
    "words", ["fact", "decision", "order", "code", "tool", "concise"]
)  # facts and decisions, chronological order, code, tools and their results, concise language
def test_fr_1_4_4_the_prompt_says_what_to_preserve(desk: Desk, words: str) -> None:
    fill(desk)
    desk.sessions.prepare("a", [user("Go on.")])
    prompt = f"{desk.model.asked[0].instructions} {find_strategy('general').prompt}".casefold()
    assert words in prompt


def test_fr_1_4_5_and_4_1_2_the_summary_is_a_snapshot(desk: Desk) -> None:
    fill(desk)
    desk.sessions.prepare("a", [user("Go on.")])
    (snapshot,) = desk.sessions.summaries.standing("a")
    assert snapshot.kind == "summary"
    assert snapshot.cutoff is not None
    counter = desk.sessions.reader.counter_for("gpt-4o")
    assert snapshot.tokens == counter.text(str(snapshot.content["summaryText"]))


def test_fr_1_4_6_and_2_5_3_the_messages_stay_and_are_not_sent(desk: Desk) -> None:
    said = desk.say(10)
    said += [message for number in range(10, 80) for message in turn(number)]
    desk.sessions.append("a", said[20:])
    sent = desk.sessions.prepare("a", [user("Go on.")]).messages
    stored = [json.loads(one.raw) for one in desk.sessions.history("a", limit=1000)]
    assert stored == said
    assert sent[0] == said[0]
    assert said[1] not in sent


def test_fr_1_5_1_a_request_is_first_task_summary_recent_messages_and_input(desk: Desk) -> None:
    fill(desk)
    sent = desk.sessions.prepare("a", [user("Go on.")])
    recent = [json.loads(one.raw) for one in desk.sessions.store.active("a").recent]
    assert sent.messages[0] == turn(0)[0]
    assert sent.messages[1]["role"] == "system"
    assert sent.messages[2:] == [*recent, user("Go on.")]


def test_fr_1_5_2_and_3_of_several_summaries_the_last_one_is_sent(desk: Desk) -> None:
    for round_ in range(3):
        desk.model.answer = lambda _, n=round_: Completion(f"Round {n} is done.", trusted=True)  # type: ignore[misc]
        fill(desk)
        desk.sessions.prepare("a", [user("Go on.")])
    assert len(desk.sessions.summaries.standing("a")) == 3
    sent = desk.sessions.prepare("a").messages
    assert "Round 2 is done." in account_in(sent)


def test_fr_1_6_1_and_2_beginning_and_end_are_told_with_their_scope(desk: Desk) -> None:
    fill(desk)
    done = desk.sessions.prepare("a", [user("Go on.")]).compression
    assert done is not None
    (began,), (ended,) = desk.told("compression_started"), desk.told("compression_finished")
    assert began["messages"] > 0
    assert ended["messages"] == done.messages > 0
    assert ended["after"] == done.tokens_after < ended["tokens"]


def test_fr_1_6_4_notifications_can_be_turned_off(desk: Desk) -> None:
    assert desk.sessions.preferences.effective(desk.sessions.session("a")).settings.notify
    desk.sessions.preferences.change({"notify": False})
    assert not desk.sessions.preferences.effective(desk.sessions.session("a")).settings.notify


def test_fr_2_2_1_a_manual_compression_keeps_as_much_as_an_automatic_one(desk: Desk) -> None:
    desk.say(30)
    desk.sessions.compress("a")
    kept = last_within(desk, 1000)
    assert desk.sessions.context("a").messages[2:] == kept


@pytest.mark.parametrize("retention", [0, 100, 500])
def test_fr_2_2_2_a_retention_of_ones_own(desk: Desk, retention: int) -> None:
    desk.say(30)
    preview = desk.sessions.preview("a", Wish(retention=retention))
    done = desk.sessions.compress("a", Wish(retention=retention))
    kept = last_within(desk, retention) or [turn(29)[0]]  # what a person said last stays in any case
    sent = desk.sessions.context("a").messages
    assert sent[2:] == kept
    assert done.tokens_after < done.tokens_before // 2
    assert preview.tokens_after < preview.tokens_before
    (began,) = desk.told("compression_started")
    assert preview.messages == began["messages"] == done.messages == 60 - 1 - len(kept)
    offline = Wish(retention=retention, offline=True)
    desk.sessions.summaries.undo("a")
    assert desk.sessions.preview("a", offline).tokens_after == desk.sessions.compress("a", offline).tokens_after


@pytest.mark.parametrize("retention", [0, 100, 500])
def test_fr_2_2_2_under_layers_it_is_exact(desk: Desk, retention: int) -> None:
    desk.sessions.preferences.change({"recipe": "layers"})
    desk.say(30)
    desk.sessions.compress("a", Wish(retention=retention))
    sent = desk.sessions.context("a").messages
    kept = last_within(desk, retention, exact=True) or [turn(29)[0]]  # what a person said last stays in any case
    assert [message["role"] for message in sent[:2]] == ["user", "system"]
    assert sent[2:] == kept


def test_fr_2_2_3_a_manual_compression_takes_the_earlier_summary_in(desk: Desk) -> None:
    desk.say(30)
    desk.sessions.compress("a")
    desk.say(10, 30)
    desk.sessions.compress("a", Wish(retention=0))
    assert any("What was said, in short." in ask.instructions for ask in desk.model.asked)
    last = desk.sessions.summaries.standing("a")[-1]
    assert last.content["messages"] == 78  # all but the first and the last that a person said


def test_fr_2_3_3_before_and_after_are_told(desk: Desk) -> None:
    desk.say(30)
    done = desk.sessions.compress("a")
    assert done.tokens_after == desk.sessions.context("a").tokens < done.tokens_before


def test_fr_2_4_1_and_2_however_it_came_about_the_summary_is_used_alike(desk: Desk) -> None:
    desk.say(30)
    desk.sessions.compress("a")
    first = desk.sessions.prepare("a").messages
    assert first == desk.sessions.prepare("a").messages
    assert first[1]["role"] == "system"
