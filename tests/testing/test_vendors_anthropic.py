"""The official Anthropic SDK, unchanged, talks to the fake vendors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic

from compact.testing.vendors import FakeVendors, Fault, Reply
from tests.testing.vendor_clients import ANTHROPIC, APIS, send, words

MODEL = "claude-opus-5"
USER: Any = {"role": "user", "content": "What is the weather in Paris?"}
TOOL: Any = {"name": "weather", "input_schema": {"type": "object"}}
THINKING: Any = {"type": "enabled", "budget_tokens": 1024}
BASE: Any = {"model": MODEL, "max_tokens": 4096}


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors(count=words) as server:
        yield server


@pytest.fixture(scope="module")
def anyones() -> Iterator[Anthropic]:
    with Anthropic(api_key="sk-test", max_retries=0, timeout=10) as client:
        yield client


@pytest.fixture
def client(anyones: Anthropic, server: FakeVendors) -> Anthropic:
    return anyones.with_options(base_url=server.url)


def test_a_message(server: FakeVendors, client: Anthropic) -> None:
    server.reply("Sunny, as ever.")
    answer = client.messages.create(**BASE, messages=[USER], system="Be brief.")
    assert [block.to_dict() for block in answer.content] == [{"type": "text", "text": "Sunny, as ever."}]
    assert answer.stop_reason == "end_turn"
    # Two messages of four tokens each and three for the reply, beside the words.
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (2 + 6 + 8 + 3, 3)
    assert answer._request_id is not None
    assert answer._request_id.startswith("req_")


def test_messages_call_tools_and_accept_their_results(server: FakeVendors, client: Anthropic) -> None:
    server.reply(Reply("Let me look.", calls=[("weather", {"city": "Paris"}), ("weather", {})]), "Sunny.")
    first = client.messages.create(**BASE, messages=[USER], tools=[TOOL])
    calls = [block for block in first.content if block.type == "tool_use"]
    assert first.stop_reason == "tool_use"
    assert [call.input for call in calls] == [{"city": "Paris"}, {}]
    results: Any = [{"type": "tool_result", "tool_use_id": call.id, "content": "sun"} for call in calls]
    history: list[Any] = [USER, first.to_param(), {"role": "user", "content": results}]
    second = client.messages.create(**BASE, messages=history, tools=[TOOL])
    assert [block.to_dict() for block in second.content] == [{"type": "text", "text": "Sunny."}]


def test_thinking_is_signed_and_accepted_again(server: FakeVendors, client: Anthropic) -> None:
    server.reply(Reply(reasoning="It is June.", calls=[("weather", {})]), "Sunny.")
    first = client.messages.create(**BASE, messages=[USER], tools=[TOOL], thinking=THINKING)
    thinking, call = first.content
    assert thinking.type == "thinking"
    assert thinking.thinking == "It is June."
    assert thinking.signature
    assert call.type == "tool_use"
    result: Any = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "sun"}]}
    history: list[Any] = [USER, first.to_param(), result]
    second = client.messages.create(**BASE, messages=history, tools=[TOOL], thinking=THINKING)
    assert second.content[0].type == "text"


@pytest.mark.parametrize(
    "reply",
    [
        Reply("A rather long answer, in several pieces.", reasoning="Thinking about it for more than one piece."),
        Reply("Look:", calls=[("weather", {"city": "Paris", "days": [1, 2]}), ("weather", {})]),
        Reply("Cut sh", stop="length"),
        Reply(stop="refusal"),
        Reply(),
    ],
)
def test_a_streamed_message_accumulates_to_the_whole(server: FakeVendors, client: Anthropic, reply: Reply) -> None:
    server.reply(reply, reply)
    asked: Any = {**BASE, "messages": [USER], "tools": [TOOL], "thinking": THINKING}
    whole = client.messages.create(**asked)
    with client.messages.stream(**asked) as stream:
        streamed = stream.get_final_message()
    assert _comparable(streamed) == _comparable(whole)


def _comparable(message: Any) -> Any:
    found = message.to_dict()
    for block in found["content"]:
        block.pop("id", None)
        block.pop("parsed_output", None)
    return {key: value for key, value in found.items() if key != "id"}


def test_the_events_come_in_the_documented_order(server: FakeVendors) -> None:
    server.reply(Reply("Yes.", reasoning="Hm.", calls=[("weather", {"a": 1})]))
    events = APIS["anthropic"].stream(server).events
    assert all(name == data["type"] for name, data in events)
    assert [name for name, _ in events] == [
        "message_start",
        "ping",
        *("content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"),
        *("content_block_start", "content_block_delta", "content_block_stop"),
        *("content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"),
        "message_delta",
        "message_stop",
    ]
    kinds = [data["delta"]["type"] for name, data in events if name == "content_block_delta"]
    assert kinds == ["thinking_delta", "signature_delta", "text_delta", "input_json_delta", "input_json_delta"]


def test_a_history_that_breaks_a_rule_is_refused_in_the_vendors_words(client: Anthropic) -> None:
    call: Any = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}],
    }
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(**BASE, messages=[USER, call, USER], tools=[TOOL])
    assert "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1" in caught.value.message
    assert caught.value.request_id is not None
    assert caught.value.body is not None
    assert caught.value.type == "invalid_request_error"


def test_overflow_has_the_vendors_words(anyones: Anthropic) -> None:
    with FakeVendors(count=words, window=20) as server:
        client, short = anyones.with_options(base_url=server.url), {**BASE, "max_tokens": 1}
        with pytest.raises(anthropic.BadRequestError, match="prompt is too long: 21 tokens > 20 maximum"):
            client.messages.create(**short, messages=[{"role": "user", "content": "word " * 14}])
        told = (
            "input length and `max_tokens` exceed context limit: 20 \\+ 1 > 20, decrease input length or `max_tokens`"
        )
        with pytest.raises(anthropic.BadRequestError, match=told):
            client.messages.create(**short, messages=[{"role": "user", "content": "word " * 13}])
        client.messages.create(**short, messages=[{"role": "user", "content": "word " * 12}])


def test_tokens_are_counted_as_they_are_charged(client: Anthropic) -> None:
    asked: Any = {"model": MODEL, "messages": [USER], "system": "Be brief.", "tools": [TOOL]}
    counted = client.messages.count_tokens(**asked)
    usage = client.messages.create(**asked, max_tokens=100).usage
    assert counted.input_tokens == usage.input_tokens


def test_a_rate_limit_and_an_overload_are_typed(server: FakeVendors, client: Anthropic) -> None:
    server.fail(Fault("rate_limit", retry_after=7))
    with pytest.raises(anthropic.RateLimitError) as limited:
        client.messages.create(**BASE, messages=[USER])
    assert limited.value.response.headers["retry-after"] == "7"
    assert f"model: {MODEL}" in limited.value.message
    server.fail(Fault("overloaded"))
    with pytest.raises(anthropic.APIStatusError, match="Overloaded") as overloaded:
        client.messages.create(**BASE, messages=[USER])
    assert overloaded.value.status_code == 529
    assert overloaded.value.response.headers["x-should-retry"] == "true"


def test_the_sdk_retries_and_gets_the_reply_that_waited(server: FakeVendors, client: Anthropic) -> None:
    server.reply("At last.")
    server.fail(Fault("cut"))
    answer = client.with_options(max_retries=1).messages.create(**BASE, messages=[USER])
    assert [block.to_dict() for block in answer.content] == [{"type": "text", "text": "At last."}]
    assert [request.status for request in server.requests] == [200, 200]


@pytest.mark.parametrize(
    ("missing", "text"),
    [
        ({"model": None}, "model: Field required"),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"messages": None}, "messages: Field required"),
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": "Hi"}, "messages: Input should be a valid list"),
        ({"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
        ({"max_tokens": "many"}, "max_tokens: Input should be a valid integer"),
    ],
)
def test_what_is_missing_is_named(server: FakeVendors, missing: dict[str, Any], text: str) -> None:
    body = {key: value for key, value in {**APIS["anthropic"].body(), **missing}.items() if value is not None}
    answer = APIS["anthropic"].ask(server, body)
    assert (answer.status, answer.json["error"]) == (400, {"type": "invalid_request_error", "message": text})
    assert answer.json["request_id"] == answer.headers["request-id"]


def test_counting_tokens_needs_no_limit_on_the_answer(server: FakeVendors) -> None:
    body = {key: value for key, value in APIS["anthropic"].body().items() if key != "max_tokens"}
    assert send(server, "POST", "/v1/messages/count_tokens", body, ANTHROPIC).json == {"input_tokens": 2 + 4 + 3}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (r"half \ud83d", "no low surrogate"),
        (r"half \ud83d\n", "no low surrogate"),
        (r"two \ud83d\ud83d", "invalid low surrogate"),
        (r"low \ude00", "invalid high surrogate"),
    ],
)
def test_half_an_emoji_is_no_valid_json(server: FakeVendors, text: str, problem: str) -> None:
    raw = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"' + text + '"}]}'
    answer = send(server, "POST", "/v1/messages", raw.encode(), ANTHROPIC)
    at = raw.index("\\u")
    expected = f"The request body is not valid JSON: {problem} in string: line 1 column {at + 1} (char {at})"
    assert (answer.status, answer.json["error"]["message"]) == (400, expected)


@pytest.mark.parametrize("text", [r"whole \ud83d\ude00", r"escaped \\ud83d", "plain 😀"])
def test_a_whole_emoji_is_valid(server: FakeVendors, text: str) -> None:
    raw = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"' + text + '"}]}'
    assert send(server, "POST", "/v1/messages", raw.encode(), ANTHROPIC).status == 200


def test_models_are_listed_with_their_window(anyones: Anthropic) -> None:
    with FakeVendors(count=words, window=1234) as server:
        client = anyones.with_options(base_url=server.url)
        assert {model.max_input_tokens for model in client.models.list()} == {1234}
        assert client.models.retrieve("claude-x").id == "claude-x"
