"""Errors of the gateway as clients read them: in their vendor's words, and not retried where that cannot help."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest
from anthropic import Anthropic
from openai import OpenAI

from compact.errors import InsufficientBudget
from compact.messages import Json
from compact.providers import registry
from compact.server.gateway.error_bodies import vendor_error
from compact.testing.vendors import FakeVendors
from tests.app.test_failures import Boom
from tests.server.conftest import Serve, Served, long_history

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
HUGE = "This is how it is done. " * 2_000
HI: list[Any] = [{"role": "user", "content": "Hi"}]
# Claude Code finds both numbers with this; others take an error for a limit where they find one of these words.
CLAUDE_CODE = re.compile(r"prompt is too long[^0-9]*(\d+)\s*tokens?\s*>\s*(\d+)", re.IGNORECASE)
OF_LIMITS = re.compile("rate limit|per minute|too many requests|timed out", re.IGNORECASE)


@pytest.fixture(scope="module")
def narrow(serve: Serve, vendor: FakeVendors) -> Iterator[Served]:
    """A gateway that knows how small the vendor's windows are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        yield serve(vendor.url)


def chat(client: OpenAI, text: str) -> Any:
    return client.chat.completions.create(model="gpt-4o", messages=[{"role": "system", "content": text}, *HI])


def chat_stream(client: OpenAI, text: str) -> Any:
    messages: list[Any] = [{"role": "system", "content": text}, *HI]
    return list(client.chat.completions.create(model="gpt-4o", messages=messages, stream=True))


def responses(client: OpenAI, text: str) -> Any:
    return client.responses.create(model="gpt-4o", instructions=text, input=HI)


def responses_stream(client: OpenAI, text: str) -> Any:
    return list(client.responses.create(model="gpt-4o", instructions=text, input=HI, stream=True))


def messages(client: Anthropic, text: str) -> Any:
    return client.messages.create(model="claude-sonnet-5", messages=HI, system=text, max_tokens=5)


def messages_stream(client: Anthropic, text: str) -> Any:
    with client.messages.stream(model="claude-sonnet-5", messages=HI, system=text, max_tokens=5) as stream:
        return stream.get_final_text()


OPENAIS = [chat, chat_stream, responses, responses_stream]
ANTHROPICS = [messages, messages_stream]


def retries(error: openai.APIStatusError | anthropic.APIStatusError) -> int:
    """The number of retries; the SDK is allowed two."""
    return int(error.request.headers["x-stainless-retry-count"])


def check_overflow(message: str, headers: Any) -> None:
    assert OF_LIMITS.search(message) is None
    assert re.search(r"\d,\d", message) is None
    assert re.search(r" \(Compact: \d+ tokens cannot be condensed.*\)$", message)
    assert headers["x-should-retry"] == "false"
    assert headers["x-compact-reason"]


@pytest.mark.parametrize("ask", OPENAIS)
def test_openais_sdk_takes_what_cannot_fit_for_its_vendors_overflow(
    narrow: Served, vendor: FakeVendors, ask: Callable[[OpenAI, str], Any]
) -> None:
    before = len(vendor.requests)
    with (
        OpenAI(base_url=f"{narrow.url}/v1", api_key=narrow.state.token, max_retries=2) as client,
        pytest.raises(openai.BadRequestError) as caught,
    ):
        ask(client, HUGE)
    error = caught.value
    assert (error.status_code, error.code, error.type) == (400, "context_length_exceeded", "invalid_request_error")
    message = error.body["message"]  # type: ignore[index]  # JSON
    if "responses" in ask.__name__:
        assert error.param == "input"
        words = (
            "Your input exceeds the context window of this model. Please adjust your input and try again. (Compact: "
        )
        assert message.startswith(words)
    else:
        assert error.param == "messages"
        assert re.match(
            r"This model's maximum context length is 6500 tokens\. However, your messages resulted in 1\d{4} tokens\. "
            r"Please reduce the length of the messages\. \(Compact: ",
            message,
        )
    check_overflow(message, error.response.headers)
    assert retries(error) == 0
    assert len(vendor.requests) == before


