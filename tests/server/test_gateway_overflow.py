"""Requests that the vendor finds too long."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from compact.models import find_model
from compact.server.gateway.compacting import Compactor
from compact.testing.vendors import FakeVendors
from compact.testing.vendors.wire import Answer
from tests.server.conftest import Recorder, Served, long_history

if TYPE_CHECKING:
    import httpx2

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_an_overflow_forces_one_compaction_and_one_retry(served: Served, vendor: FakeVendors, path: str) -> None:
    history = long_history(60, first=f"overflow {path}")
    key = "input" if path == RESPONSES else "messages"
    model = {CHAT: "gpt-4o", RESPONSES: "gpt-4o-mini", MESSAGES: "claude-sonnet-5"}[path]
    before = len(vendor.requests)
    headers = {"anthropic-version": "2023-06-01"}
    answer = served.ask("POST", path, json={"model": model, key: history, "max_tokens": 50}, headers=headers)
    assert answer.status_code == 200, answer.text
    assert [request.status for request in vendor.requests[before:]] == [400, 200]
    assert answer.headers["x-compact-compaction"] == "forced"
    assert int(answer.headers["x-compact-tokens-after"]) < 8_000
    # From now on the window is known, so nothing is tried twice.
    history += [{"role": "assistant", "content": "Module 3."}, {"role": "user", "content": "Sure?"}]
    again = served.ask("POST", path, json={"model": model, key: history, "max_tokens": 50}, headers=headers)
    assert (again.status_code, again.headers["x-compact-compaction"]) == (200, "applied")
    assert len(vendor.requests) == before + 3


def window_of(served: Served, model: str) -> int:
    with served.state.service("gateway", Compactor)._managers.using(model, None) as manager:
        return manager.window


def refusal(message: str) -> Answer:
    body = json.dumps({"error": {"type": "invalid_request_error", "message": message}}).encode()
    return Answer(400, {"content-type": "application/json"}, (body,))


def ask(served: Served, model: str, first: str, turns: int = 60, answer: int = 4_000) -> httpx2.Response:
    history = long_history(turns, first=f"{model} {first}")
    return served.ask("POST", CHAT, json={"model": model, "messages": history, "max_tokens": answer})


@pytest.mark.parametrize(
    ("model", "answer", "message"),
    [
        (
            "gpt-4o",
            19_500,
            (
                "This model's maximum context length is 20000 tokens. However, you requested 37500 tokens (18000 in "
                "the messages, 19500 in the completion)."
            ),
        ),
        (
            "gpt-4.1",
            21_000,
            (
                "This endpoint's maximum context length is 20000 tokens. However, you requested about 39000 tokens "
                "(18000 of text input, 21000 in the output)."
            ),
        ),
        ("gpt-4.1-mini", 19_900, "input length and `max_tokens` exceed context limit: 18000 + 19900 > 20000"),
        (
            "gpt-4o-mini",
            30_000,
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 30000. This model's maximum context length is "
                "20000 tokens and your request has 18000 input tokens (30000 > 20000 - 18000)."
            ),
        ),
    ],
)
def test_an_answer_that_leaves_no_room_for_any_input_gets_what_is_left(
    recorded: Served, recorder: Recorder, model: str, answer: int, message: str
) -> None:
    before = len(recorder.arrived)
    recorder.answers.append(refusal(message))
    forced = ask(recorded, model, "greedy", answer=answer)
    assert forced.status_code == 200
    assert forced.headers["x-compact-compaction"] == "forced"
    tokens, limit = (int(forced.headers[f"x-compact-{name}"]) for name in ("tokens-after", "max-tokens"))
    assert 18_000 < tokens + limit < 18_600  # as the vendor counts
    assert [json.loads(one.body)["max_tokens"] for one in recorder.arrived[before:]] == [answer, limit]
    assert window_of(recorded, model) == 20_000


def test_where_it_is_enough_to_lower_the_limit_of_the_answer_the_conversation_stays(
    recorded: Served, recorder: Recorder
) -> None:
    before, model = len(recorder.arrived), "o1"
    recorder.answers.append(refusal("input length and `max_tokens` exceed context limit: 6200 + 19000 > 20000"))
    forced = ask(recorded, model, "lower", turns=20, answer=19_000)
    assert forced.headers["x-compact-compaction"] == "forced"
    first, second = (json.loads(one.body) for one in recorder.arrived[before:])
    assert second == {**first, "max_tokens": int(forced.headers["x-compact-max-tokens"])}
    following = ask(recorded, model, "lower", turns=20, answer=19_000)
    assert following.headers["x-compact-compaction"] == "none"
    assert json.loads(recorder.arrived[-1].body)["max_tokens"] < 19_000
    assert len(recorder.arrived) == before + 3
    assert ask(recorded, model, "lower", turns=20).headers.get("x-compact-max-tokens") is None


def test_room_for_an_answer_is_made_once_and_from_then_on_before_the_vendor_is_asked(
    recorded: Served, recorder: Recorder
) -> None:
    before, model = len(recorder.arrived), "gpt-4.1-nano"
    recorder.answers.append(refusal("input length and `max_tokens` exceed context limit: 18000 + 4000 > 20000"))
    forced = ask(recorded, model, "room")
    assert forced.headers["x-compact-compaction"] == "forced"
    assert int(forced.headers["x-compact-tokens-after"]) + 4_000 < 20_000
    assert window_of(recorded, model) == 20_000
    again = ask(recorded, model, "room")
    assert again.headers["x-compact-compaction"] == "applied"
    assert again.headers["x-compact-session"] == forced.headers["x-compact-session"]
    assert recorder.arrived[-1].body == recorder.arrived[before + 1].body
    assert ask(recorded, model, "another").headers["x-compact-compaction"] == "applied"


def test_a_window_is_known_as_the_vendor_tells_it_once_the_input_alone_was_too_long(
    recorded: Served, recorder: Recorder
) -> None:
    model = "o3-mini"
    recorder.answers.append(refusal("input length and `max_tokens` exceed context limit: 21000 + 4000 > 16000"))
    assert ask(recorded, model, "long").headers["x-compact-compaction"] == "forced"
    assert window_of(recorded, model) == 16_000
    assert ask(recorded, model, "another", turns=70).headers["x-compact-compaction"] == "applied"


def test_an_overflow_that_nothing_can_be_done_about_is_the_vendors(served: Served, vendor: FakeVendors) -> None:
    before = len(vendor.requests)
    ask = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "word " * 9_000}]}
    answer = served.ask("POST", CHAT, json=ask)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "context_length_exceeded"
    assert "tokens cannot be condensed: " in answer.headers["x-compact-reason"]
    assert len(vendor.requests) == before + 1
    assert window_of(served, "gpt-4.1") == find_model("gpt-4.1").max_input
