"""Which conversation a request continues, where its client does not say.

A client of a vendor's SDK sends its whole history with every request. So a session is known by points: the messages of
its last request, and those that each of its last compactions depends on. A request that begins with any of them
continues it. One that shares only the opening is another conversation.

A point is named after how many messages there are, a digest of the first and the last two, and a checksum of them all:
a digest of half a megabyte would take as long as all the rest of a request. Two conversations that agree in all of that
would share a session, whose manager compares every message with its own: they would be compacted anew, and never be
answered with one another's.
"""

from __future__ import annotations

import json
import marshal
import os
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Final
from zlib import crc32

from compact.messages import Json
from compact.settings.documents import replace_private

_MOST: Final = 10_000
"""Sessions that are remembered, in memory and in the file."""
_SETTLED: Final = 16
"""Compactions of a session behind which a client may go back."""
_NO_REFERENCES: Final = 2  # the version of marshal's format that has none between its objects
_HEADER: Final = 5  # bytes that tell of a list, and of its length
_MOVING: Final = "cache_control"  # clients move it along to their newest message
_MARK: Final = _MOVING.encode()
_ALONE: Final = {"type", "text", _MOVING}


@dataclass(slots=True, eq=False)
class Known:
    """A session: where its last request ended, and how many tokens its compactions save.

    `settled` is what the last of them depend on, each with what was saved by then; the latest comes last.
    """

    scope: str
    session: str
    head: str = ""
    settled: dict[str, int] = field(default_factory=dict)
    saved: int = 0


@dataclass(frozen=True, slots=True)
class Recognised:
    """The session of a request, and the messages by which it was found; none where the client named it."""

    known: Known
    messages: Sequence[Json] = field(repr=False)


class Sessions:
    """The sessions that the gateway has seen; what compactions settled survives a restart. For many threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._known: OrderedDict[tuple[str, str], Known] = OrderedDict()
        self._points: dict[str, Known] = {}
        self._lengths: set[int] = set()  # of which there are or were points
        self._loaded = False

    def find(self, scope: str, messages: Sequence[Json], session: str = "") -> Recognised:
        """The session that the messages continue, or the one that the client names.

        The scope is what sessions are never shared across, such as the model.
        """
        with self._lock:
            self._load()
            points = points_in(scope, () if session else messages, self._lengths)
            head = next(points, "")
            point = next((point for point in chain((head,), points) if point in self._points), "")
            known = self._points.get(point) or self._known.get((scope, session)) or Known(scope, session or _new())
            if point != known.head:  # it went back behind its last request
                known.saved = known.settled.get(point, known.saved)
            self._used(known)
            if head:
                self._move(known, head)
        return Recognised(known, () if session else messages)

    def settle(self, found: Recognised, compacted: int, saved: int) -> None:
        """Remember that a compaction depends on that many of the first messages, and that it saved tokens."""
        known = found.known
        point = next(points_in(known.scope, found.messages[:compacted]), "")
        with self._lock:
            known.saved += saved
            self._settle(known, point)
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a") as file:
                file.write(_line(known, point, known.saved))

    def _used(self, known: Known) -> Known:
        """The session, now the last one to be forgotten."""
        key = (known.scope, known.session)
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > _MOST:
            _, oldest = self._known.popitem(last=False)
            for point in (oldest.head, *oldest.settled):
                self._leave(oldest, point)
        return known

    def _move(self, known: Known, head: str) -> None:
        left, known.head = known.head, head
        if left not in known.settled:
            self._leave(known, left)
        self._place(known, head)

    def _settle(self, known: Known, point: str) -> None:
        if not point:
            return
        known.settled.pop(point, None)
        known.settled[point] = known.saved
        self._place(known, point)
        if len(known.settled) > _SETTLED:
            oldest = next(iter(known.settled))
            del known.settled[oldest]
            if oldest != known.head:
                self._leave(known, oldest)

    def _place(self, known: Known, point: str) -> None:
        self._points[point] = known
        self._lengths.add(_length(point))

    def _leave(self, known: Known, point: str) -> None:
        if self._points.get(point) is known:
            del self._points[point]

    def _load(self) -> None:
        """Read what was settled before the last start; a line that cannot be read costs a compaction, and no more."""
        if self._loaded:
            return
        self._loaded = True
        lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines() if self._path.is_file() else []
        for line in lines:
            with suppress(ValueError, TypeError):
                scope, session, point, saved = json.loads(line)
                known = self._used(self._known.get((scope, session)) or Known(scope, session))
                known.saved = int(saved)
                self._settle(known, str(point))
        if len(lines) > 2 * _MOST:
            kept = [
                _line(one, *each) for one in self._known.values() for each in one.settled.items() or [("", one.saved)]
            ]
            if len(lines) > 2 * len(kept):
                replace_private(self._path, "".join(kept))


def _line(known: Known, point: str, saved: int) -> str:
    return json.dumps([known.scope, known.session, point, saved]) + "\n"


def points_in(scope: str, messages: Sequence[Json], lengths: Collection[int] = ()) -> Iterator[str]:
    """Names for all the messages, and for those up to where there are so many of them; the longest comes first."""
    if not messages:
        return
    plain = [message if _is_plain(message) else _plain(message) for message in messages]
    ends = [*sorted(length for length in lengths if 0 < length < len(plain)), len(plain)]
    checksum, sums = 0, []
    for start, end in pairwise((0, *ends)):
        checksum = crc32(_written(plain[start:end]), checksum)
        sums.append((end, checksum))
    opening = sha256(scope.encode("utf-8", "surrogatepass") + _written(plain[:1]))
    for length, checksum in reversed(sums):
        hasher = opening.copy()
        hasher.update(_written(plain[max(1, length - 2) : length]))
        yield f"{length}:{checksum:08x}{hasher.hexdigest()}"


def _length(point: str) -> int:
    count, _, digest = point.partition(":")
    return int(count) if digest else 0


def _is_plain(message: Json) -> bool:
    return isinstance(message, dict) and isinstance(message.get("content"), str) and _MOVING not in message


def _plain(message: Json) -> Json:
    """The message without what moves, and with its text as such where it is alone in a block.

    Clients make a block of a text to mark it, and a text of the block once the mark has moved on.
    """
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list) and len(content) == 1 and isinstance(block := content[0], dict):
        text = block.get("text")
        if isinstance(text, str) and block.get("type") == "text" and block.keys() <= _ALONE:
            message = {**message, "content": text}
    return _unmarked(message) if _MARK in marshal.dumps(message) else message


def _unmarked(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != _MOVING}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _written(messages: list[Json]) -> bytes:
    """Messages as bytes, one after the other: equal ones where they are equal, and far quicker than JSON."""
    return marshal.dumps(messages, _NO_REFERENCES)[_HEADER:]


def _new() -> str:
    return f"gw-{token_hex(8)}"
