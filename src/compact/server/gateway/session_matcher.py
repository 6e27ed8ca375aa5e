"""Which conversation a request continues, if its client does not say.

A client of a vendor's SDK sends its whole history with every request. Each message has a key, equal for messages that
are the same in their format, and each beginning of a conversation a chain of keys. A request joins the session whose
last request it contains, whole or but for its last few messages, which clients may move or rewrite; an answer of the
model must be among what they share, as many conversations open alike. A request that goes further back, or comes after
a restart, joins a session by what its last compactions depend on; the branch that the session leaves then is one of its
own if it goes on. The session's manager compares every message with its own: a request that is matched wrongly is
compacted anew, and never gets another conversation's words.
"""

from __future__ import annotations

import json
import marshal
import os
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from threading import Lock
from typing import Final

from compact.errors import InvalidConversation
from compact.formats import FORMATS, Format
from compact.messages import MOVING_TAIL, Json, without_meta
from compact.server.gateway.older_points import length_of, older_points
from compact.settings.documents import replace_private

_MOST: Final = 10_000
"""Sessions that are remembered, in memory and in the file."""
_SETTLED: Final = 16
"""Compactions of a session behind which a client may go back."""
_CHAIN: Final = 16
"""Bytes of a chain."""
_REMEMBERED: Final = 100_000
"""Messages whose chains are remembered: a history comes again with every request."""
_NO_REFERENCES: Final = 2  # the version of marshal's format that has none between its objects


