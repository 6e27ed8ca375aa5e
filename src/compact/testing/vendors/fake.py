"""The fake vendors as their users see them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count as numbers
from threading import Lock
from typing import Final

from compact.errors import InvalidConfiguration
from compact.formats import FORMATS
from compact.messages import Json
from compact.testing.vendors.faults import Fault, Operation
from compact.testing.vendors.routes import find
from compact.testing.vendors.script import Line, Received
from compact.testing.vendors.server import Arrived, Fake
from compact.testing.vendors.service import Service
from compact.testing.vendors.wire import Answer, Options, decode
from compact.tokens.cache import CountCache
from compact.tokens.encodings import load

_SECRETS: Final = frozenset(
    {"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "proxy-authorization"}
)
_KEY_IN_QUERY: Final = re.compile(r"(?<=[?&]key=)[^&]+")
_REDACTED: Final = "[redacted]"


class FakeVendors(Fake):
    """OpenAI, Anthropic and Gemini at one address of this machine, from `with` to its end.

    `window` is the size of every model's context window in tokens, counted by `count`: OpenAI's o200k encoding unless
    another is given. Where the vendor counts the limit of the answer, it has to fit as well. With `bind_prefix`,
    Anthropic's thinking blocks are valid only in the conversation they were made in. `variants` maps a wire format to
    the deployment whose rules it follows; `switch` turns rules on or off by id, such as A19, R6 and G7: without these,
    signatures and encrypted reasoning that the fakes did not make are accepted.
    """

    def __init__(
        self,
        *,
        window: int | None = None,
        count: Callable[[str], int] | None = None,
        bind_prefix: bool = False,
        variants: Mapping[str, str] | None = None,
        switch: Mapping[str, bool] | None = None,
    ) -> None:
        _check(window, variants or {})
        counter = CountCache(count or load("o200k_base").count)
        self._service = Service(Options(counter, window, bind_prefix, dict(variants or {}), dict(switch or {})))
        self._requests: dict[int, Received] = {}
        self._numbers = numbers()
        self._lock = Lock()
        super().__init__(self._respond)

    @property
    def requests(self) -> tuple[Received, ...]:
        """Everything received so far, in the order in which it arrived."""
        with self._lock:
            return tuple(self._requests.values())

    def forget(self) -> None:
        """Drops what was recorded, for tests that send more than memory holds."""
        with self._lock:
            self._requests.clear()

    def reply(self, *lines: Line) -> None:
        """Queues what the models say next, whichever is asked; a function answers everything from its turn on.

        A reply that a fault keeps from the client stays queued, so a client that tries again gets it.
        """
        self._service.script.add(lines)

    def fail(self, fault: Fault, times: int = 1, on: Operation = "generate") -> None:
        """Queues a fault for the next requests that generate, count tokens, or list models."""
        self._service.faults.add(fault, times, on)

    def advance(self, seconds: float) -> None:
        """Lets time pass for the prompt caches."""
        self._service.cache.advance(seconds)

    def _respond(self, arrived: Arrived) -> Answer:
        request = _record(arrived)
        with self._lock:
            number = next(self._numbers)
            self._requests[number] = request
        answer = self._service.answer(request, arrived.body)
        with self._lock:
            if number in self._requests and (answer.fault is None or answer.fault.kind != "hang"):
                self._requests[number] = replace(request, status=answer.status)
        return answer


def _check(window: int | None, variants: Mapping[str, str]) -> None:
    if window is not None and window < 1:
        raise InvalidConfiguration("must be positive", field="window", remedy="Leave it out for no limit.")
    for format, variant in variants.items():
        known = FORMATS[format].variants if format in FORMATS else ()
        if variant not in known:
            raise InvalidConfiguration(
                f"{format!r} has no variant {variant!r}",
                field="variants",
                remedy=f"Known: {', '.join(known)}." if known else f"The formats are: {', '.join(FORMATS)}.",
            )


def _record(arrived: Arrived) -> Received:
    """The request as it may be shown: without keys."""
    headers = {name: _redacted(value) if name in _SECRETS else value for name, value in arrived.headers.items()}
    target = _KEY_IN_QUERY.sub(_REDACTED, arrived.target)
    path, _, query = target.partition("?")
    route = find(arrived.method, path, query, headers)
    format = route.api.format.name if route.operation in ("generate", "count") else ""
    return Received(arrived.method, target, headers, _readable(arrived.body), format)


def _redacted(value: str) -> str:
    scheme, space, _ = value.partition(" ")
    if scheme == "Bearer":
        return f"{scheme}{space}{_REDACTED}" if value.removeprefix(scheme).strip() else value
    return _REDACTED if value else value


def _readable(raw: bytes) -> Json:
    try:
        return decode(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")
