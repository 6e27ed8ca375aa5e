"""Requests that count tokens: the answer is for what would be sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors
from tests.server.conftest import Serve, Served, long_history

MESSAGES, RESPONSES = "/v1/messages", "/v1/responses"
COUNTS = {MESSAGES: "/v1/messages/count_tokens", RESPONSES: "/v1/responses/input_tokens"}
MODELS = {MESSAGES: "claude-sonnet-5", RESPONSES: "gpt-4o"}
KEYS = {MESSAGES: "messages", RESPONSES: "input"}
VERSION = {"anthropic-version": "2023-06-01"}
MORE = [{"role": "assistant", "content": "Module 3."}, {"role": "user", "content": "Sure?"}]


@pytest.fixture(scope="module")
def narrow(serve: Serve, vendor: FakeVendors) -> Iterator[Served]:
    """A gateway that knows how small the vendor's windows are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        yield serve(vendor.url)


def ask(served: Served, path: str, history: list[Any], **options: Any) -> httpx2.Response:
    limit = {MESSAGES: {"max_tokens": 50}, RESPONSES: {"max_output_tokens": 50}}.get(path, {})
    own = next(own for own in KEYS if path.startswith(own))
    body = {"model": MODELS[own], KEYS[own]: history, **limit, **options}
    answer = served.ask("POST", path, json=body, headers=VERSION)
    assert answer.status_code == 200, answer.text
    return answer


def counted(served: Served, path: str, history: list[Any], **options: Any) -> int:
    return int(ask(served, COUNTS[path], history, **options).json()["input_tokens"])


def used(answer: httpx2.Response) -> int:
    usage = answer.json()["usage"]
    cached = usage.get("cache_read_input_tokens", 0) + usage.get("cache_creation_input_tokens", 0)
    return int(usage["input_tokens"] + cached)


def sent(vendor: FakeVendors, path: str) -> Any:
    body: Any = vendor.requests[-1].body
    return body[KEYS[path]]


@pytest.mark.parametrize("path", COUNTS)
def test_a_count_is_that_of_the_request_as_it_would_be_sent(narrow: Served, vendor: FakeVendors, path: str) -> None:
    history = long_history(40, first=f"counted {path}")
    answer = ask(narrow, path, history)
    assert answer.headers["x-compact-compaction"] == "applied"
    messages = sent(vendor, path)
    told = ask(narrow, COUNTS[path], history)
    assert (told.json()["input_tokens"], told.headers["x-compact-compaction"]) == (used(answer), "applied")
    assert sent(vendor, path) == messages
    longer = [*history, *MORE]
    number = counted(narrow, path, longer)
    assert sent(vendor, path) == [*messages, *MORE]
    assert used(ask(narrow, path, longer)) == number


@pytest.mark.parametrize("path", COUNTS)
def test_counting_compacts_nothing(narrow: Served, vendor: FakeVendors, path: str) -> None:
    history = long_history(40, first=f"unknown {path}")
    assert counted(narrow, path, history) > 8_000
    assert sent(vendor, path) == history
    messages = (ask(narrow, path, history), sent(vendor, path))[1]
    # Above the trigger, too, only the compactions that there are apply.
    longer = [*history, *long_history(30, first=f"more {path}")]
    told = ask(narrow, COUNTS[path], longer)
    assert told.headers["x-compact-compaction"] == "applied"
    assert sent(vendor, path) == [*messages, *longer[len(history) :]]
    assert told.json()["input_tokens"] > 8_000


@pytest.mark.parametrize("path", COUNTS)
def test_counting_changes_nothing_for_the_session(narrow: Served, vendor: FakeVendors, path: str) -> None:
    history = long_history(40, first=f"unchanged {path}")
    ask(narrow, path, history)
    messages = sent(vendor, path)
    system = {"system": "Be brief."} if path == MESSAGES else {"instructions": "Be brief."}
    counted(narrow, path, history, **system)
    counted(narrow, path, [*history[:20], {"role": "user", "content": "Another way."}])
    counted(narrow, path, [{"role": "user", "content": "foo"}])
    counted(narrow, path, [*history, *MORE, {"role": "user", "content": "And this?"}])
    assert ask(narrow, path, [*history, *MORE]).headers["x-compact-compaction"] == "applied"
    assert sent(vendor, path) == [*messages, *MORE]


def test_a_session_that_is_named_is_counted_as_well_and_after_a_restart(
    narrow: Served, vendor: FakeVendors, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history, named = long_history(40, first="named"), {"x-compact-session": "counted.1", **VERSION}
    body = {"model": MODELS[MESSAGES], "messages": history, "max_tokens": 50}
    answer = narrow.ask("POST", MESSAGES, json=body, headers=named)
    assert answer.headers["x-compact-compaction"] == "applied"
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
    settings = ServerSettings(upstream_anthropic=vendor.url)
    state = ServerState(environment, settings=settings)
    with running(state) as url, httpx2.Client(headers={"x-api-key": state.token}, timeout=30) as client:
        for headers in (named, VERSION):
            told = client.post(f"{url}/v1/messages/count_tokens", json=body, headers=headers)
            expected = used(answer) if headers is named else pytest.approx(12_000, rel=0.3)
            assert told.json()["input_tokens"] == expected


def test_what_cannot_be_projected_is_counted_as_it_is(narrow: Served, vendor: FakeVendors) -> None:
    odd = [{"role": "user", "content": "hi", "meta": {"protected": True}}]
    assert counted(narrow, MESSAGES, odd) > 0
    assert sent(vendor, MESSAGES) == [{"role": "user", "content": "hi"}]
    wrong = narrow.ask("POST", COUNTS[MESSAGES], json={"messages": 3}, headers=VERSION)
    assert wrong.status_code == 400
    assert "model" in wrong.json()["error"]["message"]


@pytest.mark.parametrize("path", COUNTS)
def test_tools_to_recall_are_counted_where_they_would_be_sent(serve: Serve, vendor: FakeVendors, path: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", "8000")
        recalling = serve(vendor.url, gateway_recall=True)
        history = long_history(40, first=f"recalling {path}")
        assert used(ask(recalling, path, history)) == counted(recalling, path, history)
