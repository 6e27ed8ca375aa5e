"""How `compact serve` ends: answers are finished, streams that do not end are cut in their vendor's form."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from compact.testing.vendors.wire import Answer
from tests.server.conftest import Recorder
from tests.server.test_serve import start

TOKEN = "chosen-by-the-operator"
HEADERS = {"x-api-key": TOKEN}
ASK: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
CHAT = {**CHUNK, "choices": [{"index": 0, "delta": {"role": "assistant", "content": "H"}, "finish_reason": None}]}
RESPONSES = {"type": "response.output_text.delta", "delta": "H", "item_id": "i", "output_index": 0, "content_index": 0}
STARTED = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5", "content": []}
MESSAGES = {"type": "message_start", "message": {**STARTED, "usage": {"input_tokens": 8, "output_tokens": 1}}}


class Vendor:
    """A vendor whose answers end when they are told to."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self.go_on = Event()
        self.url = recorder.url

    def will_answer(self, first: bytes, last: bytes, kind: str) -> None:
        def chunks() -> Iterator[bytes]:
            yield first
            self.go_on.wait(60)
            yield last

        answer = Answer(200, {"content-type": kind}, chunks(), stream=True)  # type: ignore[arg-type]  # read once
        self._recorder.answers.append(answer)


@pytest.fixture
def vendor(recorder: Recorder) -> Iterator[Vendor]:
    made = Vendor(recorder)
    yield made
    made.go_on.set()


