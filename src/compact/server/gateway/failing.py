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
from compact.server.gateway.sending import UpstreamFailed
from compact.server.gateway.upstreams import Speaks

_STATUSES: Final = frozenset({400, 413, 422, 500})
_CODES: Final = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
# What was asked for and what there is, in the words of Anthropic (twice) and of OpenAI.
_ASKED_FIRST: Final = re.compile(r"(?P<asked>\d+) tokens > (?P<limit>\d+) maximum")
_WITH_ANSWER: Final = re.compile(r"(?P<asked>\d+) \+ (?P<answer>\d+) > (?P<limit>\d+)")
_LIMIT_FIRST: Final = re.compile(
    r"maximum context length is (?P<limit>\d+) tokens.{0,80}?(?:resulted in|requested)\D{0,20}(?P<asked>\d+) tokens",
    re.DOTALL,
)
_COUNTED: Final = (_ASKED_FIRST, _WITH_ANSWER, _LIMIT_FIRST)


@dataclass(frozen=True, slots=True)
class Overflow:
    """A request was too long: how many tokens the vendor counted and has room for, 0 where it does not say."""

    asked: int = 0
    limit: int = 0

    def window(self, used: int) -> int:
        """The window in our own counting, by which the request had `used` tokens."""
        return used * self.limit // self.asked if 0 < self.limit < self.asked else used


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
    counted = next((found for pattern in _COUNTED if (found := pattern.search(message))), None)
    if counted:
        groups = counted.groupdict()
        return Overflow(int(groups["asked"]), int(groups["limit"]) - int(groups.get("answer") or 0))
    named = {str(error.get("code")), str(error.get("type"))} & _CODES
    return Overflow() if named or TOO_LONG.search(message) else None


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
    if isinstance(error, InsufficientBudget):
        status, kind, code = 400, "invalid_request_error", "context_length_exceeded"
    elif isinstance(error, InvalidConfiguration):
        status, kind, code = 503, "api_error", "gateway_configuration"
    elif isinstance(error, CompactionBlocked):
        status, kind, code = 503, "api_error", "compaction_blocked"
    elif isinstance(error, NotFound):
        status, kind, code = 404, "not_found_error", "not_found"
    elif isinstance(error, InvalidInput):
        status, kind, code = 400, "invalid_request_error", "invalid_value"
    elif isinstance(error, UpstreamFailed):
        status, kind, code = 502, "api_error", "upstream_unreachable"
    else:
        status, kind, code = 503, "api_error", "gateway_failed"
    again = {"x-should-retry": "false"} if isinstance(error, InvalidInput | InsufficientBudget) else {}
    body = said(speaks, kind, f"Compact: {error}", code)
    return JSONResponse(body, status, headers={**(headers or {}), **again})


def said(speaks: Speaks, kind: str, message: str, code: str) -> dict[str, Json]:
    """The vendor's envelope."""
    if speaks == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
