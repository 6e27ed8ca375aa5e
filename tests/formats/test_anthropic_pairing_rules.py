"""Anthropic and Bedrock: calls and results."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.anthropic_requests import assistant, call, result, text, user, violations

ASK = user("Fix the bug.")
TOOLS = [{"name": "read"}]
UNANSWERED = (
    "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. "
    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
)
LATE = (
    "messages.{}: Did not find {} `tool_result` block(s) at the beginning of this message. "
    "Messages following `tool_use` blocks must begin with a matching number of `tool_result` blocks."
)
UNCALLED = (
    "messages.{}: unexpected `tool_use_id` found in `tool_result` blocks: {}. "
    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
)


def server_call(id: str, name: str = "web_search", kind: str = "server_tool_use") -> dict[str, Any]:
    return {"type": kind, "id": id, "name": name, "input": {}}


def server_result(id: str, kind: str = "web_search_tool_result") -> dict[str, Any]:
    return {"type": kind, "tool_use_id": id, "content": []}


@pytest.mark.parametrize("rest", [[], [user("Never mind.")], [assistant("Done.")]])
def test_every_call_is_answered_in_the_next_message(rest: list[Any]) -> None:
    found = violations(ASK, assistant(text("Two."), call("toolu_1"), call("toolu_2")), *rest)
    assert found == [("A1", 1, UNANSWERED.format(1, "toolu_1, toolu_2"))]


def test_only_the_missing_results_are_named() -> None:
    found = violations(ASK, assistant(call("a"), call("b"), call("c")), user(result("b")))
    assert found == [("A1", 1, UNANSWERED.format(1, "a, c"))]


def test_a_result_that_comes_later_parts_the_pair() -> None:
    messages = [ASK, assistant(call("a")), user("Wait."), assistant("I wait."), user(result("a"))]
    assert violations(*messages) == [
        ("A1", 1, UNANSWERED.format(1, "a")),
        ("A3", 4, UNCALLED.format("4.content.0", "a")),
    ]


def test_neighbouring_messages_of_one_role_are_one_turn() -> None:
    messages = [ASK, assistant(call("a")), assistant(call("b")), user(result("a")), user(result("b"), text("Go on."))]
    assert violations(*messages) == []
    assert [rule for rule, _, _ in violations(*messages, variant="strict")] == ["A11", "A11"]


def test_results_come_first() -> None:
    calls = assistant(call("a"), call("b"))
    assert violations(ASK, calls, user(text("Look:"), result("a"), result("b"))) == [("A2", 2, LATE.format(2, 2))]
    assert violations(ASK, calls, user(result("a"), text("Look:"), result("b"))) == [("A2", 2, LATE.format(2, 1))]
    assert violations(ASK, calls, user("Look:"), user(result("a"), result("b"))) == [("A2", 2, LATE.format(2, 2))]
    assert violations(ASK, calls, user(result("b"), result("a"), text("Look."))) == []


def test_a_result_follows_its_call() -> None:
    assert violations(user(text("Go."), result("toolu_9"))) == [("A3", 0, UNCALLED.format("0.content.1", "toolu_9"))]
    found = violations(ASK, assistant(call("a")), user(result("a"), result("b")))
    assert found == [("A3", 2, UNCALLED.format("2.content.1", "b"))]


def test_call_ids_are_unique_in_the_request() -> None:
    messages = [ASK, assistant(call("a")), user(result("a")), assistant(text("Again."), call("a")), user(result("a"))]
    assert violations(*messages) == [("A6", 3, "messages.3.content.1: `tool_use` ids must be unique")]


def test_a_call_has_one_result() -> None:
    messages = [ASK, assistant(call("a"), call("b")), user(result("a"), result("b"), result("a"))]
    twice = "each tool_use must have a single result. Found multiple `tool_result` blocks with id: a"
    assert violations(*messages) == [("A7", 2, f"messages.2.content.2: {twice}")]


def test_a_result_of_the_vendors_own_tools_has_its_call_before_it() -> None:
    advice = server_result("srvtoolu_1", "advisor_tool_result")
    unexpected = (
        "messages.1.content.0: unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_1. "
        "Each `advisor_tool_result` block must have a corresponding `server_tool_use` block before it."
    )
    assert violations(ASK, assistant(advice, text("So.")), ASK) == [("A4", 1, unexpected)]
    late = violations(ASK, assistant(advice, server_call("srvtoolu_1", "advisor")), ASK, switch={"A5": False})
    assert late == [("A4", 1, unexpected)]
    assert violations(ASK, assistant(server_call("srvtoolu_1", "advisor"), advice, text("So.")), ASK) == []


def test_a_result_of_a_remote_server_has_its_call_before_it() -> None:
    found = violations(ASK, assistant(server_result("m1", "mcp_tool_result"), text("So.")), ASK)
    assert [text.rpartition(". ")[2] for _, _, text in found] == [
        "Each `mcp_tool_result` block must have a corresponding `mcp_tool_use` block before it."
    ]


@pytest.mark.parametrize(
    ("kind", "name", "awaited"),
    [
        ("server_tool_use", "web_search", "web_search_tool_result"),
        ("server_tool_use", "tool_search_tool_regex", "tool_search_tool_result"),
        ("mcp_tool_use", "wiki", "mcp_tool_result"),
    ],
)
def test_a_call_of_the_vendors_own_tools_is_answered(kind: str, name: str, awaited: str) -> None:
    found = violations(ASK, assistant(server_call("s1", name, kind), text("So.")), ASK)
    missing = f"messages.1: `{name}` tool use with id `s1` was found without a corresponding `{awaited}` block"
    assert found == [("A5", 1, missing)]


def test_such_a_call_may_wait_while_only_results_follow() -> None:
    waiting = assistant(server_call("s1"), call("a"))
    assert violations(ASK, waiting, user(result("a"))) == []
    assert [rule for rule, _, _ in violations(ASK, waiting, user(result("a"), text("Hurry.")))] == ["A5"]
    assert violations(ASK, waiting, user(result("a")), assistant(server_result("s1"), text("So.")), ASK) == []
    assert violations(ASK, assistant(text("Searching."), server_call("s1"))) == []


EXPECTED = "Expected toolResult blocks at messages.{}.content for the following Ids: {}"
EXCEEDS = "The number of toolResult blocks at messages.{}.content exceeds the number of toolUse blocks of previous turn"


def bedrock(*messages: Any, **options: Any) -> list[tuple[str, int | None, str]]:
    return violations(*messages, variant="bedrock", **{"tools": TOOLS, **options})


def test_bedrock_wants_all_results_in_the_one_next_message() -> None:
    split = [ASK, assistant(call("a"), call("b")), user(result("a")), user(result("b"))]
    assert [found for found in bedrock(*split) if found[0] != "A11"] == [
        ("B1", 1, EXPECTED.format(2, "b")),
        ("B2", 3, EXCEEDS.format(3)),
    ]
    assert bedrock(ASK, assistant(call("a"), call("b")), user(result("a"), result("b"))) == []


def test_bedrock_counts_results() -> None:
    assert bedrock(user(text("Go."), result("a"))) == [("B2", 0, EXCEEDS.format(0))]
    assert bedrock(ASK, assistant(call("a")), user(result("a"), result("b"))) == [("B2", 2, EXCEEDS.format(2))]


def test_bedrock_refuses_every_blank_text() -> None:
    blank = "The text field in the ContentBlock object at messages.{} is blank."
    assert bedrock(ASK, assistant(text("\n"), text("So.")), ASK) == [("B3", 1, blank.format("1.content.0"))]
    assert bedrock(ASK, assistant(text("So."), text("")), ASK) == [("B3", 1, blank.format("1.content.1"))]
    assert bedrock(ASK, assistant("So."), ASK) == []


def test_bedrock_wants_the_tools_declared_while_calls_remain() -> None:
    messages = [ASK, assistant(call("a")), user(result("a")), assistant("Done."), ASK]
    undeclared = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    assert bedrock(*messages, tools=None) == [("B4", 1, undeclared)]
    assert bedrock(ASK, assistant("Done."), ASK, tools=None) == []
    assert bedrock(*messages) == []


@pytest.mark.parametrize("content", ["", [], None])
def test_bedrock_wants_a_failed_result_to_say_something(content: Any) -> None:
    silent = "The content field at messages.2.content.0.toolResult cannot be empty when status value is error."
    assert bedrock(ASK, assistant(call("a")), user(result("a", content, is_error=True))) == [("B5", 2, silent)]
    assert bedrock(ASK, assistant(call("a")), user(result("a", content))) == []
    assert bedrock(ASK, assistant(call("a")), user(result("a", "No such file.", is_error=True))) == []