@pytest.mark.parametrize("ask", ANTHROPICS)
def test_anthropics_sdk_takes_what_cannot_fit_for_its_vendors_overflow(
    narrow: Served, vendor: FakeVendors, ask: Callable[[Anthropic, str], Any]
) -> None:
    before = len(vendor.requests)
    with (
        Anthropic(base_url=narrow.url, api_key=narrow.state.token, max_retries=2) as client,
        pytest.raises(anthropic.BadRequestError) as caught,
    ):
        ask(client, HUGE)
    error = caught.value
    body: Any = error.body
    assert (body["type"], body["error"]["type"]) == ("error", "invalid_request_error")
    message = body["error"]["message"]
    found = CLAUDE_CODE.match(message)
    assert found is not None
    assert int(found[1]) > int(found[2]) == 6_495
    assert re.match(r"prompt is too long: \d+ tokens > 6495 maximum \(Compact: ", message)
    check_overflow(message, error.response.headers)
    assert retries(error) == 0
    assert len(vendor.requests) == before


NEARLY = "word " * 6_000
REASONING: Json = {"type": "enabled", "budget_tokens": 7_000}


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        (
            CHAT,
            {"messages": [{"role": "user", "content": NEARLY}], "max_completion_tokens": 3_000},
            (
                "This model's maximum context length is 8000 tokens. However, you requested 9008 tokens (6008 in the "
                "messages, 3000 in the completion). Please reduce the length of the messages or completion."
            ),
        ),
        (
            RESPONSES,
            {"input": [{"role": "user", "content": NEARLY}], "max_output_tokens": 3_000},
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        (
            MESSAGES,
            {"messages": [{"role": "user", "content": NEARLY}], "max_tokens": 3_000},
            (
                "input length and `max_tokens` exceed context limit: 6008 + 3000 > 8000, decrease input length or "
                "`max_tokens` and try again"
            ),
        ),
        (
            MESSAGES,
            {"messages": HI, "max_tokens": 8_000, "thinking": REASONING},
            (
                "input length and `max_tokens` exceed context limit: 8 + 8000 > 8000, decrease input length or "
                "`max_tokens` and try again"
            ),
        ),
    ],
)
def test_an_answer_that_is_too_large_alone_is_named(
    narrow: Served, vendor: FakeVendors, path: str, body: dict[str, Any], words: str
) -> None:
    before = len(vendor.requests)
    answer = narrow.ask("POST", path, json={"model": "gpt-4o", **body}, headers={"anthropic-version": "2023-06-01"})
    message = answer.json()["error"]["message"]
    assert (answer.status_code, message.partition(" (Compact: ")[0]) == (400, words)
    check_overflow(message, answer.headers)
    assert len(vendor.requests) == before


@pytest.mark.parametrize("limit", [5, 1_900])
def test_an_answer_that_would_fit_beside_the_input_is_not_named(narrow: Served, limit: int) -> None:
    messages = [{"role": "user", "content": NEARLY if limit > 5 else f"{NEARLY}{'word ' * 490}"}]
    body = {"model": "gpt-4o", "messages": messages, "max_tokens": limit}
    answer = narrow.ask("POST", MESSAGES, json=body, headers={"anthropic-version": "2023-06-01"})
    found = CLAUDE_CODE.match(answer.json()["error"]["message"])
    assert found is not None
    assert int(found[1]) > int(found[2]) == 6_500 - min(limit, 1_024)


