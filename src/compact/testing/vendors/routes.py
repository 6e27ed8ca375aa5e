"""Which API a request is for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, unquote

from compact.testing.vendors.anthropic import MESSAGES
from compact.testing.vendors.chat import CHAT
from compact.testing.vendors.faults import Operation
from compact.testing.vendors.gemini import GENERATE
from compact.testing.vendors.responses import RESPONSES
from compact.testing.vendors.wire import Api, Headers, Route

_POSTS: Final[Mapping[str, Route]] = {
    "/v1/chat/completions": Route(CHAT, "generate"),
    "/v1/responses": Route(RESPONSES, "generate"),
    "/v1/responses/input_tokens": Route(RESPONSES, "count"),
    "/v1/messages": Route(MESSAGES, "generate"),
    "/v1/messages/count_tokens": Route(MESSAGES, "count"),
}
_GEMINI: Final = re.compile(r"/v1(?:beta)?/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)")
_MODELS: Final = re.compile(r"/v1(?:beta)?/models(?:/([^:]+))?")


def find(method: str, path: str, query: str, headers: Headers) -> Route:
    """The route; one without an operation where the vendor knows none."""
    if method == "POST" and path in _POSTS:
        return _POSTS[path]
    if method == "POST" and (found := _GEMINI.fullmatch(path)):
        operation: Operation = "count" if found[2] == "countTokens" else "generate"
        stream = found[2] == "streamGenerateContent"
        framed = not stream or parse_qs(query).get("alt") == ["sse"]
        return Route(GENERATE, operation, unquote(found[1]), stream, framed)
    if method == "GET" and (found := _MODELS.fullmatch(path)):
        return Route(_spoken(path, headers), "models", unquote(found[1] or ""))
    return Route(_spoken(path, headers), None)


def _spoken(path: str, headers: Headers) -> Api:
    """The vendor whose client this seems to be."""
    if path.startswith("/v1beta/"):
        return GENERATE
    return MESSAGES if "anthropic-version" in headers or path.startswith("/v1/messages") else CHAT
