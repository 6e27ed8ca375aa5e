"""Anthropic Messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NoReturn

from compact.formats import FORMATS
from compact.messages import Json
from compact.testing.vendors.binding import sign, verify
from compact.testing.vendors.cache import PromptCache
from compact.testing.vendors.faults import Operation
from compact.testing.vendors.wire import (
    Api,
    ApiError,
    Body,
    Event,
    Generation,
    Headers,
    Rejected,
    Vendor,
    decode,
    pieces,
)

INVALID: Final = "invalid_request_error"
_ENDINGS: Final = {"stop": "end_turn", "calls": "tool_use", "length": "max_tokens", "filter": "refusal"}
_LISTED: Final = ("claude-opus-5", "claude-sonnet-5", "claude-haiku-4-5")
_ESCAPE: Final = re.compile(r"(?s)\\(?:u([0-9a-fA-F]{4})|.)")
_HIGH_OR_LOW: Final = re.compile(r"\\u[dD][89a-fA-F]")

FAILURES: Final = {
    "rate_limit": ApiError(
        429,
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: "
        "00000000-0000-0000-0000-000000000000, model: {model}). For details, refer to: "
        "https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce "
        "the prompt length or the maximum tokens requested, or try again later. You may also contact sales at "
        "https://claude.com/contact-sales to discuss your options for a rate limit increase.",
        "rate_limit_error",
    ),
    "quota": ApiError(
        400,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
        "purchase credits.",
        INVALID,
    ),
    "overloaded": ApiError(529, "Overloaded", "overloaded_error"),
    "server_error": ApiError(500, "Internal server error", "api_error"),
    "unavailable": ApiError(503, "Service Unavailable", "api_error"),
    "filtered": ApiError(400, "Output blocked by content filtering policy", INVALID),
}


def _refuse(message: str, status: int = 400, type: str = INVALID) -> NoReturn:  # noqa: A002 - the wire's word
    raise Rejected(ApiError(status, message, type))


def _authenticate(headers: Headers, _: str) -> None:
    if not headers.get("x-api-key") and not headers.get("authorization", "").removeprefix("Bearer").strip():
        _refuse("x-api-key header is required", 401, "authentication_error")
    if not headers.get("anthropic-version"):
        _refuse("anthropic-version: header is required")


def _envelope(error: ApiError, request_id: str) -> Json:
    return {"type": "error", "error": {"type": error.type, "message": error.message}, "request_id": request_id}


def _headers(error: ApiError | None, request_id: str) -> dict[str, str]:
    found = {"request-id": request_id, "anthropic-organization-id": "00000000-0000-0000-0000-000000000000"}
    if error is not None:
        found["x-should-retry"] = "true" if error.status == 429 or error.status >= 500 else "false"
        if error.retry_after is not None:
            found["retry-after"] = f"{error.retry_after:g}"
    return found


def _read(raw: bytes) -> Body:
    """The body; half of a surrogate pair, which is what remains of an emoji cut in two, is refused as well."""
    text = raw.decode("utf-8", "replace")
    try:
        body = decode(raw)
    except ValueError as error:
        at = error.pos if isinstance(error, json.JSONDecodeError) else 0
        _refuse(f"The request body is not valid JSON: unexpected character: {_place(text, at)}")
    for problem, at in _lone_surrogates(text):
        _refuse(f"The request body is not valid JSON: {problem} in string: {_place(text, at)}")
    if not isinstance(body, dict):
        _refuse("Input should be a valid dictionary")
    return body


def _lone_surrogates(text: str) -> Iterator[tuple[str, int]]:
    """What is wrong with escaped surrogates, and where."""
    escapes = _ESCAPE.finditer(text) if _HIGH_OR_LOW.search(text) else iter(())
    for escape in escapes:
        code = int(escape[1] or "0", 16)
        if 0xD800 <= code < 0xDC00:
            after = next(escapes, None)
            if after is None or after.start() != escape.end() or not after[1]:
                yield "no low surrogate", escape.start()
            elif not 0xDC00 <= int(after[1], 16) < 0xE000:
                yield "invalid low surrogate", escape.start()
        elif 0xDC00 <= code < 0xE000:
            yield "invalid high surrogate", escape.start()


def _place(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return f"line {line} column {at - text.rfind(chr(10), 0, at)} (char {at})"


def _models(asked: str, window: int | None) -> Json:
    found = [
        {
            "type": "model",
            "id": name,
            "display_name": name.replace("-", " ").title(),
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "active",
            "max_input_tokens": window or 200_000,
            "max_tokens": 64_000,
        }
        for name in ([asked] if asked else _LISTED)
    ]
    if asked:
        return found[0]
    return {"data": found, "has_more": False, "first_id": found[0]["id"], "last_id": found[-1]["id"]}


def _require(body: Body, operation: Operation) -> None:
    needed = ("model", "messages") if operation == "count" else ("model", "max_tokens", "messages")
    for name in needed:
        if name not in body:
            _refuse(f"{name}: Field required")
    messages, limit = body["messages"], body.get("max_tokens", 1)
    if not isinstance(messages, list):
        _refuse("messages: Input should be a valid list")
    if not messages:
        _refuse("messages: at least one message is required")
    if not isinstance(limit, int) or isinstance(limit, bool):
        _refuse("max_tokens: Input should be a valid integer")
    if limit < 1:
        _refuse("max_tokens: Input should be greater than or equal to 1")


def _overflow(tokens: int, answer: int, window: int) -> ApiError:
    if tokens > window:
        return ApiError(400, f"prompt is too long: {tokens} tokens > {window} maximum", INVALID)
    sizes = f"{tokens} + {answer} > {window}"
    text = f"input length and `max_tokens` exceed context limit: {sizes}, decrease input length or `max_tokens`"
    return ApiError(400, f"{text} and try again", INVALID)


def _whole(made: Generation) -> Json:
    ending = _ENDINGS.get(made.reply.ending, made.reply.ending)
    message: dict[str, Json] = {
        "id": made.ids.new("msg_01", 22),
        "type": "message",
        "role": "assistant",
        "model": made.model,
        "content": [] if ending == "refusal" else list(_content(made)),
        "stop_reason": ending,
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": None} if ending == "refusal" else None,
        "usage": _usage(made),
    }
    return message if made.notes is None else message | {"input_transformations": list(made.notes)}


def _content(made: Generation) -> Iterator[Json]:
    reply = made.reply
    if reply.reasoning:
        yield {"type": "thinking", "thinking": reply.reasoning, "signature": sign(made.body, reply.reasoning)}
    if reply.text:
        yield {"type": "text", "text": reply.text}
    for name, arguments in reply.calls:
        yield {"type": "tool_use", "id": made.ids.new("toolu_01", 22), "name": name, "input": dict(arguments)}


def _usage(made: Generation) -> Json:
    usage = made.usage
    written = usage.written_5m + usage.written_1h
    return {
        "input_tokens": usage.input - usage.cached - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": usage.cached,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written_5m,
            "ephemeral_1h_input_tokens": usage.written_1h,
        },
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def _events(whole: Json, _: Generation) -> Iterator[Event]:
    usage = whole["usage"]
    started = whole | {"content": [], "stop_reason": None, "stop_details": None, "usage": usage | {"output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": started}
    yield "ping", {"type": "ping"}
    for index, block in enumerate(whole["content"]):
        opened, deltas = _opened(block)
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": opened}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    delta = {key: whole[key] for key in ("stop_reason", "stop_sequence", "stop_details")}
    counts = {key: value for key, value in usage.items() if key.endswith("_tokens")}
    yield "message_delta", {"type": "message_delta", "delta": delta, "usage": counts}
    yield "message_stop", {"type": "message_stop"}


def _opened(block: Json) -> tuple[Json, list[Json]]:
    """A block as it starts, and what is added to it."""
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
        sealed = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, [*deltas, sealed]
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    written = ["", *pieces(json.dumps(block["input"]))]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in written]


VENDOR: Final = Vendor(
    name="anthropic",
    invalid=INVALID,
    authenticate=_authenticate,
    envelope=_envelope,
    headers=_headers,
    read=_read,
    unknown=lambda _, __: ApiError(404, "Not Found", "not_found_error"),
    failures=FAILURES,
    models=_models,
)
MESSAGES: Final = Api(
    vendor=VENDOR,
    format=FORMATS["anthropic-messages"],
    require=_require,
    overflow=_overflow,
    verify=verify,
    charge=PromptCache.explicit,
    limit=lambda body: body.get("max_tokens"),
    counts_answers=FORMATS["anthropic-messages"].variants,
    whole=_whole,
    events=_events,
    broken=lambda envelope: ("error", envelope),
    counted=lambda tokens: {"input_tokens": tokens},
)
