"""The official OpenAI SDK, unchanged, talks to the fake vendors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI

from compact.testing.vendors import FakeVendors, Fault, Reply
from tests.testing.vendor_clients import APIS, words

MODEL = "gpt-4o"
USER: Any = {"role": "user", "content": "What is the weather in Paris?"}
CHAT_TOOL: Any = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}
TOOL: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors(count=words) as server:
        yield server


@pytest.fixture(scope="module")
def anyones() -> Iterator[OpenAI]:
    with OpenAI(api_key="sk-test", max_retries=0, timeout=10) as client:
        yield client


@pytest.fixture
def client(anyones: OpenAI, server: FakeVendors) -> OpenAI:
    return anyones.with_options(base_url=f"{server.url}/v1")


def test_a_chat_completion(server: FakeVendors, client: OpenAI) -> None:
    server.reply("Sunny, as ever.")
    answer = client.chat.completions.create(model=MODEL, messages=[USER])
    assert answer.model == MODEL
    assert answer.choices[0].message.content == "Sunny, as ever."
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    # Six words, the role, three tokens of frame and three for the reply.
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens) == (13, 3, 16)
    assert answer._request_id is not None
    assert answer._request_id.startswith("req_")


def test_without_a_script_the_model_names_what_was_said_last(client: OpenAI) -> None:
    first, second = (client.chat.completions.create(model=MODEL, messages=[USER]) for _ in range(2))
    assert first.choices[0].message.content == "Noted: What is the weather in Paris?"
    assert first.choices[0].message == second.choices[0].message
    assert first.id != second.id


def test_chat_calls_tools_and_accepts_their_results(server: FakeVendors, client: OpenAI) -> None:
    server.reply(Reply(calls=[("weather", {"city": "Paris"}), ("weather", {"city": "Rome"})]), "Sunny in both.")
    first = client.chat.completions.create(model=MODEL, messages=[USER], tools=[CHAT_TOOL])
    message = first.choices[0].message
    assert (message.content, first.choices[0].finish_reason) == (None, "tool_calls")
    assert message.tool_calls is not None
    calls = [call for call in message.tool_calls if call.type == "function"]
    assert [json.loads(call.function.arguments) for call in calls] == [{"city": "Paris"}, {"city": "Rome"}]
    results: list[Any] = [{"role": "tool", "tool_call_id": call.id, "content": "sun"} for call in calls]
    history: list[Any] = [USER, message.model_dump(exclude_none=True), *results]
    second = client.chat.completions.create(model=MODEL, messages=history, tools=[CHAT_TOOL])
    assert second.choices[0].message.content == "Sunny in both."


def test_a_chat_history_that_breaks_a_rule_is_refused_in_the_vendors_words(client: OpenAI) -> None:
    orphan: Any = {"role": "tool", "tool_call_id": "call_1", "content": "sun"}
    with pytest.raises(
        openai.BadRequestError, match="must be a response to a preceeding message with 'tool_calls'"
    ) as caught:
        client.chat.completions.create(model=MODEL, messages=[USER, orphan])
    assert caught.value.param == "messages.[1].role"
    assert caught.value.type == "invalid_request_error"
    assert caught.value.request_id is not None


@pytest.mark.parametrize(
    "reply", [Reply("A rather long answer, in several pieces. " * 3, reasoning="Hm."), Reply("ok")]
)
def test_a_streamed_chat_adds_up_to_the_whole(server: FakeVendors, client: OpenAI, reply: Reply) -> None:
    server.reply(reply)
    chunks = list(
        client.chat.completions.create(
            model=MODEL, messages=[USER], stream=True, stream_options={"include_usage": True}
        )
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == reply.text
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-2:] == [None, "stop"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == words(reply.text) + words(reply.reasoning)
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert len({chunk.id for chunk in chunks}) == 1


def test_a_streamed_chat_has_usage_only_if_asked_and_ends_with_done(server: FakeVendors) -> None:
    events = APIS["chat"].stream(server).events
    assert events[-1] == ("", "[DONE]")
    assert all("usage" not in data for _, data in events[:-1])


def test_the_sdks_stream_helper_accumulates_chat_calls(server: FakeVendors, client: OpenAI) -> None:
    server.reply(Reply("Let me look.", calls=[("weather", {"city": "Paris", "days": [1, 2, 3]}), ("weather", {})]))
    with client.chat.completions.stream(model=MODEL, messages=[USER], tools=[CHAT_TOOL]) as stream:
        final = stream.get_final_completion()
    message = final.choices[0].message
    assert message.content == "Let me look."
    assert message.tool_calls is not None
    assert [call.function.arguments for call in message.tool_calls] == ['{"city": "Paris", "days": [1, 2, 3]}', "{}"]
    assert final.choices[0].finish_reason == "tool_calls"


def test_a_response(server: FakeVendors, client: OpenAI) -> None:
    server.reply(Reply("Sunny.", reasoning="It is June."))
    answer = client.responses.create(model=MODEL, input="How is it?", reasoning={"summary": "auto"})
    assert answer.output_text == "Sunny."
    assert [item.type for item in answer.output] == ["reasoning", "message"]
    assert answer.status == "completed"
    assert answer.usage is not None
    assert answer.usage.input_tokens == 3 + 1 + 3 + 3
    assert answer.usage.output_tokens_details.reasoning_tokens == 3


def test_responses_call_tools_and_accept_their_results(server: FakeVendors, client: OpenAI) -> None:
    server.reply(Reply(calls=[("weather", {"city": "Paris"})], reasoning="Look it up."), "Sunny.")
    include: Any = ["reasoning.encrypted_content"]
    first = client.responses.create(model=MODEL, input=[USER], tools=[TOOL], store=False, include=include)
    call = first.output[-1]
    assert call.type == "function_call"
    assert json.loads(call.arguments) == {"city": "Paris"}
    replayed: list[Any] = [item.model_dump(exclude_none=True) for item in first.output]
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "sun"}
    second = client.responses.create(model=MODEL, input=[USER, *replayed, result], tools=[TOOL], store=False)
    assert second.output_text == "Sunny."


def test_edited_encrypted_reasoning_is_refused(server: FakeVendors, client: OpenAI) -> None:
    server.reply(Reply("Sunny.", reasoning="It is June."))
    include: Any = ["reasoning.encrypted_content"]
    first = client.responses.create(model=MODEL, input=[USER], store=False, include=include)
    items: list[Any] = [item.model_dump(exclude_none=True) for item in first.output]
    items[0]["encrypted_content"] = items[0]["encrypted_content"][:-4] + "AAAA"
    with pytest.raises(
        openai.BadRequestError, match=r"The encrypted content gAAA\.\.\.AAAA could not be verified"
    ) as caught:
        client.responses.create(model=MODEL, input=[USER, *items, USER], store=False)
    assert caught.value.code == "invalid_encrypted_content"


def test_a_response_goes_on_from_a_stored_one(server: FakeVendors, client: OpenAI) -> None:
    server.reply(Reply(calls=[("weather", {})]), "Sunny.")
    first = client.responses.create(model=MODEL, input="How is it?", tools=[TOOL])
    call = first.output[0]
    assert call.type == "function_call"
    result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "sun"}
    second = client.responses.create(model=MODEL, input=[result], previous_response_id=first.id)
    assert second.output_text == "Sunny."
    with pytest.raises(openai.BadRequestError, match="Previous response with id 'resp_none' not found") as caught:
        client.responses.create(model=MODEL, input="Go on", previous_response_id="resp_none")
    assert caught.value.code == "previous_response_not_found"


@pytest.mark.parametrize(
    "reply",
    [
        Reply("A rather long answer, in several pieces.", reasoning="Thinking about it for more than one piece."),
        Reply("Look:", calls=[("weather", {"city": "Paris"}), ("weather", {})]),
        Reply("No.", stop="refusal"),
        Reply("Cut sh", stop="length"),
        Reply(),
    ],
)
def test_a_streamed_response_adds_up_to_the_whole(server: FakeVendors, client: OpenAI, reply: Reply) -> None:
    server.reply(reply)
    reasoning: Any = {"summary": "auto"}
    events = list(client.responses.create(model=MODEL, input="Hi", tools=[TOOL], stream=True, reasoning=reasoning))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    first, last = events[0], events[-1]
    assert first.type == "response.created"
    assert last.type in ("response.completed", "response.incomplete")
    texts = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(texts) == ("" if reply.stop == "refusal" else reply.text)
    arguments = [event.delta for event in events if event.type == "response.function_call_arguments.delta"]
    assert "".join(arguments) == "".join(json.dumps(given) for _, given in reply.calls)
    thoughts = [event.delta for event in events if event.type == "response.reasoning_summary_text.delta"]
    assert "".join(thoughts) == reply.reasoning
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert last.type == "response.completed" or reply.stop == "length"
    assert done == last.response.output


def test_the_sdks_stream_helper_accumulates_a_response(server: FakeVendors, client: OpenAI) -> None:
    server.reply(Reply("Here it is.", calls=[("weather", {"city": "Paris"})]))
    with client.responses.stream(model=MODEL, input="Hi", tools=[TOOL]) as stream:
        final = stream.get_final_response()
    assert final.output_text == "Here it is."
    assert [item.type for item in final.output] == ["message", "function_call"]


def test_a_response_with_an_orphaned_output_is_refused(client: OpenAI) -> None:
    orphan: Any = {"type": "function_call_output", "call_id": "call_1", "output": "sun"}
    with pytest.raises(openai.BadRequestError, match="No tool call found for function call output with call_id call_1"):
        client.responses.create(model=MODEL, input=[USER, orphan])


def test_overflow_has_each_apis_text_and_code(anyones: OpenAI) -> None:
    long, fits = ({"role": "user", "content": "word " * length} for length in (14, 13))
    with FakeVendors(count=words, window=20) as server:
        client: Any = anyones.with_options(base_url=f"{server.url}/v1")
        with pytest.raises(openai.BadRequestError) as chat:
            client.chat.completions.create(model=MODEL, messages=[long])
        with pytest.raises(openai.BadRequestError) as response:
            client.responses.create(model=MODEL, input=[long])
        client.chat.completions.create(model=MODEL, messages=[fits])
        with pytest.raises(openai.BadRequestError, match=r"21 tokens \(20 in the messages, 1 in the completion\)"):
            client.chat.completions.create(model=MODEL, messages=[fits], max_completion_tokens=1)
    assert chat.value.body == {
        "message": "This model's maximum context length is 20 tokens. However, your messages resulted in 21 tokens. "
        "Please reduce the length of the messages.",
        "type": "invalid_request_error",
        "param": "messages",
        "code": "context_length_exceeded",
    }
    assert response.value.code == "context_length_exceeded"
    assert "Your input exceeds the context window of this model" in response.value.message


def test_a_rate_limit_says_when_to_come_back_and_the_sdk_retries(server: FakeVendors, client: OpenAI) -> None:
    server.fail(Fault("rate_limit", retry_after=0.05), times=2)
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model=MODEL, messages=[USER])
    assert caught.value.code == "rate_limit_exceeded"
    assert caught.value.response.headers["retry-after"] == "0.05"
    server.reply("At last.")
    patient = client.with_options(max_retries=1)
    assert patient.chat.completions.create(model=MODEL, messages=[USER]).choices[0].message.content == "At last."
    assert [request.status for request in server.requests] == [429, 429, 200]


def test_a_used_up_quota_is_told_apart(server: FakeVendors, client: OpenAI) -> None:
    server.fail(Fault("quota"))
    with pytest.raises(openai.RateLimitError) as caught:
        client.responses.create(model=MODEL, input="Hi")
    assert (caught.value.code, caught.value.type) == ("insufficient_quota", "insufficient_quota")
    assert "retry-after" not in caught.value.response.headers


def test_a_limit_on_the_answer_holds(server: FakeVendors, client: OpenAI) -> None:
    server.reply("one two three four five", "one two three four five", Reply("one two", calls=[("weather", {"a": 1})]))
    chat = client.chat.completions.create(model=MODEL, messages=[USER], max_completion_tokens=3)
    assert (chat.choices[0].message.content or "").split() == ["one", "two", "three"]
    assert chat.choices[0].finish_reason == "length"
    response = client.responses.create(model=MODEL, input="Hi", max_output_tokens=3)
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
    called = client.chat.completions.create(model=MODEL, messages=[USER], max_completion_tokens=3)
    assert called.choices[0].message.tool_calls is None


def test_thinking_counts_towards_the_limit(server: FakeVendors, client: OpenAI) -> None:
    server.reply(Reply("one two three", reasoning="Hm, hm."))
    response = client.responses.create(model=MODEL, input="Hi", max_output_tokens=3)
    assert response.output_text.split() == ["one"]


def test_models_are_listed_and_found(client: OpenAI) -> None:
    assert "gpt-4o" in [model.id for model in client.models.list()]
    assert client.models.retrieve("anything").id == "anything"


def test_the_token_count_of_a_response_is_the_usage_it_reports(client: OpenAI) -> None:
    asked: Any = {"model": MODEL, "input": [USER], "instructions": "Be brief.", "tools": [TOOL]}
    counted = client.responses.input_tokens.count(**asked)
    usage = client.responses.create(**asked).usage
    assert usage is not None
    assert counted.input_tokens == usage.input_tokens


def test_reasoning_is_shown_by_compatible_deployments_only(server: FakeVendors) -> None:
    server.reply(Reply("Yes.", reasoning="Hm."))
    assert "reasoning_content" not in APIS["chat"].ask(server).json["choices"][0]["message"]
    with FakeVendors(count=words, variants={"openai-chat": "deepseek"}) as deepseek:
        deepseek.reply(Reply("Yes.", reasoning="Hm."))
        assert APIS["chat"].ask(deepseek).json["choices"][0]["message"]["reasoning_content"] == "Hm."