@contextmanager
def serving(home: Path, vendor: Vendor, seconds: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server, and its address; it is gone in the end, and nothing was logged."""
    settings = {
        "COMPACT_TOKEN": TOKEN,
        "COMPACT_STOP_SECONDS": seconds,
        "COMPACT_UPSTREAM_OPENAI": f"{vendor.url}/v1",
        "COMPACT_UPSTREAM_ANTHROPIC": vendor.url,
        "COMPACT_PROFILE": "offline",
    }
    with start(home, "--port", "0", **settings) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[1].partition("/#")[0]
        try:
            yield process, url
            _, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert err == ""


def event(told: dict[str, Any], *, named: bool = True) -> bytes:
    return (f"event: {told['type']}\n" if named else "").encode() + f"data: {json.dumps(told)}\n\n".encode()


def test_an_answer_under_way_is_finished(tmp_path: Path, vendor: Vendor) -> None:
    vendor.will_answer(b'{"id": ', b'"whole"}', "application/json")
    with serving(tmp_path, vendor, "30") as (process, url):
        with httpx2.stream("POST", f"{url}/v1/chat/completions", json=ASK, headers=HEADERS, timeout=30) as answer:
            process.send_signal(signal.SIGTERM)
            _wait_until_refused(url)
            Thread(target=_later, args=(vendor.go_on,)).start()
            assert json.loads(answer.read()) == {"id": "whole"}
        begun = time.monotonic()
        process.wait(20)
        assert time.monotonic() - begun < 10  # it does not wait for the rest of its time
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize(
    ("path", "first", "format"),
    [
        ("chat/completions", event(CHAT, named=False), "openai-chat"),
        ("responses", event(RESPONSES), "openai-responses"),
        ("messages", event(MESSAGES), "anthropic-messages"),
    ],
)
def test_a_stream_that_does_not_end_is_cut_in_its_vendors_form(
    tmp_path: Path, vendor: Vendor, path: str, first: bytes, format: str
) -> None:
    vendor.will_answer(first, b"", "text/event-stream")
    with serving(tmp_path, vendor, "0.5") as (process, url):
        body = {**ASK, "stream": True}
        with httpx2.stream("POST", f"{url}/v1/{path}", json=body, headers=HEADERS, timeout=30) as answer:
            pieces = answer.iter_bytes()
            assert next(pieces) == first
            process.send_signal(signal.SIGTERM)
            last = b"".join(pieces)  # and the stream is complete as HTTP goes
    name, _, data = last.decode().strip().rpartition("data: ")
    told = json.loads(data)
    assert "the server is stopping" in str(told)
    if format == "openai-chat":
        assert (name, told["error"]["code"]) == ("", "server_stopping")
    else:
        assert (name, told["type"]) == ("event: error\n", "error")
        assert ("error" in told) == (format == "anthropic-messages")


def test_the_sdks_take_it_for_an_error(tmp_path: Path, vendor: Vendor) -> None:
    vendor.will_answer(event(CHAT, named=False), b"", "text/event-stream")
    vendor.will_answer(event(MESSAGES), b"", "text/event-stream")
    with (
        serving(tmp_path, vendor, "0.5") as (process, url),
        openai.OpenAI(base_url=f"{url}/v1", api_key=TOKEN, max_retries=0) as gpt,
        anthropic.Anthropic(base_url=url, api_key=TOKEN, max_retries=0) as claude,
    ):
        chat = gpt.chat.completions.create(**ASK, stream=True)
        assert next(chat).choices[0].delta.content == "H"
        messages = claude.messages.create(**ASK, max_tokens=9, stream=True)
        assert next(messages).type == "message_start"
        process.send_signal(signal.SIGTERM)
        with pytest.raises(openai.APIError, match="server is stopping"):
            list(chat)
        with pytest.raises(anthropic.APIStatusError, match="server is stopping"):
            list(messages)


def test_an_event_that_has_begun_is_ended_before_the_cut(tmp_path: Path, vendor: Vendor) -> None:
    whole = event(CHAT, named=False)
    vendor.will_answer(whole[:50], whole[50:] + whole, "text/event-stream")
    with serving(tmp_path, vendor, "0.3") as (process, url):
        body = {**ASK, "stream": True}
        with httpx2.stream("POST", f"{url}/v1/chat/completions", json=body, headers=HEADERS, timeout=30) as answer:
            pieces = answer.iter_bytes()
            read = next(pieces)
            process.send_signal(signal.SIGTERM)
            _wait_until_refused(url)
            Thread(target=_later, args=(vendor.go_on, 0.5)).start()
            read += b"".join(pieces)
    datas = [line.removeprefix("data: ") for line in read.decode().splitlines() if line]
    assert all(json.loads(data) for data in datas)


def test_a_request_without_an_answer_gets_one_in_its_vendors_form(tmp_path: Path, recorder: Recorder) -> None:
    arrived, go_on = Event(), Event()

    def chunks() -> Iterator[bytes]:
        arrived.set()
        go_on.wait(60)
        yield b"{}"

    class Late(tuple[bytes, ...]):
        """Chunks that are there only later, and so is the head of the answer."""

        __slots__ = ()

        def __iter__(self) -> Iterator[bytes]:
            return chunks()

    recorder.answers.append(Answer(200, {"content-type": "application/json"}, Late()))
    vendor = Vendor(recorder)
    got: list[httpx2.Response] = []
    with serving(tmp_path, vendor, "0.3") as (process, url):

        def ask() -> None:
            got.append(httpx2.post(f"{url}/v1/messages", json=ASK, headers=HEADERS, timeout=30))

        asking = Thread(target=ask)
        asking.start()
        assert arrived.wait(20)
        process.send_signal(signal.SIGTERM)
        asking.join(20)
        go_on.set()
    assert got[0].status_code == 503
    assert got[0].json()["type"] == "error"
    assert "the server is stopping" in got[0].json()["error"]["message"]


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, vendor: Vendor, sign: signal.Signals) -> None:
    vendor.will_answer(event(CHAT, named=False), b"", "text/event-stream")
    with serving(tmp_path, vendor, "60") as (process, url):
        body = {**ASK, "stream": True}
        with httpx2.stream("POST", f"{url}/v1/chat/completions", json=body, headers=HEADERS, timeout=30) as answer:
            assert next(answer.iter_bytes())
            process.send_signal(sign)
            _wait_until_refused(url)
            process.send_signal(sign)
            begun = time.monotonic()
            process.wait(20)
    assert time.monotonic() - begun < 5
    assert process.returncode == -sign


def _wait_until_refused(url: str) -> None:
    """Until the server has begun to stop: it accepts nothing more."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            httpx2.get(f"{url}/api/health", timeout=5)
        except httpx2.HTTPError:
            return
    raise AssertionError("it does not stop")


def _later(go_on: Event, seconds: float = 1.5) -> None:
    time.sleep(seconds)  # longer than a moment
    go_on.set()
