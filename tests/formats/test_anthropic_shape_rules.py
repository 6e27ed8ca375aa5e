"""Anthropic: schema, roles, content and cache breakpoints."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.anthropic_requests import assistant, call, result, system, text, thinking, user, violations

ASK = user("Fix the bug.")
HOUR = {"type": "ephemeral", "ttl": "1h"}
MINUTES = {"type": "ephemeral"}

UNEXPECTED_SYSTEM = (
    "messages: Unexpected role \"system\". The Messages API accepts a top-level 'system' parameter, "
    'not "system" as an input message role.'
)
NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
REPEATED = 'messages: roles must alternate between "user" and "assistant", but found multiple "{}" roles in a row'
NON_EMPTY = "messages.{}: all messages must have non-empty content except for the optional final assistant message"
BLANK = "messages: text content blocks must contain non-whitespace text"


def test_an_ordinary_request_is_accepted_everywhere() -> None:
    messages = [ASK, assistant(text("Reading."), call("toolu_1")), user(result("toolu_1")), assistant("Done."), ASK]
    for variant in ("", "anthropic", "bedrock", "strict"):
        assert violations(*messages, variant=variant, model="claude-opus-4-8", tools=[{"name": "read"}]) == []


@pytest.mark.parametrize("id", ["call:1", "a b", "", "ü", "x\n"])
def test_a_call_id_has_letters_digits_and_two_signs(id: str) -> None:
    found = violations(ASK, assistant(text("Now."), call(id)), user(result(id)))
    pattern = "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    assert found == [("A8", 1, pattern)]


@pytest.mark.parametrize("id", ["toolu_01", "call-2", "X"])
def test_call_ids_of_other_vendors_pass(id: str) -> None:
    assert violations(ASK, assistant(call(id)), user(result(id))) == []


@pytest.mark.parametrize("value", ["{}", [], None, 7])
def test_the_input_of_a_call_is_an_object(value: Any) -> None:
    found = violations(ASK, assistant(call("a", input=value)), user(result("a")))
    assert found == [("A9", 1, "messages.1.content.0.tool_use.input: Input should be a valid dictionary")]


def test_thinking_carries_no_cache_breakpoint() -> None:
    redacted = {"type": "redacted_thinking", "data": "x", "cache_control": MINUTES}
    found = violations(ASK, assistant(thinking("Hm.", cache_control=MINUTES), redacted, text("Yes.")), ASK)
    assert found == [
        ("A29", 1, "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
        ("A29", 1, "messages.1.content.1.redacted_thinking.cache_control: Extra inputs are not permitted"),
    ]
    assert violations(ASK, assistant(thinking("Hm."), text("Yes.", cache_control=MINUTES)), ASK) == []


@pytest.mark.parametrize("options", [{}, {"model": "claude-sonnet-4-5"}, {"model": "claude-opus-4-7"}, {"model": "x"}])
def test_older_and_unknown_models_refuse_system_messages(options: dict[str, Any]) -> None:
    assert violations(ASK, system("Be brief."), **options) == [("A24", 1, UNEXPECTED_SYSTEM)]
    assert violations(ASK, system="Be brief.", **options) == []


@pytest.mark.parametrize("model", ["claude-opus-4-8-20260601", "claude-sonnet-5", "claude-fable-5"])
def test_newer_models_take_a_system_message_between_a_user_message_and_its_answer(model: str) -> None:
    assert violations(ASK, system("Be brief."), model=model) == []
    assert violations(ASK, system("Be brief."), system("Be kind."), assistant("Yes."), ASK, model=model) == []
    searched = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    assert violations(ASK, assistant(search, searched), system("Go on."), model=model) == []


def test_a_system_message_anywhere_else_is_refused() -> None:
    follow = "role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result"
    precede = "role 'system' must precede an 'assistant' message or end the array"
    first = "use the top-level 'system' parameter for the initial system prompt"
    model = "claude-opus-4-8"
    assert violations(ASK, system("No."), ASK, model=model) == [("A25", 1, f"messages.1: {precede}")]
    assert violations(ASK, assistant("Yes."), system("No."), model=model) == [("A25", 2, f"messages.2: {follow}")]
    assert violations(system("No."), assistant("Yes."), ASK, model=model) == [("A25", 0, f"messages.0: {first}")]
    assert violations(ASK, assistant("Yes."), system("No."), ASK, model=model) == [
        ("A25", 2, f"messages.2: {follow}"),
        ("A25", 2, f"messages.2: {precede}"),
    ]


def test_a_system_message_that_only_sets_options_may_stand_anywhere() -> None:
    directive = {"role": "system", "content": [], "output_config": {"effort": "low"}}
    assert violations(ASK, directive, ASK, model="claude-opus-5-5") == []


def test_a_system_message_between_call_and_result_parts_them() -> None:
    found = violations(ASK, assistant(call("a")), system("Wait."), user(result("a")), model="claude-opus-4-8")
    assert [(rule, index) for rule, index, _ in found] == [("A25", 2), ("A25", 2), ("A1", 1), ("A3", 3)]


def test_the_first_message_is_the_users() -> None:
    assert violations(assistant("Hello."), ASK) == [("A10", 0, 'messages: first message must use the "user" role')]
    assert violations(ASK, assistant("Hello."), ASK) == []


@pytest.mark.parametrize("variant", ["bedrock", "strict"])
def test_roles_alternate_where_messages_are_not_merged(variant: str) -> None:
    messages = [ASK, ASK, assistant("One."), assistant("Two."), ASK]
    assert violations(*messages, variant=variant) == [
        ("A11", 1, REPEATED.format("user")),
        ("A11", 3, REPEATED.format("assistant")),
    ]
    assert violations(*messages) == []
    assert violations(ASK, assistant("One."), ASK, variant=variant) == []


@pytest.mark.parametrize("message", [user(""), {"role": "user", "content": []}, assistant("")])
def test_a_message_has_content(message: Any) -> None:
    assert violations(ASK, message, ASK) == [("A12", 1, NON_EMPTY.format(1))]


def test_only_the_final_assistant_message_may_be_empty() -> None:
    assert violations(ASK, assistant("")) == []
    assert violations(ASK, user("")) == [("A12", 1, NON_EMPTY.format(1))]


def test_no_text_block_is_empty() -> None:
    empty = ("A13", 2, "messages: text content blocks must be non-empty")
    answer = [ASK, assistant(call("a"))]
    assert violations(*answer, user(result("a"), text(""))) == [empty]
    assert violations(*answer, user(result("a", [text(""), text("x")]))) == [empty]
    assert violations(*answer, user(result("a", ""))) == []


@pytest.mark.parametrize("message", [user(" \n"), user(text("\n"), text("\t")), assistant("\n\n")])
def test_a_message_is_not_all_blank(message: Any) -> None:
    assert violations(ASK, message, ASK) == [("A14", 1, BLANK)]


def test_blank_text_beside_something_else_passes() -> None:
    assert violations(ASK, assistant(text("\n\n"), thinking("Hm."), call("a")), user(result("a"))) == []
    assert violations(ASK, assistant(text("\n\n"), text("Yes.")), ASK) == []


@pytest.mark.parametrize("message", [assistant("So "), assistant(text("So\n")), assistant(call("a"), text("So\t"))])
def test_a_prefill_does_not_end_in_whitespace(message: Any) -> None:
    prefill = ("A15", 1, "messages: final assistant content cannot end with trailing whitespace")
    assert violations(ASK, message, switch={"A1": False}) == [prefill]
    assert [rule for rule, _, _ in violations(ASK, message, ASK, switch={"A1": False})] == []


@pytest.mark.parametrize(
    "options",
    [
        {"model": "claude-opus-4-6"},
        {"model": "claude-sonnet-4-6"},
        {"model": "claude-fable-5"},
        {"model": "claude-haiku-4-5", "thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"thinking": {"type": "adaptive"}},
    ],
)
def test_newer_models_and_thinking_rule_out_a_prefill(options: dict[str, Any]) -> None:
    assert violations(ASK, assistant("So"), **options) == [("A16", 1, NO_PREFILL)]
    assert violations(ASK, assistant("So"), ASK, **options) == []


@pytest.mark.parametrize("options", [{}, {"model": "claude-haiku-4-5"}, {"thinking": {"type": "disabled"}}])
def test_a_prefill_passes_elsewhere(options: dict[str, Any]) -> None:
    assert violations(ASK, assistant("So"), **options) == []


def test_a_paused_turn_is_no_prefill() -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    assert violations(ASK, assistant(search), model="claude-opus-5") == []


def test_at_most_four_blocks_end_a_cached_prefix() -> None:
    tools = [{"name": "read", "cache_control": MINUTES}]
    prompt = [text("Be brief.", cache_control=MINUTES)]
    messages = [
        user(text("Go.", cache_control=MINUTES)),
        assistant(call("a")),
        user(result("a", [text("x", cache_control=MINUTES)], cache_control=MINUTES)),
    ]
    too_many = "A maximum of 4 blocks with cache_control may be provided. Found 5."
    assert violations(*messages, tools=tools, system=prompt) == [("A26", None, too_many)]
    assert violations(*messages, system=prompt) == []


def test_no_empty_text_ends_a_cached_prefix() -> None:
    empty = text("", cache_control=MINUTES)
    messages = [user(text("Go."), empty), assistant(call("a")), user(result("a", [empty]))]
    assert violations(*messages, switch={"A13": False}) == [
        ("A27", 0, "messages.0.content.1.text: cache_control cannot be set for empty text blocks"),
        ("A27", 2, "messages.2.content.0.content.0.text: cache_control cannot be set for empty text blocks"),
    ]
    assert violations(user(text("Go.", cache_control=MINUTES))) == []


def test_a_longer_lived_prefix_does_not_come_after_a_shorter_lived_one() -> None:
    rising = (
        "{}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. "
        "Note that blocks are processed in the following order: `tools`, `system`, `messages`."
    )
    prompt = [text("Be brief.", cache_control=HOUR)]
    tools = [{"name": "read", "cache_control": MINUTES}]
    later = user(text("Go."), text("On.", cache_control=HOUR))
    assert violations(later, tools=tools, system=prompt) == [
        ("A28", None, rising.format("system.0")),
        ("A28", 0, rising.format("messages.0.content.1")),
    ]
    falling = user(text("Go.", cache_control=HOUR), text("On.", cache_control={"type": "ephemeral", "ttl": "5m"}))
    assert violations(falling, system=prompt) == []


def test_the_ttl_is_read_inside_tool_results() -> None:
    nested = result("a", [text("x", cache_control=HOUR)])
    messages = [user(text("Go.", cache_control=MINUTES)), assistant(call("a")), user(nested)]
    assert [(rule, index, text.split(":")[0]) for rule, index, text in violations(*messages)] == [
        ("A28", 2, "messages.2.content.0.content.0.cache_control.ttl")
    ]
