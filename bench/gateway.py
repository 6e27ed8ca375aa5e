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
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, TextIO

import httpx2

_ROOT = Path(__file__).parents[1]
TOKEN = "bench-token-of-32-characters-....".ljust(32, ".")
MODEL = "gpt-4.1"
SESSIONS = 200
TURNS = 200
_WARMING = 3
_THINKING = 4.0
"""Seconds between an answer and what is said to it, on average."""
_PATH = "/v1/chat/completions"
_HEADERS = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
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
    with TemporaryDirectory() as home, process("upstream") as upstream:
        with process("gateway", upstream.url, home) as gateway:
            for tokens in (10_000, 100_000):
                print(f"{tokens:,} tokens, warm: {_added(upstream, gateway, _history(tokens))}", file=out, flush=True)
            first = _added(upstream, gateway, _history(100_000), stream=True)
            print(f"100,000 tokens, first byte of a stream: {first}", file=out, flush=True)
        with process("gateway", upstream.url, home, "110000") as gateway:
            part = _added(upstream, gateway, _history(200_000))
            print(f"200,000 tokens, of which a part is sent: {part}", file=out, flush=True)
        with process("gateway", upstream.url, home, "8000") as gateway:
            load = asyncio.run(_load(upstream, gateway, seconds))
            print(f"{SESSIONS} conversations for {seconds:g} s: {load}", file=out, flush=True)


def _history(tokens: int) -> list[dict[str, Any]]:
    """Questions and answers of about that many tokens, 200 each."""
    text = " ".join(_WORDS * 16)[:900]
    roles = ("user", "assistant")
    return [{"role": roles[turn % 2], "content": f"{turn}: {text}"} for turn in range(tokens // 200 // 2 * 2)]


def _added(upstream: Part, gateway: Part, history: list[dict[str, Any]], *, stream: bool = False) -> str:
    """How much longer the very same request takes through the gateway, as the conversation goes on."""
    direct: list[float] = []
    added: list[float] = []
    done, busy = "", 0.0
    with httpx2.Client(headers=_HEADERS, timeout=120) as client:
        for turn in range(TURNS + _WARMING):
            if turn == _WARMING:
                busy = gateway.cpu_seconds()
            history = [*history, {"role": "user", "content": f"And {turn}?"}]
            body = json.dumps({"model": MODEL, "messages": history, "stream": stream}).encode()
            alone, _ = _taken(client, upstream, body)
            through, done = _taken(client, gateway, body)
            if turn >= _WARMING:
                direct.append(alone)
                added.append(through - alone)
            history = [*history, {"role": "assistant", "content": "Noted."}]
    each = (gateway.cpu_seconds() - busy) / TURNS
    return f"{spread(added)} (direct {_ms(_at(direct, 50))}; {_ms(each)} of the gateway's processor each; {done})"


def _taken(client: httpx2.Client, part: Part, body: bytes) -> tuple[float, str]:
    """Seconds until the first byte of the answer, and what was done to the request."""
    began = perf_counter()
    with client.stream("POST", part.url + _PATH, content=body) as answer:
        answer.raise_for_status()
        pieces = answer.iter_raw()
        next(pieces)
        taken = perf_counter() - began
        deque(pieces, 0)
        return taken, answer.headers.get("x-compact-compaction", "")


async def _load(upstream: Part, gateway: Part, seconds: float) -> str:
    """Many conversations at once, whose people think for a while; each turn goes both ways, and is compared."""
    added: list[float] = []
    errors: list[str] = []
    compacted = 0
    until = perf_counter() + seconds
    pauses = Random(1)

    async def talk(number: int, client: httpx2.AsyncClient) -> None:
        nonlocal compacted
        history: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
        while True:
            await asyncio.sleep(pauses.uniform(0, 2 * _THINKING))
            if perf_counter() > until:
                return
            history.append({"role": "user", "content": f"{number}/{len(history)}: " + " ".join(_WORDS * 80)})
            body = json.dumps({"model": MODEL, "messages": history}).encode()
            try:
                began = perf_counter()
                (await client.post(upstream.url + _PATH, content=body)).raise_for_status()
                halfway = perf_counter()
                answer = await client.post(gateway.url + _PATH, content=body)
                answer.raise_for_status()
            except httpx2.HTTPError as error:
                errors.append(f"{type(error).__name__}: {error}")
                continue
            added.append((perf_counter() - halfway) - (halfway - began))
            compacted += answer.headers["x-compact-compaction"] == "applied"
            history.append(answer.json()["choices"][0]["message"])

    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx2.AsyncClient(headers=_HEADERS, timeout=120, limits=limits) as client:
        await asyncio.gather(*(talk(number, client) for number in range(SESSIONS)))
    told = f"{len(added):,} requests, {compacted:,} of them compacted, {len(errors)} errors"
    return f"{told}, {spread(added)}{'; ' + errors[0] if errors else ''}"


def spread(added: list[float], high: int = 99) -> str:
    """The median of the times, and a high percentile."""
    return f"p50 +{_ms(_at(added, 50))}, p{high} +{_ms(_at(added, high))}"


def _at(times: list[float], percent: int) -> float:
    return quantiles(times, n=100, method="inclusive")[percent - 1]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


@dataclass(frozen=True, slots=True)
class Part:
    """A process of its own: where it is, and how to ask how long it was busy."""

    url: str
    process: subprocess.Popen[str]

    def cpu_seconds(self) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


@contextmanager
def process(*role: str, folder: Path | None = None) -> Iterator[Part]:
    """A part in a process of its own, until its standard input ends; with the product of another checkout if given.

    What is around the product is this module's in any case: that of an earlier checkout may lack what is measured.
    """
    command = [sys.executable, "-m", "bench.gateway", "--as", *role]
    path = {"PYTHONPATH": str(folder / "src")} if folder else {}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT, env=os.environ | path
    ) as running:
        assert running.stdout is not None
        assert running.stdin is not None
        try:
            yield Part(running.stdout.readline().strip(), running)
        finally:
            running.stdin.close()
            running.wait(20)


def _wait(url: str) -> None:
    """Tell the address, then for each line how long this process was busy."""
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    for _ in sys.stdin:
        sys.stdout.write(f"{process_time()}\n")
        sys.stdout.flush()


def _gateway(upstream: str, home: str, window: str = "") -> None:
    from compact.server.serving import running, settle
    from compact.server.state import ServerState
    from compact.settings.server import ServerSettings

    os.environ |= dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "a-key-of-the-vendor") | {"COMPACT_HOME": home}
    if window:
        os.environ["COMPACT_MAX_CONTEXT_TOKENS"] = window
    settings = ServerSettings(token=TOKEN, upstream_openai=f"{upstream}/v1", upstream_anthropic=upstream)
    with running(ServerState(Path(home), settings=settings)) as url:
        settle()
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


_PARTS: dict[str, Callable[..., None]] = {"gateway": _gateway, "upstream": _upstream}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--as", dest="part", nargs="+")
    given = parser.parse_args()
    if given.part:
        _PARTS[given.part[0]](*given.part[1:])
    else:
        run(sys.stdout, given.seconds)
