"""Models that look up what the gateway removed: it answers them itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from compact.testing.vendors import FakeVendors, Reply
from tests.server.conftest import Serve, Served, long_history

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
CLAUDE = "claude-sonnet-5"


@pytest.fixture(scope="module")
def recalling(serve: Serve, vendor: FakeVendors) -> Iterator[Served]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        yield serve(vendor.url, gateway_recall=True)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_recall_is_answered_by_the_gateway(recalling: Served, vendor: FakeVendors, path: str, stream: bool) -> None:
    history = long_history(40, first=f"recall {path} {stream}")
    key = "input" if path == RESPONSES else "messages"
    body = {"model": CLAUDE if path == MESSAGES else "gpt-4o", key: history, "max_tokens": 500, "stream": stream}
    before = len(vendor.requests)
    vendor.reply(Reply("Let me see.", calls=[("compact_search", {"text": "part 3"})]), Reply("It is module 3."))
    answer = recalling.ask("POST", path, json=body, headers={"anthropic-version": "2023-06-01"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-compact-recalls"] == "1"
    assert "module 3." in answer.text
    assert "Let me see." not in answer.text
    asked = [request.body for request in vendor.requests[before:]]
    assert len(asked) == 2
    assert re.search(r"compact_recall (?:sum|cut|fold)-", json.dumps(asked[0][key]))
    assert "Module 3 counts the lines of part 3" in json.dumps(asked[1][key][-1:])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES])
def test_recall_beside_a_call_of_the_clients_goes_first(
    recalling: Served, vendor: FakeVendors, path: str, stream: bool
) -> None:
    history = long_history(40, first=f"both {path} {stream}")
    key = "input" if path == RESPONSES else "messages"
    body = {"model": CLAUDE if path == MESSAGES else "gpt-4o", key: history, "max_tokens": 500, "stream": stream}
    before = len(vendor.requests)
    both = [("read_file", {"path": "a"}), ("compact_recall", {"handle": "fold-none"})]
    vendor.reply(Reply(calls=both), Reply(calls=both[:1]))
    answer = recalling.ask("POST", path, json=body, headers={"anthropic-version": "2023-06-01"})
    assert answer.status_code == 200, answer.text
    assert "read_file" in answer.text
    again = json.dumps(vendor.requests[-1].body[key][-3:])
    assert len(vendor.requests) == before + 2
    assert "compact_recall" in again
    assert "read_file" not in again


def test_recall_ends_after_a_few_rounds(recalling: Served, vendor: FakeVendors) -> None:
    history = long_history(40, first="recall without end")
    before = len(vendor.requests)
    call = Reply(calls=[("compact_search", {"text": "part"})])
    vendor.reply(call, call, call, call, Reply("Enough."))
    answer = recalling.ask("POST", CHAT, json={"model": "gpt-4o", "messages": history})
    assert answer.json()["choices"][0]["message"]["content"] == "Enough."
    asked = [request.body for request in vendor.requests[before:]]
    assert [body.get("tool_choice") for body in asked] == [None, None, None, None, "none"]


def test_recall_is_not_offered_where_nothing_was_removed(recalling: Served, vendor: FakeVendors) -> None:
    ask = {"model": "gpt-4o", "messages": [{"role": "user", "content": "nothing removed"}]}
    assert recalling.ask("POST", CHAT, json=ask).status_code == 200
    assert vendor.requests[-1].body == ask
