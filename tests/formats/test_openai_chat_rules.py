from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import FORMATS, Request
from compact.formats.openai_chat import FORMAT

USER = {"role": "user", "content": "Go on."}
SAID = {"role": "assistant", "content": "Done."}
SYSTEM = {"role": "system", "content": "Be brief."}


def calls(*ids: Any, **extra: Any) -> dict[str, Any]:
    functions = [{"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": functions, **extra}


def result(id: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "README.md"}


def found(messages: Any, variant: str = "", **body: Any) -> list[tuple[Any, ...]]:
    hits = FORMAT.violations(Request({**body, "messages": messages}), variant)
    return [(hit.rule, hit.index, hit.text, hit.param, hit.code, hit.status) for hit in hits]


def test_an_unanswered_call_is_named_where_an_answer_was_due() -> None:
    text = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "The following tool_call_ids did not have response messages: call_b, call_c"
    )
    messages = [USER, calls("call_a", "call_b", "call_c"), result("call_a"), USER]
    assert found(messages) == [("C1", 1, text, "messages.[3].role", None, 400)]
    assert found(messages[:-1]) == [("C1", 1, text, "messages.[2].role", None, 400)]
    assert found([USER, calls("call_a", "call_b"), result("call_b"), result("call_a"), USER]) == []


def test_the_answers_must_come_before_anything_else() -> None:
    late = [USER, calls("call_a", "call_b"), result("call_a"), USER, result("call_b")]
    assert [(rule, index) for rule, index, *_ in found(late)] == [("C1", 1), ("C2", 4)]


def test_the_same_id_may_be_used_again_in_another_step() -> None:
    step = [calls("call_0"), result("call_0")]
    assert found([USER, *step, *step, SAID, USER, *step]) == []
    assert [rule for rule, *_ in found([USER, *step, calls("call_0"), SAID])] == ["C1"]


def test_a_result_needs_a_call_before_it() -> None:
    text = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
    assert found([USER, result("call_a")]) == [("C2", 1, text, "messages.[1].role", None, 400)]
    assert found([USER, SAID, result("call_a")]) == [("C2", 2, text, "messages.[2].role", None, 400)]
    assert found([USER, calls("call_a"), result("call_a")]) == []


def test_a_result_needs_an_id_of_its_step() -> None:
    messages = [USER, calls("call_a"), result("call_a"), calls("call_b"), result("call_b"), result("call_a")]
    text = "Invalid parameter: 'tool_call_id' of 'call_a' not found in 'tool_calls' of previous message."
    assert found(messages) == [("C3", 5, text, "messages.[5].tool_call_id", None, 400)]
    assert found(messages[:-1]) == []


def test_a_foreign_result_is_reported_before_the_missing_one() -> None:
    assert [rule for rule, *_ in found([USER, calls("call_a"), result("call_b")])] == ["C3", "C1"]


def test_a_list_of_calls_is_not_empty() -> None:
    text = (
        "Invalid 'messages[1].tool_calls': empty array. "
        "Expected an array with minimum length 1, but got an empty array instead."
    )
    empty = {"role": "assistant", "content": "Done.", "tool_calls": []}
    assert found([USER, empty]) == [("C4", 1, text, "messages[1].tool_calls", "empty_array", 400)]
    assert found([USER, {**empty, "tool_calls": None}]) == []
    assert found([USER, empty], "vllm") == []  # its own answers have one


def test_an_id_has_at_most_64_characters() -> None:
    long = "c" * 65
    text = (
        "Invalid 'messages[1].{}': string too long. "
        "Expected a string with maximum length 64, but got a string with length 65 instead."
    )
    first, second = "tool_calls[1].id", "tool_call_id"
    assert found([USER, calls("call_a", long), result("call_a"), result(long)]) == [
        ("C5", 1, text.format(first), f"messages[1].{first}", "string_above_max_length", 400),
        ("C5", 3, text.format(second).replace("[1]", "[3]"), f"messages[3].{second}", "string_above_max_length", 400),
    ]
    assert found([USER, calls(long[1:]), result(long[1:])]) == []


