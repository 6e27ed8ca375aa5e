"""Random sessions whose requests allow their answers random lengths, a fifth of them more than half of the window.

They go over HTTP to vendors that refuse input and answer above the window. `make soak` runs many, the others a few.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from random import Random

import pytest

from compact import CompactConfig, CompactManager, InsufficientBudget
from compact.app.counting import count
from compact.formats import FORMATS, convert, parse, request_body, violations
from compact.messages import ROLES_NEVER_PRUNED, Json
from compact.policies.room import LEAST_ANSWER
from compact.server.serving import running
from compact.server.state import ServerState
from compact.settings.server import ServerSettings
from compact.testing.vendors import FakeVendors
from tests.app.talking import HEADERS, PATHS, turn
from tests.server.routes.conversing import Api, configure, opened

WINDOWS = (4_000, 8_000, 16_000)
BUFFER = 1_500
MARKER = 12
"""Tokens of the shortest message that says that others were removed."""
MODEL = "gpt-4o"  # counted exactly
LIMITS = {
    "openai-chat": ("max_tokens", "max_completion_tokens"),
    "openai-responses": ("max_output_tokens",),
    "anthropic-messages": ("max_tokens",),
    "google-gemini": ("maxOutputTokens",),
}
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}}


def sessions(rng: Random, format: str, window: int) -> Iterator[dict[str, Json]]:
    """The requests of one session, each with all that was said before, which comes to a few windows."""
    messages: list[Json] = [{"role": "system", "content": "Be careful. " * rng.choice((2, 20, window // 40))}]
    said = number = 0
    while said < 3 * window:
        size = rng.choice((50, 200, 400, window // 10, window // 4) + ((window // 2,) if rng.random() < 0.1 else ()))
        messages += turn(rng, number, size)
        said, number = said + size, number + 1
    whole = convert(parse({"model": MODEL, "messages": messages, "tools": [TOOL]}, format="openai-chat"), format)
    for at, message in enumerate(whole.messages):
        if at and message.role in ("assistant", "model") and not whole.messages[at - 1].calls:
            body = request_body(whole.with_messages(whole.messages[:at]))
            yield body | answer_limits(rng, format, window, last=whole.messages[at - 1].from_user)


def answer_limits(rng: Random, format: str, window: int, *, last: bool) -> dict[str, Json]:
    """How long an answer may be; `last` where a person spoke last, so that the model may begin to reason."""
    if format != "anthropic-messages" and rng.random() < 0.1:
        return {}
    greedy = rng.random() < 0.2
    limit = rng.randint(window // 2, 3 * window) if greedy else rng.randint(1, window // 2)
    found: dict[str, Json] = {rng.choice(LIMITS[format]): limit}
    if format == "anthropic-messages" and last and limit > LEAST_ANSWER and rng.random() < 0.2:
        found["thinking"] = {"type": "enabled", "budget_tokens": rng.randint(LEAST_ANSWER, limit - 1)}
    return {"generationConfig": found} if format == "google-gemini" else found


def least_of(body: Mapping[str, Json], limit: int) -> int:
    """The smallest limit that an answer may be given."""
    thinking: int = (body.get("thinking") or {}).get("budget_tokens", 0)
    return min(limit, max(LEAST_ANSWER, thinking + 1))


def counted(body: Mapping[str, Json], format: str) -> int:
    """The tokens of a request."""
    return count(parse(body, format=format), model=MODEL).total


def newest(body: Mapping[str, Json], format: str) -> dict[str, Json]:
    """The request with nothing but its fixed part, which are prompts and the first task, and its newest exchange."""
    whole = parse(body, format=format)
    people = [at for at, message in enumerate(whole.messages) if message.from_user]
    prompts = [message for message in whole.messages[: people[0]] if message.role in ROLES_NEVER_PRUNED]
    first = whole.messages[people[0] : people[0] + 1] if people[0] != people[-1] else ()
    return request_body(whole.with_messages((*prompts, *first, *whole.messages[people[-1] :])))


def cannot_fit(body: Mapping[str, Json], format: str, window: int, buffer: int = BUFFER) -> bool:
    """Whether fixed part, newest exchange, marker, buffer and the smallest answer exceed the window."""
    limit = FORMATS[format].answer_limit(body) or LEAST_ANSWER
    return counted(newest(body, format), format) + MARKER + buffer + least_of(body, limit) > window


def check_sent(sent: Mapping[str, Json], given: Mapping[str, Json], format: str, window: int) -> None:
    """The request fits with its answer and the buffer, is valid, and was lowered only if it had to be."""
    limit, wished = (FORMATS[format].answer_limit(body) or 0 for body in (sent, given))
    used = counted(sent, format)
    assert used + limit + BUFFER <= window, (format, window, used, limit, wished)
    assert violations(parse(sent, format=format)) == []
    assert limit == wished or (least_of(given, wished) <= limit < wished and used + wished + BUFFER > window)


def post(connection: HTTPConnection, path: str, body: Mapping[str, Json], token: str = "") -> tuple[int, bytes]:
    headers = {**HEADERS, "authorization": f"Bearer {token}", "x-api-key": token} if token else HEADERS
    connection.request("POST", path, json.dumps(body), headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def ask_managers(folder: Path, requests: int, seed: str) -> Counter[str]:
    """So many requests through managers."""
    rng, figures = Random(seed), Counter[str]()
    with ExitStack() as stack:
        vendors, managers = {}, {}
        for window in WINDOWS:
            server = stack.enter_context(FakeVendors(window=window))
            vendors[window] = (server, HTTPConnection(server.host, server.port, timeout=60))
            stack.callback(vendors[window][1].close)
            config = {"model": MODEL, "max_context_tokens": window, "profile": "offline"}
            config |= {"storage": {"path": str(folder / str(window)), "adapter": "none"}, "background": False}
            managers[window] = stack.enter_context(CompactManager(CompactConfig.model_validate(config)))
        while figures["requests"] < requests:
            format, window = rng.choice(list(FORMATS)), rng.choice(WINDOWS)
            id = f"s{figures['sessions']}"
            figures["sessions"] += 1
            for given in sessions(rng, format, window):
                if figures["requests"] == requests:
                    break
                figures["requests"] += 1
                try:
                    done = managers[window].prepare(id, {**given, "format": format})
                except InsufficientBudget:
                    assert cannot_fit(given, format, window), (id, format, window)
                    figures["refused"] += 1
                    continue
                sent = {**given, FORMATS[format].messages_key: done.messages}
                if done.max_tokens is not None:
                    sent = FORMATS[format].with_answer_limit(sent, done.max_tokens)
                    figures["lowered"] += 1
                figures["compacted"] += done.compacted
                check_sent(sent, given, format, window)
                server, connection = vendors[window]
                status, answer = post(connection, PATHS[format], {"model": MODEL, **sent})
                assert status == 200, (id, format, window, answer)
                server.forget()
            managers[window].forget(id)
    return figures


def ask_gateways(folder: Path, requests: int, seed: str) -> Counter[str]:
    """So many requests through gateways."""
    rng, figures = Random(seed), Counter[str]()
    formats = [format for format in FORMATS if format != "google-gemini"]
    with ExitStack() as stack:
        served = {window: stack.enter_context(gateway(folder / str(window), window)) for window in WINDOWS}
        while figures["requests"] < requests:
            format, window = rng.choice(formats), rng.choice(WINDOWS)
            server, connection, token = served[window]
            figures["sessions"] += 1
            for given in sessions(rng, format, window):
                if figures["requests"] == requests:
                    break
                figures["requests"] += 1
                status, answer = post(connection, PATHS[format], {"model": MODEL, **given}, token)
                if status == 400:
                    assert server.requests == ()
                    assert cannot_fit(given, format, window), (format, window, answer)
                    figures["refused"] += 1
                    continue
                assert status == 200, (format, window, answer)
                (received,) = server.requests
                sent = received.body
                check_sent(sent, given, format, window)
                figures["lowered"] += FORMATS[format].answer_limit(sent) != FORMATS[format].answer_limit(given)
                figures["shortened"] += len(sent[FORMATS[format].messages_key]) < len(
                    given[FORMATS[format].messages_key]
                )
                server.forget()
    return figures


@contextmanager
def gateway(home: Path, window: int) -> Iterator[tuple[FakeVendors, HTTPConnection, str]]:
    """A vendor, a connection to the gateway in front of it, and the gateway's token."""
    home.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch, FakeVendors(window=window) as server:
        variables = {"HOME": str(home), "MAX_CONTEXT_TOKENS": str(window), "PROFILE": "offline"}
        for name, value in variables.items():
            patch.setenv(f"COMPACT_{name}", value)
        for vendor in ("OPENAI", "ANTHROPIC"):
            patch.setenv(f"{vendor}_API_KEY", "any")
        settings = ServerSettings(upstream_openai=f"{server.url}/v1", upstream_anthropic=server.url)
        state = ServerState(home, settings=settings)
        with running(state) as url:
            host, _, port = url.removeprefix("http://").partition(":")
            connection = HTTPConnection(host, int(port), timeout=60)
            # The window is read when a model is first asked for.
            for path in (PATHS[format] for format in LIMITS if format != "google-gemini"):
                key = "input" if path.endswith("responses") else "messages"
                body = {"model": MODEL, key: [{"role": "user", "content": "Hi"}], "max_tokens": 10}
                assert post(connection, path, body, state.token)[0] == 200
            server.forget()
            yield server, connection, state.token
            connection.close()


