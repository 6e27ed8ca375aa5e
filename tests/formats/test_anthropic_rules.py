"""Anthropic: the rules as a whole."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConversation
from compact.formats.format import Request
from tests.formats.anthropic_requests import ANTHROPIC, assistant, call, result, text, thinking, user, violations

ORDER = (
    *("A8", "A9", "A29", "A24", "A25", "A10", "A11", "A12", "A13", "A14", "A15", "A16"),
    *("A6", "A1", "A2", "A3", "A7", "A4", "A5", "B1", "B2", "B3", "B4", "B5"),
    *("A17", "A17b", "A18", "A19", "A20", "A20b", "A26", "A27", "A28"),
)
DATED = {"A11": "2025-03", "A19": "2025-10-07", "A20": "2026-08-31", "A20b": "2026-08-31"}

KEYS = ("id", "input", "thinking", "signature", "data", "cache_control", "ttl", "is_error", "model", "output_config")
VALUES = ("user", "assistant", "system", "1h", "claude-fable-5-1", "claude-opus-4-8", "toolu_1", "enabled", "disabled")
KINDS = (
    "text",
    "tool_use",
    "tool_result",
    "redacted_thinking",
    "server_tool_use",
    "web_search_tool_result",
    "compaction",
)
WORDS = st.sampled_from(["role", "content", "type", "name", "tool_use_id", *KEYS, *VALUES, *KINDS])
LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | WORDS | st.sampled_from(["", " ", "x"])
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=5))
BLOCKS = st.fixed_dictionaries(
    {"type": WORDS}, optional={"id": WORDS, "tool_use_id": WORDS, "content": JSON, "text": JSON}
)
MESSAGES = st.fixed_dictionaries({"role": WORDS, "content": st.lists(BLOCKS | JSON, max_size=4) | JSON})
BODIES = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGES | JSON, max_size=6) | JSON},
    optional={"model": WORDS, "thinking": JSON, "system": JSON, "tools": JSON},
)


def test_the_rules_stand_in_the_order_in_which_the_vendor_complains() -> None:
    assert [rule.id for rule in ANTHROPIC.rules] == list(ORDER)


def test_every_rule_says_what_it_is() -> None:
    names = [rule.name for rule in ANTHROPIC.rules]
    assert len(set(names)) == len(names)
    for rule in ANTHROPIC.rules:
        assert rule.name == rule.name.lower().replace(" ", "-").replace("_", "-")
        assert rule.remedy.endswith(".")
        assert rule.seen == DATED.get(rule.id, "2026-11")
        assert rule.variants <= set(ANTHROPIC.variants)


def test_optional_rules_are_few() -> None:
    assert [rule.id for rule in ANTHROPIC.rules if rule.optional] == ["A20b"]


def test_a_rule_can_be_switched_off_and_on() -> None:
    messages = [user("Go."), assistant(call("a")), user("Stop.")]
    assert [rule for rule, _, _ in violations(*messages)] == ["A1"]
    assert violations(*messages, switch={"A1": False}) == []
    assert [rule for rule, _, _ in violations(user("Go."), user("Go."), switch={"A11": True})] == ["A11"]


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(InvalidConversation, match="Known: anthropic, bedrock, strict"):
        violations(user("Go."), variant="azure")


@given(body=BODIES, origin=st.none() | BODIES)
def test_no_rule_raises_whatever_the_body_holds(body: dict[str, Any], origin: dict[str, Any] | None) -> None:
    count = len(body["messages"]) if isinstance(body["messages"], list) else 0
    switch = {rule.id: True for rule in ANTHROPIC.rules}
    for found in ANTHROPIC.violations(Request(body, origin), switch=switch):
        assert found.text
        assert found.index is None or 0 <= found.index < count


@given(body=BODIES)
def test_what_is_unchanged_breaks_no_rule_about_changes(body: dict[str, Any]) -> None:
    found = ANTHROPIC.violations(Request(body, body), switch={"A20b": True})
    assert {violation.rule for violation in found} & {"A18", "A19", "A20", "A20b"} == set()


def test_a_request_that_was_changed_is_read_anew() -> None:
    body: dict[str, Any] = {"messages": [user("Go."), assistant(call("a"))]}
    assert [found.rule for found in ANTHROPIC.violations(Request(body))] == ["A1"]
    body["messages"].append(user(result("a")))
    assert ANTHROPIC.violations(Request(body)) == []


def test_thousands_of_messages_are_judged_one_by_one() -> None:
    steps = [
        [assistant(thinking("Hm.", f"s{n}"), text("On."), call(f"toolu_{n}")), user(result(f"toolu_{n}", [text("x")]))]
        for n in range(1500)
    ]
    messages = [user("Go."), *(message for step in steps for message in step)]
    assert violations(*messages) == []
    del messages[2000]
    assert [(rule, index) for rule, index, _ in violations(*messages)] == [("A1", 1999)]


def test_real_conversations_break_only_the_rules_that_they_did_break(transcripts: list[Path]) -> None:
    broken: Counter[str] = Counter()
    for path in transcripts:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["format"] == ANTHROPIC.name:
            broken.update(found.rule for found in ANTHROPIC.violations(Request({"messages": record["messages"]})))
    # Aborted calls, and calls whose result was written down one message late.
    assert set(broken) <= {"A1", "A3"}
