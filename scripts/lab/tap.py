"""Listens on a line: passes requests on to another server, and keeps them with their answers."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection
from itertools import count
from threading import Lock
from typing import Final
from urllib.parse import urlsplit

from compact.messages import Json
from compact.models import Usage
from compact.testing.vendors.server import Arrived, Fake
from compact.testing.vendors.wire import Answer

NUMBER: Final = "x-lab-request"
"""The header by which a request is found again behind the gateway."""
_PER_CONNECTION: Final = frozenset({"connection", "content-length", "host", "transfer-encoding", "keep-alive"})
_CALLED: Final = {
    "read": ("cache_read_input_tokens", "cached_tokens", "cachedContentTokenCount"),
    "written": ("cache_creation_input_tokens",),
    "input": ("input_tokens", "prompt_tokens", "promptTokenCount"),
    "output": ("output_tokens", "completion_tokens", "candidatesTokenCount"),
}


@dataclass(frozen=True, slots=True)
class Heard:
    """A request and its answer; `note` is what was found out once it was answered."""

    number: str
    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Json = field(repr=False)
    status: int
    told: Mapping[str, str] = field(repr=False)
    """The headers of the answer."""
    answer: str = field(repr=False)
    note: int = 0

    @property
    def usage(self) -> Usage | None:
        """The tokens that the vendor charges, where the answer says so."""
        sizes = {kind: _last(self.answer, names) for kind, names in _CALLED.items()}
        if sizes["input"] is None:
            return None
        read, written, output = sizes["read"] or 0, sizes["written"] or 0, sizes["output"] or 0
        # Anthropic counts what is cached beside the input, the others within.
        apart = "cache_read_input_tokens" in self.answer
        return Usage(sizes["input"] - (0 if apart else read), output, cache_write=written, cache_read=read)


class Tap(Fake):
    """A line to another server; `look` is called after each answer."""

    def __init__(self, target: str, look: Callable[[], int] = lambda: 0) -> None:
        self._target = urlsplit(target)
        self._look = look
        self._heard: list[Heard] = []
        self._numbers = count(1)
        self._lock = Lock()
        super().__init__(self._pass_on)

    @property
    def heard(self) -> tuple[Heard, ...]:
        """What was answered so far."""
        with self._lock:
            return tuple(self._heard)

    def _pass_on(self, arrived: Arrived) -> Answer:
        number = arrived.headers.get(NUMBER) or str(next(self._numbers))
        headers = {name: value for name, value in arrived.headers.items() if name not in _PER_CONNECTION}
        line = HTTPConnection(self._target.hostname or "", self._target.port, timeout=300)
        try:
            line.request(arrived.method, arrived.target, arrived.body, headers | {NUMBER: number})
            response = line.getresponse()
            told = {name.lower(): value for name, value in response.getheaders()}
            content = response.read()
        finally:
            line.close()
        text = (gzip.decompress(content) if told.get("content-encoding") == "gzip" else content).decode(
            errors="replace"
        )
        with self._lock:
            self._heard.append(
                Heard(
                    number,
                    arrived.target,
                    arrived.headers,
                    _decoded(arrived.body),
                    response.status,
                    told,
                    text,
                    self._look(),
                )
            )
        kept = {name: value for name, value in told.items() if name not in _PER_CONNECTION}
        return Answer(response.status, kept, (content,))


def _decoded(raw: bytes) -> Json:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _last(answer: str, names: tuple[str, ...]) -> int | None:
    """The last number of that name in an answer, be it a stream or not."""
    found = re.findall(rf'"(?:{"|".join(names)})": ?(\d+)', answer)
    return int(found[-1]) if found else None
