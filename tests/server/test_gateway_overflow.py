"""Requests that the vendor finds too long."""

from __future__ import annotations

import pytest

from compact.testing.vendors import FakeVendors
from tests.server.conftest import Served, long_history

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


def test_an_overflow_that_nothing_can_be_done_about_is_the_vendors(served: Served, vendor: FakeVendors) -> None:
    before = len(vendor.requests)
    ask = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "word " * 9_000}]}
    answer = served.ask("POST", CHAT, json=ask)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "context_length_exceeded"
    assert len(vendor.requests) == before + 1
