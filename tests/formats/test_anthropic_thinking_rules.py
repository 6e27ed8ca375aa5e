"""Anthropic: thinking blocks, and what a model's name says."""

from __future__ import annotations

from typing import Any

import pytest

from compact.formats.anthropic.model import binds_thinking, family_and_version
from tests.formats.anthropic_requests import assistant, call, result, system, text, thinking, user, violations

ASK = user("Fix the bug.")
MANUAL = {"type": "enabled", "budget_tokens": 1024}
BINDING = "claude-fable-5-1"

EXPECTED = (
    "messages.{}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. "
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block "
    "(preceeding the lastmost set of `tool_use` and `tool_result` blocks). "
    "We recommend you include thinking blocks from previous turns. "
    "To avoid this requirement, disable `thinking`. Please consult our documentation at "
    "https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)
MODIFIED = (
    "messages.{}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)
BOUND = (
    "messages.{}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block". '
    "That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header."
)
OTHER_SYSTEM = " The `system` prompt differs from the one this block was created with."
OTHER_TOOLS = " The `tools` list differs from the one this block was created with."
GAP = " The `thinking` block that preceded this one when it was created is missing from this request."


def step(id: str, *before: Any) -> list[dict[str, Any]]:
    return [assistant(*before, call(id)), user(result(id))]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-sonnet-4-6", ("sonnet", (4, 6))),
        ("claude-opus-4-8-20260601", ("opus", (4, 8))),
        ("claude-opus-4-20250514", ("opus", (4, 0))),
        ("anthropic.claude-opus-4-5-v1:0", ("opus", (4, 5))),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", ("sonnet", (4, 0))),
        ("claude-opus-4-5@20251101", ("opus", (4, 5))),
        ("anthropic/claude-sonnet-4.6:thinking", ("sonnet", (4, 6))),
        ("claude-3-5-sonnet-20241022", ("sonnet", (3, 5))),
        ("claude-3-opus-20240229", ("opus", (3, 0))),
        ("claude-2.1", ("", (2, 1))),
        ("claude-fable-5", ("fable", (5, 0))),
        ("Claude-Opus-5-5", ("opus", (5, 5))),
        ("gpt-5", None),
        ("claude", None),
        ("", None),
    ],
)
def test_a_models_name_tells_its_family_and_version(model: str, expected: tuple[str, tuple[int, int]] | None) -> None:
    assert family_and_version(model) == expected


@pytest.mark.parametrize(
    "model", ["claude-fable-5-1", "claude-fable-5-2-20261101", "claude-opus-5-5", "claude-mythos-5-2"]
)
def test_models_from_fable_5_1_on_bind_their_thinking(model: str) -> None:
    assert binds_thinking({"model": model})


@pytest.mark.parametrize(
    "model", ["claude-fable-5", "claude-mythos-5-1", "claude-opus-5", "claude-sonnet-4-6", "x", None]
)
def test_earlier_ones_do_not(model: Any) -> None:
    assert not binds_thinking({"model": model})


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        (step("a"), "tool_use"),
        (step("a", text("Reading.")), "text"),
        ([*step("a"), *step("b", thinking("Hm."))], "tool_use"),
        ([assistant("Wait."), *step("a", thinking("Hm."))], "text"),
    ],
)
def test_an_answer_that_waits_for_results_begins_with_thinking(loop: list[Any], found: str) -> None:
    assert violations(ASK, *loop, thinking=MANUAL) == [("A17", 1, EXPECTED.format(1, found))]
    for other in ({"type": "adaptive"}, {"type": "disabled"}, None, "enabled"):
        assert violations(ASK, *loop, thinking=other) == []


@pytest.mark.parametrize(
    "messages",
    [
        [ASK, *step("a", thinking("Hm."))],
        [ASK, *step("a", {"type": "redacted_thinking", "data": "x"}), *step("b", text("Next."))],
        [ASK, *step("a"), assistant("Done."), user("Thanks.")],
        [ASK, *step("a"), assistant("Done."), user("More."), *step("b", thinking("Hm."))],
    ],
)
def test_later_steps_and_finished_answers_need_no_thinking(messages: list[Any]) -> None:
    assert violations(*messages, thinking=MANUAL) == []


