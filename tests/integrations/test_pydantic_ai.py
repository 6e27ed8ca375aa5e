"""Pydantic AI with its function model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.settings import ModelSettings

from compact import InsufficientBudget, count_tokens, parse
from compact.formats import violations
from compact.integrations.pydantic_ai import Compact, from_wires, to_pieces
from tests.integrations.conftest import LISTING, Managers


class Reader:
    """A model that reads a file in each turn, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[ModelMessage]] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append(messages)
        turn, step = divmod(len(self.asked) - 1, 2)
        if step:
            return ModelResponse(parts=[TextPart(f"Read {turn}.")])
        return ModelResponse(parts=[ToolCallPart("read", {"path": f"src/{turn}.py"}, f"call_{turn}")])


def work(capability: Compact, turns: int = 12) -> tuple[list[list[ModelMessage]], list[ModelMessage]]:
    model = Reader()
    agent = Agent(FunctionModel(model), instructions="Be brief.", capabilities=[capability])

    @agent.tool_plain
    def read(path: str) -> str:
        return f"{path}\n{LISTING}"

    history: list[ModelMessage] = []
    for turn in range(turns):
        history = agent.run_sync(f"Read file {turn}.", message_history=history or None).all_messages()
    return model.asked, history


def summaries(messages: Sequence[ModelMessage]) -> list[str]:
    texts = (getattr(part, "content", "") for message in messages for part in message.parts)
    return [text for text in texts if isinstance(text, str) and text.startswith("<COMPACT-SUMMARY")]


def test_requests_stay_within_the_window_and_the_history_stays_whole(managers: Managers) -> None:
    asked, history = work(Compact(managers()), turns=18)
    assert managers.told("condensed") >= 2
    assert len(history) == 18 * 4
    assert not summaries(history)
    own = {id(message) for message in history}
    for messages in asked:
        assert len(summaries(messages)) <= 1
        assert not violations(parse([piece.wire for piece in to_pieces(messages)]))
    # All but what was cut, and the request that Pydantic AI joined with the summary, are the history's own objects.
    others = [message for message in asked[-1] if id(message) not in own]
    cut = [message for message in others if any(" omitted …]" in str(part.content) for part in returns_of([message]))]
    assert len(others) - len(cut) == 1


class Answering:
    """A model that keeps what it was asked, and with which settings."""

    def __init__(self) -> None:
        self.asked: list[list[ModelMessage]] = []
        self.settings: list[ModelSettings | None] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append(messages)
        self.settings.append(info.model_settings)
        return ModelResponse([TextPart("Yes.")])


def tokens(messages: Sequence[ModelMessage]) -> int:
    return count_tokens([piece.wire for piece in to_pieces(messages)], model="gpt-4o")


@pytest.mark.parametrize("own", [False, True])
def test_the_limit_of_the_answer_has_its_room(managers: Managers, own: bool) -> None:
    model, given = Answering(), ModelSettings(max_tokens=6_000, temperature=0.5)
    history: list[ModelMessage] = []
    for turn in range(12):
        history += [ModelRequest([UserPromptPart(f"{turn}?")]), ModelResponse([TextPart(LISTING)])]
    assert 16_000 - 1_500 - 6_000 < tokens(history) < 0.85 * 16_000
    agent = Agent(
        FunctionModel(model, settings=given if own else None), capabilities=[Compact(managers(16_000), strict=True)]
    )
    agent.run_sync("And?", message_history=history, model_settings=None if own else given)
    assert tokens(model.asked[-1]) <= 16_000 - 1_500 - 6_000
    assert model.settings == [given]


def test_the_limit_of_the_answer_is_lowered_where_it_does_not_fit(managers: Managers) -> None:
    model, given = Answering(), ModelSettings(max_tokens=6_000, temperature=0.5)
    agent = Agent(FunctionModel(model), capabilities=[Compact(managers(8_000), strict=True)], model_settings=given)
    agent.run_sync("word " * 3_000)
    left = 8_000 - 1_500 - tokens(model.asked[-1])
    assert model.settings == [ModelSettings(max_tokens=left, temperature=0.5)]
    assert given["max_tokens"] == 6_000
    thinking: Any = {"anthropic_thinking": {"type": "enabled", "budget_tokens": left}}
    with pytest.raises(InsufficientBudget):
        agent.run_sync("word " * 3_000, model_settings=thinking)


def test_an_edited_message_keeps_the_rest_of_it(managers: Managers) -> None:
    """The preset `speed` cuts tool output in place."""
    asked, history = work(Compact(managers(policy={"preset": "speed"}), "s", strict=True))
    returns = {part.tool_call_id: part for part in returns_of(history)}
    sent = returns_of(asked[-1])
    cut = [part for part in sent if part is not returns[part.tool_call_id]]
    assert cut
    for part in cut:
        whole = returns[part.tool_call_id]
        assert len(str(part.content)) < len(str(whole.content))
        assert (part.tool_name, part.timestamp) == (whole.tool_name, whole.timestamp)


def returns_of(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)]


