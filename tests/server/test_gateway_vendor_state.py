"""The gateway and items that hold tools and state of the vendor, with the fake vendors behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import Anthropic
from openai import OpenAI

from compact.testing.vendors import FakeVendors
from tests.server.conftest import Serve, Served
from tests.vendor_state import SUMMARY, anthropic_compacted, codex_items, held

WINDOWS = tuple(range(12_000, 40_001, 7_000))


@pytest.fixture(scope="module", params=WINDOWS)
def exact(request: pytest.FixtureRequest, serve: Serve) -> Iterator[tuple[FakeVendors, Served, int]]:
    """A gateway that knows the window of the vendor behind it."""
    window: int = request.param
    with FakeVendors(window=window) as vendor, pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", str(window))
        yield vendor, serve(vendor.url), window


def test_codex_keeps_all_its_tools(exact: tuple[FakeVendors, Served, int]) -> None:
    vendor, served, window = exact
    told = []
    with OpenAI(base_url=f"{served.url}/v1", api_key=served.state.token, max_retries=0) as client:
        for count in range(0, window // 300, 10):
            items: Any = codex_items(count)
            answer = client.responses.with_raw_response.create(model="gpt-5.1-codex", input=items, store=False)
            body: Any = vendor.requests[-1].body
            assert held(body["input"]) == held(items)
            told.append(answer.headers["x-compact-compaction"])
    assert told[0] == "none"
    assert "applied" in told
    assert {request.status for request in vendor.requests} == {200}


def test_what_anthropic_has_summarized_needs_no_compaction(exact: tuple[FakeVendors, Served, int]) -> None:
    vendor, served, _ = exact
    history: Any = anthropic_compacted(100, 1)
    with Anthropic(base_url=served.url, api_key=served.state.token, max_retries=0) as client:
        answer = client.messages.with_raw_response.create(model="claude-sonnet-5", messages=history, max_tokens=100)
    assert answer.headers["x-compact-compaction"] == "none"
    assert int(answer.headers["x-compact-tokens-before"]) < 2_000
    body: Any = vendor.requests[-1].body
    assert body["messages"] == history
    assert body["messages"][201]["content"][0] == SUMMARY
