"""The SDKs, unmodified, against fake vendors over HTTP: whatever happens, each question gets an answer of its kind."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from decimal import Decimal

import pytest

from compact.llm import Access
from compact.models import cost, find_model
from compact.policies import Vendor
from compact.ports import Ask, Completion, Event, Failure, FailureKind, Refusal
from compact.testing.vendors import FakeVendors, Fault, Received, Reply
from tests.llm.lines import ASK, KEY, MODELS, WIRES, access, asked, from_openrouter, profile
from tests.llm.refusing import refusing

pytestmark = pytest.mark.usefixtures("sdks")


@pytest.fixture
def server() -> Iterator[FakeVendors]:
    with FakeVendors() as running:
        running.reply("The build broke.")
        yield running


each_wire = pytest.mark.parametrize("vendor", WIRES)


@each_wire
def test_an_answer_tells_its_usage_model_and_cost(server: FakeVendors, vendor: Vendor) -> None:
    with asked(server, vendor) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert (answer.text, answer.truncated, answer.estimated) == ("The build broke.", False, False)
    assert answer.model == MODELS[vendor]
    assert answer.usage is not None
    assert answer.usage.input > 10
    assert answer.usage.output == 4
    known = {"openai": "gpt-4o-mini", "anthropic": "claude-haiku-4-5", "gemini": "gemini-2.5-flash"}
    assert answer.cost == (cost(answer.usage, find_model(known[vendor]).prices) if vendor in known else None)


@each_wire
def test_the_request_is_instructions_and_material_and_no_tools(server: FakeVendors, vendor: Vendor) -> None:
    with asked(server, vendor, max_output_tokens=40) as line:
        line.answer_now([ASK])
    [request] = server.requests
    body = request.body
    assert "tools" not in body
    settings = body["generationConfig"] if vendor == "gemini" else body
    assert settings["temperature"] == 0
    assert settings.get("seed") == (None if vendor == "anthropic" else 42)
    limit = {"openai": "max_completion_tokens", "gemini": "maxOutputTokens"}.get(vendor, "max_tokens")
    assert settings[limit] == 40
    if vendor == "gemini":
        assert settings["thinkingConfig"] == {"thinking_budget": 0}
        told, said = body["systemInstruction"]["parts"][0]["text"], body["contents"][0]["parts"][0]["text"]
    elif vendor == "anthropic":
        told, said = body["system"][0]["text"], body["messages"][0]["content"][0]["text"]
    else:
        told, said = (message["content"] for message in body["messages"])
    assert (told, said) == (ASK.instructions, ASK.material)


@each_wire
@pytest.mark.parametrize(
    "fault",
    [
        Fault("rate_limit"),
        Fault("server_error"),
        Fault("overloaded"),
        Fault("unavailable"),
        Fault("cut"),
        Fault("cut", clean=True),
        Fault("garbled"),
        Fault("garbled", body='{"nothing": "of note"}'),
        Fault("garbled", body="null"),
        Fault("stream_error"),
    ],
    ids=[
        "rate_limit",
        "server_error",
        "overloaded",
        "unavailable",
        "cut",
        "clean_cut",
        "html",
        "json",
        "null",
        "error",
    ],
)
def test_what_passes_is_tried_again(server: FakeVendors, vendor: Vendor, fault: Fault) -> None:
    server.fail(fault)
    with asked(server, vendor) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert answer.text == "The build broke."
    assert len(server.requests) == 2


@each_wire
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault("rate_limit"), "rate_limited"),
        (Fault("server_error"), "unavailable"),
        (Fault("cut"), "connection"),
        (Fault("garbled"), "malformed"),
        (Fault("garbled", body="[]"), "malformed"),
    ],
    ids=["rate_limit", "server_error", "cut", "html", "array"],
)
def test_what_stays_becomes_a_failure_of_its_kind(
    server: FakeVendors, vendor: Vendor, fault: Fault, kind: FailureKind
) -> None:
    server.fail(fault, times=9)
    with asked(server, vendor) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == kind
    assert answer.reason.startswith(f"{vendor}: ")
    assert len(server.requests) == 3


@each_wire
def test_a_spent_quota_is_not_tried_again(server: FakeVendors, vendor: Vendor) -> None:
    server.fail(Fault("quota"), times=9)
    with asked(server, vendor) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == "quota"
    assert len(server.requests) == 1


@each_wire
def test_a_question_that_is_too_long_is_not_tried_again(vendor: Vendor) -> None:
    with FakeVendors(window=50) as server, asked(server, vendor) as line:
        [answer] = line.answer_now([Ask("Summarize.", "word " * 500, 50)])
        assert isinstance(answer, Failure)
        assert answer.kind == "overflow"
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "message",
    [
        "the request exceeds the available context size (9000 > 8192 tokens), try increasing it",
        "Trying to keep the first 9000 tokens, but the model is loaded with a context length of only 4096 tokens",
        "This model's maximum context length is 4096 tokens. Please reduce the length of the messages.",
    ],
    ids=["llama.cpp", "LM Studio", "vLLM"],
)
def test_local_servers_say_in_their_own_words_that_it_is_too_long(message: str) -> None:
    with (
        refusing(400, json.dumps({"error": {"code": 400, "message": message}})) as url,
        access(profile("compatible", url)) as line,
    ):
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert answer.kind == "overflow"


@each_wire
@pytest.mark.parametrize("kind", ["refusal", "filtered"])
def test_a_refusal_is_no_failure(server: FakeVendors, vendor: Vendor, kind: str) -> None:
    server.fail(Fault("refusal") if kind == "refusal" else Fault("filtered"))
    with asked(server, vendor) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Refusal)
    assert answer.reason
    assert len(server.requests) == 1


@each_wire
def test_an_answer_that_had_more_to_say_is_truncated(server: FakeVendors, vendor: Vendor) -> None:
    server.fail(Fault("truncated"))
    with asked(server, vendor) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert answer.truncated
    assert "The build broke.".startswith(answer.text)


@each_wire
def test_an_empty_answer_is_an_answer(server: FakeVendors, vendor: Vendor) -> None:
    server.fail(Fault("empty"))
    with asked(server, vendor) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert answer.text == ""
    assert answer.usage is not None


@each_wire
@pytest.mark.parametrize("fault", [Fault("hang"), Fault("drip", seconds=0.1)], ids=["hang", "drip"])
def test_the_deadline_is_total(server: FakeVendors, vendor: Vendor, fault: Fault) -> None:
    server.fail(fault, times=9)
    with asked(server, vendor, timeout=1) as line:
        began = time.monotonic()
        [answer] = line.answer_now([ASK])
        took = time.monotonic() - began
    assert isinstance(answer, Failure)
    assert answer.kind == "timeout"
    assert answer.reason.startswith(f"{vendor}: no answer within 1 s")
    assert took < 10


@each_wire
def test_a_wrong_key_is_not_tried_again_and_not_shown(vendor: Vendor, caplog: pytest.LogCaptureFixture) -> None:
    told = f'{{"error":{{"code":401,"message":"Incorrect API key provided: {KEY}.","status":"UNAUTHENTICATED"}}}}'
    caplog.set_level(logging.DEBUG)
    events: list[Event] = []
    with refusing(401, told) as url, access(profile(vendor, url), events=events) as line:
        [answer] = line.answer_now([ASK])
        shown = repr(line)
    assert isinstance(answer, Failure)
    assert answer.kind == "authentication"
    assert "[key]" in answer.reason
    assert KEY not in f"{answer}{shown}{events}{caplog.text}"


@each_wire
def test_keys_are_in_no_log_or_event(server: FakeVendors, vendor: Vendor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    events: list[Event] = []
    server.fail(Fault("server_error"))
    with asked(server, vendor) as line:
        answers = line.answer_now([ASK])
    server.fail(Fault("quota"))
    with access(profile(vendor, server.url), events=events) as line:
        answers += line.answer_now([ASK])
    assert caplog.text
    assert KEY not in f"{answers}{events}{caplog.text}"


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"])
def test_a_key_follows_no_redirect(server: FakeVendors, vendor: Vendor) -> None:
    with refusing(307, "", {"location": server.url}) as url, access(profile(vendor, url, attempts=1)) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Failure)
    assert server.requests == ()


@pytest.mark.parametrize("vendor", ["openai", "anthropic", "gemini"])
def test_addresses_in_the_environment_are_not_followed(
    server: FakeVendors, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/v1")
    with asked(server, vendor) as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)


def test_an_address_of_ones_own_gets_neither_openais_key_nor_its_organization(
    server: FakeVendors, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Received] = []

    def note(request: Received) -> Reply:
        sent.append(request)
        return Reply("Fine.")

    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-ours")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-ours")
    server.reply(note)
    with Access([profile("compatible", server.url)], key_of=lambda _: "") as line:
        line.answer_now([ASK, ASK])
    assert sent
    assert "org-ours" not in str(sent[-1].headers)
    assert "proj-ours" not in str(sent[-1].headers)


def test_azure_is_asked_at_its_own_address(server: FakeVendors) -> None:
    with asked(server, "azure") as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert answer.cost is not None


def test_openrouter_says_who_served() -> None:
    with FakeVendors() as server, asked(server, "openrouter") as line:
        server.fail(Fault("garbled", body=from_openrouter("The build broke.")))
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert answer.text == "The build broke."
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.output) == (20, 5)
    assert answer.cost == Decimal("0.0000185")


def test_a_reasoning_model_is_not_sent_a_temperature(server: FakeVendors) -> None:
    with asked(server, "openai", model="gpt-5-mini") as line:
        [answer] = line.answer_now([ASK])
    assert isinstance(answer, Completion)
    assert "temperature" not in server.requests[0].body


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_cached_tokens_are_told_apart(vendor: Vendor) -> None:
    long = Ask("Summarize.", "A line of the log that stays the same. " * 400, 50)
    with FakeVendors() as server, asked(server, vendor) as line:
        first, second = (line.answer_now([long])[0] for _ in range(2))
    assert isinstance(first, Completion)
    assert isinstance(second, Completion)
    assert first.usage is not None
    assert second.usage is not None
    assert second.usage.total_input == first.usage.total_input
    # Anthropic caches what is marked, and nothing is: a summary's material is read once.
    assert (second.usage.cache_read > 1024) == (vendor == "openai")
