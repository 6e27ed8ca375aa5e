"""One request with a text of 16 MB: nobody else waits for it, and its memory is given back."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx2
import pytest

from compact.testing.vendors import FakeVendors
from tests.server.test_connections import TOKEN, Process, limited

SIZE = 16_000_000
HEADERS = {"x-api-key": TOKEN, "content-type": "application/json"}


def request(text: str) -> bytes:
    turns = [("user", "Begin."), ("assistant", "Yes."), ("user", text), ("assistant", "Read."), ("user", "And now?")]
    return json.dumps(
        {"model": "gpt-4o", "messages": [{"role": role, "content": said} for role, said in turns]}
    ).encode()


def ask(process: Process, body: bytes) -> httpx2.Response:
    return httpx2.post(f"{process.url}/v1/chat/completions", content=body, headers=HEADERS, timeout=300)


@pytest.mark.clock
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc: Linux only")
def test_a_text_of_megabytes_without_spaces_holds_up_nobody(tmp_path: Path) -> None:
    done, waits = Event(), list[float]()

    def others(process: Process) -> None:
        small: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
        with httpx2.Client(base_url=process.url, headers=HEADERS, timeout=60) as client:
            while not done.is_set():
                for path in ("/api/health", "/v1/chat/completions"):
                    begun = time.perf_counter()
                    answer = client.get(path) if "health" in path else client.post(path, json=small)
                    waits.append(time.perf_counter() - begun)
                    assert answer.status_code == 200

    with FakeVendors(window=200_000) as vendor:
        settings = {
            "COMPACT_UPSTREAM_OPENAI": f"{vendor.url}/v1",
            "COMPACT_PROFILE": "offline",
            "OPENAI_API_KEY": "sk-any",
        }
        with limited(tmp_path, 1024, **settings, COMPACT_HOME=str(tmp_path)) as process:
            for _ in range(2):  # what a compaction needs is loaded
                assert ask(process, request("word " * 300_000)).headers["x-compact-compaction"] == "applied"
            before = process.memory
            asking = Thread(target=others, args=(process,))
            asking.start()
            try:
                answer = ask(process, request("a" * SIZE))
            finally:
                done.set()
                asking.join()
            assert (answer.status_code, answer.headers["x-compact-compaction"]) == (200, "applied")
            waits.sort()
            assert waits[int(len(waits) * 0.99)] < 0.5
            deadline = time.monotonic() + 10
            # The conversation itself stays, for its next turn.
            while process.memory - SIZE > 1.4 * before and time.monotonic() < deadline:
                time.sleep(0.1)
            assert process.memory - SIZE <= 1.4 * before
