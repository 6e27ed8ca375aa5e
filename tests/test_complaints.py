"""What people complain about in other systems, each as a test of this one.

The complaints have the numbers of the list they were collected in; those about asking models are tested elsewhere.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest

import compact
from compact import CompactConfig, CompactManager
from compact.app import Condensation, counter_for, resolve_recipe
from compact.app.recall_tools import recall_tools
from compact.engine import AskModel, Gauge, Goal, Inputs
from compact.engine import compact as run_engine
from compact.errors import InsufficientBudget
from compact.formats import parse, render, violations
from compact.messages import EditKind, Fold, Json, Opaque, ToolCall, is_summary, pairs
from compact.messages import restore as restore_plan
from compact.policies import StorageSettings
from compact.ports import Answer, Ask, Completion, Failure, Refusal, Usage
from tests.complaints import (
    CORRECTION,
    EVERY_FORMAT,
    EVERY_WAY,
    LAST,
    PICTURE,
    SUMMARIZING,
    TASK,
    UNKNOWN,
    WAYS,
    condense,
    in_format,
    session,
    sessions,
    signed,
    source,
    step,
    stopping,
    thought,
    written,
)

COUNTER = counter_for("gpt-4o")
MARK = re.compile(r"⟨|\[Account |\[… [^]]* omitted")


def assert_accepted(before: Json, after: Json, format: str) -> None:
    """The vendor has nothing against it that it had not before, and every call has its result."""
    one, other = parse(before, format=format), parse(after, format=format)
    assert violations(one) == []
    assert violations(other, origin=one) == []
    calls = {
        (index, position)
        for index, message in enumerate(other.messages)
        for position, block in enumerate(message.blocks)
        if isinstance(block, ToolCall)
    }
    assert set(pairs(other.messages).values()) == calls
    assert len(pairs(other.messages)) == sum(len(message.results) for message in other.messages)


@EVERY_WAY
def test_complaint_1_the_task_instructions_and_corrections_survive(way: str) -> None:
    for before in sessions(session()):
        result = condense(before, way, target=0.2)
        after = result.conversation
        assert after.messages[0].wire == before.messages[0].wire
        assert after.system == before.system
        assert TASK in after.messages[0].text
        said = [message.text for message in after.messages if message.from_user]
        assert said[-1] == LAST
        assert CORRECTION in written(result.messages)


def inputs(window: int) -> Inputs:
    return Inputs(Gauge(COUNTER, ()), window)


def manager_of(folder: Path, window: int, ask: AskModel) -> CompactManager:
    storage = StorageSettings(path=str(folder))
    return CompactManager(CompactConfig(model="gpt-4o", max_context_tokens=window, storage=storage), ask=ask)


@pytest.mark.parametrize("fits", [True, False])
def test_complaint_2_condensing_does_not_loop(tmp_path: Path, fits: bool) -> None:
    asked = []

    def summarize(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        asked.append(len(asks))
        return tuple(Completion("Much was done.") for _ in asks)

    huge = [{"role": "user", "content": source(1, 1200)}, *session(3)]
    must_stay = COUNTER.conversation(parse([huge[0], *huge[-3:]])).total
    with manager_of(tmp_path, must_stay + (2400 if fits else 1000), summarize) as manager:
        for number in range(20):
            if fits:
                huge.append({"role": "assistant", "content": f"Noted: {number}."})
                assert manager.preflight("huge", huge)
            else:
                with pytest.raises(InsufficientBudget, match="must stay as they are"):
                    manager.preflight("huge", huge)
    assert len(asked) <= 3 if fits else asked == []


@EVERY_WAY
def test_complaint_2_what_was_condensed_is_not_condensed_again_for_nothing(way: str) -> None:
    once = condense(session(), way, target=0.4)
    again = compact.condense(once.conversation, target=once.report.target, **WAYS[way])
    assert again.plan == ()
    assert again.messages == once.messages


@EVERY_FORMAT
def test_complaint_3_one_message_alone_may_exceed_the_window(format: str) -> None:
    window = 8192
    messages = session(5, current=False)
    messages[2]["content"] = source(0, 700)
    before = in_format(messages, format)
    result = compact.condense(before, preset="v2", model="gpt-4", target=window // 2)
    assert max(map(counter_for("gpt-4").message, before.messages)) > window
    assert result.target_met
    assert_accepted(render(before), result.messages, format)


def test_complaint_3_what_the_summarizer_reads_fits_its_window() -> None:
    window, seen = 6000, list[Ask]()

    def summarize(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        seen.extend(asks)
        return tuple(Completion("Part of it was done.") for _ in asks)

    before = parse(
        [*session(10)[:2], {"role": "tool", "tool_call_id": "r0", "content": source(0, 900)}, *session()[3:]]
    )
    after = run_engine(before, resolve_recipe("native"), Goal(1000), inputs(window), summarize).conversation
    sizes = [COUNTER.text(ask.instructions) + COUNTER.text(ask.material) + ask.max_tokens for ask in seen]
    assert len(seen) > 1
    assert max(sizes) <= window
    material = "\n".join(ask.material for ask in seen)
    assert all(f"handle_0_{line}(" in material for line in range(900))
    assert any(is_summary(message) for message in after.messages)


@EVERY_FORMAT
@EVERY_WAY
def test_complaint_4_every_call_keeps_its_result(way: str, format: str) -> None:
    before = in_format(session(), format)
    result = condense(before, way, target=0.2)
    assert result.plan or way.startswith("lossless")
    assert_accepted(render(before), result.messages, format)


@EVERY_WAY
def test_complaint_4_reasoning_items_keep_what_they_led_to(way: str) -> None:
    talk = [{"role": "user", "content": TASK}, *(item for number in range(6) for item in thought(number))]
    result = condense(talk, way, target=0.3)
    assert_accepted(talk, result.messages, "openai-responses")
    kinds = [item.get("type") for item in result.messages]
    followers = [kinds[at + 1] for at, kind in enumerate(kinds) if kind == "reasoning"]
    assert set(followers) <= {"function_call"}


@EVERY_WAY
def test_complaint_4_signed_thinking_stays_whole_or_goes_whole(way: str) -> None:
    talk = [{"role": "user", "content": TASK}, *(item for number in range(6) for item in signed(number))]
    result = condense(talk, way, target=0.3)
    assert_accepted(talk, result.messages, "anthropic-messages")
    known = [block for message in talk[1::2] for block in message["content"] if block["type"] == "thinking"]
    left = [block for message in result.messages for block in message["content"] if isinstance(block, dict)]
    assert all(block in known for block in left if block["type"] == "thinking")


def test_complaint_5_schemas_calls_and_pictures_are_counted() -> None:
    messages = session(1)
    tools = [{"type": "function", "function": {"name": "run", "parameters": {"type": "object", "description": TASK}}}]
    plain = compact.count_tokens(messages)
    assert compact.count_tokens(messages, tools=tools) - plain > COUNTER.text(TASK)
    longer = session(1)
    longer[1]["tool_calls"][0]["function"]["arguments"] = f'{{"path": "{CORRECTION * 20}"}}'
    assert compact.count_tokens(longer) - plain > 15 * COUNTER.text(CORRECTION)
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE + 'A' * 100_000}"}}
    shown = [{"role": "user", "content": [{"type": "text", "text": TASK}, picture]}]
    assert 85 < compact.count_tokens(shown) - compact.count_tokens([{"role": "user", "content": TASK}]) < 2000


def test_complaint_5_cached_tokens_are_counted_once() -> None:
    theirs = {"input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 90, "output_tokens": 5}
    ours = {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 900}, "completion_tokens": 5}
    assert Usage.from_anthropic(theirs).total_input == Usage.from_openai(ours).total_input == 1000


def test_complaint_6_evidence_does_not_vanish() -> None:
    result = condense(session(10), "native")
    kept = written(result.messages)
    kinds: dict[str, Callable[[int], str]] = {
        "paths": lambda number: f"src/module_{number}.py",
        "commands": lambda number: f"pytest -q tests/test_{number}.py",
        "numbers": lambda number: f"{number + 3} failed",
    }
    shares = {kind: sum(fact(number) in kept for number in range(10)) / 10 for kind, fact in kinds.items()}
    assert result.report.tokens_after < result.report.tokens_before / 2
    assert min(shares.values()) >= 0.8, shares
    assert compact.restore(result) == session(10)


@EVERY_WAY
def test_complaint_7_the_prefix_that_a_prompt_cache_holds_is_reported(way: str) -> None:
    before = session()
    result = condense(before, way, target=0.6)
    same = next((at for at, (one, two) in enumerate(zip(before, result.messages, strict=False)) if one != two), None)
    held = before if same is None else before[:same]
    assert result.report.kept_prefix == COUNTER.conversation(parse(held)).total


def test_complaint_7_lossless_keeps_what_came_first() -> None:
    copied = [*session(4, current=False), *step(4), *session(1, current=False)[1:]]
    result = condense(copied, "lossless verbatim")
    assert result.report.tokens_after < result.report.tokens_before
    assert result.messages[: len(session(4, current=False))] == session(4, current=False)
    assert result.report.kept_prefix > result.report.tokens_before * 0.7


@EVERY_WAY
def test_complaint_9_everything_that_was_done_can_be_seen(way: str) -> None:
    result = condense(session(), way, target=0.3)
    kept = {message.id: message for message in result.conversation.messages}
    changed = {message.id for message in parse(session()).messages if kept.get(message.id) != message}
    edits = [edit for done in result.plan for edit in done.edits]
    named = {id for edit in edits for id in (edit.messages if isinstance(edit, Fold) else (edit.where.message,))}
    assert changed <= named
    assert all(edit.kind is not EditKind.OTHER for edit in edits)
    done = [each for each in result.report.passes if not each.skipped]
    assert sum(each.tokens_before - each.tokens_after for each in done) == (
        result.report.tokens_before - result.report.tokens_after
    )
    assert all(f" - {each.name}: " in str(result.report) for each in result.report.passes)


def test_complaint_9_the_command_line_shows_what_went(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "compact", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout

    (tmp_path / "chat.json").write_text(written(session(4)), encoding="utf-8")
    run("condense", "chat.json", "-p", "v1", "-o", "small.json", "--plan", "plan.json")
    shown = run("diff", "chat.json", "small.json")
    assert "handle_0_9(" in shown
    assert "handle_0_9(" not in (tmp_path / "small.json").read_text(encoding="utf-8")
    assert run("restore", "small.json", "--plan", "plan.json") == written(session(4))


@EVERY_WAY
def test_complaint_10_it_can_be_undone_and_later_turns_stay(way: str) -> None:
    for before in sessions(session()):
        result = condense(before, way, target=0.3)
        assert compact.restore(result) == render(before)
        later = parse(
            render(in_format([{"role": "user", "content": "And then?"}], before.format)), format=before.format
        )
        (new,) = later.messages
        grown = result.conversation.with_messages([*result.conversation.messages, new])
        back = restore_plan(grown, result.plan)
        assert render(back) == [*render(before), new.wire]


@pytest.mark.parametrize("done", [True, False])
def test_complaint_11_the_first_task_says_whether_it_is_done(done: bool) -> None:
    messages = session(5)
    messages[0] = {"role": "user", "content": "Port the parser to Rust."}
    if done:
        messages.insert(4, {"role": "assistant", "content": "The parser is ported, and all 210 tests pass."})
    result = condense(messages, "native")
    assert result.messages[0] == messages[0]
    (summary,) = (message.text for message in result.conversation.messages if is_summary(message))
    assert ("The parser is ported, and all 210 tests pass." in summary) is done


@EVERY_WAY
def test_complaint_12_pictures_and_base64_do_no_harm(way: str) -> None:
    messages = session(6)
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}
    messages.insert(4, {"role": "user", "content": [{"type": "text", "text": "Like this:"}, picture]})
    messages[2]["content"] = "data:application/zip;base64," + "UEsDBBQAAAAIA" * 4000
    for before in sessions(messages):
        result = condense(before, way, target=0.3)
        assert_accepted(render(before), result.messages, before.format)
        assert compact.restore(result) == render(before)


@pytest.mark.clock
@EVERY_WAY
def test_complaint_13_nobody_waits_for_minutes(way: str) -> None:
    long = session(60)
    assert compact.count_tokens(long) > 45_000
    began = process_time()
    condense(long, way, target=0.3)
    assert process_time() - began < 5


@EVERY_WAY
def test_complaint_14_what_is_pinned_stays(way: str) -> None:
    messages = session()
    pinned = [{**message, "meta": {"protected": True}} for message in messages[4:7]]
    result = condense([*messages[:4], *pinned, *messages[7:]], way, target=0.1)
    at = result.messages.index(messages[4])
    assert result.messages[at : at + 3] == messages[4:7]


def test_complaint_15_a_summary_of_a_summary_neither_decays_nor_grows() -> None:
    talk, sizes = parse(session(6)), []
    for number in range(1, 5):
        after = condense(talk, "native").conversation
        (summary,) = (message for message in after.messages if is_summary(message))
        sizes.append(COUNTER.message(summary))
        assert CORRECTION in summary.text
        assert all(f"src/module_{first}.py" in summary.text for first in range(5))
        new = [*(item for at in range(4) for item in step(10 * number + at)), {"role": "user", "content": LAST}]
        added = [talk.dialect.parse_message(wire, f"{number}.{at}") for at, wire in enumerate(new)]
        talk = after.with_messages([*after.messages, *added])
    assert max(sizes) <= 4096 + 64


@pytest.mark.parametrize(
    "answer",
    [
        Failure("429 Too Many Requests"),
        Refusal("I cannot help with that."),
        Completion(""),
        Completion(" \n\t"),
        Completion("I'm sorry, but I can't help with that."),
        Completion('{"error": {"type": "overloaded_error", "message": "Overloaded"}}'),
        ConnectionError("reset by peer"),
    ],
    ids=["failed", "refused", "empty", "blank", "apology", "error text", "raised"],
)
@pytest.mark.parametrize("provider", ["native", "smart", "auto"])
def test_complaint_16_a_failed_summary_never_replaces_the_history(provider: str, answer: Answer | Exception) -> None:
    def fail(asks: Sequence[Ask]) -> tuple[Answer, ...]:
        if isinstance(answer, Exception):
            raise answer
        return tuple(answer for _ in asks)

    batch = {"lossless_prelude": {"enabled": False}, "passes": [{"id": "all", "mode": "batch"}]}
    recipe = resolve_recipe(provider, config=batch if provider == "smart" else {"on_failure": "block"})
    done = run_engine(parse(session()), replace(recipe, when_missed="stop"), Goal(2000), inputs(128_000), fail)
    assert render(done.conversation) == session()
    assert all(each.skipped for each in done.passes)
    assert done.passes


@EVERY_FORMAT
@EVERY_WAY
def test_complaint_17_blocks_of_unknown_kinds_are_counted_and_left_alone(way: str, format: str) -> None:
    known = render(in_format(session(4), format))
    messages = [known[0], UNKNOWN[format], *known[1:]]
    before = parse(messages, format=format)
    assert any(isinstance(block, Opaque) for block in before.messages[1].blocks)
    assert compact.count_tokens(messages) > compact.count_tokens(known)
    result = compact.condense(parse(messages, format=format), target=0.3, **WAYS[way])
    assert compact.restore(result) == messages
    alone = Condensation(before, "gpt-4o", 0.3).run(stopping(way))
    if way not in SUMMARIZING:
        assert UNKNOWN[format] in alone.messages


@EVERY_WAY
def test_complaint_18_behind_every_marker_is_what_it_stands_for(way: str) -> None:
    before = session()
    result = condense(before, way, target=0.2)
    marked = {message.id for message in result.conversation.messages if MARK.search(written(message.wire))}
    made = {id for done in result.plan for id in done.added}
    held = {message.id for done in result.plan for _, message in done.originals}
    assert marked or way.startswith("lossless")
    assert marked <= made | held
    gone = {message.id for message in parse(before).messages} - {message.id for message in result.conversation.messages}
    assert gone <= held


def test_complaint_18_the_name_in_a_marker_leads_to_what_went(tmp_path: Path) -> None:
    with manager_of(tmp_path, 4000, lambda asks: tuple(Failure("down") for _ in asks)) as manager:
        sent = manager.preflight("chat", session(), tools=recall_tools("openai-chat"))
        assert compact.count_tokens(sent) < compact.count_tokens(session())
        handles = set(re.findall(r"recall ((?:fold|sum|cut)-[0-9a-f]+)", written(sent)))
        recalled = [wire for handle in handles for wire in manager.recall(handle, "chat").messages]
        changed = [wire for wire in session() if wire not in sent]
        assert changed
        assert all(wire in recalled for wire in changed)
        assert all(wire in session() for wire in recalled)
        assert manager.undo("chat") == session()
