"""Clients that ask their vendor to compact: they are left to it as long as the request fits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from compact.app import count_tokens
from compact.messages import Json
from tests.server.conftest import Recorder, Serve, Served, long_history

RESPONSES, COMPACT, MESSAGES = "/v1/responses", "/v1/responses/compact", "/v1/messages"
WINDOW = 40_000
LIMITS: dict[str, Json] = {"max_output_tokens": 100}
ANTHROPIC: dict[str, Json] = {"max_tokens": 100}
TRIGGER: Json = {"type": "compaction_trigger"}
EDIT: Json = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 150_000}}
ASKING: dict[str, tuple[str, dict[str, Json], list[Json]]] = {
    "at a threshold, OpenAI": (
        RESPONSES,
        {**LIMITS, "context_management": [{"type": "compaction", "compact_threshold": 30_000}]},
        [],
    ),
    "with an item": (RESPONSES, LIMITS, [TRIGGER]),
    "at an endpoint": (COMPACT, {}, []),
    "at a threshold, Anthropic": (MESSAGES, {**ANTHROPIC, "context_management": {"edits": [EDIT]}}, []),
    "on demand": (MESSAGES, {**ANTHROPIC, "compaction": {"type": "summarize"}}, []),
}
NOT_ASKING: dict[str, tuple[str, dict[str, Json], list[Json]]] = {
    "OpenAI": (RESPONSES, {**LIMITS, "context_management": None}, []),
    "Anthropic": (MESSAGES, {**ANTHROPIC, "compaction": None}, []),
    "what Claude Code sends": (
        MESSAGES,
        {**ANTHROPIC, "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}},
        [],
    ),
}


@pytest.fixture(scope="module")
def gateway(serve: Serve, recorder: Recorder) -> Iterator[Served]:
    """A gateway that compacts from half of the window on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_MAX_CONTEXT_TOKENS", str(WINDOW))
        patch.setenv("COMPACT_TRIGGER_PCT", "0.5")
        yield serve(recorder.url)


def body_of(path: str, options: dict[str, Json], turns: int, last: list[Json], first: str) -> dict[str, Any]:
    key, model = ("messages", "claude-sonnet-5") if path == MESSAGES else ("input", "gpt-4o")
    return {"model": model, key: [*long_history(turns, first=first), *last], **options}


def tokens(body: bytes) -> int:
    request = json.loads(body)
    format = "anthropic-messages" if "messages" in request else "openai-responses"
    return count_tokens({**request, "format": format}, model=request["model"])


@pytest.mark.parametrize("way", ASKING)
def test_a_request_that_fits_is_left_to_the_vendor(gateway: Served, recorder: Recorder, way: str) -> None:
    path, options, last = ASKING[way]
    turns = 52 if path == MESSAGES else 80
    content = json.dumps(body_of(path, options, turns, last, f"fits {way}")).encode()
    assert WINDOW * 0.6 < tokens(content) < WINDOW * 0.75
    answer = gateway.ask("POST", path, content=content, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.headers["x-compact-compaction"]) == (200, "none")
    assert recorder.arrived[-1].target == path
    assert recorder.arrived[-1].body == content


@pytest.mark.parametrize("way", ASKING)
def test_never_more_is_sent_than_fits(gateway: Served, recorder: Recorder, way: str) -> None:
    path, options, last = ASKING[way]
    body = body_of(path, options, 180, last, f"too long {way}")
    assert tokens(json.dumps(body).encode()) > WINDOW
    answer = gateway.ask("POST", path, json=body)
    assert (answer.status_code, answer.headers["x-compact-compaction"]) == (200, "applied")
    arrived = recorder.arrived[-1]
    assert arrived.target == path
    assert tokens(arrived.body) < WINDOW * 0.75
    key = "messages" if path == MESSAGES else "input"
    sent = json.loads(arrived.body)
    assert {name: value for name, value in sent.items() if name != key} == {
        name: value for name, value in body.items() if name != key
    }
    assert sent[key][-1] == body[key][-1]


@pytest.mark.parametrize("way", ASKING)
def test_an_earlier_compaction_stays(gateway: Served, recorder: Recorder, way: str) -> None:
    path, options, last = ASKING[way]
    body = body_of(path, options, 180, [], f"stays {way}")
    key = "messages" if path == MESSAGES else "input"
    answer = gateway.ask("POST", path, json=body)
    sent = json.loads(recorder.arrived[-1].body)[key]
    assert len(sent) < len(body[key])
    more: list[Json] = [{"role": "assistant", "content": "Module 3."}, {"role": "user", "content": "Sure?"}]
    again = gateway.ask("POST", path, json={**body, key: [*body[key], *more, *last]})
    assert again.headers["x-compact-session"] == answer.headers["x-compact-session"]
    assert json.loads(recorder.arrived[-1].body)[key] == [*sent, *more, *last]


@pytest.mark.parametrize("way", NOT_ASKING)
def test_others_are_compacted_at_the_trigger(gateway: Served, recorder: Recorder, way: str) -> None:
    path, options, last = NOT_ASKING[way]
    answer = gateway.ask("POST", path, json=body_of(path, options, 80, last, f"others {way}"))
    assert answer.headers["x-compact-compaction"] == "applied"
    assert tokens(recorder.arrived[-1].body) < WINDOW * 0.5


@pytest.mark.parametrize("beside", [{}, {"previous_response_id": "resp_1"}, {"conversation": "conv_1"}])
@pytest.mark.parametrize("path", [COMPACT, "/responses/compact", RESPONSES])
def test_what_cannot_be_made_to_fit_is_refused_before_the_vendor_is_asked(
    gateway: Served, recorder: Recorder, path: str, beside: dict[str, Json]
) -> None:
    before = len(recorder.arrived)
    huge = "word " * 45_000
    items: list[Json] = [{"role": "user", "content": huge}]
    for given in (items, huge):
        answer = gateway.ask("POST", path, json={"model": "gpt-4o", "input": given, **beside})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "context_length_exceeded")
    assert len(recorder.arrived) == before


def test_a_vendor_that_compacts_is_sent_no_other_tools(
    serve: Serve, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACT_MAX_CONTEXT_TOKENS", str(WINDOW))
    recalling = serve(recorder.url, gateway_recall=True)
    body = body_of(COMPACT, {}, 180, [], "no tools")
    answer = recalling.ask("POST", COMPACT, json=body)
    assert answer.headers["x-compact-compaction"] == "applied"
    assert "tools" not in json.loads(recorder.arrived[-1].body)


def test_a_conversation_that_the_vendor_keeps_is_compacted_by_the_vendor(gateway: Served, recorder: Recorder) -> None:
    for turns, truncation in ((100, "disabled"), (180, "auto")):
        told = {"previous_response_id": "resp_1", "truncation": truncation}
        body = {"model": "gpt-4o", "input": long_history(turns), **told}
        answer = gateway.ask("POST", COMPACT, json=body)
        assert answer.headers["x-compact-compaction"] == "none"
        assert json.loads(recorder.arrived[-1].body) == body
