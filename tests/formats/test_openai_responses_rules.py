from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import Request
from compact.formats.openai_responses import FORMAT

USER = {"role": "user", "content": "Go on."}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}


def call(call_id: Any, kind: str = "function_call", **extra: Any) -> dict[str, Any]:
    return {"type": kind, "call_id": call_id, "name": "ls", "arguments": "{}", **extra}


def output(id: Any, kind: str = "function_call_output") -> dict[str, Any]:
    return {"type": kind, "call_id": id, "output": "README.md"}


def thought(id: str = "", **extra: Any) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [], **({"id": id} if id else {}), **extra}


def found(items: Any, variant: str = "", *, origin: Any = None, on: str = "", **body: Any) -> list[tuple[Any, ...]]:
    request = Request({**body, "input": items}, None if origin is None else {"input": origin})
    hits = FORMAT.violations(request, variant, {on: True} if on else None)
    return [(hit.rule, hit.index, hit.text, hit.param, hit.code, hit.status) for hit in hits]


def test_an_output_needs_its_call_anywhere_before() -> None:
    text = "No tool call found for function call output with call_id call_a."
    assert found([USER, output("call_a")]) == [("R1", 1, text, "input", None, 400)]
    assert found([USER, call("call_a"), SAID, USER, output("call_a")]) == []
    assert [(rule, index) for rule, index, *_ in found([output("call_a"), call("call_a")])] == [("R1", 0), ("R2", 1)]


def test_the_words_follow_the_type_of_the_item() -> None:
    text = "No tool call found for custom tool call output with call_id call_a."
    assert found([output("call_a", "custom_tool_call_output")]) == [("R1", 0, text, "input", None, 400)]
    text = "No tool output found for custom tool call call_a."
    assert found([call("call_a", "custom_tool_call")]) == [("R2", 0, text, "input", None, 400)]


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_a_call_may_be_in_what_the_vendor_stored(key: str) -> None:
    assert found([output("call_a")], **{key: "resp_1"}) == []
    assert found([{"type": "item_reference", "id": "fc_1"}, output("call_a")]) == []
    text = "No tool call found for tool output with call_id call_a."
    hit = ("R1b", 0, text, None, "invalid_request_error", 400)
    assert found([output("call_a")], "deepseek", **{key: "resp_1"}) == [hit]  # it stores nothing


def test_a_call_needs_its_output() -> None:
    text = "No tool output found for function call call_b."
    items = [USER, call("call_a"), call("call_b"), output("call_a")]
    assert found(items) == [("R2", 2, text, "input", None, 400)]
    assert found([*items, USER, output("call_b")]) == []
    assert found([USER, {"type": "web_search_call", "id": "ws_1", "status": "completed"}]) == []


def test_deepseek_wants_the_outputs_directly_after_their_calls() -> None:
    a, b = call("call-a"), call("call-b")
    hit = ("R2b", 1, "No tool output found for tool call call-a.", None, "invalid_request_error", 400)
    for items in (
        [USER, a, SAID, output("call-a")],
        [USER, a, thought(), b, output("call-a"), output("call-b")],
        [USER, a, b, output("call-b"), USER, output("call-a")],
        [USER, a],
    ):
        assert found(items, "deepseek") == [hit]
    assert found([USER, a, b, output("call-b"), output("call-a"), USER], "deepseek") == []
    assert found([USER, a, output("call-a"), thought(), b, output("call-b")], "deepseek") == []
    assert found([USER, a, output("call-a"), b, output("call-b")], "deepseek") == []
    assert found([USER, a, SAID, output("call-a")]) == []


def test_reasoning_needs_what_it_led_to() -> None:
    text = "Item 'rs_1' of type 'reasoning' was provided without its required following item."
    hits = [("R3", 1, text, "input", None, 400)]
    assert found([USER, thought("rs_1")]) == hits
    assert found([USER, thought("rs_1"), USER]) == hits
    assert found([call("call_a"), thought("rs_1"), output("call_a")]) == hits
    for item in (SAID, {"role": "assistant", "content": "Done."}, {"type": "web_search_call", "id": "ws_1"}):
        assert found([USER, thought("rs_1"), item]) == []
    assert found([USER, thought()]) == []