HISTORY: list[ModelMessage] = [
    ModelRequest([SystemPromptPart("Be brief."), UserPromptPart("What is it?")]),
    ModelResponse([ThinkingPart("A cat?", signature="s", provider_name="a"), ToolCallPart("look", {"at": 1}, "c")]),
    ModelRequest([ToolReturnPart("look", {"seen": "a cat"}, "c"), UserPromptPart("And this?")]),
    ModelResponse([TextPart("Now."), ToolCallPart("look", '{"at": 2}', "d"), TextPart("Then.")]),
    ModelRequest([ToolReturnPart("look", "a dog", "d")]),
    ModelResponse([TextPart("A dog.")]),
    ModelRequest([RetryFeedbackPart("Say more.", retry=RetryInfo("model_retry"))]),
    ModelResponse([TextPart("A brown dog.")]),
    ModelRequest(
        [UserPromptPart(["See", ImageUrl("https://example.com/a.png"), BinaryContent(b"ABC", media_type="image/png")])]
    ),
]


def test_messages_of_every_kind_are_read_and_given_back_as_they_were() -> None:
    pieces = list(to_pieces(HISTORY))
    wires = [piece.wire for piece in pieces]
    roles = "system user assistant tool user assistant tool assistant user assistant user"
    assert " ".join(wire["role"] for wire in wires) == roles
    assert wires[-1]["content"][2]["image_url"]["url"] == "data:image/png;base64,QUJD"
    assert not violations(parse(wires))
    assert all(one is other for one, other in zip(from_wires(wires, pieces, HISTORY), HISTORY, strict=True))


def test_what_a_vendor_signed_goes_whole_or_stays_whole() -> None:
    pieces = list(to_pieces(HISTORY))
    edited: list[dict[str, Any]] = [
        {**piece.wire, "content": [{"type": "text", "text": "x"}] * 2 if piece.place == (3, 0) else "x"}
        for piece in pieces
    ]
    back = from_wires(edited, pieces, HISTORY)
    assert [one is other for one, other in zip(back, HISTORY, strict=True)] == [
        False, True, False, False, False, False, True, False, True
    ]  # fmt: skip
    assert back[2].parts[0] is HISTORY[2].parts[0]
    assert [getattr(part, "content", "-") for part in back[3].parts] == ["x", "-", "x"]


def test_a_request_may_lose_some_of_its_parts() -> None:
    pieces = list(to_pieces(HISTORY))
    sent = [piece.wire for piece in pieces if piece.place not in {(0, 1), (1, 0), (2, 0)}]
    back = from_wires(sent, pieces, HISTORY)
    assert [type(part) for part in back[0].parts] == [SystemPromptPart]
    assert [type(part) for part in back[1].parts] == [UserPromptPart]
    assert back[2] is HISTORY[3]


def test_the_model_speaks_neither_first_nor_twice_in_a_row() -> None:
    history: list[ModelMessage] = [
        ModelRequest([UserPromptPart("a")]),
        ModelResponse([TextPart("b")]),
        ModelRequest([UserPromptPart("c")]),
    ]
    pieces = list(to_pieces(history))
    one, two, three = (piece.wire for piece in pieces)
    note = {"role": "assistant", "content": "<COMPACT-SUMMARY v1>"}
    kinds = [
        [message.kind for message in from_wires(sent, pieces, history)]
        for sent in ([note, three], [one, note, three], [one, note, two, three])
    ]
    assert kinds == [
        ["request", "request"],
        ["request", "response", "request"],
        ["request", "request", "response", "request"],
    ]


@pytest.mark.parametrize(
    "pinned",
    [
        ModelRequest([UserPromptPart("Never touch src/legacy.")], metadata={"protected": True}),
        ModelResponse([TextPart("I never touch src/legacy.")], metadata={"protected": True}),
    ],
)
def test_a_protected_message_is_never_pruned(managers: Managers, pinned: ModelMessage) -> None:
    history: list[ModelMessage] = [ModelRequest([UserPromptPart("Go")]), ModelResponse([TextPart("Yes")]), pinned]
    for turn in range(20):
        history += [ModelResponse([TextPart(f"{turn} {LISTING}")]), ModelRequest([UserPromptPart(f"{turn}?")])]
    pieces = list(to_pieces(history))
    manager = managers(policy={"recipe": "layers"})
    sent = from_wires(manager.preflight("s", [piece.wire for piece in pieces]), pieces, history)
    assert len(sent) < len(history)
    assert any(message is pinned for message in sent)


def test_a_failure_lets_the_request_go_as_it_is(managers: Managers, caplog: pytest.LogCaptureFixture) -> None:
    asked, _ = work(Compact(managers(), "no\nid"), turns=2)
    assert [len(messages) for messages in asked] == [1, 3, 5, 7]
    assert {record.levelno for record in caplog.records if record.name == "compact.integrations"} == {logging.ERROR}
    with pytest.raises(InsufficientBudget):
        work(Compact(managers(1000), lambda ctx: "s", strict=True))


def test_it_serves_the_test_model_and_streams(managers: Managers) -> None:
    agent = Agent(TestModel(), capabilities=[Compact(managers(), strict=True)])
    result = agent.run_stream_sync("Hello")
    assert result.get_output() == "success (no tool calls)"
    assert managers.told("token_estimate") == 1
