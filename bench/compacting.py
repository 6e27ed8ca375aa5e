"""What a request waits for that the gateway compacts without a model, at 100,000 tokens: coding sessions and chats.

Each session grows step by step, as its client would send it, until a request is compacted; what that one takes longer
than at the vendor itself is what counts. Gateway and vendor are processes of their own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, TextIO

import httpx2

import compact
from bench.gateway import MODEL, TOKEN, Part, process, spread
from bench.speed import generated
from compact.formats import render
from compact.testing.worlds import make_world
from compact.testing.worlds.truth import Kind
from scripts.lab import project

TOKENS, SESSIONS = 100_000, 40
WINDOW = 125_000
"""Of which the trigger is 80%."""
MOST = 300
"""Milliseconds that a coding session may wait, at the 95th of a hundred compactions."""
_BEFORE = 4
"""Requests of a session before the one that is due, which count what is old."""
_PATH = "/v1/chat/completions"

Messages = list[dict[str, Any]]


def run(out: TextIO) -> None:
    """Print the figures."""
    with (
        TemporaryDirectory() as home,
        process("upstream") as upstream,
        process("gateway", upstream.url, home, str(WINDOW)) as gateway,
    ):
        for name, session, bound in KINDS:
            waits = [_wait(upstream, gateway, session(number)) for number in range(SESSIONS)]
            limit = f" (at most {bound} ms)" if bound else ""
            print(f"{name}, {SESSIONS} compactions: {spread(waits, 95)}{limit}", file=out, flush=True)


def _wait(upstream: Part, gateway: Part, messages: Messages) -> float:
    """The seconds that the first compacted request of a session waits for."""
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    with httpx2.Client(headers=headers, timeout=120) as client:
        for end in _ends(messages):
            body = json.dumps({"model": MODEL, "messages": messages[:end]}).encode()
            began = perf_counter()
            client.post(upstream.url + _PATH, content=body).raise_for_status()
            halfway = perf_counter()
            answer = client.post(gateway.url + _PATH, content=body)
            ended = perf_counter()
            answer.raise_for_status()
            if answer.headers["x-compact-compaction"] == "applied":
                return (ended - halfway) - (halfway - began)
    raise AssertionError("nothing was compacted")


def _ends(messages: Messages) -> Iterator[int]:
    """The lengths of the requests: a few below the trigger, then each step."""
    sizes = [compact.count_tokens([message]) for message in messages]
    total = 0
    for at, size in enumerate(sizes):
        total += size
        complete = at + 1 == len(messages) or messages[at + 1]["role"] != "tool"
        if complete and messages[at]["role"] in ("user", "tool") and total > TOKENS - _BEFORE * 2_000:
            yield at + 1


def _coding(number: int) -> Messages:
    return render(generated(int(TOKENS * 1.3) + number))


def _survey(number: int) -> Messages:
    """An agent that reads files and runs checks, as the recorded clients did."""
    found: Messages = [{"role": "user", "content": f"Survey the parts from {number} on, and keep notes."}]
    size = 0
    for step in count(number * 1_000):
        read = ("read", {"path": f"src/part_{step:04d}.py"}, project.part(step))
        check = ("bash", {"command": f"sh check.sh {step}"}, project.log(step))
        for name, arguments, text in (read, check):
            function = {"name": name, "arguments": json.dumps(arguments)}
            call = {"id": f"{name}{step}", "type": "function", "function": function}
            found.append({"role": "assistant", "content": f"I look at part {step}.", "tool_calls": [call]})
            found.append({"role": "tool", "tool_call_id": f"{name}{step}", "content": text})
            size += len(text)
        if size > 4 * TOKENS:
            return found
    raise AssertionError("there are parts enough")


def _world(kind: Kind) -> Callable[[int], Messages]:
    def session(number: int) -> Messages:
        """Several worlds, one after the other: a single one is not as long."""
        found: Messages = []
        for seed in count(number * 1_000):
            world = make_world(seed, tokens=20_000, kind=kind, language="en")
            if world.format == "openai-chat":
                found += [message for message in world.body["messages"] if message["role"] != "system" or not found]
                if compact.count_tokens(found) > TOKENS * 1.1:
                    return found
        raise AssertionError("there are seeds enough")

    return session


KINDS: Sequence[tuple[str, Callable[[int], Messages], int]] = (
    ("edits of source files", _coding, MOST),
    ("files read and checks run", _survey, MOST),
    ("coding worlds", _world(Kind.CODING), 0),
    ("chat worlds", _world(Kind.CHAT), 0),
)


if __name__ == "__main__":
    run(sys.stdout)
