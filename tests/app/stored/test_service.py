"""Stored sessions beyond the requirements: pins, undo, agents' loops, formats, and several at once."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compact.app.stored import StoredSessions
from compact.engine.stored.service import Wish
from compact.errors import (
    CompactionBlocked,
    InsufficientBudget,
    InvalidConfiguration,
    InvalidConversation,
    InvalidInput,
    NotFound,
    NothingToCompact,
)
from compact.formats import parse, violations
from compact.messages import Json
from compact.models import find_model
from compact.ports import Completion, Failure, ModelConfig, StoredSession
from compact.settings import update_calibration
from compact.tokens import Calibration
from tests.app.stored.conftest import WINDOW, Desk, account_in, turn, user


def called(number: int) -> list[Json]:
    """A step of an agent: a call and its result, of about 90 tokens together."""
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "read", "arguments": f'{{"path": "m{number}.py"}}'},
    }
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": f"c{number}",
            "content": f"def parse_{number}(line): return line.split()\n" * 5,
        },
    ]


def test_pinned_messages_stay_in_every_request_with_what_belongs_to_them(desk: Desk) -> None:
    desk.say(5)
    desk.sessions.append("a", called(1))
    desk.say(70, 5)
    stored = desk.sessions.history("a", limit=20)
    assert desk.sessions.pin("a", stored[2].id) == [stored[2].id]
    assert desk.sessions.pin("a", stored[11].id) == [stored[10].id, stored[11].id]
    sent = desk.sessions.prepare("a", [user("Go on.")]).messages
    first = [json.loads(stored[at].raw) for at in (0, 2, 10, 11)]
    assert sent[:4] == first
    assert sent[4]["role"] == "system"
    desk.sessions.pin("a", stored[3].id)  # one that the account stands for stands beside it again
    assert desk.sessions.prepare("a").messages[:3] == [*first[:2], json.loads(stored[3].raw)]
    desk.sessions.pin("a", stored[3].id, pinned=False)
    desk.sessions.pin("a", stored[11].id, pinned=False)
    assert desk.sessions.prepare("a").messages[:4] == first  # nothing tells of it: it goes with the next summary
    desk.sessions.compress("a", Wish(retention=0))
    assert desk.sessions.prepare("a").messages[:2] == first[:2]
    assert first[3] not in desk.sessions.prepare("a").messages


def test_a_loop_of_tools_after_one_question_is_compressed_all_the_same(desk: Desk) -> None:
    desk.sessions.append("a", [user("Mend every module of the parser.")])
    for number in range(60):
        desk.sessions.append("a", called(number))
    sent = desk.sessions.prepare("a")
    assert sent.compression is not None
    assert sent.messages[0] == user("Mend every module of the parser.")
    assert sent.messages[-2:] == called(59)
    assert violations(parse(sent.messages, format="openai-chat")) == []
    again = desk.sessions.prepare("a")
    assert (again.messages, again.compression) == (sent.messages, None)


def test_open_calls_answered_by_the_input_stay_with_it(desk: Desk) -> None:
    desk.say(70)
    call, result = called(1)
    desk.sessions.append("a", [user("Look."), call])
    sent = desk.sessions.prepare("a", [result]).messages
    assert sent[-3:] == [user("Look."), call, result]


@pytest.mark.parametrize("format", ["openai-chat", "openai-responses", "anthropic-messages", "google-gemini"])
def test_every_format_gives_valid_requests(desk: Desk, format: str) -> None:
    desk.sessions.preferences.put_model(ModelConfig("mine", "m", WINDOW))
    desk.sessions.create(StoredSession(id="f", model="m", format=format))
    turns = [_in(format, message) for number in range(90) for message in turn(number)]
    desk.sessions.append("f", turns)
    sent = desk.sessions.prepare("f", [_in(format, user("Go on."))])
    assert sent.compression is not None
    assert sent.messages[-1] == _in(format, user("Go on."))
    assert violations(parse(sent.messages, format=format)) == []


def _in(format: str, message: Json) -> Json:
    if format == "google-gemini":
        role = "model" if message["role"] == "assistant" else "user"
        return {"role": role, "parts": [{"text": message["content"]}]}
    return message


def test_reasoning_that_is_bound_to_what_went_goes_with_it(desk: Desk) -> None:
    desk.sessions.preferences.put_model(ModelConfig("anthropic", "claude-sonnet-4-5", WINDOW))
    desk.sessions.create(StoredSession(id="t", model="claude-sonnet-4-5", format="anthropic-messages"))
    for number in range(80):
        asked, answered = turn(number)
        thought = {"type": "thinking", "thinking": "I look at the tabs.", "signature": f"sig{number}"}
        desk.sessions.append(
            "t", [asked, {**answered, "content": [thought, {"type": "text", "text": answered["content"]}]}]
        )
    sent = desk.sessions.prepare("t", [user("Go on.")])
    assert violations(parse(sent.messages, format="anthropic-messages")) == []
    assert desk.sessions.prepare("t", [user("Go on.")]).messages == sent.messages


def test_what_all_fits_into_the_retention_stays(desk: Desk) -> None:
    desk.say(5)
    before = desk.sessions.context("a").messages
    with pytest.raises(NothingToCompact, match="everything is pinned or recent"):
        desk.sessions.compress("a", Wish(retention=3000))
    assert desk.model.asked == []
    assert desk.sessions.context("a").messages == before


def test_undo_brings_back_what_stood_before(desk: Desk) -> None:
    desk.say(30)
    before = desk.sessions.context("a").messages
    desk.sessions.compress("a")
    first = desk.sessions.context("a").messages
    desk.say(5, 30)
    desk.sessions.compress("a", Wish(retention=0))
    desk.sessions.summaries.undo("a")
    assert desk.sessions.context("a").messages == [*first, *(m for n in range(30, 35) for m in turn(n))]
    desk.sessions.summaries.undo("a")
    assert desk.sessions.context("a").messages[: len(before)] == before
    with pytest.raises(NotFound, match="there is nothing to undo: no compaction of a stands"):
        desk.sessions.summaries.undo("a")


def test_an_edited_summary_can_be_undone_and_the_next_one_takes_it_in(desk: Desk) -> None:
    desk.say(30)
    desk.sessions.compress("a")
    desk.sessions.summaries.edit("a", "The flag is --fast.")
    assert "--fast" in account_in(desk.sessions.context("a").messages)
    desk.sessions.summaries.undo("a")
    assert "What was said, in short." in account_in(desk.sessions.context("a").messages)
    desk.sessions.summaries.edit("a", "The flag is --fast.")
    desk.sessions.compress("a", Wish(retention=0))
    assert any("--fast" in ask.instructions for ask in desk.model.asked)
    with pytest.raises(InvalidInput, match="empty"):
        desk.sessions.summaries.edit("a", " ")


def test_a_summary_is_written_anew_of_the_same_messages(desk: Desk) -> None:
    desk.say(90)
    old = desk.sessions.compress("a").snapshot
    desk.say(3, 90)
    desk.model.answer = lambda _: Completion("Better words.", trusted=True)
    new = desk.sessions.summaries.regenerate("a", Wish(strategy="brief")).snapshot
    assert (new.cutoff, new.content["messages"]) == (old.cutoff, old.content["messages"])
    assert "Better words." in account_in(desk.sessions.context("a").messages)
    assert [one.id for one in desk.sessions.summaries.standing("a")] == [new.id]
    assert len(desk.sessions.summaries.standing("a", retired=True)) == 2


def test_a_summary_of_another_session_can_be_taken_over(desk: Desk) -> None:
    desk.say(30)
    desk.sessions.compress("a")
    desk.sessions.create(StoredSession(id="b", model="gpt-4o", format="openai-chat"))
    desk.sessions.summaries.take_over("b", "a")
    desk.sessions.append("b", [user("Where were we?")])
    sent = desk.sessions.prepare("b").messages
    assert "What was said, in short." in sent[0]["content"]
    assert sent[1:] == [user("Where were we?")]
    desk.say(30, 0, "b")
    desk.sessions.compress("b")
    assert any("What was said, in short." in ask.instructions for ask in desk.model.asked)
    assert desk.sessions.context("b").messages[0] == user("Where were we?")
    account_in(desk.sessions.context("b").messages)


def test_the_first_request_stays_a_message(desk: Desk) -> None:
    first = "Port the parser to Rust, and never touch setup.cfg."
    desk.sessions.append("a", [user(first)])
    for round_ in range(4):
        desk.say(40, 100 * round_)
        desk.sessions.compress("a", Wish(retention=0))
        assert desk.sessions.context("a").messages[0] == user(first)


def test_what_was_asked_first_and_last_and_the_current_step_stay_whatever_their_size(desk: Desk) -> None:
    first, last = user("Begin with this. " + "word " * 700), user("Now go on with that. " + "word " * 700)
    call, result = called(1)
    step = [call, {**result, "content": "line of the file\n" * 150}]
    desk.sessions.append("a", [first])
    desk.say(20)
    desk.sessions.append("a", [last, *step])
    desk.sessions.compress("a", Wish(retention=0))
    sent = desk.sessions.context("a").messages
    assert sent[0] == first
    assert sent[-3:] == [last, *step]
    assert len(sent) < 10


def test_another_model_counts_anew(desk: Desk) -> None:
    desk.say(5)
    before = desk.sessions.context("a").tokens
    desk.sessions.store.change("a", {"model": "claude-sonnet-4-5"})
    after = desk.sessions.context("a").tokens
    assert after > before
    assert {one.counter for one in desk.sessions.history("a")} != {"o200k_base*1@openai"}
    assert desk.sessions.context("a").tokens == after


def test_to_read_a_session_does_not_move_it(desk: Desk) -> None:
    desk.say(5)
    desk.sessions.store.change("a", {"model": "claude-sonnet-4-5"})
    desk.sessions.create(StoredSession(id="b", model="gpt-4o", format="openai-chat"))
    before = desk.sessions.sessions()
    desk.sessions.context("a")
    assert [one.id for one in before] == ["b", "a"]
    assert desk.sessions.sessions() == before
    assert {one.counter for one in desk.sessions.history("a")} != {"o200k_base*1@openai"}


def test_a_learned_factor_that_hardly_moves_counts_nothing_anew(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACT_HOME", str(tmp_path / "home"))
    model = find_model("claude-sonnet-4-5")

    def after_learning(factor: float) -> tuple[int, set[str]]:
        update_calibration(model.id, lambda _: Calibration(factor, 1, (factor,), settled=True))
        tokens = desk.sessions.context("a").tokens
        return tokens, {one.counter.split("*")[1] for one in desk.sessions.history("a")}

    desk.sessions.store.change("a", {"model": model.id})
    desk.say(5)
    first, factors = after_learning(1.2)
    assert factors == {"1.2@anthropic"}
    assert after_learning(1.191) == after_learning(1.209) == (first, factors)
    desk.say(1, 5)
    second, factors = after_learning(1.218)  # small steps add up: only the last messages are near enough
    assert factors == {"1.218@anthropic", "1.209@anthropic"}
    third, factors = after_learning(2.0)
    assert factors == {"2@anthropic"}
    assert first < second < third


def test_a_tokenizer_of_the_models_own_believes_no_other(desk: Desk) -> None:
    desk.say(5)
    exact = desk.sessions.context("a").tokens
    stored = desk.sessions.history("a")
    for name in ("o200k_base*1.001@openai", "o200k_base*1@google", "o200k_base"):
        desk.sessions.store.recount({one.id: one.tokens + 1 for one in stored}, name)
        assert desk.sessions.context("a").tokens == exact
        assert desk.sessions.history("a") == stored


def test_bytes_are_kept_as_they_were_given(desk: Desk) -> None:
    raw = b'{ "content" : "caf\\u00e9",\t"role":"user" }'
    (stored,) = desk.sessions.append("a", [raw])
    assert desk.sessions.history("a")[0].raw == stored.raw == raw
    assert desk.sessions.prepare("a").messages == [json.loads(raw)]
    with pytest.raises(InvalidConversation, match=r"messages\[0\]"):
        desk.sessions.append("a", [b"{no json"])


def test_one_compresses_and_the_others_wait(desk: Desk) -> None:
    desk.say(80)
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda _: desk.sessions.prepare("a", [user("Go on.")]), range(8)))
    assert len({json.dumps(one.messages) for one in sent}) == 1
    assert sum(one.compression is not None for one in sent) == 1
    assert len(desk.sessions.summaries.standing("a")) == 1


def test_who_does_not_want_to_wait_goes_on_with_the_old_context_if_it_fits(desk: Desk) -> None:
    desk.say(73)
    assert desk.sessions.context("a").decision.triggered
    with StoredSessions(desk.url, ask=desk.model) as others, others.store.compacting("a", 1) as alone:
        assert alone
        assert desk.sessions.prepare("a", wait=0).compression is None
        with pytest.raises(CompactionBlocked, match="another process"):
            desk.sessions.compress("a", wait=0)
    assert desk.sessions.prepare("a", wait=0).compression is not None


def test_the_twins_do_the_same(desk: Desk) -> None:
    async def talk() -> None:
        await desk.sessions.aappend("a", turn(0))
        assert (await desk.sessions.aprepare("a")).messages == turn(0)
        assert len(await desk.sessions.ahistory("a")) == 2
        assert (await desk.sessions.asearch("mod_0"))[0].session == "a"

    asyncio.run(talk())


def test_without_a_model_summaries_are_made_of_the_users_own_words(desk: Desk) -> None:
    with StoredSessions(desk.url) as offline:
        offline.preferences.change({"profile": "offline"})
        desk.say(75)
        sent = offline.prepare("a", [user("Go on.")])
        assert sent.compression is not None
        assert "src/mod_" in account_in(sent.messages)
        offline.summaries.regenerate("a")


def test_pruning_without_a_summary_leaves_a_mark(desk: Desk) -> None:
    desk.sessions.preferences.change({"on_summary_failure": "prune"})
    desk.model.answer = lambda _: Failure("down")
    desk.say(80)
    sent = desk.sessions.prepare("a", [user("Go on.")])
    assert "messages removed here" in sent.messages[1]["content"]


@pytest.mark.parametrize(
    "values", [{"nonsense": 1}, {"threshold": 2}, {"retention_tokens": -1}, {"on_summary_failure": "explode"}]
)
def test_wrong_settings_are_refused_by_name(desk: Desk, values: dict[str, Json]) -> None:
    with pytest.raises(InvalidConfiguration, match=next(iter(values))):
        desk.sessions.preferences.change(values)


def test_wrong_models_are_refused(desk: Desk) -> None:
    for config in (ModelConfig("x", "y", 10), ModelConfig("x", "", 9000), ModelConfig("x", "y", 9000, threshold=7)):
        with pytest.raises(InvalidConfiguration):
            desk.sessions.preferences.put_model(config)


def test_usage_by_kind_tells_the_summary_apart(desk: Desk) -> None:
    desk.say(30)
    desk.sessions.compress("a")
    kinds = desk.sessions.usage("a")
    assert sum(kinds.values()) == desk.sessions.context("a").tokens
    assert kinds["summary"] > 0


def test_where_nothing_may_go_a_request_that_fits_is_sent_with_a_shorter_answer(desk: Desk) -> None:
    desk.sessions.preferences.put_model(ModelConfig("mine", "m", WINDOW))
    desk.sessions.create(StoredSession(id="m", model="m", format="openai-chat"))
    question = user("word " * 2_500)
    sent = desk.sessions.prepare("m", [question], max_tokens=1_500)
    assert (sent.messages, sent.compression) == ([question], None)
    assert sent.decision.triggered
    assert sent.max_tokens == WINDOW - WINDOW // 20 - sent.tokens < 1_500
    assert not desk.sessions.session("m").blocked
    assert desk.sessions.prepare("m", [question]).max_tokens == sent.max_tokens
    assert desk.sessions.prepare("m", [question], max_tokens=100).max_tokens == 100
    with pytest.raises(InsufficientBudget):
        desk.sessions.prepare("m", [user("word " * 3_500)], max_tokens=1_500)
