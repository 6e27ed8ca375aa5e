"""The versions v1, v2 and v3 as `compact.condense` gives them, on the worked example of their specification."""

from __future__ import annotations

import json
from collections.abc import Sequence
from time import thread_time
from typing import Any

import pytest

from compact import Result, condense
from compact.errors import InvalidConfiguration
from compact.formats import render
from compact.ports import Answer, Ask, Completion, Failure
from tests.providers.conversations import numbered_lines
from tests.providers.test_truncation import worked_example

EXAMPLE = [dict(message) for message in render(worked_example())]
"""Messages 3 and 6 are the results of read_file (the larger one) and search, 2 and 5 their calls."""
KEEP_TWO = {"preserve_recent": 2}
"""The specification keeps three messages and cuts the result that is one of them; here whole exchanges are kept."""
WORDS = "The file has lines about the quick brown fox."


def said(messages: Sequence[Any]) -> list[str]:
    """What people and the model said, in order."""
    return [each["content"] for each in messages if each["role"] in ("user", "assistant") and each["content"]]


def argument(message: Any) -> Any:
    return json.loads(message["tool_calls"][0]["function"]["arguments"])


def changed(result: Result) -> list[int]:
    pairs = zip(EXAMPLE, result.messages, strict=True)
    return [at for at, (before, after) in enumerate(pairs) if before != after]


