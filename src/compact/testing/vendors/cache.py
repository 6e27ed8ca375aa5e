"""The vendors' prompt caches: what was read lately is cheaper to read again, from the start up to the first change."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import accumulate
from threading import Lock
from typing import Final

from compact.testing.vendors.prompt import LIFETIMES, Count, Piece, Prompt, Usage

MINIMUM: Final = 1024
LOOKBACK: Final = 20
AUTOMATIC_LIFETIME: Final = 300

# About as many characters as the 128 tokens in which OpenAI's cache counts; shorter steps would only cost memory.
_STEP: Final = 512
_MOST_ENTRIES: Final = 1 << 18


class PromptCache:
    """Remembers the beginnings of prompts by their hashes, for a while."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._entries: OrderedDict[bytes, tuple[float, int]] = OrderedDict()
        self._lock = Lock()
        self._ahead = 0.0

    def advance(self, seconds: float) -> None:
        """Lets time pass for the cache."""
        with self._lock:
            self._ahead += seconds

    def automatic(self, scope: str, pieces: Sequence[Piece]) -> int:
        """How many tokens the prompt shares with earlier ones from its start on; now it is one of them."""
        tokens, part, unbroken = 0, "", True
        with self._lock:
            for digest, piece, end in _steps(scope, pieces):
                unbroken = unbroken and self._alive(digest)
                if unbroken and end >= len(piece.text):
                    tokens, part = tokens + piece.tokens, ""
                elif unbroken:
                    part = piece.text[:end]
                self._keep(digest, AUTOMATIC_LIFETIME)
        return tokens + self._count(part)

    def explicit(self, scope: str, prompt: Prompt) -> Usage:
        """Reads up to the last breakpoint that is known, or a place shortly before one, and writes the others."""
        pieces = prompt.pieces
        marks = [index for index, piece in enumerate(pieces) if piece.lifetime]
        if not marks:
            return Usage(prompt.tokens)
        digests = list(_boundaries(scope, pieces))
        totals = list(accumulate(piece.tokens for piece in pieces))
        written = dict.fromkeys(LIFETIMES.values(), 0)
        with self._lock:
            hit = self._last_known(digests, marks)
            read = covered = totals[hit] if hit is not None else 0
            if hit is not None:
                self._keep(digests[hit], self._entries[digests[hit]][1])
            for mark in marks:
                lifetime = pieces[mark].lifetime
                if totals[mark] > covered and totals[mark] >= MINIMUM:
                    written[lifetime] += totals[mark] - covered
                    covered = totals[mark]
                    self._keep(digests[mark], lifetime)
        return Usage(prompt.tokens, read, written[LIFETIMES["5m"]], written[LIFETIMES["1h"]])

    def _last_known(self, digests: Sequence[bytes], marks: Sequence[int]) -> int | None:
        for mark in reversed(marks):
            for index in range(mark, max(mark - LOOKBACK, -1), -1):
                if self._alive(digests[index]):
                    return index
        return None

    def _alive(self, digest: bytes) -> bool:
        entry = self._entries.get(digest)
        return entry is not None and entry[0] > self._now()

    def _keep(self, digest: bytes, lifetime: int) -> None:
        self._entries[digest] = (self._now() + lifetime, lifetime)
        self._entries.move_to_end(digest)
        if len(self._entries) > _MOST_ENTRIES:
            self._entries.popitem(last=False)

    def _now(self) -> float:
        return time.monotonic() + self._ahead


def charge_shared(cache: PromptCache, scope: str, prompt: Prompt, step: int = 1) -> Usage:
    """What is charged where caching needs no marks: it counts in steps, and the last token is always read anew."""
    shared = min(cache.automatic(scope, prompt.pieces), prompt.tokens - 1)
    return Usage(prompt.tokens, shared // step * step if shared >= MINIMUM else 0)


def _boundaries(scope: str, pieces: Sequence[Piece]) -> Iterator[bytes]:
    chain = blake2b(scope.encode(), digest_size=16)
    for piece in pieces:
        chain.update(_bytes(f"\0{piece.label}\0{piece.text}"))
        yield chain.digest()


def _steps(scope: str, pieces: Sequence[Piece]) -> Iterator[tuple[bytes, Piece, int]]:
    """The hash of everything up to each step, the piece it is in, and where in its text it ends."""
    chain = blake2b(scope.encode(), digest_size=16)
    for piece in pieces:
        chain.update(_bytes(f"\0{piece.label}\0"))
        for start in range(0, max(len(piece.text), 1), _STEP):
            chain.update(_bytes(piece.text[start : start + _STEP]))
            yield chain.digest(), piece, start + _STEP


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
