"""Which conversation a request continues, where its client does not say.

A client of a vendor's SDK sends its whole history with every request. So a session is known by points: the messages of
its last request, and those that each of its last compactions touched. A request that begins with any of them continues
it. One that shares only the opening is another conversation.
"""

from __future__ import annotations

import json
import marshal
import os
from collections import OrderedDict
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Final

from compact.messages import Json
from compact.settings.documents import replace_private

_MOST: Final = 10_000
"""Sessions that are remembered, in memory and in the file."""
_SETTLED: Final = 16
"""Compactions of a session behind which a client may go back."""
_NO_REFERENCES: Final = 2  # the version of the format that has none
_MOVING: Final = "cache_control"  # clients move it along to their newest message
_MARK: Final = _MOVING.encode()
_ALONE: Final = {"type", "text", _MOVING}


@dataclass(slots=True, eq=False)
class Known:
    """A session: where its last request ended, and how many tokens its compactions save.

    `settled` is what the last of them touched, each with what was saved by then; the latest comes last.
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
            lengths = frozenset(() if session else self._lengths)
        points = [] if session else points_in(scope, messages, lengths)
        with self._lock:
            point = next((point for point in reversed(points) if point in self._points), "")
            known = self._points.get(point) or self._known.get((scope, session)) or Known(scope, session or _new())
            if point != known.head:  # it went back behind its last request
                known.saved = known.settled.get(point, known.saved)
            self._used(known)
            if points:
                self._move(known, points[-1])
        return Recognised(known, () if session else messages)

    def settle(self, found: Recognised, compacted: int, saved: int) -> None:
        """Remember that a compaction touched that many of the first messages, and that it saved tokens."""
        known = found.known
        points = points_in(known.scope, found.messages[:compacted])
        with self._lock:
            known.saved += saved
            point = points[-1] if points else ""
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


def points_in(scope: str, messages: Sequence[Json], lengths: Collection[int] = ()) -> list[str]:
    """Names for the messages up to where there are so many of them, and for all: a count, and a digest of them."""
    hasher = sha256(scope.encode("utf-8", "surrogatepass"))
    points = []
    for length, message in enumerate(messages, 1):
        # Several times as quick as JSON; without references between objects, equal values give equal bytes.
        hasher.update(marshal.dumps(message, _NO_REFERENCES) if _is_plain(message) else _written(message))
        if length in lengths or length == len(messages):
            points.append(f"{length}:{hasher.hexdigest()}")
    return points


def _length(point: str) -> int:
    count, _, digest = point.partition(":")
    return int(count) if digest else 0


def _is_plain(message: Json) -> bool:
    return isinstance(message, dict) and isinstance(message.get("content"), str) and _MOVING not in message


def _written(message: Json) -> bytes:
    """The message without what moves, and with its text as such where it is alone in a block.

    Clients make a block of a text to mark it, and a text of the block once the mark has moved on.
    """
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list) and len(content) == 1 and isinstance(block := content[0], dict):
        text = block.get("text")
        if isinstance(text, str) and block.get("type") == "text" and block.keys() <= _ALONE:
            message = {**message, "content": text}
    written = marshal.dumps(message, _NO_REFERENCES)
    return marshal.dumps(_unmarked(message), _NO_REFERENCES) if _MARK in written else written


def _unmarked(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != _MOVING}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _new() -> str:
    return f"gw-{token_hex(8)}"