def ask_chats(home: Path, requests: int, seed: str) -> Counter[str]:
    """So many requests through the chat, to a model that only its profile describes."""
    rng, figures = Random(seed), Counter[str]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COMPACT_HOME", str(home))
        with opened(home) as api:
            api.put("/settings", {"values": {"profile": "offline"}})
            while figures["requests"] < requests:
                window = rng.choice(WINDOWS)
                with FakeVendors(window=window) as server:
                    server.reply(lambda _: "It goes on. " * rng.choice((5, 50, 200)))
                    figures += chat(api, server, window, rng, requests - figures["requests"])
    return figures


def chat(api: Api, server: FakeVendors, window: int, rng: Random, requests: int) -> Counter[str]:
    """One session, until a request is refused; at most so many."""
    model, figures = f"house-{window}", Counter(sessions=1)
    system = "Be careful. " * rng.choice((2, 20, window // 40))
    id = api.session(model=model, system=system)
    for number in range(min(requests, 40)):
        figures["requests"] += 1
        limit = rng.randint(window // 2, 3 * window) if rng.random() < 0.2 else rng.randint(1, window // 2)
        configure(server, model=model, context_window=window, max_output_tokens=limit)
        size = rng.choice((20, 100, window // 20, window // 8) + ((window // 2,) if rng.random() < 0.1 else ()))
        words = " ".join(f"apple{rng.randrange(999)}" for _ in range(size // 3 if number else 9))
        last = api.say(id, f"Question {number}: {words}")[-1]
        if last["type"] == "error":
            alone = [{"role": "system", "content": system}, {"role": "user", "content": words}]
            body = {"model": MODEL, "messages": alone, "max_tokens": limit}
            assert cannot_fit(body, "openai-chat", window, window // 20), (id, window, limit, last)
            assert server.requests == ()
            figures["refused"] += 1
            break
        (received,) = server.requests
        sent = received.body["max_tokens"]
        assert received.status == 200
        assert min(limit, LEAST_ANSWER) <= sent <= limit
        assert counted(received.body, "openai-chat") + sent + window // 20 <= window
        figures["lowered"] += sent < limit
        server.forget()
    return figures
