"""Which conversation a request continues, where its client does not say.

A client of a vendor's SDK sends its whole history with every request. So a session is known by two points: the messages
of its last request, and those that its compactions touched. A request that begins with either continues it. One that
shares only the opening is another conversation.
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
_NO_REFERENCES: Final = 2  # the version of the format that has none
_MOVING: Final = "cache_control"  # clients move it along to their newest message


@dataclass(slots=True, eq=False)
class Known:
    """A session: where its last request ended, what of it is compacted, and how many tokens that saves."""

    scope: str
    session: str
    head: str = ""
    settled: str = ""
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
            known = next((self._points[point] for point in reversed(points) if point in self._points), None)
            known = self._used(known or self._known.get((scope, session)) or Known(scope, session or _new()))
            if points:
                self._place(known, points[-1], known.settled)
        return Recognised(known, () if session else messages)

    def settle(self, found: Recognised, compacted: int, saved: int) -> None:
        """Remember that a compaction touched that many of the first messages, and that it saved tokens."""
        known = found.known
        points = points_in(known.scope, found.messages[:compacted])
        with self._lock:
            known.saved += saved
            if points:
                self._place(known, known.head, points[-1])
            line = json.dumps([known.scope, known.session, known.settled, known.saved])
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a") as file:
                file.write(line + "\n")

    def _used(self, known: Known) -> Known:
        """The session, now the last one to be forgotten."""
        key = (known.scope, known.session)
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > _MOST:
            _, oldest = self._known.popitem(last=False)
            self._place(oldest, "", "")
        return known

    def _place(self, known: Known, head: str, settled: str) -> None:
        for point in (known.head, known.settled):
            if self._points.get(point) is known:
                del self._points[point]
        known.head, known.settled = head, settled
        for point in (head, settled):
            if point:
                self._points[point] = known
                self._lengths.add(_length(point))

    def _load(self) -> None:
        """Read what was settled before the last start; a line that cannot be read costs a compaction, and no more."""
        if self._loaded:
            return
        self._loaded = True
        lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines() if self._path.is_file() else []
        for line in lines:
            with suppress(ValueError, TypeError):
                scope, session, settled, saved = json.loads(line)
                known = self._used(self._known.get((scope, session)) or Known(scope, session))
                known.saved = int(saved)
                self._place(known, "", str(settled))
        if len(lines) > 2 * _MOST:
            kept = [json.dumps([one.scope, one.session, one.settled, one.saved]) for one in self._known.values()]
            replace_private(self._path, "".join(f"{line}\n" for line in kept))


def points_in(scope: str, messages: Sequence[Json], lengths: Collection[int] = ()) -> list[str]:
    """Names for the messages up to where there are so many of them, and for all: a count, and a digest of them."""
    hasher = sha256(scope.encode("utf-8", "surrogatepass"))
    points = []
    for length, message in enumerate(messages, 1):
        # Several times as quick as JSON; without references between objects, equal values give equal bytes.
        written = marshal.dumps(message, _NO_REFERENCES)
        if not _is_plain(message) and _MOVING.encode() in written:
            written = marshal.dumps(_settled(message), _NO_REFERENCES)
        hasher.update(written)
        if length in lengths or length == len(messages):
            points.append(f"{length}:{hasher.hexdigest()}")
    return points


def _length(point: str) -> int:
    count, _, digest = point.partition(":")
    return int(count) if digest else 0


def _is_plain(message: Json) -> bool:
    return isinstance(message, dict) and isinstance(message.get("content"), str) and _MOVING not in message


def _settled(value: Json) -> Json:
    """The value without what moves."""
    if isinstance(value, dict):
        return {key: _settled(item) for key, item in value.items() if key != _MOVING}
    return [_settled(item) for item in value] if isinstance(value, list) else value


def _new() -> str:
    return f"gw-{token_hex(8)}"