def test_no_thinking_at_the_end_when_it_is_off() -> None:
    prefill = [ASK, assistant(text("Well."), thinking("Hm."))]
    off = (
        "messages.1.content.1: When thinking is disabled, an `assistant` message in the final position cannot contain "
        "`thinking`. To use thinking blocks, enable `thinking` in your request."
    )
    assert violations(*prefill, thinking={"type": "disabled"}) == [("A17b", 1, off)]
    assert violations(*prefill) == []
    assert violations(*prefill, ASK, thinking={"type": "disabled"}) == []


def test_the_latest_thinking_is_kept_whole_or_dropped_whole() -> None:
    both = assistant(thinking("One.", "s1"), text("So."), thinking("Two.", "s2"), call("a"))
    origin = {"messages": [ASK, both, user(result("a"))]}
    rest = user(result("a"))
    assert violations(ASK, both, rest, origin=origin) == []
    assert violations(ASK, assistant(text("So."), call("a")), rest, origin=origin) == []
    less = assistant(text("So."), thinking("Two.", "s2"), call("a"))
    assert violations(ASK, less, rest, origin=origin) == [("A18", 1, MODIFIED.format("1.content.1"))]
    assert violations(ASK, less, rest) == []


def test_altered_thinking_is_caught_wherever_it_stands() -> None:
    origin = {"messages": [ASK, *step("a", thinking("One.", "s1")), *step("b", thinking("Two.", "s2"))]}
    invalid = "messages.{}.content.0: Invalid `signature` in `thinking` block"
    earlier = [ASK, *step("a", thinking("1.", "s1")), *step("b", thinking("Two.", "s2"))]
    assert violations(*earlier, origin=origin) == [("A19", 1, invalid.format(1))]
    latest = [ASK, *step("a", thinking("One.", "s1")), *step("b", thinking("Two.", ""))]
    assert violations(*latest, origin=origin) == [
        ("A18", 3, MODIFIED.format("3.content.0")),
        ("A19", 3, invalid.format(3)),
    ]
    assert violations(*latest) == []


def test_thinking_whose_signature_was_emptied_before_passes_unchanged() -> None:
    messages = [ASK, *step("a", thinking("One.", "")), *step("b", thinking("Two.", ""))]
    assert violations(*messages, origin={"messages": messages}) == []
    assert violations(ASK, *messages[3:], origin={"messages": messages}) == []


def bound(*messages: Any, origin: dict[str, Any], **options: Any) -> list[tuple[str, int | None, str]]:
    return violations(*messages, origin=origin, **{"model": BINDING, **options})


TALK = [
    ASK,
    *step("a", thinking("One.", "s1")),
    *step("b", thinking("Two.", "s2")),
    *step("c", thinking("Three.", "s3")),
]
ORIGIN = {"messages": TALK, "system": "Be brief.", "tools": [{"name": "read"}]}
OPTIONS: dict[str, Any] = {"system": "Be brief.", "tools": [{"name": "read"}]}


def test_bound_thinking_needs_the_same_system_prompt_and_tools() -> None:
    places = ["1.content.0", "3.content.0", "5.content.0"]
    system_changed = bound(*TALK, origin=ORIGIN, **{**OPTIONS, "system": "Be kind."})
    assert [text for _, _, text in system_changed] == [BOUND.format(place) + OTHER_SYSTEM for place in places]
    assert [(rule, index) for rule, index, _ in system_changed] == [("A20", 1), ("A20", 3), ("A20", 5)]
    for tools in ([], [{"name": "read"}, {"name": "write"}], [{"name": "read", "description": "Reads."}], None):
        tools_changed = bound(*TALK, origin=ORIGIN, **{**OPTIONS, "tools": tools})
        assert [text for _, _, text in tools_changed] == [BOUND.format(place) + OTHER_TOOLS for place in places]


def test_bound_thinking_passes_after_what_the_vendor_does_not_compare() -> None:
    assert bound(*TALK, origin=ORIGIN, **OPTIONS) == []
    mark = {"type": "ephemeral"}
    deferred = [{"name": "read", "cache_control": mark}, {"name": "write", "defer_loading": True}]
    assert bound(*TALK, user("More."), origin=ORIGIN, **{**OPTIONS, "tools": deferred}) == []
    marked = [*TALK[:2], user(result("a", cache_control=mark)), *TALK[3:]]
    assert bound(*marked, origin=ORIGIN, max_tokens=9, **OPTIONS) == []


