"""Streams that begin with an error: one that says that the request is too long is answered by a shorter request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.server.gateway import opening
from compact.server.gateway.opening import read_first_event, read_opening
from compact.testing.vendors.wire import Answer
from tests.server.conftest import Recorder, Served, long_history

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
EVENTS = {"content-type": "text/event-stream; charset=utf-8"}
TOO_LONG = "prompt is too long: 20000 tokens > 8000 maximum"
EXCEEDED = {"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."}


def event(value: Any, name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(value).encode() + b"\n\n"


CREATED = event({"type": "response.created", "response": {"id": "r"}}, "response.created")
GOING_ON = event({"type": "response.in_progress", "response": {"id": "r"}}, "response.in_progress")
OVERFLOWS = {
    "anthropic": (MESSAGES, event({"type": "error", "error": {"message": TOO_LONG}}, "error")),
    "chat": (CHAT, event({"error": {"type": "invalid_request_error", **EXCEEDED}})),
    "responses, at once": (RESPONSES, event({"type": "error", **EXCEEDED}, "error")),
    "responses, begun": (
        RESPONSES,
        CREATED + GOING_ON + event({"type": "response.failed", "response": {"error": EXCEEDED}}, "response.failed"),
    ),
}
CONTENT = [
    event({"id": "c", "choices": [{"delta": {"content": "error"}}]}) + b"data: [DONE]\n\n",
    event({"type": "message_start", "message": {}}, "message_start") + event({"type": "error"}, "error"),
    CREATED + event({"type": "response.output_text.delta", "delta": "x"}, "response.output_text.delta"),
    b": keep-alive\n\n" + event({"error": {"message": "later"}}),
    b"",
]


def asked(path: str, model: str) -> dict[str, Any]:
    key = "input" if path == RESPONSES else "messages"
    return {"model": model, key: long_history(60, first=f"{model} {path}"), "stream": True, "max_tokens": 50}


async def pieces(*given: bytes, pause: float = 0.0) -> AsyncIterator[bytes]:
    for piece in given:
        await asyncio.sleep(pause)
        yield piece


@pytest.mark.parametrize("kind", OVERFLOWS)
def test_an_overflow_told_in_a_stream_forces_one_compaction_and_one_retry(
    recorded: Served, recorder: Recorder, kind: str
) -> None:
    path, told = OVERFLOWS[kind]
    before = len(recorder.arrived)
    recorder.answers += [Answer(200, EVENTS, (told,), stream=True), Answer(200, EVENTS, (CONTENT[0],), stream=True)]
    answer = recorded.ask("POST", path, json=asked(path, f"unknown-{kind.replace(', ', '-')}".replace(" ", "-")))
    assert (answer.status_code, answer.headers["x-compact-compaction"]) == (200, "forced")
    assert answer.content == CONTENT[0]
    first, second = recorder.arrived[before:]
    assert len(second.body) < len(first.body)


@pytest.mark.parametrize("kind", OVERFLOWS)
def test_an_overflow_that_nothing_can_be_done_about_goes_on_as_it_came(
    recorded: Served, recorder: Recorder, kind: str
) -> None:
    path, told = OVERFLOWS[kind]
    before = len(recorder.arrived)
    recorder.answers.append(Answer(200, EVENTS, (told,), stream=True))
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}], "input": "Hi", "stream": True}
    answer = recorded.ask("POST", path, json=body)
    assert (answer.status_code, answer.content) == (200, told)
    assert len(recorder.arrived) == before + 1


@pytest.mark.parametrize("told", [*CONTENT, event({"type": "error", "error": {"message": "Overloaded"}}, "error")])
def test_any_other_stream_goes_on_as_it_came(recorded: Served, recorder: Recorder, told: bytes) -> None:
    before = len(recorder.arrived)
    # An empty chunk would be the end of the answer before its end.
    recorder.answers.append(Answer(200, EVENTS, (told,) if told else (), stream=True))
    answer = recorded.ask("POST", MESSAGES, json=asked(MESSAGES, "claude-sonnet-5"))
    assert (answer.status_code, answer.content) == (200, told)
    assert len(recorder.arrived) == before + 1


@given(st.sampled_from([*CONTENT, *(told for _, told in OVERFLOWS.values())]), st.lists(st.integers(1, 300)))
def test_a_stream_is_whole_however_it_is_cut(stream: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    cut = [stream[start:end] for start, end in pairwise(places)]

    async def read() -> tuple[bytes, Any]:
        begun = await read_opening(pieces(*cut))
        return b"".join([piece async for piece in begun.pieces()]), begun.error

    whole, error = asyncio.run(read())
    assert whole == stream
    assert (error is not None) == (stream not in CONTENT)


@pytest.mark.parametrize("first", [b'data: {"i', b"event: m", b": ", b"id: 1\n", b"retry: 3\n", b'{"error"'])
def test_content_is_known_by_its_first_bytes(first: bytes) -> None:
    assert read_first_event(first) == ("content", None)


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n"])
def test_errors_are_read_with_any_spacing(end: bytes) -> None:
    for data in (b'data:{ "error" : {"a": 1} }', b"event:error" + end[: len(end) // 2] + b'data: {"error": {"a": 1}}'):
        assert read_first_event(data + end) == ("error", {"error": {"a": 1}})


def test_a_preface_is_not_held_back_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "PREFACE_SECONDS", 0.01)

    async def read() -> tuple[tuple[bytes, ...], list[bytes]]:
        begun = await read_opening(pieces(CREATED, b"later", pause=0.1))
        return begun.read, [piece async for piece in begun.pieces()]

    assert asyncio.run(read()) == ((CREATED,), [CREATED, b"later"])


def test_who_stops_listening_stops_the_reading() -> None:
    closed: list[bool] = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            yield b"event: er"
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def read() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await read_opening(endless())
        await asyncio.sleep(0)

    asyncio.run(read())
    assert closed == [True]
