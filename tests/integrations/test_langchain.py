"""LangChain's agents with its fake chat model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import dynamic_prompt, wrap_model_call
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from compact import InsufficientBudget, count_tokens, parse
from compact.formats import violations
from compact.integrations.langchain import CompactMiddleware, from_wires, to_wires
from tests.integrations.conftest import LISTING, Managers


@tool
def read(path: str) -> str:
    """Reads a file."""
    return f"{path}\n{LISTING}"


class Scripted(GenericFakeChatModel):
    """LangChain's fake, with the one thing it lacks: an agent binds its tools."""

    asked: list[list[BaseMessage]] = []  # noqa: RUF012 - a field: pydantic copies it
    limits: list[int | None] = []  # noqa: RUF012 - as above
    max_tokens: int | None = None
    thinking: dict[str, Any] | None = None

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
        self.asked.append(messages)
        self.limits.append(options.get("max_tokens", self.max_tokens))
        return super()._generate(messages, *args, **options)


def reading() -> Iterator[AIMessage]:
    for turn in range(100):
        yield AIMessage("", tool_calls=[{"id": f"call_{turn}", "name": "read", "args": {"path": f"src/{turn}.py"}}])
        yield AIMessage(f"Read {turn}.")


def work(middleware: list[Any], turns: int = 12) -> tuple[list[list[BaseMessage]], list[AnyMessage]]:
    """Have an agent read a file in each turn; gives what its model was asked, and the state in the end."""
    model = Scripted(messages=reading())
    agent: Any = create_agent(
        model, [read], system_prompt="Be brief.", middleware=middleware, checkpointer=InMemorySaver()
    )
    state: dict[str, Any] = {}
    for turn in range(turns):
        question = {"messages": [HumanMessage(f"Read file {turn}.")]}
        state = agent.invoke(question, {"configurable": {"thread_id": "threads/1"}})
    return model.asked, state["messages"]


def summaries(messages: Sequence[BaseMessage]) -> list[str]:
    return [str(message.content) for message in messages if str(message.content).startswith("<COMPACT-SUMMARY")]


def test_requests_stay_within_the_window_and_the_state_stays_whole(managers: Managers) -> None:
    asked, state = work([CompactMiddleware(managers())], turns=18)
    assert managers.told("condensed") >= 2
    assert len(state) == 18 * 4
    assert not summaries(state)
    for messages in asked:
        assert len(summaries(messages)) <= 1
        assert not violations(parse(to_wires(messages)))
    # A checkpointer makes new objects for each run: those of the last one are still there.
    own = {id(message) for message in state}
    others = [str(message.content) for message in asked[-1] if id(message) not in own]
    assert [text for text in others if " omitted …]" not in text] == ["Be brief.", *summaries(asked[-1])]
    texts = [[message.content for message in messages] for messages in asked]
    changed = sum(two[: len(one)] != one for one, two in pairwise(texts))
    assert 1 <= changed <= managers.told("condensed")


def tokens(messages: Sequence[BaseMessage]) -> int:
    return count_tokens(to_wires(messages), model="gpt-4o")


@wrap_model_call
def limited(request: Any, handler: Any) -> Any:
    return handler(request.override(model_settings={"max_tokens": 6_000}))


@pytest.mark.parametrize("own", [False, True])
def test_the_limit_of_the_answer_has_its_room(managers: Managers, own: bool) -> None:
    history = [message for turn in range(12) for message in (HumanMessage(f"{turn}?"), AIMessage(LISTING))]
    assert 16_000 - 1_500 - 6_000 < tokens(history) < 0.85 * 16_000
    compact = CompactMiddleware(managers(16_000), "s", strict=True)
    model = Scripted(messages=iter([AIMessage("Yes.")]), max_tokens=6_000 if own else 32_000)
    agent: Any = create_agent(model, middleware=[compact] if own else [limited, compact])
    agent.invoke({"messages": [*history, HumanMessage("And?")]})
    assert tokens(model.asked[-1]) <= 16_000 - 1_500 - 6_000
    assert model.limits == [6_000]


@pytest.mark.parametrize("own", [False, True])
def test_the_limit_of_the_answer_is_lowered_where_it_does_not_fit(managers: Managers, own: bool) -> None:
    question = {"messages": [HumanMessage("word " * 3_000)]}
    left = 8_000 - 1_500 - tokens(question["messages"])
    manager = managers(8_000)
    model = Scripted(messages=iter([AIMessage("Yes.")]), max_tokens=6_000 if own else None)
    for name, thinking in (("s", None), ("t", {"type": "enabled", "budget_tokens": left})):
        compact = CompactMiddleware(manager, name, strict=True)
        asked = model.model_copy(update={"thinking": thinking})
        agent: Any = create_agent(asked, middleware=[compact] if own else [limited, compact])
        with pytest.raises(InsufficientBudget) if thinking else nullcontext():
            asyncio.run(agent.ainvoke(question)) if own else agent.invoke(question)
    assert model.limits == [left]
    assert model.max_tokens == (6_000 if own else None)


def test_the_async_twin_does_the_same(managers: Managers) -> None:
    model = Scripted(messages=reading())
    agent: Any = create_agent(model, [read], middleware=[CompactMiddleware(managers(), "s")])
    history: list[Any] = []
    for turn in range(12):
        history.append(HumanMessage(f"Read file {turn}."))
        history = asyncio.run(agent.ainvoke({"messages": history}))["messages"]
    assert managers.told("condensed") >= 1
    assert summaries(model.asked[-1])
    assert len(history) == 12 * 4