def test_several_thoughts_may_lead_to_one_item() -> None:
    thoughts = [thought("rs_1"), thought("rs_2")]
    assert found([USER, *thoughts, SAID]) == []
    assert [(rule, index) for rule, index, *_ in found([USER, *thoughts, USER])] == [("R3", 1), ("R3", 2)]


def test_an_item_may_need_its_reasoning() -> None:
    item = call("call_a", id="fc_1")
    origin = [USER, thought("rs_1"), item, output("call_a")]
    rest = [USER, item, output("call_a")]
    text = "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."
    assert found(rest, origin=origin, on="R4") == [("R4", 1, text, "input", None, 400)]
    assert found(rest, origin=origin) == []  # not enforced when last tried
    assert found(rest, on="R4") == []
    assert found(origin, origin=origin, on="R4") == []
    assert found([USER, call("call_a"), output("call_a")], origin=origin, on="R4") == []


def test_reasoning_that_was_not_stored_brings_its_content() -> None:
    text = (
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false. "
        "Try again with `store` set to true, or remove this item from your input."
    )
    bare = [USER, thought("rs_1"), SAID]
    assert found(bare, store=False) == [("R5", 1, text, "input", None, 404)]
    assert found(bare) == []
    assert found(bare, store=True) == []
    assert found([USER, thought(), SAID], store=False) == []
    assert found([USER, thought("rs_1", encrypted_content="gAAAAABo"), SAID], store=False) == []


def test_encrypted_content_stays_as_it_was() -> None:
    text = (
        "The encrypted content gAAA...DQ== could not be verified. "
        "Reason: Encrypted content could not be decrypted or parsed."
    )
    sealed = [USER, thought(encrypted_content="gAAAAABoDQ=="), SAID]
    other = [USER, thought(encrypted_content="gAAAAABpDQ=="), SAID]
    assert found(other, origin=sealed) == [("R6", 1, text, None, "invalid_encrypted_content", 400)]
    assert found(sealed, origin=sealed) == []
    assert found([USER, SAID], origin=sealed) == []
    assert found(other) == []


def test_an_item_comes_once() -> None:
    text = "Duplicate item found with id rs_1. Remove duplicate items from your input and try again."
    turn = [thought("rs_1"), SAID]
    assert found([*turn, *turn]) == [("R7", 2, text, "input", None, 400)]
    assert found([*turn, thought("rs_2"), SAID]) == []


@pytest.mark.parametrize(
    ("item", "prefix"),
    [
        (SAID, "msg"),
        (USER, "msg"),
        ({"type": "function_call", "call_id": "call_a"}, "fc"),
        ({"type": "reasoning"}, "rs"),
    ],
)
def test_an_id_begins_with_its_types_prefix(item: dict[str, Any], prefix: str) -> None:
    text = f"Invalid 'input[0].id': '019f-x'. Expected an ID that begins with '{prefix}'."
    after = [output("call_a"), SAID] if prefix == "fc" else [SAID]
    assert found([{**item, "id": "019f-x"}, *after]) == [("R8", 0, text, "input[0].id", "invalid_value", 400)]
    assert found([{**item, "id": f"{prefix}_1"}, *after]) == []
    assert found([{**item, "id": None}, *after]) == []


def test_ids_of_other_types_are_not_judged() -> None:
    assert found([{"type": "image_generation_call", "id": "x1"}]) == []


@pytest.mark.parametrize("id", ["", "msg_a:b", "msg_é"])
def test_an_id_has_letters_digits_underscores_and_dashes(id: str) -> None:
    text = (
        f"Invalid 'input[1].id': '{id}'. Expected an ID that contains letters, numbers, underscores, or dashes, "
        "but this value contained additional characters."
    )
    assert found([USER, {**SAID, "id": id}]) == [("R8", 1, text, "input[1].id", "invalid_value", 400)]