class Model:
    """Answers every question alike, and keeps the batches in which they came."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.batches: list[list[Ask]] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        self.batches.append(list(asks))
        return tuple(self.answer for _ in asks)


def test_v1_removes_nine_tenths_and_keeps_first_and_last_and_all_that_was_said() -> None:
    result = condense(EXAMPLE, recipe="v1", config=KEEP_TWO)
    assert changed(result) == [2, 3, 5, 6]
    assert 0.87 < 1 - result.report.tokens_after / result.report.tokens_before < 0.95
    assert said(result.messages) == said(EXAMPLE)
    assert (result.messages[0], result.messages[-2:]) == (EXAMPLE[0], EXAMPLE[-2:])
    lines = numbered_lines(5) + "\n\n⟨ Truncated: 380 more lines ⟩\n⟨ Tool: read_file ⟩"
    assert result.messages[3]["content"] == lines
    assert argument(result.messages[2]) == {"path": argument(EXAMPLE[2])["path"][:100] + "..."}
    assert condense(EXAMPLE, recipe="v1", config=KEEP_TWO).messages == result.messages


def test_v1_leaves_the_last_five_messages_alone_with_their_calls() -> None:
    assert changed(condense(EXAMPLE, recipe="v1")) == [2, 3]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_v1_and_v2_ask_no_model(version: str) -> None:
    model = Model(Completion(WORDS))
    result = condense(EXAMPLE, recipe=version, config=KEEP_TWO, ask=model)
    assert model.batches == []
    assert result.report.cost is None
    assert result.report.tokens_after < result.report.tokens_before


def test_v2_cuts_the_largest_to_five_lines_and_stops_at_half() -> None:
    result = condense(EXAMPLE, recipe="v2", config=KEEP_TWO)
    assert changed(result) == [3]
    assert 0.5 <= 1 - result.report.tokens_after / result.report.tokens_before <= 0.7
    assert result.report.passes[0].notes == ("1 tool result truncated", "2 candidates identified")


@pytest.mark.parametrize(("priority", "first"), [("size", 3), ("age", 2), ("type", 3)])
def test_v2_cuts_in_the_order_that_is_set(priority: str, first: int) -> None:
    settings = {**KEEP_TWO, "priority": priority, "parameter_threshold": 30, "target_reduction": 0.001}
    assert changed(condense(EXAMPLE, recipe="v2", config=settings)) == [first]


def test_v2_leaves_what_is_not_oversized() -> None:
    settings = {**KEEP_TWO, "result_threshold": 50_000, "parameter_threshold": 50_000}
    assert changed(condense(EXAMPLE, recipe="v2", config=settings)) == []


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_what_was_said_stays_even_where_a_target_is_missed(version: str) -> None:
    result = condense(EXAMPLE, recipe=version, target=0.01, config=KEEP_TWO)
    assert not result.target_met
    assert said(result.messages) == said(EXAMPLE)


@pytest.mark.clock
@pytest.mark.parametrize(("version", "most"), [("v1", 0.1), ("v2", 0.2)])
def test_v1_and_v2_are_fast(version: str, most: float) -> None:
    taken = []
    for _ in range(5):
        began = thread_time()
        condense(EXAMPLE, recipe=version)
        taken.append(thread_time() - began)
    assert min(taken) < most


def large() -> list[dict[str, Any]]:
    """The example with seven oversized results more."""
    (call,), steps = EXAMPLE[2]["tool_calls"], []
    for number in range(7):
        steps.append({**EXAMPLE[2], "tool_calls": [{**call, "id": f"more-{number}"}]})
        steps.append({**EXAMPLE[3], "tool_call_id": f"more-{number}", "content": numbered_lines(100 + number)})
    return [*EXAMPLE[:4], *steps, *EXAMPLE[4:]]


def test_v3_has_each_candidate_of_v2_summarized_by_itself_five_at_a_time() -> None:
    model = Model(Completion(WORDS, model="small"))
    messages = large()
    result = condense(messages, recipe="v3", ask=model)
    assert max(map(len, model.batches)) == 5
    assert sum(map(len, model.batches)) == 8
    assert {question.wished for batch in model.batches for question in batch} == {100}
    original = messages[3]["content"]
    marked = f"⟨ Summarized by LLM ⟩\n\n{WORDS}\n\n⟨ Original was {len(original)} chars ⟩"
    assert result.messages[3]["content"] == marked
    assert result.report.written_by == ("small",)
    assert 1 - result.report.tokens_after / result.report.tokens_before > 0.6
    assert said(result.messages) == said(messages)


def test_v3_cuts_as_v2_does_where_the_model_fails() -> None:
    result = condense(EXAMPLE, recipe="v3", ask=Model(Failure("down")))
    assert result.messages[3]["content"].endswith("⟨ Truncated: 380 more lines ⟩\n⟨ Tool: read_file ⟩")
    assert changed(result) == [3]


FAILING = Model(Failure("down"))


def test_v3_keeps_as_many_messages_as_v2_is_told_to() -> None:
    assert changed(condense(EXAMPLE, recipe="v3", config=KEEP_TWO, ask=FAILING)) == [3, 6]


@pytest.mark.parametrize(
    ("settings", "cut"),
    [
        ({"result_threshold": 4_000}, [3]),
        ({"result_threshold": 50_000, "parameter_threshold": 30}, [2, 5]),
        ({"result_threshold": 50_000, "parameter_threshold": 50_000}, []),
    ],
)
def test_v3_has_the_thresholds_of_v2(settings: dict[str, int], cut: list[int]) -> None:
    v2 = condense(EXAMPLE, recipe="v2", config={**KEEP_TWO, **settings, "target_reduction": 0.99})
    v3 = condense(EXAMPLE, recipe="v3", config={**KEEP_TWO, **settings, "max_tokens": 16}, ask=FAILING)
    assert changed(v3) == changed(v2) == cut


def test_v3_removes_as_much_as_it_is_told_to_in_the_order_that_is_set() -> None:
    messages = large()
    settings = {"target_reduction": 0.3, "max_parallel": 1}
    asked = {}
    for priority in ("size", "age"):
        model = Model(Completion(WORDS, model="small"))
        result = condense(messages, recipe="v3", config={**settings, "priority": priority}, ask=model)
        assert 0.3 <= 1 - result.report.tokens_after / result.report.tokens_before < 0.75
        asked[priority] = [ask.material for batch in model.batches for ask in batch]
    assert all(0 < len(each) < 8 for each in asked.values())
    assert asked["size"] != asked["age"]
    assert messages[3]["content"] in asked["size"][0]


def test_v3_cuts_as_far_as_v2_is_told_to() -> None:
    settings = {**KEEP_TWO, "max_result_lines": 2, "max_parameter_chars": 20, "parameter_threshold": 30}
    result = condense(EXAMPLE, recipe="v3", config={**settings, "max_tokens": 16}, ask=FAILING)
    assert result.messages[3]["content"] == numbered_lines(2) + "\n\n⟨ Truncated: 383 more lines ⟩\n⟨ Tool: read_file ⟩"
    assert argument(result.messages[2]) == {"path": argument(EXAMPLE[2])["path"][:20] + "..."}


def test_v3_asks_for_summaries_of_the_length_that_is_set() -> None:
    model = Model(Completion(WORDS))
    condense(EXAMPLE, recipe="v3", config={**KEEP_TWO, "max_tokens": 60}, ask=model)
    assert [question.wished for batch in model.batches for question in batch] == [60, 60]


def test_an_error_of_v3_names_the_flat_setting() -> None:
    with pytest.raises(InvalidConfiguration, match=r"config\.preserve_recent"):
        condense(EXAMPLE, recipe="v3", config={"preserve_recent": -1})
    with pytest.raises(InvalidConfiguration, match=r"config\.keep: is no setting.*target_reduction, preserve_recent, "):
        condense(EXAMPLE, recipe="v3", config={"keep": 2})
