"""Changing the summary of a stored session: anew, by hand, from another session, or back."""

from __future__ import annotations

from dataclasses import replace

from compact.engine.sessions import nothing_to_undo
from compact.engine.stored.context import Assembled
from compact.engine.stored.service import WAIT, Cause, Compression, SessionService, Wish, require_alone
from compact.engine.stored.snapshots import SummarySnapshot, describe_summary, read_summary, require_known
from compact.errors import CompactionBlocked, InvalidInput
from compact.ports import Event, Snapshot


class Revisions:
    """Changes summaries. What a summary was before is retired, never deleted."""

    def __init__(self, service: SessionService) -> None:
        self._service = service
        self._store = service.store
        self._reader = service.reader

    def standing(self, id: str, *, retired: bool = False) -> list[Snapshot]:
        """The summaries of a session, in order; with `retired` those that were replaced or undone, too."""
        return self._store.snapshots(id, "summary", retired=retired)

    def regenerate(self, id: str, wish: Wish | None = None) -> Compression:
        """Write the summary that stands anew, of the same messages."""
        with self._store.compacting(id, WAIT) as alone:
            require_alone(alone)
            current = self._reader.summary(id)
            assembled, effective = self._reader.before(id, current)
            wish = replace(wish or Wish(), retention=0)
            return self._service.run(assembled, effective, wish, Cause("regenerated", current))

    def edit(self, id: str, text: str) -> Snapshot:
        """Put a person's own words in the place of the summary that stands."""
        if not text.strip():
            raise InvalidInput("must not be empty", field="text", remedy="`undo` takes a summary back.")
        self._reader.summary(id)
        assembled, _ = self._reader.now(id)
        return self._put(assembled, text, "edited")

    def take_over(self, id: str, source: str) -> Snapshot:
        """Give a session what the summary of another one says."""
        words = read_summary(self._reader.summary(source)).words
        assembled, _ = self._reader.now(id)
        earlier = f"{assembled.summary.words}\n\n" if assembled.summary else ""
        return self._put(assembled, f"{earlier}{words}", "imported", source)

    def undo(self, id: str) -> None:
        """Take the last summary back; what stood before it stands again: the words it replaced, or the messages."""
        current = self._reader.store.active(id).summary
        if current is None:
            raise nothing_to_undo(id)
        require_known(current)
        replaced = describe_summary(current).replaces
        before = next((one for one in self._store.snapshots(id, retired=True) if one.id == replaced), None)
        if before is None:
            self._store.retire(id, current.id)
        else:
            self._require(self._store.put_snapshot(replace(before, id=0, retired=False), current.id, replace=True))
        self._service.tell(id, Event("compact.undone", {"snapshot": current.id}))

    def _put(self, assembled: Assembled, words: str, trigger: str, source: str = "") -> Snapshot:
        """Store a summary with other words, in the place of the one that stands."""
        session, standing = assembled.active.session, assembled.active.summary
        basis = standing.id if standing else None
        new = (assembled.summary or SummarySnapshot()).reworded(words, trigger, self._service.seal)
        new = replace(new, source=source or new.source, replaces=basis)
        snapshot = new.stored(session.id, self._reader.counter_for(session.model).text)
        made = self._require(self._store.put_snapshot(snapshot, basis, replace=basis is not None))
        self._service.tell(session.id, Event("compact.summary_changed", {"snapshot": made.id, "trigger": trigger}))
        return made

    def _require(self, made: Snapshot | None) -> Snapshot:
        if made is None:
            raise CompactionBlocked("the summary was changed by another process in the meantime. Try again.")
        return made
