"""Errors on both sides of the gateway: how a vendor says that a request is too long, and ours in a vendor's form."""

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
from compact.llm.failures import TOO_LONG
from compact.messages import Json
from compact.server.gateway.sending import UpstreamFailed, UpstreamUnreachable
from compact.server.gateway.upstreams import Speaks

_STATUSES: Final = frozenset({400, 413, 422, 500})
_CODES: Final = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
# What a vendor counted, in the words of Anthropic (with `>`), OpenAI, OpenRouter, vLLM and llama.cpp. Where vLLM says
# "at least", it stopped counting.
_LIMIT: Final = re.compile(
    r"context length is (?:only )?(\d{1,9}) tokens|context size \((\d{1,9}) tokens\)"
    r"|\d tokens > (\d{1,9}) maximum|\d \+ \d{1,9} > (\d{1,9})"
)
_INPUT: Final = re.compile(
    r"resulted in (\d{1,9}) tokens|request \((\d{1,9}) tokens\)|(?<!at least )\b(\d{1,9}) input tokens"
    r"|\b(\d{1,9}) tokens > \d|\b(\d{1,9}) \+ \d"
)
_ANSWER: Final = re.compile(
    r"\b(\d{1,9}) (?:(?:in|for) the (?:completion|output)|output tokens)|is too large: (\d{1,9})|\d \+ (\d{1,9}) > \d"
)
_REFUSED: Final = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "permission_denied"),
    404: ("not_found_error", "not_found"),
    413: ("request_too_large", "request_too_large"),
    426: ("invalid_request_error", "upgrade_required"),
}
_ANSWERS: Final[Mapping[type[CompactError], tuple[int, str, str]]] = {
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
_BOTH: Final = re.compile(r"requested (?:about )?(\d{1,9}) tokens")


@dataclass(frozen=True, slots=True)
class Overflow:
    """A request was too long: tokens of its input and of the answer it asks for, and how many both may have together.

    They are the vendor's count, and 0 where it does not say.
    """

    input: int = 0
    limit: int = 0
    answer: int = 0

    def window(self, used: int) -> int:
        """What the input has room in, in our own counting, by which it had `used` tokens; 0 where there is no room."""
        room = max(self.limit - self.answer, 0)
        if not self.limit or room >= self.input > 0:
            return used
        return used * room // self.input if self.input else min(used, room)

    def learned(self, used: int) -> int:
        """The model's window by the vendor's own word; 0 where what is wrong may be this one request's answer."""
        return self.limit if (self.input or used) > self.limit else 0


def overflow_in(status: int, body: bytes) -> Overflow | None:
    """What a vendor's error says about the length of the request; None where it is about something else."""
    if status not in _STATUSES:
        return None
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return overflow_told(told)


def overflow_told(told: Json) -> Overflow | None:
    """The same for an error that was told inside of a stream, where there is no status."""
    error = _error_in(told)
    message = str(error.get("message"))[:2000]
    if limit := _figure(_LIMIT, message):
        answer = _figure(_ANSWER, message)
        return Overflow(_figure(_INPUT, message) or max(_figure(_BOTH, message) - answer, 0), limit, answer)
    named = {str(error.get("code")), str(error.get("type"))} & _CODES
    return Overflow() if named or TOO_LONG.search(message) else None


def _figure(pattern: re.Pattern[str], message: str) -> int:
    found = pattern.search(message)
    return int(found[found.lastindex or 0]) if found else 0


def _error_in(told: Json) -> Mapping[str, Json]:
    """The error's own object: alone, in an envelope, or in an answer that failed."""
    if not isinstance(told, dict):
        return {}
    answer = told.get("response")
    for error in (told.get("error"), answer.get("error") if isinstance(answer, dict) else None):
        if isinstance(error, dict):
            return error
    return told if isinstance(told.get("message"), str) else {}


def in_words_of(speaks: Speaks, error: CompactError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error of ours in the form in which the vendor's SDK expects one."""
    status, kind, code = next(answer for of, answer in _ANSWERS.items() if isinstance(error, of))
    again = {"x-should-retry": "false"} if isinstance(error, InvalidInput | InsufficientBudget) else {}
    body = said(speaks, kind, f"Compact: {error}", code)
    return JSONResponse(body, status, headers={**(headers or {}), **again})


def refused(speaks: Speaks, status: int, message: str) -> dict[str, Json]:
    """The same for what the server refuses before the gateway has seen it."""
    others = ("api_error", "gateway_failed") if status >= 500 else ("invalid_request_error", "invalid_value")
    kind, code = _REFUSED.get(status, others)
    return said(speaks, kind, f"Compact: {message}", code)


def said(speaks: Speaks, kind: str, message: str, code: str) -> dict[str, Json]:
    """The vendor's envelope."""
    if speaks == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def farewell(format: str, message: str) -> bytes:
    """The event by which a stream in the vendor's form says that it ends too early.

    It begins on a line of its own, for the vendor's last event may have been cut.
    """
    if format == "openai-responses":
        told: Json = {"type": "error", "code": "server_stopping", "message": message, "param": None}
        return _event("error", told)
    if format == "anthropic-messages":
        return _event("error", said("anthropic", "api_error", message, ""))
    return _event("", said("openai", "api_error", message, "server_stopping"))


def _event(name: str, told: Json) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"\n{head}data: {json.dumps(told)}\n\n".encode()