def test_a_function_has_a_name() -> None:
    nameless = calls("call_a")
    nameless["tool_calls"][0]["function"]["name"] = ""
    place = "messages[1].tool_calls[0].function.name"
    text = f"Invalid '{place}': empty string. Expected a string with minimum length 1, but got an empty string instead."
    assert found([USER, nameless, result("call_a")]) == [("C6", 1, text, place, "empty_string", 400)]


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_a_message_has_content(role: str) -> None:
    text = "Invalid value for 'content': expected a string, got null."
    before = [USER, calls("call_a")] if role == "tool" else [USER]
    at, empty = len(before), {"role": role, "tool_call_id": "call_a"}
    for message in (empty, {**empty, "content": None}):
        assert found([*before, message]) == [("C7", at, text, f"messages.[{at}].content", None, 400)]
    assert found([*before, {**empty, "content": ""}]) == []
    assert found([*before, {**empty, "content": []}]) == []


@pytest.mark.parametrize(
    "instead", [{"function_call": {"name": "ls", "arguments": "{}"}}, {"refusal": "No."}, {"audio": {"id": "audio_1"}}]
)
def test_only_an_assistant_may_have_something_instead_of_content(instead: dict[str, Any]) -> None:
    assert found([USER, {"role": "assistant", **instead}]) == []
    assert [rule for rule, *_ in found([{"role": "user", **instead}])] == ["C7"]


def test_nothing_instead_of_content_is_nothing() -> None:
    nothing = {"role": "assistant", "refusal": None, "tool_calls": None, "function_call": None, "audio": None}
    assert [rule for rule, *_ in found([USER, nothing])] == ["C7"]
    assert [rule for rule, *_ in found([USER, {"role": "assistant", "tool_calls": []}])] == ["C4", "C7"]
    assert found([USER, nothing], "vllm") == []
    assert found([USER, {"role": "function", "name": "ls", "content": None}]) == []


def test_a_developer_message_has_content_too() -> None:
    place = "messages[0].content"
    missing, null = {"role": "developer"}, {"role": "developer", "content": None}
    text = f"Missing required parameter: '{place}'."
    assert found([missing]) == [("C7", 0, text, place, "missing_required_parameter", 400)]
    text = f"Invalid type for '{place}': expected one of a string or array of objects, but got null instead."
    assert found([null]) == [("C7", 0, text, place, "invalid_type", 400)]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_old_reasoning_models_take_no_system_message(role: str) -> None:
    messages = [{"role": role, "content": "Be brief."}, USER]
    text = f"Unsupported value: 'messages[0].role' does not support '{role}' with this model."
    for model in ("o1-mini", "o1-preview-2024-09-12", "openai/o1-mini"):
        assert found(messages, model=model) == [("C8", 0, text, "messages[0].role", "unsupported_value", 400)]
    for model in ("o1", "gpt-4o"):
        assert found(messages, model=model) == []
    assert found(messages, model=None) == []
    assert found(messages) == []


def test_templates_take_one_system_message_in_front() -> None:
    text = "System message must be at the beginning."
    for messages, at in (([SYSTEM, SYSTEM, USER], 1), ([SYSTEM, USER, SAID, SYSTEM, USER], 3)):
        assert found(messages, "vllm") == [("C9", at, text, None, None, 400)]
        assert found(messages) == []
    assert found([SYSTEM, USER], "vllm") == []


def test_templates_take_alternating_roles() -> None:
    text = "Conversation roles must alternate user/assistant/user/assistant/..."
    assert found([SYSTEM, USER, USER, SAID, SAID], "vllm") == [
        ("C9b", 2, text, None, None, 400),
        ("C9b", 4, text, None, None, 400),
    ]
    assert found([SYSTEM, SAID, USER], "vllm") == [("C9b", 1, text, None, None, 400)]
    step = [calls("call_a"), result("call_a")]
    assert found([SYSTEM, USER, *step, *step, SAID, USER], "vllm") == []
    assert [index for _, index, *_ in found([USER, *step, USER], "vllm")] == [3]


