"""Find out from a vendor's error that a request is too long, and by how much."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from compact.llm.failures import TOO_LONG
from compact.messages import Json

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
_BOTH: Final = re.compile(r"requested (?:about )?(\d{1,9}) tokens")


@dataclass(frozen=True, slots=True)
class Overflow:
    """A request was too long: tokens of its input and of the answer it asks for, and how many both may have together.

    They are the vendor's count, and 0 where it does not say.
    """

    input: int = 0
    limit: int = 0
    answer: int = 0

    def window(self, used: int, answer: int) -> int:
        """What a request and its answer have room in, in our own counting.

        By that the request had `used` tokens; `answer` is the limit that it set. Where the vendor gives no numbers, or
        none that explain its refusal, it is what they take, though that was too much.
        """
        room = max(self.limit - self.answer, 0)
        if not self.limit or room >= self.input > 0:
            return used + answer
        if not self.input:
            return min(used + answer, self.limit)
        scaled = self.limit * used // self.input, room * used // self.input + min(answer, self.limit)
        return min(scaled)

    def learned(self, used: int) -> int:
        """The model's window by the vendor's own word; 0 where the request, by its numbers, would have fitted."""
        return self.limit if (self.input or used) + self.answer > self.limit else 0


def read_overflow(status: int, body: bytes) -> Overflow | None:
    """Read a vendor's error; None if it is not about the length of the request."""
    if status not in _STATUSES:
        return None
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return parse_overflow(told)


def parse_overflow(told: Json) -> Overflow | None:
    """Read an error in a stream, where there is no status."""
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