@pytest.mark.parametrize("reason", ["rate limit of 30,000 tokens", "too many requests", "it timed out"])
def test_no_overflow_reads_as_a_limit_on_requests(reason: str) -> None:
    error = InsufficientBudget(f"9,000 tokens are left ({reason})", needed=9_000, budget=8_000)
    for format in ("openai-chat", "openai-responses", "anthropic-messages"):
        message = json.loads(bytes(vendor_error(format, error).body))["error"]["message"]
        assert OF_LIMITS.search(message) is None
        assert message.endswith(" (Compact: what must stay does not fit; the header x-compact-reason says more)")


@pytest.mark.parametrize("ask", [*OPENAIS, lambda client, _: client.models.list()])
def test_openais_sdk_takes_a_wrong_token_for_a_wrong_key(narrow: Served, ask: Callable[[OpenAI, str], Any]) -> None:
    with (
        OpenAI(base_url=f"{narrow.url}/v1", api_key="wrong", max_retries=2) as client,
        pytest.raises(openai.AuthenticationError, match=r"Incorrect API key provided\. \(Compact: the token") as caught,
    ):
        ask(client, "Be brief.")
    error = caught.value
    assert (error.code, error.type, error.param) == ("invalid_api_key", "invalid_request_error", None)
    assert error.response.headers["x-should-retry"] == "false"
    assert retries(error) == 0


@pytest.mark.parametrize("ask", [*ANTHROPICS, lambda client, _: client.models.list()])
def test_anthropics_sdk_takes_a_wrong_token_for_a_wrong_key(
    narrow: Served, ask: Callable[[Anthropic, str], Any]
) -> None:
    with (
        Anthropic(base_url=narrow.url, api_key="wrong", max_retries=2) as client,
        pytest.raises(anthropic.AuthenticationError, match=r"invalid x-api-key \(Compact: the token") as caught,
    ):
        ask(client, "Be brief.")
    error = caught.value
    assert error.body["error"]["type"] == "authentication_error"  # type: ignore[index]  # JSON
    assert error.response.headers["x-should-retry"] == "false"
    assert retries(error) == 0


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"headers": {"content-encoding": "gzip"}, "content": b"no gzip"}, 400),
        ({"headers": {"content-encoding": "br"}, "content": b"x"}, 415),
        ({"headers": {"x-compact-session": "x" * 300}, "json": {"model": "gpt-4o", "messages": HI}}, 400),
        ({"json": {"model": "gpt-4o", "messages": [1]}, "headers": {"sec-fetch-site": "cross-site"}}, 403),
    ],
)
def test_what_fails_again_is_not_asked_again(narrow: Served, given: dict[str, Any], status: int) -> None:
    answer = narrow.ask("POST", CHAT, **given)
    assert (answer.status_code, answer.headers.get("x-should-retry")) == (status, "false")


def test_a_key_of_the_operators_that_is_missing_is_not_asked_for_again(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    keyless = serve()
    answer = keyless.ask("POST", CHAT, json={"model": "gpt-4o", "messages": HI})
    assert (answer.status_code, answer.headers["x-should-retry"]) == (503, "false")
    assert answer.json()["error"]["code"] == "gateway_configuration"


def test_a_vendor_that_cannot_be_reached_may_be_asked_again(serve: Serve) -> None:
    lost = serve("http://127.0.0.1:9")
    answer = lost.ask("POST", CHAT, json={"model": "gpt-4o", "messages": HI})
    assert (answer.status_code, "x-should-retry" in answer.headers) == (502, False)


def test_a_provider_that_failed_is_named_in_a_header(
    serve: Serve, vendor: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
    monkeypatch.setattr(registry, "_registered", {"boom": Boom()})
    monkeypatch.setenv("COMPACT_RECIPE", "boom")
    request = {"model": "gpt-4o", "messages": long_history(40, first="failing")}
    answer = serve(vendor.url).ask("POST", CHAT, json=request)
    assert answer.headers["x-compact-compaction"] == "applied"
    assert answer.headers["x-compact-reason"] == "Boom failed: RuntimeError: kaboom; auto did the work"