def test_perplexity_takes_alternating_roles_after_any_system_messages() -> None:
    text = "After the (optional) system message(s), user and assistant roles should be alternating."
    assert found([SYSTEM, SYSTEM, USER, SAID, USER], "perplexity") == []
    assert found([SYSTEM, USER, USER], "perplexity") == [("C9c", 2, text, None, None, 400)]
    assert found([USER, SAID, SYSTEM, USER], "perplexity") == [("C9c", 2, text, None, None, 400)]


def test_mistral_takes_ids_of_nine_letters_and_digits() -> None:
    text = "Tool call id was call_a but must be a-z, A-Z, 0-9, with a length of 9."
    assert found([USER, calls("call_a", "aB3456789"), result("call_a"), result("aB3456789")], "mistral") == [
        ("M1", 1, text, None, "3280", 400),
        ("M1", 2, text, None, "3280", 400),
    ]


def test_mistral_wants_the_assistant_between_tool_and_user() -> None:
    step = [calls("aB3456789"), result("aB3456789")]
    text = "Unexpected role 'user' after role 'tool'"
    assert found([USER, *step, USER], "mistral") == [("M2", 3, text, None, "3230", 400)]
    assert found([SYSTEM, USER, *step, *step, SAID, USER, USER], "mistral") == []
    text = "Unexpected role 'system' after role 'assistant'"
    assert found([USER, SAID, SYSTEM, USER], "mistral") == [("M2", 2, text, None, "3230", 400)]
    assert found([USER, SAID, {"role": "developer", "content": "Be brief."}, USER], "mistral") == []


def test_mistral_wants_the_last_word_from_others() -> None:
    text = "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
    assert found([USER, SAID], "mistral") == [("M3", 1, text, None, "3230", 400)]
    assert found([USER, {**SAID, "prefix": True}], "mistral") == []
    assert found([USER, SAID, USER], "mistral") == []


def test_deepseek_says_it_in_its_own_words() -> None:
    text = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "(insufficient tool messages following tool_calls message)"
    )
    assert found([USER, calls("call_a", "call_b"), result("call_a"), USER], "deepseek") == [
        ("C1b", 1, text, None, "invalid_request_error", 400)
    ]
    text = "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
    assert found([USER, result("call_a")], "deepseek") == [("C2b", 1, text, None, "invalid_request_error", 400)]
    assert found([USER, calls("call_a"), result("call_a")], "deepseek") == []


def test_deepseek_wants_the_reasoning_of_every_call_back() -> None:
    bare, thought = calls("call_a"), calls("call_a", reasoning_content="")
    messages = [USER, bare, result("call_a"), SAID, USER, thought, result("call_a")]
    hit = ("C10", 1, "The `reasoning_content` in the thinking mode must be passed back to the API.")
    on: list[dict[str, Any]] = [
        {"thinking": {"type": "enabled"}},
        {"model": "deepseek-v4-pro"},
        {"model": "deepseek-flash"},
    ]
    for body in on:
        assert found(messages, "deepseek", **body) == [(*hit, None, "invalid_request_error", 400)]
        assert found(messages, "openai", **body) == []
    off_or_unknown: list[dict[str, Any]] = [
        {},
        {"model": "glm"},
        {"model": "deepseek-v4-pro", "thinking": {"type": "disabled"}},
    ]
    for body in off_or_unknown:
        assert found(messages, "deepseek", **body) == []


