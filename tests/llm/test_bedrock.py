"""Amazon's SDK, unmodified, against a Bedrock of this machine."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

import pytest
import stamina

from compact.llm import Access
from compact.llm.vendors import open_model
from compact.ports import Answer, Completion, Failure, FailureKind, Refusal, Usage
from tests.llm.bedrock import FakeBedrock, Said, bedrock, converse, error
from tests.llm.lines import ASK, KEY, profile

pytestmark = pytest.mark.usefixtures("sdks")
FINE = converse("The build broke.")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # Amazon's SDK sends a Bedrock key over TLS only, so this machine is asked with the other kind of credentials.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with stamina.set_testing(True, attempts=3, cap=True):
        yield


def _ask(fake: FakeBedrock, timeout: float = 30) -> Answer:
    asked = profile("bedrock", fake.url, region="eu-west-1", timeout=timeout)
    with Access([asked], key_of=lambda _: "") as line:
        return line.answer_now([ASK])[0]


def test_an_answer_tells_its_usage_model_and_cost() -> None:
    with bedrock(FINE) as fake:
        answer = _ask(fake)
    assert answer == Completion(
        "The build broke.",
        cost=Decimal("0.0000457"),
        usage=Usage(20, 5, cache_read=7),
        model="global.anthropic.claude-haiku-4-5-20251001-v1:0",
    )
    [(path, headers, body)] = fake.requests
    assert path.endswith("/converse")
    assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/")
    assert body["system"] == [{"text": ASK.instructions}]
    assert body["messages"] == [{"role": "user", "content": [{"text": ASK.material}]}]
    assert body["inferenceConfig"] == {"maxTokens": 50, "temperature": 0}
    assert "toolConfig" not in body


@pytest.mark.parametrize(
    "said",
    [
        error(429, "ThrottlingException", "Too many requests, please wait before trying again."),
        error(500, "InternalServerException", "The system encountered an unexpected error."),
        error(503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
        replace(FINE, way="cut"),
        Said(b"<html>502 Bad Gateway</html>"),
        Said(b'{"nothing": "of note"}'),
    ],
    ids=["429", "500", "503", "cut", "html", "json"],
)
def test_what_passes_is_tried_again(said: Said) -> None:
    with bedrock(said, FINE) as fake:
        answer = _ask(fake)
    assert isinstance(answer, Completion)
    assert answer.text == "The build broke."
    assert len(fake.requests) == 2


@pytest.mark.parametrize(
    ("said", "kind", "requests"),
    [
        (error(429, "ThrottlingException", "Too many requests."), "rate_limited", 3),
        (error(403, "AccessDeniedException", "You don't have access to the model."), "authentication", 1),
        (error(403, "UnrecognizedClientException", f"The security token {KEY} is invalid."), "authentication", 1),
        (error(400, "ServiceQuotaExceededException", "Your request exceeds a quota."), "quota", 1),
        (error(400, "ValidationException", "Input is too long for requested model."), "overflow", 1),
        (error(400, "ValidationException", "The provided model identifier is invalid."), "rejected", 1),
        # Amazon's SDK does not see that the line was cut, and stumbles over what came.
        (replace(FINE, way="cut"), "malformed", 3),
    ],
    ids=["429", "403", "token", "quota", "overflow", "rejected", "cut"],
)
def test_what_stays_becomes_a_failure_of_its_kind(
    said: Said, kind: FailureKind, requests: int, caplog: pytest.LogCaptureFixture
) -> None:
    with bedrock(said) as fake:
        answer = _ask(fake)
    assert isinstance(answer, Failure)
    assert answer.kind == kind
    assert len(fake.requests) == requests
    assert KEY not in f"{answer}{caplog.text}"


def test_endings_are_told_apart() -> None:
    with bedrock(converse("The build", stop="max_tokens")) as fake:
        cut = _ask(fake)
    with bedrock(converse("No.", stop="guardrail_intervened")) as fake:
        refused = _ask(fake)
    with bedrock(converse("")) as fake:
        empty = _ask(fake)
    assert isinstance(cut, Completion)
    assert cut.truncated
    assert isinstance(refused, Refusal)
    assert isinstance(empty, Completion)
    assert empty.text == ""


@pytest.mark.parametrize("way", ["hang", "drip"])
def test_the_deadline_is_total_though_the_sdk_blocks(way: str) -> None:
    with bedrock(replace(FINE, way="hang" if way == "hang" else "drip")) as fake:
        began = time.monotonic()
        answer = _ask(fake, timeout=1)
        took = time.monotonic() - began
    assert isinstance(answer, Failure)
    assert answer.kind == "timeout"
    assert took < 8


def test_neither_the_key_nor_the_token_of_a_session_is_in_a_log(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-token-for-an-hour")
    with bedrock(FINE) as fake:
        answer = _ask(fake)
    assert isinstance(answer, Completion)
    assert fake.requests[0][1]["X-Amz-Security-Token"] == "a-token-for-an-hour"
    assert "botocore" in caplog.text
    assert KEY not in caplog.text
    assert "a-token-for-an-hour" not in caplog.text


def test_a_bedrock_key_is_a_bearer_token_and_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    opened = open_model(profile("bedrock", "https://127.0.0.1:9", region="eu-west-1"), KEY)
    client = cast("Any", opened.model).client
    assert client.meta.config.signature_version == "bearer"
    assert client.meta.config.retries["total_max_attempts"] == 1
    caplog.set_level(logging.DEBUG)
    # The line in which Amazon's SDK tells every header of a request.
    logging.getLogger("botocore.endpoint").debug("Sending http request: %s", {"Authorization": f"Bearer {KEY}"})
    assert KEY not in caplog.text


def test_a_bedrock_key_is_not_sent_in_the_clear() -> None:
    asked = profile("bedrock", "http://127.0.0.1:9", region="eu-west-1")
    with Access([asked], key_of=lambda _: KEY) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert "HTTPS" in answer.reason


def test_without_a_region_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with Access([profile("bedrock", "http://127.0.0.1:9")], key_of=lambda _: KEY) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == "unconfigured"
    assert "Name the region" in answer.reason