def test_breakpoints_may_move_in_the_system_prompt_and_within_results() -> None:
    mark = {"type": "ephemeral"}

    def talk(*result_parts: Any) -> list[Any]:
        return [ASK, assistant(call("a")), user(result("a", list(result_parts))), *step("b", thinking("Two.", "s2"))]

    origin = {"messages": talk(text("x"), text("y", cache_control=mark)), "system": [text("Be brief.")]}
    moved = talk(text("x", cache_control=mark), text("y"))
    assert bound(*moved, origin=origin, system=[text("Be brief.", cache_control=mark)]) == []
    other = bound(*moved, origin=origin, system=[text("Be kind.")])
    assert [found[2] for found in other] == [BOUND.format("3.content.0") + OTHER_SYSTEM]


def test_bound_thinking_is_invalid_after_a_changed_message() -> None:
    shorter = [*TALK[:2], user(result("a", "[cleared]")), *TALK[3:]]
    assert bound(*shorter, origin=ORIGIN, **OPTIONS) == [
        ("A20", 3, BOUND.format("3.content.0")),
        ("A20", 5, BOUND.format("5.content.0")),
    ]
    folded = [ASK, user("Earlier: read a and b."), *TALK[5:]]
    assert bound(*folded, origin=ORIGIN, **OPTIONS) == [("A20", 2, BOUND.format("2.content.0"))]
    stripped = [ASK, user("Earlier: read a and b."), *step("c")]
    assert bound(*stripped, origin=ORIGIN, **OPTIONS) == []


def test_bound_thinking_within_the_changed_message_counts_from_the_change_on() -> None:
    message = assistant(thinking("One.", "s1"), text("So."), thinking("Two.", "s2"), call("a"))
    origin = {"messages": [ASK, message, user(result("a"))]}
    changed = assistant(thinking("One.", "s1"), text("Thus."), thinking("Two.", "s2"), call("a"))
    assert bound(ASK, changed, user(result("a")), origin=origin) == [("A20", 1, BOUND.format("1.content.2"))]
    longer = assistant(thinking("One.", "s1"), text("So."), thinking("Two.", "s2"), call("a"), call("b"))
    assert bound(ASK, longer, user(result("a"), result("b")), origin=origin) == []


def test_the_bound_thinking_that_is_kept_has_no_gap() -> None:
    first, second, third = ("a", "One.", "s1"), ("b", "Two.", "s2"), ("c", "Three.", "s3")

    def kept(*wanted: tuple[str, str, str]) -> list[Any]:
        steps = [step(id, *([thinking(said, seal)] if (id, said, seal) in wanted else [])) for id, said, seal in
                 (first, second, third)]  # fmt: skip
        return [ASK, *(message for pair in steps for message in pair)]

    assert bound(*kept(first, third), origin=ORIGIN, **OPTIONS) == [("A20", 5, BOUND.format("5.content.0") + GAP)]
    for wanted in ([first, second], [second, third], [second], [], [first, second, third]):
        assert bound(*kept(*wanted), origin=ORIGIN, **OPTIONS) == []


def test_the_binding_can_be_waived_or_demanded() -> None:
    changed = {**OPTIONS, "system": "Be kind."}
    waived = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
    assert bound(*TALK, origin=ORIGIN, thinking=waived, **changed) == []
    summarised = [user({"type": "compaction", "content": "Earlier…"}, text("Go on.")), *TALK[5:]]
    assert bound(*summarised, origin=ORIGIN, **OPTIONS) == []
    kept = [user({"type": "compaction", "content": "Earlier…"}, text("Go on.")), *TALK[1:]]
    changed_since = [kept[0], *step("a", thinking("One.", "s1")), user("Shorter."), *TALK[5:]]
    found = bound(*changed_since, origin={**ORIGIN, "messages": kept}, **OPTIONS)
    assert [rule for rule, _, _ in found] == ["A20"] * len(found) != []
    assert violations(*TALK, origin=ORIGIN, model="claude-opus-5", **changed) == []
    demanded = violations(*TALK, origin=ORIGIN, model="gateway-alias", switch={"A20b": True}, **changed)
    assert [rule for rule, _, _ in demanded] == ["A20b", "A20b", "A20b"]


def test_without_an_origin_there_is_nothing_to_compare_with() -> None:
    assert violations(*TALK, model=BINDING) == []
    steered = [ASK, system("Be brief."), *TALK[1:]]
    assert violations(*steered, model=BINDING) == []
