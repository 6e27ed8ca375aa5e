"""The gateway keeps room for the answer, in front of vendors that refuse what does not fit with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from compact.testing.vendors import FakeVendors
from tests.server.conftest import Serve, Served, long_history

if TYPE_CHECKING:
    import httpx2

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
LIMITS = {CHAT: "max_completion_tokens", RESPONSES: "max_output_tokens", MESSAGES: "max_tokens"}
VERSION = {"anthropic-version": "2023-06-01"}
WINDOW, BUFFER = 8_000, 1_500


@pytest.fixture(scope="module")
def narrow(serve: Serve, vendor: FakeVendors) -> Iterator[Served]:
    """A gateway that knows how small the vendor's windows are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", str(WINDOW))
        yield serve(vendor.url)


def request(path: str, turns: int, limit: int, first: str) -> dict[str, Any]:
    history = long_history(turns, first=f"{first} {path}")
    return {"model": "gpt-4o", "input" if path == RESPONSES else "messages": history, LIMITS[path]: limit}


@pytest.mark.parametrize("path", LIMITS)
def test_a_request_that_fits_with_its_answer_keeps_its_bytes(narrow: Served, vendor: FakeVendors, path: str) -> None:
    body = request(path, 10, 3_000, "fits")
    answer = narrow.ask("POST", path, json=body, headers=VERSION)
    assert (answer.status_code, answer.headers["x-compact-compaction"]) == (200, "none")
    assert "x-compact-max-tokens" not in answer.headers
    assert vendor.requests[-1].body == body


@pytest.mark.parametrize("path", LIMITS)
def test_an_answer_that_wants_more_than_half_of_the_window_gets_what_is_left(
    narrow: Served, vendor: FakeVendors, path: str
) -> None:
    body = request(path, 10, 8_192, "greedy")
    answer = narrow.ask("POST", path, json=body, headers=VERSION)
    assert (answer.status_code, answer.headers["x-compact-compaction"]) == (200, "none")
    limit = int(answer.headers["x-compact-max-tokens"])
    assert limit == WINDOW - BUFFER - int(answer.headers["x-compact-tokens-after"])
    assert json.dumps(vendor.requests[-1].body) == json.dumps({**body, LIMITS[path]: limit})


@pytest.mark.parametrize("path", LIMITS)
def test_room_for_an_answer_is_made_before_the_vendor_refuses(narrow: Served, vendor: FakeVendors, path: str) -> None:
    before = len(vendor.requests)
    for turns in range(14, 26):
        answer = narrow.ask("POST", path, json=request(path, turns, 2_500, "room"), headers=VERSION)
        assert answer.status_code == 200
        assert int(answer.headers["x-compact-tokens-after"]) <= WINDOW - BUFFER - 2_500
        assert "x-compact-max-tokens" not in answer.headers
    assert [one.status for one in vendor.requests[before:]] == [200] * 12


def test_reasoning_keeps_its_budget_and_what_does_not_fit_is_refused(narrow: Served, vendor: FakeVendors) -> None:
    thinking = {"type": "enabled", "budget_tokens": 3_000}
    body = {**request(MESSAGES, 10, 8_000, "thinking"), "thinking": thinking, "temperature": 1}
    answer = narrow.ask("POST", MESSAGES, json=body, headers=VERSION)
    assert answer.status_code == 200
    assert vendor.requests[-1].body["max_tokens"] == int(answer.headers["x-compact-max-tokens"]) > 3_000
    before = len(vendor.requests)
    huge = {**body, "thinking": {**thinking, "budget_tokens": 7_000}}
    refused = narrow.ask("POST", MESSAGES, json=huge, headers=VERSION)
    assert (refused.status_code, refused.json()["error"]["type"]) == (400, "invalid_request_error")
    assert len(vendor.requests) == before


@pytest.mark.parametrize("in_a_list", [False, True])
def test_a_text_alone_is_measured_like_a_message_with_it(
    narrow: Served, vendor: FakeVendors, *, in_a_list: bool
) -> None:
    def ask(words: int) -> tuple[httpx2.Response, Any]:
        text = "word " * words
        given = [{"role": "user", "content": text}] if in_a_list else text
        body = {"model": "gpt-4o", "input": given, "max_output_tokens": 6_000}
        return narrow.ask("POST", RESPONSES, json=body), body

    answer, body = ask(100)
    assert (answer.status_code, int(answer.headers["x-compact-tokens-before"])) == (200, 108)
    assert vendor.requests[-1].body == body
    answer, body = ask(5_000)
    limit = int(answer.headers["x-compact-max-tokens"])
    assert limit == WINDOW - BUFFER - int(answer.headers["x-compact-tokens-after"])
    assert json.dumps(vendor.requests[-1].body) == json.dumps({**body, "max_output_tokens": limit})
    before = len(vendor.requests)
    refused, _ = ask(7_000)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "context_length_exceeded")
    assert len(vendor.requests) == before
