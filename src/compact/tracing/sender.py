"""Spans on their way to a server: queued, packed into bodies, and sent in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from compact.ports.spans import Span
from compact.tracing.complaints import Complaints
from compact.tracing.line import CAPACITY, Line
from compact.tracing.post import DEADLINE, Address, Answer, Post, PostError

_REFUSED: Final = (400, 413, 422)
"""The body is to blame, not the server: perhaps only one span of it."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How spans become the body of a request of at most `limit` bytes.

    `frame` is the number of bytes that `join` adds to the pieces, `gap` that it adds to each.
    """

    content_type: str
    encode: Callable[[Span], bytes]
    join: Callable[[Sequence[bytes]], bytes]
    limit: int
    frame: int = 0
    gap: int = 0


class Sender:
    """An exporter that sends spans to a server, at most once; what fails is counted, and told once a burst."""

    def __init__(
        self, label: str, address: Address, packing: Packing, *, capacity: int = CAPACITY, deadline: float = DEADLINE
    ) -> None:
        self.complaints = Complaints(label)
        self._address = address
        self._packing = packing
        self._post = Post(address, deadline)
        self._line: Line[Span] = Line("compact tracing: sender", self._deliver, capacity)
        self._dropped = 0
        self._line.start()
        self._post.start()

    @property
    def lost(self) -> int:
        """How many spans never arrived: they were dropped, refused or never answered for."""
        return self.complaints.lost

    def emit(self, span: Span) -> None:
        self._line.put(span)

    def flush(self, deadline: float) -> bool:
        return self._line.flush(deadline)

    def close(self) -> None:
        if left := self._line.close():
            self.complaints.failed(f"{self._address}: the end came before all spans were sent", left)
        self._post.close()
        self.complaints.close()

    def _deliver(self, spans: list[Span]) -> None:
        dropped, self._dropped = self._line.dropped - self._dropped, self._line.dropped
        if dropped > 0:
            self.complaints.failed(f"{self._address} is slower than the spans come: the oldest are dropped", dropped)
        for pieces in self._bodies(list(self._encoded(spans))):
            self._send(pieces)

    def _encoded(self, spans: Sequence[Span]) -> Iterator[bytes]:
        for span in spans:
            try:
                yield self._packing.encode(span)
            except (TypeError, ValueError, RecursionError) as error:
                self.complaints.failed(f"{span.name} cannot be written: {error}", 1)

    def _bodies(self, pieces: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
        body: list[bytes] = []
        size = self._packing.frame
        for piece in pieces:
            if body and size + len(piece) + self._packing.gap > self._packing.limit:
                yield body
                body, size = [], self._packing.frame
            body.append(piece)
            size += len(piece) + self._packing.gap
        if body:
            yield body

    def _send(self, pieces: Sequence[bytes]) -> bool:
        """Send the pieces together, or one by one where they are refused together; whether the server is there."""
        try:
            answer = self._post.send(self._packing.join(pieces), self._packing.content_type)
        except PostError as error:
            self.complaints.failed(f"{self._address}: {error}", len(pieces))
            return False
        if answer.good:
            self.complaints.worked()
            return True
        refused = answer.status in _REFUSED
        if not refused or len(pieces) == 1:
            self.complaints.failed(f"{self._address} {_said(answer)}", len(pieces))
            return refused
        for number, piece in enumerate(pieces, 1):
            if not self._send([piece]):
                # The server has gone meanwhile: no use to wait for it once for every span.
                self.complaints.failed(f"{self._address} stopped to answer", len(pieces) - number)
                return False
        return True


def _said(answer: Answer) -> str:
    if 300 <= answer.status < 400:
        return f"answered {answer.status}: redirects are not followed, give the address it points to"
    return f"answered {answer.status}: {answer.detail}" if answer.detail else f"answered {answer.status}"
