"""The gateway's threads: what they do for the loop, and that nobody waits for them in the end."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread, current_thread
from time import sleep

import httpx2
import pytest

from compact.server.gateway.relaying import Gateway
from compact.server.gateway.sending import Call
from compact.server.gateway.threads import Threads
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors, Fault
from tests.server.conftest import long_history
from tests.server.test_serve import start

NAME = "compact gateway"


class Watched(list[tuple[str, str]]):
    """Headers that know on which threads they were read."""

    def __init__(self, *headers: tuple[str, str]) -> None:
        super().__init__(headers)
        self.readers: list[str] = []

    def __iter__(self) -> Iterator[tuple[str, str]]:
        self.readers.append(current_thread().name)
        return super().__iter__()


def test_no_body_is_read_on_the_loop(tmp_path: Path) -> None:
    async def passed() -> int:
        gateway = Gateway(state)
        answer = await gateway.pass_through(Call("POST", "embeddings", "", headers, b'{"model": "m"}'), "openai-chat")
        await gateway.close()
        return answer.status_code

    headers = Watched(("content-type", "application/json"))
    state = ServerState(tmp_path, settings=ServerSettings(upstream_openai="http://127.0.0.1:9/v1"))
    assert asyncio.run(passed()) == 502
    state.close()
    assert headers.readers[0] == NAME


def test_threads_are_used_again_and_no_more_than_so_many() -> None:
    threads, together = Threads(2, NAME), Event()
    names = [threads.submit(lambda: (current_thread().name, together.wait(0.2))) for _ in range(6)]
    together.set()
    assert {name.result(5) for name in names} == {(NAME, True)}
    assert len(threads._threads) == 2
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(5)
    threads.close(5)
    assert not any(thread.is_alive() for thread in threads._threads)
    assert threads.submit(int).cancelled()


def test_the_end_waits_only_a_moment_for_what_is_under_way() -> None:
    threads, begun, go_on = Threads(1, NAME), Event(), Event()

    def work() -> bool:
        begun.set()
        return go_on.wait(20)

    running = threads.submit(work)
    waiting = threads.submit(int)
    assert begun.wait(5)
    threads.close(0.01)
    assert waiting.cancelled()
    assert running.running()
    go_on.set()
    assert running.result(5)
    threads._threads[0].join(5)


def test_ctrl_c_does_not_wait_for_a_summary(tmp_path: Path) -> None:
    with FakeVendors(window=200_000) as vendor:
        slow = {"name": "slow", "vendor": "compatible", "model": "slow", "url": f"{vendor.url}/v1", "timeout": 600}
        (tmp_path / "profiles.json").write_text(json.dumps({"profiles": [slow]}))
        settings = {
            "COMPACT_HOME": str(tmp_path),
            "COMPACT_PROFILE": "slow",
            "COMPACT_MAX_CONTEXT_TOKENS": "8000",
            "COMPACT_TOKEN": "chosen-by-the-operator",
            "COMPACT_STOP_SECONDS": "1",
            "COMPACT_UPSTREAM_OPENAI": f"{vendor.url}/v1",
        }
        vendor.fail(Fault("hang"), times=50)
        with start(tmp_path, "--port", "0", **settings) as process:
            assert process.stdout is not None
            process.stdout.readline()
            gateway = process.stdout.readline().split()[1]
            body = {"model": "gpt-4o", "messages": long_history(40)}
            asking = Thread(target=_ask, args=(f"{gateway}/chat/completions", body, settings["COMPACT_TOKEN"]))
            asking.start()
            while not vendor.requests and process.poll() is None:
                sleep(0.01)
            process.send_signal(signal.SIGINT)
            try:
                _, err = process.communicate(timeout=25)
            finally:
                process.kill()
                asking.join(5)
    assert {request.body["model"] for request in vendor.requests} == {"slow"}
    assert (process.returncode, err) == (0, "")


def _ask(url: str, body: object, token: str) -> None:
    answer = httpx2.post(url, json=body, headers={"x-api-key": token}, timeout=60)
    assert (answer.status_code, "stopping" in answer.text) == (503, True)
