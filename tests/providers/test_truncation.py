"""The truncation provider: its laws, the seeds' examples, and how near it comes to a target."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.app import read_transcript
from compact.formats import FORMATS, parse, render, violations
from compact.messages import Conversation, Text, ToolCall, ToolResult, restore
from compact.policies import configure
from compact.providers.truncation import TruncationProvider, TruncationSettings
from compact.providers.truncation.cutting import SUPPRESSED, Cut, is_condensed
from compact.providers.truncation.places import older, places
from compact.testing.generate import random_body
from compact.testing.providers import check_provider
from compact.testing.strategies import hostile_text
from tests.providers.conversations import (
    LONG,
    assistant,
    bundled,
    changed,
    contents,
    drive,
    numbered_lines,
    step,
    task_for,
    tokens_of,
    user,
)
from tests.untouched import assert_untouched

PROVIDER = TruncationProvider()
V1 = TruncationSettings(mode="mechanical", markers="s3")
V2 = TruncationSettings(markers="s3")
VARIANTS: dict[str, dict[str, Any]] = {
    "v1": {"mode": "mechanical", "markers": "s3"},
    "v2": {"markers": "s3"},
    "relevant lines": {"lines": "relevant"},
    "suppress everything": {"mode": "mechanical", "tool_results": "suppress", "message_text": "suppress"},
    "tight, s0": {
        "mode": "mechanical",
        "preserve_recent": 0,
        "max_result_lines": 1,
        "max_parameter_chars": 5,
        "message_text": "truncate",
        "markers": "s0",
    },
    "tight, targeted": {
        "preserve_recent": 0,
        "max_result_lines": 0,
        "max_parameter_chars": 0,
        "result_threshold": 5,
        "parameter_threshold": 3,
        "message_text": "truncate",
        "priority": "combined",
    },
}


def worked_example() -> Conversation:
    """The conversation of the strategy paper: some 8,800 tokens, two results hold nearly all of them."""
    return parse(
        [
            user("create app"),
            assistant("First I think about the layout. " * 70),
            *step("c1", "read_file", {"path": "src/" + "deeply/nested/" * 12 + "longfile.ts"}, numbered_lines(385)),
            assistant("I found the issue in the parser. " * 13),
            *step(
                "c2", "search", {"pattern": "(" + "|".join(f"word{n}" for n in range(25)) + ")"}, numbered_lines(230)
            ),
            user("fix it"),
            assistant("fixing it now, one file after the other"),
        ]
    )


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_keeps_the_laws_of_providers(variant: str) -> None:
    check_provider(PROVIDER, VARIANTS[variant], rounds=5)


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("share", [None, 0.8, 0.4, 0.0])
def test_laws_over_random_conversations(name: str, share: float | None) -> None:
    rng = Random(f"truncation/{name}/{share}")
    tight = {"preserve_recent": 2, "max_result_lines": 1, "max_result_chars": 40, "max_parameter_chars": 10}
    settings = configure(TruncationSettings, tight | ({"mode": "mechanical"} if share is None else {}))
    changed = 0
    for _ in range(12):
        conversation = parse(random_body(rng, name, size=20), format=name)
        before = tokens_of(conversation)
        target = None if share is None else int(before * share)
        outcome = drive(PROVIDER, settings, conversation, target)
        after = outcome.conversation
        changed += bool(outcome.plan)
        assert len(violations(after, origin=conversation)) <= len(violations(conversation, origin=conversation))
        assert tokens_of(after) < before if outcome.plan else after == conversation
        assert_untouched(conversation, after)
        assert restore(after, outcome.plan) == conversation
        assert render(drive(PROVIDER, settings, conversation, target).conversation) == render(after)
        assert drive(PROVIDER, settings, after, target).plan == ()
    assert changed


def test_v1_removes_nine_tenths_of_the_worked_example() -> None:
    # The paper keeps three messages and cuts the result that is one of them; whole exchanges are kept here, so two.
    conversation = worked_example()
    before = tokens_of(conversation)
    assert 8_000 < before < 9_600
    outcome = drive(PROVIDER, V1.model_copy(update={"preserve_recent": 2}), conversation)
    assert 0.87 < 1 - tokens_of(outcome.conversation) / before < 0.95
    said, now = contents(conversation), contents(outcome.conversation)
    assert changed(conversation, outcome.conversation) == [2, 3, 5, 6]
    assert now[3] == numbered_lines(5) + "\n\n⟨ Truncated: 380 more lines ⟩\n⟨ Tool: read_file ⟩"
    path = json.loads(said[2])["path"]
    assert json.loads(now[2]) == {"path": path[:100] + "..."}
    told = ("2 tool parameters truncated", "2 tool results truncated", "4 candidates identified")
    assert outcome.passes[0].notes == told


def test_recent_messages_are_kept_with_their_calls() -> None:
    conversation = worked_example()
    assert older(conversation.messages, 3) == [1, 2, 3, 4]
    assert older(conversation.messages, 2) == [1, 2, 3, 4, 5, 6]
    assert older(conversation.messages, 0) == list(range(1, 9))
    assert older(conversation.messages, 50) == []


def test_v2_cuts_the_largest_first_and_stops_at_the_target() -> None:
    conversation = worked_example()
    before = tokens_of(conversation)
    outcome = drive(PROVIDER, V2.model_copy(update={"preserve_recent": 2}), conversation, before // 2)
    now = contents(outcome.conversation)
    assert changed(conversation, outcome.conversation) == [3]
    assert before // 2 * 0.98 <= tokens_of(outcome.conversation) <= before // 2
    # It keeps more than the five lines it might have come down to.
    assert now[3].startswith(numbered_lines(30))


def test_without_a_target_it_removes_the_share_set() -> None:
    conversation = bundled()
    outcome = drive(PROVIDER, V2.model_copy(update={"target_reduction": 0.25}), conversation)
    assert 0.72 < tokens_of(outcome.conversation) / tokens_of(conversation) <= 0.75


@pytest.mark.parametrize("share", [0.7, 0.5, 0.3])
def test_v2_lands_within_two_percent_of_its_target(share: float) -> None:
    conversation = bundled()
    target = int(tokens_of(conversation) * share)
    outcome = drive(PROVIDER, V2, conversation, target)
    assert target * 0.98 <= tokens_of(outcome.conversation) <= target


@pytest.mark.parametrize("share", [None, 0.7, 0.5, 0.3])
def test_it_is_fast_once_texts_are_counted(share: float | None) -> None:
    conversation = bundled()
    task = task_for(conversation, None if share is None else int(tokens_of(conversation) * share))
    times = []
    for _ in range(5):
        start = time.perf_counter()
        next(PROVIDER.condense(task, V1 if share is None else V2))
        times.append(time.perf_counter() - start)
    print(f"{share or 'mechanical'}: {min(times) * 1000:.1f} ms for {task.tokens:,} tokens")  # noqa: T201 - a figure
    assert min(times) < 0.1


def test_a_target_that_cannot_be_met_gives_the_floor() -> None:
    outcome = drive(PROVIDER, V2, worked_example(), 1)
    now = contents(outcome.conversation)
    assert now[3] == SUPPRESSED
    assert [report.skipped for report in outcome.passes] == [""]


def test_smaller_texts_are_cut_where_the_oversized_do_not_suffice() -> None:
    steps = [message for n in range(12) for message in step(f"c{n}", "run", {}, numbered_lines(20))]
    conversation = parse([user("go"), *steps, user("thanks"), assistant("done")])
    before = tokens_of(conversation)
    outcome = drive(PROVIDER, V2, conversation, int(before * 0.75))
    assert 0.73 * before < tokens_of(outcome.conversation) <= 0.75 * before
    now = contents(outcome.conversation)
    # All are of one size: the older ones go first, and none needs to go altogether.
    assert is_condensed(now[2])
    assert not is_condensed(now[20])
    assert SUPPRESSED not in now


@pytest.mark.parametrize(("priority", "cut"), [("size", 6), ("age", 2), ("type", 2), ("combined", 2)])
def test_priorities(priority: str, cut: int) -> None:
    text = {"content": numbered_lines(60)}
    conversation = parse(
        [
            user("go"),
            *step("c1", "read", {}, numbered_lines(69)),
            *step("c2", "write", text, "ok"),
            *step("c3", "read", {}, numbered_lines(70)),
            user("thanks"),
        ]
    )
    settings = configure(TruncationSettings, {"preserve_recent": 1, "priority": priority})
    outcome = drive(PROVIDER, settings, conversation, tokens_of(conversation) - 300)
    assert changed(conversation, outcome.conversation) == [cut]


def test_results_go_before_parameters_by_type() -> None:
    conversation = parse(
        [
            user("go"),
            *step("c1", "write", {"content": numbered_lines(200)}, "ok"),
            *step("c2", "read", {}, numbered_lines(60)),
            user("thanks"),
        ]
    )
    settings = configure(TruncationSettings, {"preserve_recent": 1, "priority": "type"})
    outcome = drive(PROVIDER, settings, conversation, tokens_of(conversation) - 100)
    assert changed(conversation, outcome.conversation) == [4]


def test_operations_are_set_for_each_kind_of_content() -> None:
    long = numbered_lines(40)
    conversation = parse(
        [user("go"), assistant(long), *step("c1", "write", {"content": long}, long), user("thanks"), assistant("done")]
    )
    settings = {"mode": "mechanical", "preserve_recent": 1, "tool_results": "suppress", "tool_parameters": "keep"}
    now = contents(drive(PROVIDER, configure(TruncationSettings, settings), conversation).conversation)
    assert now[1] == long
    assert json.loads(now[2]) == {"content": long}
    assert now[3] == "[… all 40 lines omitted …]"
    settings |= {"tool_results": "keep", "tool_parameters": "suppress", "message_text": "truncate", "markers": "s0"}
    now = contents(drive(PROVIDER, configure(TruncationSettings, settings), conversation).conversation)
    lines = long.split("\n")
    assert now[1] == "\n".join([*lines[:5], "⟨ ... truncated ⟩", *lines[-5:]])
    assert json.loads(now[2]) == {"content": SUPPRESSED}
    assert now[3] == long


def test_long_lines_are_cut_by_characters() -> None:
    five = "\n".join(["x y" * 33_000] * 5)
    conversation = parse([user("go"), *step("c1", "cat", {}, five), user("thanks")])
    outcome = drive(PROVIDER, V1.model_copy(update={"preserve_recent": 1}), conversation)
    now = contents(outcome.conversation)[2]
    assert now == five[:1000] + f"\n\n⟨ Truncated: {len(five) - 1000} more characters ⟩\n⟨ Tool: cat ⟩"


def test_a_cut_that_does_not_pay_is_not_made() -> None:
    conversation = parse([user("go"), *step("c1", "ls", {}, "a\nb\nc\nd\ne\nf\ng\nh"), user("thanks")])
    outcome = drive(PROVIDER, V1.model_copy(update={"preserve_recent": 1}), conversation)
    assert outcome.conversation == conversation
    assert [report.skipped for report in outcome.passes] == ["nothing to cut"]


def test_arguments_that_cannot_be_written_again_stay() -> None:
    odd = '{"content": "' + "\\u0061" * 400 + '", "note": "' + "b " * 200 + '"}'
    conversation = parse([user("go"), *step("c1", "write", odd, "ok"), user("thanks")])
    outcome = drive(PROVIDER, V1.model_copy(update={"preserve_recent": 1}), conversation)
    now = contents(outcome.conversation)[1]
    assert now == odd.replace("b " * 200, "b " * 50 + "...")


@pytest.mark.clock
def test_a_call_with_very_many_arguments_takes_no_quadratic_time() -> None:
    many = {f"key{n}": f"{n} " * 60 for n in range(5000)}
    conversation = parse([user("go"), *step("c1", "write", many, "ok"), user("thanks")])
    start = time.perf_counter()
    found = list(places(conversation, [1, 2]))
    assert 0 < len(found) < 100
    assert time.perf_counter() - start < 10


def test_what_was_condensed_before_is_left_alone() -> None:
    long = LONG
    marked = [
        f"{long}\n⟨ Content suppressed ⟩",
        f"⟨ Summarized by LLM ⟩\n\n{long}\n\n⟨ Original was 9 chars ⟩",
        f"{long}\n\n⟨ Truncated: 12 more lines ⟩\n⟨ Tool: run ⟩",
        f"{long}\n⟨ ... truncated ⟩\n{long}",
        f"⟨ Superseded: run x was run again below ⟩\n{long}",
        f"{long}\n⟨=lines 1-2 of x #3f9a2c:7be1⟩",
    ]
    steps = [message for n, text in enumerate(marked) for message in step(f"c{n}", "run", {}, text)]
    conversation = parse([user("go"), *steps, user("thanks")])
    for settings, target in ((V1, None), (V2, 1)):
        assert drive(PROVIDER, settings.model_copy(update={"preserve_recent": 1}), conversation, target).plan == ()
    # A source file that merely mentions a marker is no condensed text.
    assert not is_condensed('print("⟨ Content suppressed ⟩")')


@given(hostile_text(), st.integers(0, 8) | st.none(), st.integers(0, 60) | st.none(), st.integers(0, 3))
def test_a_cut_keeps_the_ends_and_stays_within_its_bounds(
    text: str, lines: int | None, chars: int | None, tail: int
) -> None:
    for cut in (Cut(lines, chars, tail), Cut(lines, chars, tail, "s0"), Cut(lines, chars, tail, value=True)):
        kept, new = cut._split(text), cut.apply(text, "read")
        if kept is None:
            assert new == text
            assert chars is None or len(text) <= chars
            continue
        head, end = kept
        assert text.startswith(head)
        assert text.endswith(end)
        assert len(head) + len(end) < len(text)
        assert chars is None or len(head) + len(end) <= chars
        assert lines is None or head.count("\n") < max(lines, 1)
        assert new.startswith(head)
        assert new.endswith(end)
        assert is_condensed(new) or (cut.value and "..." in new)


def test_every_place_is_a_text_of_its_message() -> None:
    conversation = bundled()
    found = list(places(conversation, range(len(conversation))))
    kinds = {"text": Text, "parameter": ToolCall, "result": ToolResult}
    assert {place.kind for place in found} == set(kinds)
    for place in found:
        assert isinstance(conversation.messages[place.position].blocks[place.where.block], kinds[place.kind])
    assert {place.tool for place in found if place.kind == "result"} >= {"read_file", "search"}


def test_v1_on_real_transcripts(transcripts: list[Path]) -> None:
    for path in transcripts:
        conversation = read_transcript(path.read_bytes())
        outputs = sum(len(result.text) for message in conversation.messages for result in message.results)
        said = sum(len(message.text) for message in conversation.messages)
        given = sum(len(json.dumps(call.raw)) for message in conversation.messages for call in message.calls)
        outcome = drive(PROVIDER, V1, conversation)
        assert restore(outcome.conversation, outcome.plan) == conversation
        reduction = 1 - tokens_of(outcome.conversation) / tokens_of(conversation)
        if path.parent.name == "coding" and outputs >= 0.8 * (outputs + said + given):
            print(f"{path.name}: {reduction:.0%}")  # noqa: T201 - a figure
            assert reduction >= 0.8


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_feed_at_the_end_is_no_line_that_was_cut(end: str) -> None:
    text = "\n".join(f"line {number}" for number in range(20)) + end
    assert "15 more lines" in Cut(lines=5).apply(text)
    assert "17 more lines" in Cut(lines=3).apply("a\n\n\n" + text[text.index("line 3") :])
