"""Recall: what compactions removed, found again by its handle or by its words."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from threading import Lock

from compact.app.condensing import Condensation, Result
from compact.app.keeping import storing
from compact.app.recipes import resolve_recipe
from compact.engine.projection import Projection
from compact.engine.recalling import Recalled, Removed, read_handle, unknown_handle
from compact.engine.recorded import UNUSABLE, chain_of, log_of, mismatch, plan_of
from compact.engine.searching import Hit, Hits
from compact.engine.sessions import Sessions
from compact.errors import CompactError, InvalidInput, StorageError, StoredPlanMismatch
from compact.formats import parse
from compact.messages import Conversation, digest_of, plan_to_json
from compact.policies import check_session_id
from compact.ports import Originals, Record

_REMEMBERED = 16
"""Sessions whose indexes stay in memory."""


class Recollection:
    """What was removed from many sessions: from memory where a session is at work, else as it was kept on disk."""

    def __init__(self, originals: Originals | None, sessions: Sessions | None = None) -> None:
        self._originals = originals
        self._sessions = sessions
        self._lock = Lock()
        self._indexes: OrderedDict[tuple[str, bool], tuple[object, tuple[Removed, ...]]] = OrderedDict()

    def recall(self, handle: str, session_id: str | None = None) -> Recalled:
        """What the handle stands for, in one session or in any; InvalidInput names near ones where there is none.

        StoredPlanMismatch or DamagedOriginals where there is none, and something was kept that cannot be read.
        A session at work may have left the branch that the handle is of: then it is on disk. A position is another
        message there.
        """
        name = read_handle(handle)
        known: list[str] = []
        found: dict[str, Removed] = {}
        unread: list[CompactError] = []
        for working in (True,) if name.startswith("msg-") else (True, False):
            for session, removed in self._removed(session_id, unread, working=working):
                if name in removed:
                    found.setdefault(session, removed)
                known += removed.handles
            if found:
                break
        if not found:
            _raise_first(unread)
            raise unknown_handle(handle, list(dict.fromkeys(known)))
        if len(found) > 1 and name.startswith("msg-"):
            remedy = f"Name one of these: {', '.join(list(found)[:10])}."
            raise InvalidInput(f"{name} is in several sessions", field="session_id", remedy=remedy)
        return next(iter(found.values())).recall(name)

    def search(self, text: str, session_id: str | None = None, limit: int = 20) -> Hits:
        """Where all the words were, in one session or in all, whatever their case; the best first in each session.

        What cannot be read is passed over, and named in the result; where nothing was found, it is raised.
        """
        hits: dict[tuple[str, str], Hit] = {}
        unread: list[CompactError] = []
        for session, removed in self._removed(session_id, unread):
            for hit in removed.search(text, limit):
                hits.setdefault((session, hit.handle), replace(hit, session=session))
        if not hits:
            _raise_first(unread)
        found = Hits(list(hits.values())[: max(limit, 0)])
        found.unread = tuple(unread)
        return found

    def _removed(
        self, session_id: str | None, unread: list[CompactError], *, working: bool = True
    ) -> Iterator[tuple[str, Removed]]:
        """What was removed from the session, or from all; from memory where it is `working`, unless told otherwise.

        What cannot be read is added to `unread`, and the rest is read all the same.
        """
        held = self._sessions.projections() if self._sessions and working else {}
        if session_id is not None:
            names = [check_session_id(session_id)]
        else:
            names = list(dict.fromkeys((*held, *self._kept_sessions(unread))))
        for name in names:
            indexes = self._from_memory(name, held[name]) if name in held else self._from_disk(name, unread)
            yield from ((name, removed) for removed in indexes)

    def _kept_sessions(self, unread: list[CompactError]) -> tuple[str, ...]:
        if self._originals is None:
            return ()
        with storing():
            unread += self._originals.unknown()
            return self._originals.sessions()

    def _from_memory(self, session: str, projection: Projection) -> tuple[Removed, ...]:
        # Turns are added to the log all the time; what was removed changes only with the compactions.
        return self._made((session, True), projection.compactions, lambda: (Removed.of(projection),))

    def _from_disk(self, session: str, unread: list[CompactError]) -> tuple[Removed, ...]:
        """What was kept of the session: each of its branches, the newest first."""
        originals = self._originals
        if originals is None:
            return ()
        try:
            with storing():
                records = {record.number: record for record in originals.records(session)}
        except StorageError as error:
            unread.append(error)
            return ()
        parents = {record.parent for record in records.values()}
        leaves = [records[number] for number in sorted(records.keys() - parents, reverse=True)]
        state = tuple((record.number, record.at) for record in records.values())
        kept = [partial(_kept, leaf, records, originals) for leaf in leaves]
        try:
            return self._made((session, False), state, lambda: tuple(make() for make in kept))
        except (StoredPlanMismatch, StorageError):
            return tuple(_readable(kept, unread))

    def _made(
        self, session: tuple[str, bool], state: object, make: Callable[[], tuple[Removed, ...]]
    ) -> tuple[Removed, ...]:
        """The indexes of that state of the session, made anew where it has changed."""
        with self._lock:
            known = self._indexes.get(session)
        indexes = known[1] if known is not None and known[0] == state else make()
        with self._lock:
            self._indexes[session] = (state, indexes)
            self._indexes.move_to_end(session)
            while len(self._indexes) > _REMEMBERED:
                self._indexes.popitem(last=False)
        return indexes


def _kept(last: Record, records: Mapping[int, Record], originals: Originals) -> Removed:
    """What was removed up to a compaction, the ones it was built on included."""
    chain = chain_of(last, records)
    dialect = parse([], format=last.format).dialect
    with storing():
        wires = log_of(last, originals)
    log = [dialect.parse_message(wire, str(position)) for position, wire in enumerate(wires)]
    plans = [plan_of(record) for record in chain]
    try:
        return Removed(log, plans)
    except UNUSABLE as error:
        raise mismatch(last, f"its plan is damaged ({type(error).__name__}: {error})") from None


def _readable(kept: Iterable[Callable[[], Removed]], unread: list[CompactError]) -> Iterator[Removed]:
    for make in kept:
        try:
            yield make()
        except (StoredPlanMismatch, StorageError) as error:
            unread.append(error)


def _raise_first(unread: list[CompactError]) -> None:
    """Say that it may be in what cannot be read, rather than that it is nowhere."""
    if unread:
        raise unread[0]


def condense_kept(
    conversation: Conversation, originals: Originals, session: str, options: tuple[str, str, float | None]
) -> Result:
    """Compact by a recipe, for a model, to a target, and keep what goes where recall finds it, before it goes."""
    recipe, model, target = options
    result = Condensation(conversation, model, target, handles=True).run(resolve_recipe(recipe or None))
    if result.plan:
        log = [message.wire for message in conversation.messages]
        digests, at = tuple(map(digest_of, log)), datetime.now(UTC).isoformat(timespec="milliseconds")
        with storing(), originals.alone(check_session_id(session)):
            number = originals.last(session) + 1
            originals.put(log, Record(session, number, 0, conversation.format, digests, plan_to_json(result.plan), at))
    return result
