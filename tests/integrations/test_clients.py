"""The clients of OpenAI and Anthropic, against fake vendors."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, BadRequestError, OpenAI

from compact import InsufficientBudget, count_tokens
from compact.integrations.clients import before_model_call, compacted
from compact.testing.vendors import FakeVendors, Reply
from tests.integrations.conftest import LISTING, Managers

WINDOW = 8000
TOOL = {"name": "read", "description": "Reads a file.", "schema": {"type": "object", "properties": {}}}


@pytest.fixture
def vendors() -> Iterator[FakeVendors]:
    with FakeVendors(window=WINDOW) as server:
        server.reply(lambda received: Reply("Read it."))
        yield server


@dataclass
class Context:
    session_id: str
    messages: list[Any] = field(default_factory=list)


@dataclass
class Limited(Context):
    max_tokens: int | None = None


def test_before_model_call_hook_integration(managers: Managers) -> None:
    hook = before_model_call(managers(WINDOW))
    ctx = Context("s")
    for turn in range(14):
        ctx.messages += [{"role": "user", "content": f"{turn}?"}]
        hook(ctx)
        assert ctx.messages[-1]["content"] == f"{turn}?"
        ctx.messages += [{"role": "assistant", "content": f"{turn}. {LISTING}"}]
    assert managers.told("condensed") >= 1
    assert sum(len(message["content"]) for message in ctx.messages) < 14 * len(LISTING) * 0.8


def test_a_loop_that_limits_the_answer_gets_room_for_it_or_a_lower_limit(managers: Managers) -> None:
    history = [
        message
        for turn in range(6)
        for message in ({"role": "user", "content": f"{turn}?"}, {"role": "assistant", "content": LISTING})
    ]
    ctx = Limited("s", [*history, {"role": "user", "content": "And?"}], 2_500)
    assert WINDOW - 1_500 - 2_500 < count_tokens(ctx.messages, model="gpt-4o") < 0.85 * WINDOW
    hook = before_model_call(managers(WINDOW))
    hook(ctx)
    assert count_tokens(ctx.messages, model="gpt-4o") <= WINDOW - 1_500 - 2_500
    assert ctx.max_tokens == 2_500
    hook(ctx := Limited("t", [{"role": "user", "content": "word " * 3_000}], 6_000))
    assert ctx.max_tokens == WINDOW - 1_500 - count_tokens(ctx.messages, model="gpt-4o")
    hook(ctx := Limited("u", history))
    assert ctx.max_tokens is None


def statuses(vendors: FakeVendors) -> set[int]:
    return {received.status for received in vendors.requests}


def call_reply(turn: int) -> Reply:
    return Reply(calls=[("read", {"path": f"src/{turn}.py"})])


def test_chat_completions_take_back_what_they_gave(managers: Managers) -> None:
    with FakeVendors(window=WINDOW) as vendors, OpenAI(base_url=f"{vendors.url}/v1", api_key="any") as client:
        create = compacted(client.chat.completions.create, managers(WINDOW), "s")
        tools: Any = [{"type": "function", "function": {"name": "read", "parameters": TOOL["schema"]}}]
        history: list[Any] = [{"role": "system", "content": "Be brief."}]
        for turn in range(14):
            vendors.reply(call_reply(turn), "Read it.")
            history.append({"role": "user", "content": f"Read {turn}."})
            message = create(model="gpt-4o", messages=history, tools=tools).choices[0].message
            assert message.tool_calls
            history += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": LISTING}]
            history.append(create(model="gpt-4o", messages=history, tools=tools).choices[0].message)
        assert statuses(vendors) == {200}
    assert managers.told("condensed") >= 1
    assert len(history) == 1 + 14 * 4


def test_responses_take_back_what_they_gave(managers: Managers) -> None:
    with FakeVendors(window=WINDOW) as vendors, OpenAI(base_url=f"{vendors.url}/v1", api_key="any") as client:
        create = compacted(client.responses.create, managers(WINDOW), "s")
        tools: Any = [{"type": "function", "name": "read", "parameters": TOOL["schema"], "strict": False}]
        history: list[Any] = []
        for turn in range(14):
            vendors.reply(call_reply(turn), "Read it.")
            history.append({"role": "user", "content": f"Read {turn}."})
            output = create(model="gpt-4o", input=history, instructions="Be brief.", tools=tools).output
            call: Any = next(item for item in output if item.type == "function_call")
            history += [*output, {"type": "function_call_output", "call_id": call.call_id, "output": LISTING}]
            history += create(model="gpt-4o", input=history, instructions="Be brief.", tools=tools).output
        assert statuses(vendors) == {200}
    assert managers.told("condensed") >= 1


def test_messages_take_back_what_they_gave(managers: Managers) -> None:
    with FakeVendors(window=WINDOW) as vendors, Anthropic(base_url=vendors.url, api_key="any") as client:
        create = compacted(client.messages.create, managers(WINDOW, model="claude-haiku-4-5"), "s")
        tools: Any = [{"name": "read", "description": "Reads.", "input_schema": TOOL["schema"]}]
        history: list[Any] = []
        for turn in range(14):
            vendors.reply(call_reply(turn), "Read it.")
            history.append({"role": "user", "content": f"Read {turn}."})
            said = create(model="claude-haiku-4-5", max_tokens=100, messages=history, tools=tools).content
            [use] = [block for block in said if block.type == "tool_use"]
            result = {"type": "tool_result", "tool_use_id": use.id, "content": LISTING}
            history += [{"role": "assistant", "content": said}, {"role": "user", "content": [result]}]
            said = create(model="claude-haiku-4-5", max_tokens=100, messages=history, tools=tools).content
            history.append({"role": "assistant", "content": said})
        assert statuses(vendors) == {200}
    assert managers.told("condensed") >= 1


def test_async_clients_do_the_same(managers: Managers, vendors: FakeVendors) -> None:
    async def talk() -> None:
        async with (
            AsyncOpenAI(base_url=f"{vendors.url}/v1", api_key="any") as openai,
            AsyncAnthropic(base_url=vendors.url, api_key="any") as anthropic,
        ):
            chat = compacted(openai.chat.completions.create, managers(WINDOW), "chat")
            respond = compacted(openai.responses.create, managers(WINDOW), "responses")
            message = compacted(anthropic.messages.create, managers(WINDOW, model="claude-haiku-4-5"), "messages")
            history: list[Any] = []
            for turn in range(12):
                history.append({"role": "user", "content": f"{turn}?"})
                await chat(model="gpt-4o", messages=history)
                await respond(model="gpt-4o", input=history)
                await message(model="claude-haiku-4-5", max_tokens=100, messages=history, system="Be brief.")
                history.append({"role": "assistant", "content": f"{turn}. {LISTING}"})

    asyncio.run(talk())
    assert len(vendors.requests) == 36
    assert statuses(vendors) == {200}
    assert managers.told("condensed") >= 3


def test_an_answer_that_wants_more_than_half_of_the_window_gets_what_is_left(
    managers: Managers, vendors: FakeVendors
) -> None:
    history: list[Any] = [{"role": "user", "content": "word " * 3_000}]
    with OpenAI(base_url=f"{vendors.url}/v1", api_key="any", max_retries=0) as client:
        chat = compacted(client.chat.completions.create, managers(WINDOW), "s")
        chat(model="gpt-4o", messages=history, max_completion_tokens=6_000)
        responses = compacted(client.responses.create, managers(WINDOW), "t")
        responses(model="gpt-4o", input=history, max_output_tokens=2_000)
    with Anthropic(base_url=vendors.url, api_key="any", max_retries=0) as claude:
        messages = compacted(claude.messages.create, managers(WINDOW), "u")
        messages(model="claude-haiku-4-5", messages=history, max_tokens=6_000)
    lowered, left, lower = (received.body for received in vendors.requests)
    assert WINDOW - 1_500 - 3_050 < lowered["max_completion_tokens"] < WINDOW - 1_500 - 3_000
    assert left["max_output_tokens"] == 2_000
    assert 1_024 <= lower["max_tokens"] < 6_000
    assert statuses(vendors) == {200}


def test_the_clients_own_function_sends_everything_as_before(managers: Managers, vendors: FakeVendors) -> None:
    history: list[Any] = [{"role": role, "content": LISTING} for _ in range(8) for role in ("user", "assistant")]
    history.append({"role": "user", "content": "And?"})
    with OpenAI(base_url=f"{vendors.url}/v1", api_key="any") as client:
        create = compacted(client.chat.completions.create, managers(WINDOW), "s")
        create(model="gpt-4o", messages=history)
        with pytest.raises(BadRequestError, match="maximum context length is 8000 tokens"):
            client.chat.completions.create(model="gpt-4o", messages=history)
    assert [received.body["messages"] == history for received in vendors.requests] == [False, True]


def test_the_hook_leaves_the_list_as_it_was(managers: Managers) -> None:
    history = [{"role": role, "content": LISTING} for _ in range(8) for role in ("user", "assistant")]
    ctx = Context("s")
    ctx.messages = held = [*history, {"role": "user", "content": "And?"}]
    before_model_call(managers(WINDOW))(ctx)
    assert held == [*history, {"role": "user", "content": "And?"}]
    assert len(str(ctx.messages)) < len(str(held))


def test_what_holds_no_history_goes_as_it_is(managers: Managers, vendors: FakeVendors) -> None:
    with OpenAI(base_url=f"{vendors.url}/v1", api_key="any") as client:
        create = compacted(client.responses.create, managers(WINDOW), "no\nid")
        create(model="gpt-4o", input="Hello")
        with pytest.raises(ValueError, match="session_id"):
            create(model="gpt-4o", input=[{"role": "user", "content": "Hello"}])
    assert [received.body["input"] for received in vendors.requests] == ["Hello"]
    assert not managers.events


def test_a_request_that_cannot_fit_is_an_error_before_it_is_sent(managers: Managers, vendors: FakeVendors) -> None:
    with OpenAI(base_url=f"{vendors.url}/v1", api_key="any") as client:
        create = compacted(client.chat.completions.create, managers(1000), "s")
        with pytest.raises(InsufficientBudget):
            create(model="gpt-4o", messages=[{"role": "user", "content": LISTING * 3}])
    assert vendors.requests == ()
