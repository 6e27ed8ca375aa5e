"""What the gateway adds to a request, and whether it stands many conversations at once.

`python -m bench.gateway --seconds 60` loads it for that long. Vendor, gateway and clients are processes of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TextIO

import httpx2

TOKEN = "bench-token-of-32-characters-....".ljust(32, ".")
MODEL = "gpt-4.1"
SESSIONS = 200
TURNS = 60
_PATH = "/v1/chat/completions"
_WORDS = ["the", "gateway", "passes", "every", "request", "on", "and", "looks", "at", "what", "is", "new", "in", "it"]
_REPLY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": MODEL,
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Noted."}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}


def run(out: TextIO, seconds: float = 10) -> None:
    """Print the figures."""
    with TemporaryDirectory() as home:
        with _process("upstream") as upstream, _process("gateway", upstream, home) as gateway:
            for tokens in (10_000, 100_000):
                print(f"{tokens:,} tokens, warm: {_added(upstream, gateway, _history(tokens))}", file=out)
            print(f"first byte of a stream, 100,000 tokens: {_first_bytes(upstream, gateway)}", file=out)
        with _process("upstream") as upstream, _process("gateway", upstream, home, "110000") as gateway:
            print(f"200,000 tokens, of which a part is sent: {_added(upstream, gateway, _history(200_000))}", file=out)
        with _process("vendor") as vendor, _process("gateway", vendor, home, "8000") as gateway:
            print(f"{SESSIONS} conversations for {seconds:g} s: {asyncio.run(_load(gateway, seconds))}", file=out)


def _history(tokens: int) -> list[dict[str, Any]]:
    """Questions and answers of about that many tokens, 200 each."""
    text = " ".join(_WORDS * 16)[:900]
    roles = ("user", "assistant")
    return [{"role": roles[turn % 2], "content": f"{turn}: {text}"} for turn in range(tokens // 200 // 2 * 2)]


def _added(upstream: str, gateway: str, history: list[dict[str, Any]]) -> str:
    """How much longer a request takes through the gateway, as the conversation goes on."""
    times: dict[str, list[float]] = {upstream: [], gateway: []}
    done = ""
    with httpx2.Client(headers={"authorization": f"Bearer {TOKEN}"}, timeout=120) as client:
        for turn in range(TURNS + 3):
            history = [*history, {"role": "user", "content": f"And {turn}?"}]
            body = json.dumps({"model": MODEL, "messages": history}).encode()
            for url, taken in times.items():
                began = perf_counter()
                answer = client.post(url + _PATH, content=body, headers={"content-type": "application/json"})
                taken.append(perf_counter() - began)
                answer.raise_for_status()
                done = answer.headers.get("x-compact-compaction", done)
            history = [*history, {"role": "assistant", "content": "Noted."}]
    direct, through = (sorted(taken[3:]) for taken in times.values())
    added = [later - earlier for earlier, later in zip(direct, through, strict=True)]
    return f"p50 +{_ms(_at(added, 50))}, p99 +{_ms(_at(added, 99))} (direct p50 {_ms(_at(direct, 50))}; {done})"


def _first_bytes(upstream: str, gateway: str) -> str:
    times: dict[str, list[float]] = {upstream: [], gateway: []}
    history = _history(100_000)
    with httpx2.Client(headers={"authorization": f"Bearer {TOKEN}"}, timeout=120) as client:
        for turn in range(TURNS // 2):
            history = [*history, {"role": "user", "content": f"And {turn}?"}]
            body = json.dumps({"model": MODEL, "messages": history, "stream": True}).encode()
            for url, taken in times.items():
                began = perf_counter()
                with client.stream("POST", url + _PATH, content=body) as answer:
                    next(answer.iter_raw())
                    taken.append(perf_counter() - began)
    direct, through = (sorted(taken[3:]) for taken in times.values())
    return f"p50 +{_ms(_at(through, 50) - _at(direct, 50))} (direct p50 {_ms(_at(direct, 50))})"


async def _load(gateway: str, seconds: float) -> str:
    taken: list[float] = []
    errors: list[str] = []
    compacted = 0
    until = perf_counter() + seconds

    async def talk(number: int, client: httpx2.AsyncClient) -> None:
        nonlocal compacted
        history: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
        while perf_counter() < until:
            history.append({"role": "user", "content": f"{number}/{len(history)}: " + " ".join(_WORDS * 80)})
            began = perf_counter()
            try:
                answer = await client.post(gateway + _PATH, json={"model": MODEL, "messages": history})
            except httpx2.HTTPError as error:
                errors.append(type(error).__name__)
                continue
            taken.append(perf_counter() - began)
            if answer.status_code != 200:
                errors.append(f"{answer.status_code} {answer.text[:200]}")
                continue
            compacted += answer.headers["x-compact-compaction"] == "applied"
            history.append(answer.json()["choices"][0]["message"])

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(headers=headers, timeout=120, limits=limits) as client:
        await asyncio.gather(*(talk(number, client) for number in range(SESSIONS)))
    told = f"{len(taken):,} requests, {compacted:,} of them compacted, {len(errors)} errors"
    taken.sort()
    return f"{told}, p50 {_ms(_at(taken, 50))}, p99 {_ms(_at(taken, 99))}{'; ' + errors[0] if errors else ''}"


def _at(times: list[float], percent: int) -> float:
    return quantiles(times, n=100, method="inclusive")[percent - 1]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


@contextmanager
def _process(*role: str) -> Iterator[str]:
    """The address of a part that runs in a process of its own, until its standard input ends."""
    command = [sys.executable, "-m", "bench.gateway", "--as", *role]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait(20)


def _wait(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    sys.stdin.read()


def _vendor() -> None:
    from compact.testing.vendors import FakeVendors

    with FakeVendors(window=8_000) as vendor:
        _wait(vendor.url)


def _gateway(upstream: str, home: str, window: str = "") -> None:
    from compact.server.serving import running
    from compact.server.state import ServerState
    from compact.settings.server import ServerSettings

    os.environ |= {"COMPACT_HOME": home, "OPENAI_API_KEY": "a-key-of-the-vendor"}
    if window:
        os.environ["COMPACT_MAX_CONTEXT_TOKENS"] = window
    settings = ServerSettings(token=TOKEN, upstream_openai=f"{upstream}/v1")
    with running(ServerState(Path(home), settings=settings)) as url:
        _wait(url)


def _upstream() -> None:
    """A vendor that says the same to everything, so that what is measured is the gateway."""
    body = json.dumps(_REPLY).encode()
    whole = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    event = b"data: {}\n\n"
    piece = f"{len(event):x}\r\n".encode() + event + b"\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(lines.partition(b"content-length:")[2].partition(b"\r\n")[0])
                asked = await reader.readexactly(length)
                if b'"stream": true' in asked[-200:] or b'"stream":true' in asked[-200:]:
                    writer.write(head + piece)
                    await asyncio.sleep(0.02)
                    writer.write(piece + b"0\r\n\r\n")
                else:
                    writer.write(whole)
                await writer.drain()
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=64 * 1024 * 1024)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await asyncio.to_thread(_wait, url)
        server.close()

    asyncio.run(serve())


_PARTS: dict[str, Callable[..., None]] = {"vendor": _vendor, "gateway": _gateway, "upstream": _upstream}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--as", dest="part", nargs="+")
    given = parser.parse_args()
    if given.part:
        _PARTS[given.part[0]](*given.part[1:])
    else:
        run(sys.stdout, given.seconds)
