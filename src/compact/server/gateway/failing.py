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
from compact.messages import Json
from compact.server.gateway.sending import UpstreamFailed
from compact.server.gateway.upstreams import Speaks

_STATUSES: Final = frozenset({400, 413, 422, 500})
_CODES: Final = frozenset({"context_length_exceeded", "exceed_context_size_error", "request_too_large"})
_TOO_LONG: Final = re.compile(
    r"prompt is too long|input is too long|context (?:length|window|size|limit)|available context"
    r"|maximum (?:context|model|prompt) length|too many (?:input )?tokens",
    re.IGNORECASE,
)
# What was asked for and what there is, in the words of Anthropic (twice) and of OpenAI.
_ASKED_FIRST: Final = re.compile(r"(?P<asked>\d+) tokens > (?P<limit>\d+) maximum")
_WITH_ANSWER: Final = re.compile(r"(?P<asked>\d+) \+ (?P<answer>\d+) > (?P<limit>\d+)")
_LIMIT_FIRST: Final = re.compile(
    r"maximum context length is (?P<limit>\d+) tokens.{0,80}?(?:resulted in|requested)\D{0,20}(?P<asked>\d+) tokens",
    re.DOTALL,
)


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
    error = told.get("error") if isinstance(told, dict) else None
    if not isinstance(error, dict):
        return None
    message = str(error.get("message"))[:2000]
    if not {str(error.get("code")), str(error.get("type"))} & _CODES and not _TOO_LONG.search(message):
        return None
    for pattern in (_ASKED_FIRST, _WITH_ANSWER, _LIMIT_FIRST):
        if found := pattern.search(message):
            groups = found.groupdict()
            return Overflow(int(groups["asked"]), int(groups["limit"]) - int(groups.get("answer") or 0))
    return Overflow()


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
