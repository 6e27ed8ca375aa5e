"""What servers are asked: requests of clients whose sessions grow, and steps through stored sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scripts.referee.bodies import Body, key_of, lengths, limited, world_body
from scripts.referee.tasks import Task

_PATHS: Final = {
    "openai-chat": "/v1/chat/completions",
    "anthropic-messages": "/v1/messages",
    "openai-responses": "/v1/responses",
}
_WINDOW: Final = 6_000
_REQUESTS: Final = 30
_GATEWAYS: Final[Mapping[str, Mapping[str, str]]] = {
    "auto": {},
    "layers": {"COMPACT_RECIPE": "layers"},
    "recall": {"COMPACT_GATEWAY_RECALL": "true"},
    "sealed": {"COMPACT_SEAL_KEY": "a key for the seals of accounts"},
}
_CLIENT: Final = {"user-agent": "referee/1", "x-stainless-lang": "python", "cookie": "a=b", "x-forwarded-for": "::1"}
"""Headers of a client: two that are forwarded, and two that are not."""
_OFFLINE: Final = {"offline": True}
_CONTEXT: Final = ("context", "GET", "/export?what=context", None)
_STEPS: Final[Sequence[tuple[str, str, str, Any]]] = (
    ("show", "GET", "", None),
    ("say what compacts", "POST", "/chat", {"text": "What came before?"}),
    _CONTEXT,
    ("undo", "DELETE", "/summary", None),
    ("list", "GET", "/messages?limit=5", None),
    ("preview", "POST", "/preview", _OFFLINE),
    ("compact", "POST", "/compress", _OFFLINE),
    _CONTEXT,
    ("edit", "PUT", "/summary", {"text": "The harbour survey is done; invoice 4711 is open."}),
    _CONTEXT,
    ("undo", "DELETE", "/summary", None),
    ("regenerate", "POST", "/summary/regenerate", _OFFLINE),
    ("pin", "PUT", "/messages/{message}/pin", {"pinned": True}),
    ("compact to less", "POST", "/compress", {**_OFFLINE, "retention": 500, "note": "Keep every amount."}),
    ("kept", "GET", "/kept", None),
    _CONTEXT,
    ("summaries", "GET", "/summaries", None),
    ("say", "POST", "/chat", {"text": "What is still to be done?"}),
    ("undo", "DELETE", "/summary", None),
    _CONTEXT,
    ("history", "GET", "/export?what=history", None),
)
"""Steps through a stored session: a name, a method, a path below the session's, and a body."""


def openapi(*, quick: bool) -> Iterator[Task]:  # noqa: ARG001 - it is as quick as can be
    """The description of the server's API."""
    yield Task("openapi", "openapi", {})


def gateway(*, quick: bool) -> Iterator[Task]:
    """Clients whose sessions outgrow the window, at gateways with different settings, and single requests."""
    for number, (name, variables) in enumerate(_GATEWAYS.items()):
        formats = list(_PATHS) if name == "auto" or not quick else [list(_PATHS)[number % len(_PATHS)]]
        sessions = [
            {"name": f"{name}/{format} {seed}", "requests": _growing(format, 10 * seed + number)}
            for seed in range(1 if quick else 4)
            for format in formats
        ]
        yield _gateway({"COMPACT_MAX_CONTEXT_TOKENS": str(_WINDOW), **variables}, sessions)
    # Here the vendor's window is smaller than the gateway knows.
    narrow = [{"name": f"overflow/{format}", "requests": _growing(format, 99)[-6:]} for format in _PATHS]
    yield _gateway({}, [*narrow, {"name": "single/requests", "requests": list(_single())}])


def stored(*, quick: bool) -> Iterator[Task]:
    """Worlds of all formats as stored sessions of a model with a small window."""
    sessions = []
    for number in range(4 if quick else 16):
        body = world_body(3_000 + number, 9_000)
        imported = {"name": "import", "method": "POST", "path": "/api/sessions/import?model=gpt-4", "body": body}
        steps = [
            {"name": name, "method": method, "path": f"/api/sessions/{{id}}{path}", "body": content}
            for name, method, path, content in _STEPS
        ]
        sessions.append({"name": f"{number:03}", "steps": [imported, *steps]})
    half = len(sessions) // 2
    yield Task("stored", "store", {"variables": {}, "sessions": sessions[:half]})
    yield Task("stored", "store", {"variables": {"COMPACT_RECIPE": "layers"}, "sessions": sessions[half:]})


def _gateway(variables: Mapping[str, str], sessions: Sequence[Any]) -> Task:
    return Task("gateway", "relay", {"variables": variables, "vendor_window": _WINDOW, "sessions": sessions})


def _growing(format: str, seed: int) -> list[Any]:
    """A request before each turn of the model; Anthropic's clients mark the end as what is to be cached."""
    body = limited(world_body(2_000 + seed, 9_000, format), 400)
    key, found = key_of(body), []
    for number, length in enumerate(lengths(body[key], _REQUESTS)):
        messages = body[key][:length]
        if format == "anthropic-messages":
            messages = [*messages[:-1], _marked(messages[-1])]
        found.append(_request(_PATHS[format], {**body, key: messages, "stream": number % 4 == 3}))
    return found


def _marked(message: Body) -> Body:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]}


def _single() -> Iterator[Any]:
    """Requests that no session follows from: other paths, wrong ones, and too large ones."""
    hello = {"model": "gpt-4o", "max_tokens": 50, "messages": [{"role": "user", "content": "Hello"}]}
    long = {"role": "user", "content": "An observation of the harbour. " * 3_000}
    for path in ("/v1/chat/completions", "/v1/messages"):
        yield _request(path, hello)
        yield _request(path, {**hello, "messages": [long]})
        yield _request(path, {**hello, "messages": "none"})
        yield _request(path, hello, authorization="Bearer wrong")
    yield _request("/v1/responses", {"model": "gpt-4o", "input": "Hello"})
    yield _request("/v1/responses/compact", {"model": "gpt-4o", "input": [long, long]})
    yield _request("/v1/messages/count_tokens", hello)
    yield _request("/v1/models", **{"anthropic-version": "2023-06-01"})
    for path in ("/v1/models", "/v1/nothing", "/nothing", "/api/health", "/healthz", "/readyz"):
        yield _request(path)
    websocket = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    yield _request("/v1/responses", **websocket, **{"sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="})


def _request(path: str, body: Any = None, **headers: str) -> Any:
    versions = {"anthropic-version": "2023-06-01"} if "/messages" in path else {}
    sent = {**_CLIENT, **versions, **headers}
    return {"method": "GET" if body is None else "POST", "path": path, "body": body, "headers": sent}