def test_a_call_id_has_1_to_64_characters() -> None:
    place, long = "input[0].call_id", "c" * 65
    text = (
        f"Invalid '{place}': string too long. "
        "Expected a string with maximum length 64, but got a string with length 65 instead."
    )
    assert found([call(long), output(long)])[0] == ("R9", 0, text, place, "string_above_max_length", 400)
    assert found([call(long[1:]), output(long[1:])]) == []
    text = f"Invalid '{place}': empty string. Expected a string with minimum length 1, but got an empty string instead."
    assert found([call("")]) == [("R9", 0, text, place, "empty_string", 400)]
    text = f"Missing required parameter: '{place}'."
    missing = ("R9", 0, text, place, "missing_required_parameter", 400)
    assert found([{"type": "function_call_output", "output": "README.md"}]) == [missing]
    assert found([{"type": "tool_search_output", "call_id": None}]) == []


def test_an_assistant_says_output() -> None:
    text = "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."
    parts = [
        {"type": "output_text", "text": "a"},
        {"type": "refusal", "refusal": "b"},
        {"type": "input_text", "text": "c"},
    ]
    item = {"role": "assistant", "content": parts}
    assert found([USER, item]) == [("R10", 1, text, "input[1].content[2]", "invalid_value", 400)]
    assert found([USER, {**item, "content": parts[:2]}, {**item, "role": "user", "content": parts[2:]}]) == []


def test_a_plain_text_input_is_fine() -> None:
    assert found("What is in this folder?") == []


def test_rules_are_switched_by_id() -> None:
    request = Request({"input": [call("call_a"), SAID, output("call_a"), output("call_b")]})
    assert [hit.rule for hit in FORMAT.violations(request)] == ["R1"]
    assert [hit.rule for hit in FORMAT.violations(request, switch={"R1": False, "R2b": True})] == ["R2b"]


steps = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=3, unique=True), min_size=1, max_size=6)


def spoken(ids: list[str]) -> list[dict[str, Any]]:
    return [*map(call, ids), *map(output, reversed(ids))] if ids else [USER, SAID]


@given(steps, st.sampled_from(FORMAT.variants))
def test_whole_exchanges_are_valid(plan: list[list[str]], variant: str) -> None:
    assert found([item for ids in plan for item in spoken(ids)], variant) == []


@given(steps, st.sampled_from(FORMAT.variants), st.data())
def test_half_an_exchange_is_not(plan: list[list[str]], variant: str, data: st.DataObject) -> None:
    items = [item for number, ids in enumerate(plan) for item in spoken([f"{id}{number}" for id in ids])]
    halves = [index for index, item in enumerate(items) if "call_id" in item]
    if halves:
        del items[data.draw(st.sampled_from(halves))]
        assert {rule for rule, *_ in found(items, variant)} & {"R1", "R2", "R1b", "R2b"}


words = st.sampled_from(["type", "role", "content", "id", "call_id", "encrypted_content", "output", "summary", "input"])
values = st.sampled_from(
    [
        "reasoning",
        "message",
        "function_call",
        "function_call_output",
        "item_reference",
        "assistant",
        "rs_1",
        "a" * 70,
        "",
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | values | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(words | st.text(max_size=3), inner, max_size=5),
    max_leaves=25,
)
item = st.fixed_dictionaries(
    {"type": values | anything},
    optional={"id": values | anything, "call_id": anything, "content": anything, "encrypted_content": anything},
)
bodies = st.fixed_dictionaries(
    {"input": anything | st.lists(item | anything, max_size=6)},
    optional={"store": anything, "previous_response_id": anything, "conversation": anything},
)


@given(bodies, st.none() | bodies)
def test_no_rule_fails_on_anything(body: dict[str, Any], origin: dict[str, Any] | None) -> None:
    every = {rule.id: True for rule in FORMAT.rules}
    for hit in FORMAT.violations(Request(body, origin), switch=every):
        assert hit.index is not None
        assert 0 <= hit.index < len(body["input"])
