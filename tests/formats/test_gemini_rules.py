"""Gemini: every rule, and the rules as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.formats import FORMATS
from compact.formats.format import Request

GEMINI = FORMATS["google-gemini"]

FIRST = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
UNCALLED = "Please ensure that function response turn comes immediately after a function call turn."
MISCOUNTED = (
    "Please ensure that the number of function response parts is equal to the number of function call parts "
    "of the function call turn."
)
UNSIGNED = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:{}` , position {}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures "
    "for more details."
)
UNSIGNED_VERTEX = (
    "Unable to submit request because function call `{}` in the {}. content block is missing a `thought_signature`. "
    "Learn more: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures"
)
ENDS_WITH_MODEL = "Requests ending with a model turn are not supported."

Found = list[tuple[str, int | None, str]]


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": part} if isinstance(part, str) else part for part in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {**user(*parts), "role": "model"}


def call(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}}, **more}


def answer(name: str = "read") -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "done"}}}


def violations(*contents: Any, variant: str = "", switch: Mapping[str, bool] | None = None, **options: Any) -> Found:
    request = Request({"contents": list(contents), **options})
    return [(found.rule, found.index, found.text) for found in GEMINI.violations(request, variant, switch)]


ASK = user("Fix the bug.")


def test_an_ordinary_request_is_accepted() -> None:
    contents = [ASK, model("Reading.", call(thoughtSignature="x")), user(answer()), model("Done."), ASK]
    for variant in GEMINI.variants:
        assert violations(*contents, variant=variant, model="gemini-3.7-flash") == []


def test_both_spellings_are_read() -> None:
    snake_call = {"function_call": {"name": "read", "args": {}}, "thought_signature": "x"}
    snake_answer = {"function_response": {"name": "read", "response": {}}}
    assert violations(ASK, model(snake_call), user(snake_answer), model="gemini-3-pro-preview") == []
    assert violations(ASK, user(snake_answer)) == [("G2", 1, UNCALLED)]


def test_a_call_follows_the_user_or_a_response() -> None:
    assert violations(model(call()), user(answer()), ASK) == [("G1", 0, FIRST)]
    assert violations(ASK, model(call()), user(answer()), model(call()), user(answer())) == []
    assert (
        violations(ASK, model(call()), {"role": "function", "parts": [answer()]}, model(call()), user(answer())) == []
    )


def test_neighbouring_contents_of_the_model_are_one_turn() -> None:
    assert violations(ASK, model("Reading."), model("On."), ASK) == []
    assert violations(ASK, model(call("a")), model(call("b")), user(answer("a"), answer("b"))) == []


def test_a_call_does_not_follow_what_the_model_says_in_a_content_of_its_own() -> None:
    assert violations(ASK, model("Reading."), model(call()), user(answer())) == [("G1", 2, FIRST)]
    assert violations(ASK, model("Reading.", call()), user(answer())) == []
    split = [ASK, model(call("a")), model("And."), model(call("b")), user(answer("a"), answer("b"))]
    assert violations(*split) == [("G1", 3, FIRST)]


def test_a_response_follows_its_calls() -> None:
    assert violations(ASK, model("Hello."), user(answer())) == [("G2", 2, UNCALLED)]
    assert violations(user(answer()), ASK) == [("G2", 0, UNCALLED)]


def test_there_are_as_many_responses_as_calls() -> None:
    calls = model(call("a"), call("b"))
    assert violations(ASK, calls, user(answer("a"))) == [("G3", 2, MISCOUNTED)]
    assert violations(ASK, calls, user("Stop.")) == [("G3", 2, MISCOUNTED)]
    assert violations(ASK, calls, user(answer("a")), user(answer("b"))) == [("G2", 3, UNCALLED), ("G3", 2, MISCOUNTED)]
    assert violations(ASK, calls, user(answer("a"), answer("b"))) == []
    assert violations(ASK, calls) == [("G3", 1, MISCOUNTED)]


def test_what_is_counted_is_not_the_names() -> None:
    calls = model(call("read"), call("bash"))
    assert violations(ASK, calls, user(answer("f"), answer("f"))) == []
    assert violations(ASK, calls, user(answer("f"))) == [("G3", 2, MISCOUNTED)]


def test_calls_at_the_end_are_not_answered() -> None:
    assert violations(ASK, model(call()), model("Well.")) == [("G3", 1, MISCOUNTED)]
    assert violations(ASK, model(call()), user(answer()), model(call("a")), model(call("b"))) == [("G3", 4, MISCOUNTED)]


def test_text_beside_responses_is_reported_when_asked_for() -> None:
    mixed = [ASK, model(call()), user(answer(), "And now?")]
    lost = (
        "contents[2] holds function responses and other parts: Gemini accepts it, but ignores the other parts "
        "or answers with an empty candidate."
    )
    assert violations(*mixed) == []
    assert violations(*mixed, switch={"G4": True}) == [("G4", 2, lost)]
    request = Request({"contents": mixed})
    assert [found.status for found in GEMINI.violations(request, switch={"G4": True})] == [200]
    assert violations(ASK, model(call()), user(answer()), user("And now?"), switch={"G4": True}) == []


@pytest.mark.parametrize(
    "content", [{"role": "model", "parts": []}, {"role": "model"}, {"role": "model", "parts": None}]
)
def test_a_content_has_parts(content: Any) -> None:
    empty = "* GenerateContentRequest.contents[1].parts: contents.parts must not be empty."
    assert violations(ASK, content, ASK) == [("G5", 1, empty)]


@pytest.mark.parametrize("part", [{}, {"text": ""}, {"text": None}, {"thought": True, "text": ""}])
def test_a_part_has_data(part: Any) -> None:
    where = "GenerateContentRequest.contents[1].parts[1].data"
    missing = f"* {where}: required oneof field 'data' must have one initialized field"
    assert violations(ASK, model("So.", part), ASK) == [("G6", 1, missing)]


@pytest.mark.parametrize("part", [{"text": "", "thoughtSignature": "x"}, {"inlineData": {}}, {"executableCode": {}}])
def test_a_signature_or_media_is_data(part: Any) -> None:
    assert violations(ASK, model("So.", part), ASK) == []


def test_gemini_3_wants_the_first_call_of_each_current_step_signed() -> None:
    signed = call("a", thoughtSignature="x")
    turn = [ASK, model(signed, call("b")), user(answer("a"), answer("b")), model("On.", call("c")), user(answer("c"))]
    assert violations(*turn, model="gemini-3-pro-preview") == [("G7", 3, UNSIGNED.format("c", 4))]
    assert violations(*turn, model="models/gemini-4-argon", variant="vertex") == [
        ("G7v", 3, UNSIGNED_VERTEX.format("c", 4))
    ]
    for other in ("gemini-2.5-flash", "gemini-3-pro-image", "gemini-flash-latest", None):
        assert violations(*turn, model=other) == []


def test_earlier_turns_and_the_stand_in_pass() -> None:
    earlier = [ASK, model(call()), user(answer()), model("Done."), ASK]
    assert violations(*earlier, model="gemini-3-flash") == []
    stand_in = call(thoughtSignature="skip_thought_signature_validator")
    assert violations(*earlier, model(stand_in), user(answer()), model="gemini-3-flash") == []
    split = [
        ASK,
        model(call("a", thought_signature="x")),
        model(call("b")),
        user(answer("a"), answer("b")),
    ]
    assert violations(*split, model="gemini-3-flash") == []


@pytest.mark.parametrize("name", ["gemini-3.6-flash", "gemini-3.5-flash-lite", "gemini-3.8-flash", "gemini-4-argon"])
def test_newer_models_refuse_a_model_turn_at_the_end(name: str) -> None:
    assert violations(ASK, model("So"), model=name) == [("G8", 1, ENDS_WITH_MODEL)]
    assert violations(ASK, model("So"), ASK, model=name) == []
    assert violations(ASK, model(call(thoughtSignature="x")), {"role": "model", "parts": [answer()]}, model=name) == []


@pytest.mark.parametrize("name", ["gemini-3.5-flash", "gemini-3-pro-preview", "gemini-2.5-flash", "gemini-pro", None])
def test_older_models_take_one(name: str | None) -> None:
    assert violations(ASK, model("So"), model=name) == []


def test_the_oldest_refusal_can_be_switched_on() -> None:
    older = "Please ensure that multiturn requests ends with a user role or a function response."
    assert violations(ASK, model("So"), switch={"G8b": True}) == [("G8b", 1, older)]
    assert violations(ASK, model(call()), user(answer()), switch={"G8b": True}) == []


def test_the_rules_are_in_order_and_say_what_they_are() -> None:
    ids = [rule.id for rule in GEMINI.rules]
    assert ids == ["G5", "G6", "G1", "G2", "G3", "G4", "G7", "G7v", "G8", "G8b"]
    assert [rule.id for rule in GEMINI.rules if rule.optional] == ["G4", "G8b"]
    names = [rule.name for rule in GEMINI.rules]
    assert len(set(names)) == len(names)
    assert all(rule.remedy.endswith(".") and rule.seen == "2026-11" for rule in GEMINI.rules)


def test_a_rule_can_be_switched_off() -> None:
    assert violations(user(answer()), switch={"G2": False}) == []


KEYS = st.sampled_from(
    [
        "role",
        "parts",
        "text",
        "functionCall",
        "function_response",
        "functionResponse",
        "thought",
        "thoughtSignature",
        "name",
    ]
)
LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "user", "model", "x"])
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4))
ROLES = st.sampled_from(["user", "model", "function"])
CONTENTS = st.fixed_dictionaries({"role": ROLES, "parts": st.lists(st.dictionaries(KEYS, JSON, max_size=3) | JSON)})
BODIES = st.fixed_dictionaries(
    {"contents": st.lists(CONTENTS | JSON, max_size=6) | JSON},
    optional={"model": st.sampled_from(["gemini-3.7-flash", "gemini-" + "9" * 5000, "x", None, 3])},
)


@given(body=BODIES)
def test_no_rule_raises_whatever_the_body_holds(body: dict[str, Any]) -> None:
    count = len(body["contents"]) if isinstance(body["contents"], list) else 0
    switch = {rule.id: True for rule in GEMINI.rules}
    for found in GEMINI.violations(Request(body), switch=switch):
        assert found.text
        assert found.index is not None
        assert 0 <= found.index < count
