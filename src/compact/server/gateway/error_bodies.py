"""Errors of ours in the words, codes and headers of the vendor whose client asked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fastapi.responses import JSONResponse

from compact.errors import (
    CompactError,
    CompactionBlocked,
    InsufficientBudget,
    InvalidConfiguration,
    InvalidInput,
    NotFound,
)
from compact.messages import Json
from compact.server.gateway.sending import UpstreamFailed, UpstreamUnreachable

_KINDS: Final[Mapping[type[CompactError], tuple[int, str, str]]] = {
    InsufficientBudget: (400, "invalid_request_error", "context_length_exceeded"),
    InvalidConfiguration: (503, "api_error", "gateway_configuration"),
    CompactionBlocked: (503, "api_error", "compaction_blocked"),
    NotFound: (404, "not_found_error", "not_found"),
    InvalidInput: (400, "invalid_request_error", "invalid_value"),
    UpstreamUnreachable: (502, "api_error", "upstream_unreachable"),
    UpstreamFailed: (502, "api_error", "upstream_failed"),
    CompactError: (503, "api_error", "gateway_failed"),
}
"""Status, type and code of each kind of error; the first kind that an error is of counts."""
_REFUSALS: Final = {
    403: ("permission_error", "permission_denied"),
    404: ("not_found_error", "not_found"),
    413: ("request_too_large", "request_too_large"),
    426: ("invalid_request_error", "upgrade_required"),
}
"""Type and code of what the server refuses, by status."""
_STATUSES: Final = {401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND"}
"""Google's names of statuses."""
_WORTH_RETRYING: Final = frozenset({408, 409, 429})
_PARAMS: Final = {"openai-chat": "messages", "openai-responses": "input"}
_SEPARATOR: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# Clients read an overflow with one of these words as a limit on requests, and wait instead of sending less.
_OF_LIMITS: Final = re.compile("rate limit|per minute|too many requests|timed out", re.IGNORECASE)
_NO_DETAILS: Final = "what must stay does not fit; the header x-compact-reason says more"


@dataclass(frozen=True, slots=True)
class _Error:
    """An error, before it is put into a vendor's envelope."""

    status: int
    type: str
    code: str
    message: str
    param: str | None = None


def vendor_error(format: str, error: CompactError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer to a request in the format that failed with an error of ours."""
    status, kind, code = next(known for of, known in _KINDS.items() if isinstance(error, of))
    final = isinstance(error, InvalidInput | InsufficientBudget)
    if isinstance(error, InsufficientBudget):
        told = _Error(status, kind, code, _overflow_message(format, error), _PARAMS.get(format))
    else:
        told = _Error(status, kind, code, f"Compact: {error}")
    return _response(format, told, final=final, headers=headers)


def server_error(format: str, status: int, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer to a request that the server refuses before the gateway sees it."""
    final = status < 500 and status not in _WORTH_RETRYING
    return _response(format, _refusal(format, status, message), final=final, headers=headers)


def closing_event(format: str, message: str) -> bytes:
    """The event by which a stream in the format says that it ends too early.

    It begins on a line of its own, for the vendor's last event may have been cut.
    """
    if format == "openai-responses":
        told: Json = {"type": "error", "code": "server_stopping", "message": message, "param": None}
        return _event("error", told)
    name = "error" if format == "anthropic-messages" else ""
    return _event(name, _envelope(format, _Error(503, "api_error", "server_stopping", message)))


def _refusal(format: str, status: int, message: str) -> _Error:
    if status == 401:
        if format == "anthropic-messages":
            return _Error(status, "authentication_error", "", f"invalid x-api-key (Compact: {message})")
        words = f"Incorrect API key provided. (Compact: {message})"
        return _Error(status, "invalid_request_error", "invalid_api_key", words)
    others = ("api_error", "gateway_failed") if status >= 500 else ("invalid_request_error", "invalid_value")
    kind, code = _REFUSALS.get(status, others)
    return _Error(status, kind, code, f"Compact: {message}")


def _overflow_message(format: str, error: InsufficientBudget) -> str:
    """The vendor's own sentence, which clients look for, and behind it ours."""
    note = _SEPARATOR.sub("", str(error))
    return f"{_overflow_sentence(format, error)} (Compact: {_NO_DETAILS if _OF_LIMITS.search(note) else note})"


def _overflow_sentence(format: str, error: InsufficientBudget) -> str:
    used, most, answer = error.needed, error.budget, error.answer
    if format == "openai-responses":
        return "Your input exceeds the context window of this model. Please adjust your input and try again."
    if format == "anthropic-messages":
        if not answer:
            return f"prompt is too long: {used} tokens > {most} maximum"
        return (
            f"input length and `max_tokens` exceed context limit: {used} + {answer} > {most}, decrease input length or "
            "`max_tokens` and try again"
        )
    limit = f"This model's maximum context length is {most} tokens. However, "
    if not answer:
        return f"{limit}your messages resulted in {used} tokens. Please reduce the length of the messages."
    return (
        f"{limit}you requested {used + answer} tokens ({used} in the messages, {answer} in the completion). "
        "Please reduce the length of the messages or completion."
    )


def _response(format: str, error: _Error, *, final: bool, headers: Mapping[str, str] | None) -> JSONResponse:
    """The answer; SDKs do not ask again where it is final."""
    again = {"x-should-retry": "false"} if final else {}
    return JSONResponse(_envelope(format, error), error.status, headers={**(headers or {}), **again})


def _envelope(format: str, error: _Error) -> Json:
    if format == "google-gemini":
        status = _STATUSES.get(error.status, "INVALID_ARGUMENT" if error.status < 500 else "INTERNAL")
        return {"error": {"code": error.status, "message": error.message, "status": status}}
    if format == "anthropic-messages":
        return {"type": "error", "error": {"type": error.type, "message": error.message}, "request_id": None}
    return {"error": {"message": error.message, "type": error.type, "param": error.param, "code": error.code}}


def _event(name: str, told: Json) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"\n{head}data: {json.dumps(told)}\n\n".encode()
