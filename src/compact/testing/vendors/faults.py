"""What can go wrong between a vendor and its client."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal, TypeAlias, get_args

from compact.errors import InvalidConfiguration
from compact.testing.vendors.script import Reply

Kind: TypeAlias = Literal[
    "rate_limit",
    "quota",
    "overloaded",
    "server_error",
    "unavailable",
    "refusal",
    "filtered",
    "truncated",
    "empty",
    "hang",
    "drip",
    "cut",
    "garbled",
    "stream_error",
]
Operation: TypeAlias = Literal["generate", "count", "models"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    The vendor refuses: "rate_limit" (to be retried after `retry_after` seconds), "quota", "overloaded",
    "server_error", "unavailable". The model does not answer well: "refusal", "filtered" (by the vendor's content
    filter), "truncated" (by the limit on the answer), "empty". The line is bad: "hang" (nothing comes, and after
    `seconds` the connection closes, or with the server), "drip" (a byte every `seconds`, or a hundred a second), "cut"
    (the connection closes after the share `at` of the answer; when `clean`, HTTP looks complete), "garbled" (`body`
    instead of JSON), "stream_error" (the vendor reports an error in the middle of a stream, after a status of 200).
    """

    kind: Kind
    retry_after: float = 1
    seconds: float | None = None
    at: float = 0.5
    clean: bool = False
    body: str = "<html><body>502 Bad Gateway</body></html>"

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise InvalidConfiguration(
                f"there is no fault {self.kind!r}", field="kind", remedy=f"Use one of: {', '.join(get_args(Kind))}."
            )
        if self.retry_after < 0 or (self.seconds or 0) < 0:
            raise InvalidConfiguration("is negative", field="seconds or retry_after", remedy="Give a time to wait.")
        if not 0 <= self.at < 1:
            raise InvalidConfiguration("is no share", field="at", remedy="Give a number from 0 to less than 1.")

    @property
    def spoils(self) -> bool:
        """Whether the scripted reply does not reach the client whole."""
        return self.kind != "drip"


_SPOKEN: Mapping[str, Reply] = {
    "refusal": Reply("I'm sorry, but I can't help with that.", stop="refusal"),
    "filtered": Reply(stop="filter"),
    "empty": Reply(),
}


def misspoken(fault: Fault | None, reply: Reply) -> Reply:
    """What the model says instead of the reply, where the fault is the model's."""
    if fault is None:
        return reply
    if fault.kind == "truncated":
        return replace(reply, text=reply.text[: len(reply.text) // 2].rstrip(), calls=(), stop="length")
    return _SPOKEN.get(fault.kind, reply)


class Faults:
    """The faults to come, in order, for each operation."""

    def __init__(self) -> None:
        self._waiting: dict[Operation, deque[Fault]] = {}
        self._lock = Lock()

    def add(self, fault: Fault, times: int, on: Operation) -> None:
        if on not in get_args(Operation):
            raise InvalidConfiguration(
                f"there is no operation {on!r}", field="on", remedy=f"Use one of: {', '.join(get_args(Operation))}."
            )
        with self._lock:
            self._waiting.setdefault(on, deque()).extend([fault] * times)

    def next(self, operation: Operation | None) -> Fault | None:
        with self._lock:
            waiting = self._waiting.get(operation) if operation else None
            return waiting.popleft() if waiting else None