def test_a_system_prompt_that_changes_undoes_nothing(managers: Managers) -> None:
    times = iter(range(1000))
    asked, _ = work([dynamic_prompt(lambda request: f"It is {next(times)}."), CompactMiddleware(managers())])
    assert len({messages[0].text for messages in asked}) == len(asked)
    changing = managers.told("condensed")
    work([CompactMiddleware(managers(), "other")])
    assert managers.told("condensed") == 2 * changing


def test_without_a_thread_the_first_message_names_the_session(managers: Managers) -> None:
    model = Scripted(messages=reading())
    agent: Any = create_agent(model, [read], middleware=[CompactMiddleware(managers(), strict=True)])
    agent.invoke({"messages": [HumanMessage("Read.", id="a/b")]})
    assert len(model.asked) == 2


def test_an_edited_message_keeps_the_rest_of_it(managers: Managers) -> None:
    """The preset `speed` cuts tool output in place."""
    policy = {"preset": "speed"}
    asked, state = work([CompactMiddleware(managers(policy=policy), lambda request: "s", strict=True)])
    whole = {message.id: message for message in state}
    cut = [message for message in asked[-1] if message.id in whole and whole[message.id] is not message]
    assert cut
    for message in cut:
        before = whole[message.id]
        assert isinstance(message, ToolMessage)
        assert len(message.text) < len(before.text)
        assert message.model_copy(update={"content": before.content}) == before


def test_arguments_of_calls_are_edited_too() -> None:
    broken = InvalidToolCall(id="d", name="write", args='{"text": ', error="cut short", type="invalid_tool_call")
    calls = [ToolCall(id="c", name="write", args={"text": LISTING, "path": "a"})]
    call = AIMessage("Hm.", tool_calls=calls, invalid_tool_calls=[broken], id="m")
    wires = to_wires([call])
    cut = {"id": "c", "type": "function", "function": {"name": "write", "arguments": '{"text": "…", "path": "a"}'}}
    [edited] = from_wires([{**wires[0], "tool_calls": [cut, wires[0]["tool_calls"][1]]}], wires, [call])
    assert isinstance(edited, AIMessage)
    assert edited.tool_calls[0]["args"] == {"text": "…", "path": "a"}
    assert edited.invalid_tool_calls == [broken]
    assert (edited.id, edited.content) == ("m", "Hm.")


BLOCKS: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage(
        [{"type": "text", "text": "What is it?"}, {"type": "image", "base64": "QUJD", "mime_type": "image/png"}]
    ),
    AIMessage(
        [
            {"type": "thinking", "thinking": "A cat?", "signature": "sig"},
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "c", "name": "look", "input": {"at": 1}},
        ],
        tool_calls=[{"id": "c", "name": "look", "args": {"at": 1}}],
    ),
    ToolMessage([{"type": "text", "text": "a cat"}], tool_call_id="c", status="error"),
    AIMessage([{"type": "server_tool_call", "name": "search"}, "A cat."]),
]


def test_messages_of_every_kind_are_read_and_given_back_as_they_were() -> None:
    wires = to_wires(BLOCKS)
    assert [wire["role"] for wire in wires] == ["system", "user", "assistant", "tool", "assistant"]
    assert wires[1]["content"][1]["image_url"]["url"] == "data:image/png;base64,QUJD"
    assert wires[2]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": 1}'}
    assert "A cat?" in wires[2]["reasoning_content"]
    assert parse(wires).format == "openai-chat"
    assert not violations(parse(wires))
    back = from_wires(wires, wires, BLOCKS)  # type: ignore[arg-type]  # they are what a request holds
    assert all(one is other for one, other in zip(back, BLOCKS, strict=True))


def test_what_a_vendor_signed_goes_whole_or_stays_whole() -> None:
    wires = to_wires(BLOCKS)
    edited = [{**wire, "content": "cut"} for wire in wires]
    back = from_wires(edited, wires, BLOCKS)  # type: ignore[arg-type]  # they are what a request holds
    assert back[2] is BLOCKS[2]
    assert back[4] is BLOCKS[4]
    assert back[3].content == "cut"


def test_a_protected_message_is_never_pruned(managers: Managers) -> None:
    pinned = HumanMessage("Never touch src/legacy.", additional_kwargs={"meta": {"protected": True}})
    talk: list[AnyMessage] = [HumanMessage("Begin."), AIMessage("Yes."), pinned]
    for turn in range(20):
        talk += [AIMessage(f"Answer {turn}. {LISTING}"), HumanMessage(f"Question {turn}?")]
    wires = to_wires(talk)
    manager = managers(policy={"recipe": "layers"})
    sent = from_wires(manager.preflight("s", wires), wires, talk)
    assert len(sent) < len(talk)
    assert any(message is pinned for message in sent)


def test_the_model_speaks_neither_first_nor_twice_in_a_row() -> None:
    talk: list[AnyMessage] = [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    wires = to_wires(talk)
    note = {"role": "assistant", "content": "<COMPACT-SUMMARY v1>"}
    orders = {"human": [note, wires[2]], "ai": [wires[0], note, wires[2]]}
    for kind, sent in orders.items():
        assert {m.type for m in from_wires(sent, wires, talk) if summaries([m])} == {kind}
    before_answer = from_wires([wires[0], note, wires[1]], wires, talk)
    assert [message.type for message in before_answer] == ["human", "human", "ai"]


def test_a_failure_lets_the_request_go_as_it_is(managers: Managers, caplog: pytest.LogCaptureFixture) -> None:
    asked, _ = work([CompactMiddleware(managers(), "no\nid")], turns=2)
    assert [len(messages) for messages in asked] == [2, 4, 6, 8]
    assert {record.levelno for record in caplog.records if record.name == "compact.integrations"} == {logging.ERROR}
    with pytest.raises(InsufficientBudget):
        work([CompactMiddleware(managers(1000), strict=True)])
