"""A plain HTTP client and one small request for each API of the fake vendors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

from compact.testing.vendors import FakeVendors

OPENAI = {"authorization": "Bearer sk-test"}
ANTHROPIC = {"x-api-key": "sk-test", "anthropic-version": "2023-06-01"}
GEMINI = {"x-goog-api-key": "test"}


def words(text: str) -> int:
    """A tokenizer whose counts are easy to check."""
    return len(text.split())


@dataclass(frozen=True)
class Response:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[tuple[str, Any]]:
        """The server-sent events: name and decoded data."""
        found = []
        for block in self.body.decode().split("\n\n")[:-1]:
            fields = dict(line.split(": ", 1) for line in block.split("\n"))
            data = fields["data"]
            found.append((fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
        return found


@dataclass(frozen=True)
class Api:
    """How to ask one API for an answer, and where it keeps the text of it."""

    name: str
    path: str
    stream_path: str
    headers: Mapping[str, str]
    messages: str

    def body(self, text: str = "Hello there", **more: Any) -> dict[str, Any]:
        if self.name == "gemini":
            return {"contents": [{"role": "user", "parts": [{"text": text}]}], **more}
        limit = {"max_tokens": 4096} if self.name == "anthropic" else {}
        return {"model": "any-model", self.messages: [{"role": "user", "content": text}], **limit, **more}

    def ask(self, server: FakeVendors, body: Mapping[str, Any] | None = None) -> Response:
        return send(server, "POST", self.path, body or self.body(), self.headers)

    def stream(self, server: FakeVendors, body: Mapping[str, Any] | None = None) -> Response:
        flag = {} if self.name == "gemini" else {"stream": True}
        return send(server, "POST", self.stream_path, {**(body or self.body()), **flag}, self.headers)

    def text(self, whole: Any) -> str:
        """The text of a whole answer."""
        if self.name == "chat":
            found = whole["choices"][0]["message"]["content"]
        elif self.name == "responses":
            found = "".join(part["text"] for item in whole["output"] for part in item.get("content", []))
        elif self.name == "anthropic":
            found = "".join(block["text"] for block in whole["content"] if block["type"] == "text")
        else:
            found = "".join(part["text"] for part in whole["candidates"][0]["content"].get("parts", []))
        return str(found)


APIS = {
    api.name: api
    for api in (
        Api("chat", "/v1/chat/completions", "/v1/chat/completions", OPENAI, "messages"),
        Api("responses", "/v1/responses", "/v1/responses", OPENAI, "input"),
        Api("anthropic", "/v1/messages", "/v1/messages", ANTHROPIC, "messages"),
        Api(
            "gemini",
            "/v1beta/models/gemini-2.5-flash:generateContent",
            "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
            GEMINI,
            "contents",
        ),
    )
}


def send(server: FakeVendors, method: str, path: str, body: Any = None, headers: Mapping[str, str] = {}) -> Response:
    """One request on a connection of its own; a body that is no bytes is sent as JSON."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection = HTTPConnection(server.host, server.port, timeout=10)
    try:
        connection.request(method, path, data, dict(headers))
        answer = connection.getresponse()
        return Response(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()
