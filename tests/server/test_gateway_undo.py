"""What the gateway's headers say of a compaction: that it is near, what it removed, and how it is undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from compact import count_tokens
from compact.testing.vendors import FakeVendors
from tests.server.conftest import Serve, Served, long_history

PATH, WINDOW = "/v1/chat/completions", 8_000
CHOSEN = {"COMPACT_MAX_CONTEXT_TOKENS": str(WINDOW), "COMPACT_TRIGGER_PCT": "0.5", "COMPACT_TARGET_PCT": "0.3"}


@pytest.fixture(scope="module")
def early(serve: Serve, vendor: FakeVendors) -> Iterator[Served]:
    """A gateway that compacts at half of the vendor's window, so that a session may be undone and still fits."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CHOSEN.items():
            patch.setenv(name, value)
        yield serve(vendor.url, gateway_recall=False)


def said(turns: int) -> list[Any]:
    return long_history(turns, first="undo")


def size(turns: int) -> int:
    return count_tokens(said(turns), model="gpt-4o")


def ask(early: Served, messages: list[Any], **headers: str) -> Any:
    body = {"model": "gpt-4o", "messages": messages, "max_tokens": 100}
    named = {f"x-compact-{name}": value for name, value in headers.items()}
    return early.ask("POST", PATH, json=body, headers=named)


def test_headers_say_how_many_tokens_are_left_until_a_compaction_that_is_near(early: Served) -> None:
    turns = next(turns for turns in range(30) if size(turns) > 0.9 * WINDOW / 2)
    far, near = ask(early, said(turns - 3), session="near"), ask(early, said(turns), session="near")
    assert "x-compact-near" not in far.headers
    assert int(near.headers["x-compact-near"]) == WINDOW // 2 - size(turns)
    assert 0 < WINDOW // 2 - size(turns) < WINDOW // 20
    assert near.headers["x-compact-compaction"] == "none"
    assert not {"x-compact-undo", "x-compact-removed"} & near.headers.keys()


def test_a_compaction_is_undone_by_sending_its_header_back(early: Served, vendor: FakeVendors) -> None:
    done = ask(early, said(18), session="undo")
    body: Any = vendor.requests[-1].body
    assert done.headers["x-compact-compaction"] == "applied"
    assert int(done.headers["x-compact-removed"]) == len(said(18)) - len(body["messages"]) + 1
    assert "x-compact-near" not in done.headers
    again = ask(early, said(19), session="undo")
    assert "x-compact-undo" not in again.headers
    undone = ask(early, said(19), session="undo", undo=done.headers["x-compact-undo"])
    body = vendor.requests[-1].body
    assert body["messages"] == said(19)
    assert (undone.headers["x-compact-compaction"], undone.headers["x-compact-break"]) == ("none", "undo")
    assert all(not name.startswith("x-compact") for name in vendor.requests[-1].headers)


@pytest.mark.parametrize("number", ["99", "no number", "-1", "9" * 40])
def test_a_compaction_that_there_is_not_stops_no_request(early: Served, vendor: FakeVendors, number: str) -> None:
    answer = ask(early, said(3), session="nothing", undo=number)
    body: Any = vendor.requests[-1].body
    assert (answer.status_code, body["messages"]) == (200, said(3))
    if number == "99":
        assert answer.headers["x-compact-compaction"] == "failed"
        assert "there is nothing to undo" in answer.headers["x-compact-reason"]
