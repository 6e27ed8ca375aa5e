"""Anthropic's streams through the gateway: whole, with an error in them, and broken off."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, APIStatusError

from compact.messages import Json
from compact.server.gateway.compacting import reason_header
from compact.testing.vendors import Fault
from compact.testing.vendors.wire import Answer
from tests.server.conftest import Recorder, Served

MESSAGES = "/v1/messages"
ASK: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "max_tokens": 50,
    "stream": True,
    "messages": [{"role": "user", "content": "Hi"}],
}


def event(kind: str, **told: Json) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **told})}\n\n".encode()


ANSWER = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "content": []}
BEGUN = (
    event("message_start", message={**ANSWER, "usage": {"input_tokens": 8, "output_tokens": 1}}),
    event("content_block_start", index=0, content_block={"type": "text", "text": ""}),
    event("ping"),
    event("content_block_delta", index=0, delta={"type": "text_delta", "text": "H\u00e9"}),
)
ENDED = (
    event("content_block_stop", index=0),
    event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 2}),
    event("message_stop"),
)
OVERLOADED = event("error", error={"type": "overloaded_error", "message": "Overloaded"})


def streamed(*chunks: bytes, fault: Fault | None = None) -> Answer:
    return Answer(200, {"content-type": "text/event-stream; charset=utf-8"}, chunks, stream=True, fault=fault)


@pytest.mark.parametrize("chunks", [(*BEGUN, *ENDED), (*BEGUN, OVERLOADED), (OVERLOADED,)])
def test_a_stream_arrives_byte_for_byte_whatever_is_in_it(
    recorded: Served, recorder: Recorder, chunks: tuple[bytes, ...]
) -> None:
    recorder.answers.append(streamed(*chunks))
    answer = recorded.ask("POST", MESSAGES, json=ASK)
    assert (answer.status_code, answer.content) == (200, b"".join(chunks))
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"


def test_the_sdk_reads_an_answer_and_an_error_in_its_midst(recorded: Served, recorder: Recorder) -> None:
    given = {name: value for name, value in ASK.items() if name != "stream"}
    recorder.answers += [streamed(*BEGUN, *ENDED), streamed(*BEGUN, OVERLOADED)]
    with Anthropic(base_url=recorded.url, api_key=recorded.state.token, max_retries=0) as client:
        with client.messages.stream(**given) as stream:
            assert stream.get_final_text() == "H\u00e9"
        with pytest.raises(APIStatusError, match="Overloaded"), client.messages.stream(**given) as stream:
            stream.until_done()


def test_a_stream_that_breaks_off_is_logged_once_and_with_its_reason(
    recorded: Served, recorder: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    recorder.answers.append(streamed(*BEGUN, *ENDED, fault=Fault("cut", at=0.5)))
    read: list[bytes] = []
    logging.getLogger("uvicorn.error").addHandler(caplog.handler)
    try:
        with (
            pytest.raises(httpx2.RemoteProtocolError),
            recorded.client.stream("POST", MESSAGES, json=ASK, headers=recorded.headers) as answer,
        ):
            read.extend(answer.iter_raw())
    finally:
        logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert b"".join((*BEGUN, *ENDED)).startswith(b"".join(read))
    assert b"".join(read).startswith(BEGUN[0])
    assert [record.name for record in caplog.records] == ["compact.gateway"]
    assert "an answer broke off: the vendor's line broke" in caplog.text


def test_a_reason_is_one_line_that_a_header_may_hold() -> None:
    assert reason_header("caf\u00e9:\r\nSet-Cookie: a\x00b \t c") == {"x-compact-reason": "caf?: Set-Cookie: a?b c"}
    assert len(reason_header("long " * 1_000)["x-compact-reason"]) == 500
    assert reason_header(" \n") == {}