@dataclass(slots=True, eq=False)
class KnownSession:
    """A session: the chains of its last request and of those before, and of what its last compactions depend on."""

    scope: str
    session: str
    heads: tuple[bytes, ...] = ()
    settled: dict[bytes, None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    """The session of a request, and the chains of its beginnings; none where the client named it.

    `least` is the length of the shortest that tells the conversation from others: the first answer of the model is in
    it, or all messages are if there is none.
    """

    known: KnownSession
    chains: Sequence[bytes] = field(repr=False)
    least: int = 0

    @property
    def session(self) -> str:
        return self.known.session


class SessionMatcher:
    """The sessions that the gateway has seen; what compactions settled survives a restart. For many threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._known: OrderedDict[tuple[str, str], KnownSession] = OrderedDict()
        self._chains: dict[bytes, list[KnownSession]] = {}
        self._following: OrderedDict[tuple[bytes, int], bytes] = OrderedDict()
        self._older: dict[str, tuple[KnownSession, str]] = {}
        self._loaded = False

    def find(self, scope: str, format: str, messages: Sequence[Json], session: str = "") -> Match:
        """The session that the messages continue, or the one that the client names.

        The scope is what sessions are never shared across, such as the model.
        """
        if session:
            return Match(KnownSession(scope, session), ())
        answer, chains = _first_answer(FORMATS[format], messages), self._chained(scope, FORMATS[format], messages)
        with self._lock:
            self._load()
            known = self._joined(chains, answer) or self._joined_before(scope, messages, chains, answer)
            known = known or KnownSession(scope, _new())
            self._use(known)
            if known.heads and not {*known.heads} & {*chains}:
                self._part(known)
            least = min(answer + 1, len(chains))
            tail = range(len(chains), max(least, len(chains) - MOVING_TAIL) - 1, -1)
            self._move(known, tuple(chains[length - 1] for length in tail))
        return Match(known, chains, least)

    def peek(self, scope: str, format: str, messages: Sequence[Json]) -> str:
        """The session that the messages continue, empty if there is none; it does not go on from them."""
        answer, chains = _first_answer(FORMATS[format], messages), self._chained(scope, FORMATS[format], messages)
        with self._lock:
            self._load()
            known = self._joined(chains, answer) or self._joined_before(scope, messages, chains, answer)
        return known.session if known else ""

    def settle(self, match: Match, reach: int) -> None:
        """Remember that a compaction depends on that many of the first messages."""
        if not 0 < reach <= len(match.chains):
            return
        with self._lock:
            self._keep(match.known, match.chains[max(reach, match.least) - 1])

    def _joined(self, chains: Sequence[bytes], answer: int) -> KnownSession | None:
        """The session with the longest beginning of the request that the model first speaks in, at `answer`.

        Of a conversation that has only been opened, the answer comes right after: it is known by all that was asked, if
        no other was opened alike.
        """
        for length in range(len(chains), answer, -1):
            if known := self._chains.get(chain := chains[length - 1]):
                return max(reversed(known), key=lambda one: chain in one.heads)
        asked = chains[answer - 1] if 0 < answer <= len(chains) else b""
        opened = [one for one in self._chains.get(asked, ()) if asked in one.heads]
        return opened[0] if len(opened) == 1 else None

    def _part(self, known: KnownSession) -> None:
        """Make a session of the branch that this one leaves."""
        left = KnownSession(known.scope, _new())
        self._use(left)
        self._move(left, known.heads)

    def _joined_before(
        self, scope: str, messages: Sequence[Json], chains: Sequence[bytes], answer: int
    ) -> KnownSession | None:
        """The session that an earlier version of Compact knew by a point; from now on it is known by a chain."""
        if not self._older:
            return None
        lengths = {length for point in self._older if (length := length_of(point)) >= answer}
        for length, point in older_points(scope, messages, lengths):
            if found := self._older.pop(point, None):
                self._keep(found[0], chains[length - 1])
                return found[0]
        return None

    def _chained(self, scope: str, format: Format, messages: Sequence[Json]) -> list[bytes]:
        """The chains of one message, of two, and so on."""
        chain, chains = sha256(scope.encode("utf-8", "surrogatepass")).digest(), []
        for message in messages:
            # Within this process, a message is known by a hash that is far quicker than a digest.
            step = chain, hash(marshal.dumps(message, _NO_REFERENCES))
            known = self._following.get(step)
            if known is None:
                known = sha256(chain + format.key(without_meta(message))).digest()[:_CHAIN]
                self._following[step] = known
            chain = known
            chains.append(chain)
        while len(self._following) > _REMEMBERED:
            self._following.popitem(last=False)
        return chains

    def _use(self, known: KnownSession) -> None:
        """Make the session the last one to be forgotten."""
        key = known.scope, known.session
        self._known[key] = known
        self._known.move_to_end(key)
        if len(self._known) > _MOST:
            _, oldest = self._known.popitem(last=False)
            for chain in {*oldest.heads, *oldest.settled}:
                self._leave(oldest, chain)

    def _move(self, known: KnownSession, heads: tuple[bytes, ...]) -> None:
        left, known.heads = known.heads, heads
        for chain in left:
            if chain not in heads and chain not in known.settled:
                self._leave(known, chain)
        for chain in heads:
            self._place(known, chain)

    def _keep(self, known: KnownSession, chain: bytes) -> None:
        self._settle(known, chain)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a") as file:
            file.write(_line(known, chain))

    def _settle(self, known: KnownSession, chain: bytes) -> None:
        known.settled.pop(chain, None)
        known.settled[chain] = None
        self._place(known, chain)
        if len(known.settled) > _SETTLED:
            oldest = next(iter(known.settled))
            del known.settled[oldest]
            if oldest not in known.heads:
                self._leave(known, oldest)

    def _place(self, known: KnownSession, chain: bytes) -> None:
        sessions = self._chains.setdefault(chain, [])
        if known in sessions:
            sessions.remove(known)
        sessions.append(known)

    def _leave(self, known: KnownSession, chain: bytes) -> None:
        sessions = self._chains.get(chain, [])
        if known in sessions:
            sessions.remove(known)
        if not sessions:
            self._chains.pop(chain, None)

    def _load(self) -> None:
        """Read what was settled before the last start; a line that cannot be read costs a compaction, and no more."""
        if self._loaded:
            return
        self._loaded = True
        lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines() if self._path.is_file() else []
        for line in lines:
            with suppress(ValueError, TypeError):
                scope, session, name, *saved = json.loads(line)
                known = self._known.get((scope, session)) or KnownSession(scope, session)
                if not saved:
                    self._settle(known, chain := bytes.fromhex(name))
                    known.heads = (chain,)
                elif length_of(name):
                    self._older[name] = known, f"{line}\n"
                self._use(known)
        if len(lines) > 2 * _MOST:
            kept = [line for known, line in self._older.values() if (known.scope, known.session) in self._known]
            kept += (_line(one, chain) for one in self._known.values() for chain in one.settled)
            if len(lines) > 2 * len(kept):
                replace_private(self._path, "".join(kept))


def _line(known: KnownSession, chain: bytes) -> str:
    return json.dumps([known.scope, known.session, chain.hex()]) + "\n"


def _first_answer(format: Format, messages: Sequence[Json]) -> int:
    """The position of the first message of the model; beyond all messages if it has said nothing."""
    for at, wire in enumerate(messages):
        with suppress(InvalidConversation):
            if format.parse_message(wire, "").role == "assistant":
                return at
    return len(messages) + 1


def _new() -> str:
    return f"gw-{token_hex(8)}"