def test_the_older_deepseek_wanted_that_of_the_current_turn() -> None:
    bare, thought = calls("call_a"), calls("call_a", reasoning_content="Look first.")
    messages = [USER, bare, result("call_a"), SAID, USER, bare, result("call_a"), thought, result("call_a")]
    text = (
        "Missing `reasoning_content` field in the assistant message at message index 5. For more information, "
        "please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls"
    )
    hits = [("C10b", 5, text, None, "invalid_request_error", 400)]
    assert found(messages, "deepseek", model="deepseek-reasoner") == hits
    assert found(messages, "deepseek", model="deepseek-chat", thinking={"type": "enabled"}) == hits
    assert found(messages, "deepseek", model="deepseek-chat") == []


def test_rules_are_switched_by_id() -> None:
    request = Request({"messages": [USER, USER, calls("call_a")]})
    assert [hit.rule for hit in FORMAT.violations(request, switch={"C9b": True})] == ["C9b", "C1"]
    assert FORMAT.violations(request, switch={"C1": False}) == []
    assert FORMAT.violations(request, "vllm", switch={"C1": False, "C9b": False}) == []


@pytest.mark.parametrize(
    "format", [FORMATS["openai-chat"], FORMATS["openai-responses"]], ids=lambda format: format.name
)
def test_every_rule_says_what_it_is(format: Any) -> None:
    ids = [rule.id for rule in format.rules]
    assert len(set(ids)) == len(ids)
    for rule in format.rules:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
        assert re.fullmatch(r"20\d\d-\d\d", rule.seen)
        assert rule.remedy[0].isupper()
        assert rule.remedy.endswith(".")
        assert rule.variants <= set(format.variants)
    assert len({rule.name for rule in format.rules}) == len(ids)


# The calls of each step, with ids from a small set, so that they repeat.
steps = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=3, unique=True), min_size=1, max_size=6)


def spoken(ids: list[str]) -> list[dict[str, Any]]:
    return [calls(*ids), *map(result, reversed(ids))] if ids else [USER, SAID]


@given(steps)
def test_whole_exchanges_are_valid(plan: list[list[str]]) -> None:
    assert found([message for ids in plan for message in spoken(ids)]) == []


@given(steps, st.data())
def test_half_an_exchange_is_not(plan: list[list[str]], data: st.DataObject) -> None:
    messages = [message for number, ids in enumerate(plan) for message in spoken([f"{id}{number}" for id in ids])]
    halves = [index for index, message in enumerate(messages) if "tool_calls" in message or "tool_call_id" in message]
    if halves:
        del messages[data.draw(st.sampled_from(halves))]
        assert {rule for rule, *_ in found(messages)} & {"C1", "C2", "C3"}


words = st.sampled_from(
    ["role", "content", "tool_calls", "id", "tool_call_id", "function", "name", "thinking", "type", "model", "messages"]
)
values = st.sampled_from(["assistant", "tool", "user", "system", "developer", "a" * 70, "", "enabled", "o1-mini"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | values | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(words | st.text(max_size=3), inner, max_size=5),
    max_leaves=25,
)
message = st.fixed_dictionaries(
    {"role": values | anything}, optional={"tool_calls": anything, "content": anything, "tool_call_id": anything}
)
bodies = st.fixed_dictionaries(
    {"messages": anything | st.lists(message | anything, max_size=6)},
    optional={"model": values | anything, "thinking": anything},
)


@given(bodies, st.none() | bodies)
def test_no_rule_fails_on_anything(body: dict[str, Any], origin: dict[str, Any] | None) -> None:
    every = {rule.id: True for rule in FORMAT.rules}
    for hit in FORMAT.violations(Request(body, origin), switch=every):
        assert hit.index is not None
        assert 0 <= hit.index < len(body["messages"])


def test_a_call_is_answered_once() -> None:
    text = "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_a', in messages[4] and messages[5]."
    steps = [USER, *[calls("call_a"), result("call_a")] * 2]
    assert found(steps) == []
    assert found([*steps, result("call_a")]) == [("C11", 5, text, "messages.[5].tool_call_id", None, 400)]
