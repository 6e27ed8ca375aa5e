"""How vendors count, learned from the usage in their answers: once an answer is through, and never in its way."""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING, Final

from compact.app import learn_calibration
from compact.errors import CompactError
from compact.formats import parse
from compact.messages import Json
from compact.models import find_model
from compact.server.gateway.compacting import Asked, Outgoing
from compact.server.gateway.sending import inflated
from compact.server.gateway.vendor_compaction import may_shorten

if TYPE_CHECKING:
    import httpx2

_log = logging.getLogger("compact.gateway")
_EVERY: Final = 60.0
"""Seconds between two observations of a model: a factor is the median of a few, and a count takes its time."""
_MOST: Final = 64
"""Models that are observed: what a client calls a model must not fill the file."""
_LEAST: Final = 8_000
"""Tokens of a request that is learned from: in a smaller one, what the vendor adds around the texts weighs too much."""
_HEAD, _TAIL = 512 * 1024, 256 * 1024
_LARGEST: Final = 8 * 1024 * 1024


class Learning:
    """Takes the usage that vendors report into their models' calibrations, one answer at a time."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "compact learning")
        self._next: dict[str, float] = {}

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    def watch(
        self, outgoing: Outgoing, response: httpx2.Response, pieces: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        """The same pieces; what they say of usage is learned from where it is time for it."""
        asked = outgoing.asked
        counted = outgoing.manager is not None and (outgoing.after or 0) >= _LEAST
        if not counted or asked.vendor_compacts or may_shorten(asked.body) or not self._is_due(asked.catalogue_name):
            return pieces
        return self._watched(asked, response, pieces)

    def _is_due(self, model: str) -> bool:
        now = monotonic()
        if model not in self._next:
            if len(self._next) >= _MOST:
                return False
            # Where the tokenizer is known there is nothing to learn.
            self._next[model] = float("inf") if find_model(model).exact else now
        if self._next[model] > now:
            return False
        self._next[model] = now + _EVERY
        return True

    async def _watched(
        self, asked: Asked, response: httpx2.Response, pieces: AsyncIterator[bytes]
    ) -> AsyncIterator[bytes]:
        ends = _Ends()
        async for piece in pieces:
            yield piece
            ends.add(piece)
        self._thread.submit(_learn, asked, response.headers, ends)


class _Ends:
    """The beginning and the end of an answer, where usage is told; of a short one, everything."""

    def __init__(self) -> None:
        self._head: list[bytes] = []
        self._tail: deque[bytes] = deque()
        self._sizes = [0, 0]

    def add(self, piece: bytes) -> None:
        if self._sizes[0] < _HEAD:
            self._head.append(piece)
            self._sizes[0] += len(piece)
            return
        self._tail.append(piece)
        self._sizes[1] += len(piece)
        while self._sizes[1] > _TAIL:
            self._sizes[1] -= len(self._tail.popleft())

    @property
    def content(self) -> bytes:
        return b"".join((*self._head, *self._tail))


def _learn(asked: Asked, headers: httpx2.Headers, ends: _Ends) -> None:
    try:
        content = inflated(headers.get("content-encoding", ""), ends.content, _LARGEST)
        tokens = next((found for answer in _answers(content) if (found := tokens_reported(answer))), 0)
        if tokens:
            learn_calibration(parse(asked.body, format=asked.format), asked.catalogue_name, tokens, certain=False)
    except CompactError as error:
        _log.debug("nothing was learned from an answer: %s", error)
    except Exception:  # noqa: BLE001 - a door: whoever was answered does not need to know
        _log.exception("nothing was learned from an answer")


def _answers(content: bytes) -> Iterator[Json]:
    """The answer, or those events of a stream that may tell of usage; what is cut through tells nothing."""
    streamed = content.lstrip().startswith((b"data:", b"event:", b":"))
    for line in content.splitlines() if streamed else (content,):
        if b'"usage"' in line:
            try:
                yield json.loads(line.removeprefix(b"data:"))
            except (ValueError, RecursionError):
                continue


def tokens_reported(answer: Json) -> int:
    """The input tokens that an answer or an event of a stream reports, cached ones included; 0 where it does not."""
    if not isinstance(answer, Mapping):
        return 0
    for holder in (answer, answer.get("message"), answer.get("response")):
        usage = holder.get("usage") if isinstance(holder, Mapping) else None
        if isinstance(usage, Mapping):
            names = ("prompt_tokens", "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
            counts = [value for name in names if isinstance(value := usage.get(name), int) and value > 0]
            return sum(counts)
    return 0
