"""The paths of the gateway, for clients that were given its address with `/v1` or without."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import Match

from compact.errors import CompactError
from compact.messages import Json
from compact.server.gateway.error_bodies import server_error, vendor_error
from compact.server.gateway.relaying import Gateway
from compact.server.gateway.sending import Call
from compact.server.security import uploaded
from compact.server.state import state_of

if TYPE_CHECKING:
    from starlette.types import Scope

router = APIRouter(tags=["gateway"])
_GEMINIS: Final = re.compile(
    r"^v1(?:alpha|beta)\d*/|:(?:generate|streamGenerate|embed|batchEmbed)Contents?$|:countTokens$"
)
"""Paths of Gemini's API, with a version or a method that only Google has."""
_METHODS: Final = ["GET", "POST", "DELETE", "PUT", "PATCH"]
GONE: Final = 499
"""The status of an answer that nobody reads."""
_DIGITS: Final = 10
_STOPPING: Final = "the server is stopping. Ask again in a moment."
_BODY: Final[dict[str, Any]] = {
    "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}
}


def _call(request: Request, path: str, content: bytes) -> Call:
    headers = [(name.lower(), value) for name, value in request.headers.items()]
    query = request.scope["query_string"].decode("latin-1")
    return Call(request.method, path, query, headers, content)


async def _converse(request: Request, path: str, format: str) -> Response:
    gateway = cast("Gateway", request.app.state.gateway)
    session = _written(request.headers.get("x-compact-session", "")).strip()
    call = _call(request, path, await uploaded(request))  # with its images, a history outgrows what vendors take
    undo = request.headers.get("x-compact-undo", "")
    number = int(undo) if undo.isascii() and undo.isdigit() and len(undo) < _DIGITS else 0
    return await _unless_gone(request, gateway.converse(call, format, session, number))


def _written(header: str) -> str:
    """A header as clients write it: in UTF-8, which arrives as one character a byte."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


async def _unless_gone(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """The answer; a client that leaves before there is one takes the request to the vendor with it."""
    stopping = state_of(request).stopping
    answering = asyncio.create_task(work)
    leaving = asyncio.create_task(_gone(request))
    try:
        with stopping.cancelling(answering):
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not answering.done():
            answering.cancel()
    if answering.cancelled() and stopping.now:
        return vendor_error(_format(_path(request.scope), request.headers), CompactError(_STOPPING))
    return answering.result() if answering.done() else Response(status_code=GONE)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@router.post("/chat/completions", include_in_schema=False)
@router.post("/v1/chat/completions", openapi_extra=_BODY, response_class=Response)
async def chat_completions(request: Request) -> Response:
    """Pass on a request in OpenAI's Chat Completions, compacted where it would not fit."""
    return await _converse(request, "chat/completions", "openai-chat")


@router.post("/responses", include_in_schema=False)
@router.post("/v1/responses", openapi_extra=_BODY, response_class=Response)
async def responses(request: Request) -> Response:
    """Pass on a request in OpenAI's Responses, compacted where it would not fit."""
    return await _converse(request, "responses", "openai-responses")


@router.post("/v1/v1/messages", include_in_schema=False)
@router.post("/messages", include_in_schema=False)
@router.post("/v1/messages", openapi_extra=_BODY, response_class=Response)
async def messages(request: Request) -> Response:
    """Pass on a request in Anthropic's Messages, compacted where it would not fit."""
    return await _converse(request, "messages", "anthropic-messages")


async def compact(request: Request) -> Response:
    """Pass on a conversation that OpenAI shall compact; it is compacted here first where it would not fit."""
    return await _converse(request, "responses/compact", "openai-responses")


async def input_tokens(request: Request) -> Response:
    """Have OpenAI count a conversation as it would be sent."""
    return await _converse(request, "responses/input_tokens", "openai-responses")


async def count_tokens(request: Request) -> Response:
    """Have Anthropic count a conversation as it would be sent."""
    return await _converse(request, "messages/count_tokens", "anthropic-messages")


async def others(request: Request) -> Response:
    """Pass on anything else as it is."""
    gateway = cast("Gateway", request.app.state.gateway)
    path = _path(request.scope)
    if _GEMINIS.search(path):
        raise unknown_path(request.scope)
    call = _call(request, path, await request.body())
    return await _unless_gone(request, gateway.pass_through(call, _format(path, request.headers)))


for _root in ("", "/v1", "/v1/v1"):
    for _below, _endpoint in {
        "/responses/compact": compact,
        "/responses/input_tokens": input_tokens,
        "/messages/count_tokens": count_tokens,
    }.items():
        router.add_api_route(f"{_root}{_below}", _endpoint, methods=["POST"], include_in_schema=False)
for _place in ("/v1/{path:path}", "/models", "/models/{path:path}", "/responses/{path:path}", "/embeddings"):
    router.add_api_route(_place, others, methods=_METHODS, include_in_schema=False, response_class=Response)


def error_response(
    scope: Scope, status: int, told: dict[str, Json], headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An error of the server in the form that the client expects: its vendor's, save below `/api` and at `/ingest`."""
    if scope["path"] == "/ingest" or scope["path"].startswith("/api/"):
        return JSONResponse(told, status, headers)
    return server_error(_error_format(scope), status, told["error"]["message"], headers)


def unknown_path(scope: Scope) -> HTTPException:
    """The error of a path that nothing is at."""
    path = ascii(scope["path"][:80])[1:-1]
    served = "The gateway serves the paths of OpenAI and Anthropic below /v1, not yet those of Gemini and Azure"
    return HTTPException(404, f"there is no {path}. {served}. /api/openapi.json says what else there is.")


def _path(scope: Scope) -> str:
    """The path at the vendor."""
    path: str = scope["path"]
    return path.removeprefix("/").removeprefix("v1/").removeprefix("v1/")


def _error_format(scope: Scope) -> str:
    """The format of an error: by the path, and if the gateway does not serve that, by the headers."""
    path, headers = _path(scope), Headers(scope=scope)
    format = _format(path, headers)
    if format != "openai-chat":
        return format
    served = any(route.matches(scope)[0] is Match.FULL for route in router.routes)
    google = not served and any(name.startswith("x-goog-") for name in headers)
    return "google-gemini" if google or _GEMINIS.search(path) else format


def _format(path: str, headers: Headers) -> str:
    """The format in which the client seems to speak."""
    if path.startswith("messages") or "anthropic-version" in headers:
        return "anthropic-messages"
    if path.startswith("responses"):
        return "openai-responses"
    return "openai-chat"
