"""Changing the summary of a stored session: anew, by hand, from another session, or back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from compact.engine.stored.service import WAIT, Compression, SessionService, Wish
from compact.errors import CompactionBlocked, InvalidInput
from compact.messages import Json, seal
from compact.ports import SNAPSHOT_VERSION, Event, Snapshot


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
            if not alone:
                raise CompactionBlocked("the session is being compressed by somebody else. Try again later.")
            current = self._reader.summary(id)
            assembled, effective = self._reader.before(id, current)
            after = sum(one.tokens for one in assembled.messages.values() if one.id > (current.cutoff or 0))
            wish = replace(wish or Wish(), retention=after)
            return self._service.run(assembled, effective, wish, trigger="regenerated", replaces=current)

    def edit(self, id: str, text: str) -> Snapshot:
        """Put a person's own words in the place of the summary that stands."""
        if not text.strip():
            raise InvalidInput("must not be empty", field="text", remedy="`undo` takes a summary back.")
        current = self._reader.summary(id)
        return self._put(current, text, {"trigger": "edited"}, basis=current.id)

    def take_over(self, id: str, source: str) -> Snapshot:
        """Give a session what the summary of another one says."""
        words = _words(self._reader.summary(source))
        standing = self._store.active(id).summary
        origin: dict[str, Json] = {"trigger": "imported", "from": source}
        if standing is None:
            return self._put(Snapshot(id, "summary", {"role": "system"}, None, 0), words, origin, basis=None)
        return self._put(standing, f"{_words(standing)}\n\n{words}", origin, basis=standing.id)

    def undo(self, id: str) -> None:
        """Take the last summary back; what stood before it stands again: the words it replaced, or the messages."""
        current = self._reader.summary(id)
        replaced = current.content.get("replaces")
        before = next((one for one in self._store.snapshots(id, retired=True) if one.id == replaced), None)
        if before is None:
            self._store.retire(id, current.id)
        else:
            self._require(self._store.put_snapshot(replace(before, id=0, retired=False), current.id, replace=True))
        self._service.tell(id, Event("compact.undone", {"snapshot": current.id}))

    def _put(self, like: Snapshot, words: str, changes: Mapping[str, Json], *, basis: int | None) -> Snapshot:
        """Store a summary with other words, in the place of the one it is like."""
        content: dict[str, Json] = {**like.content, **changes, "words": words, "replaces": basis}
        count, version = (value if isinstance(value := content.get(key), int) else 0 for key in ("messages", "version"))
        content |= {"version": version + 1, "summaryText": seal(words, count, version + 1)}
        tokens = self._reader.counter_for(self._store.session(like.session).model).text(content["summaryText"])
        new = replace(like, id=0, content=content, tokens=tokens, version=SNAPSHOT_VERSION)
        made = self._require(self._store.put_snapshot(new, basis, replace=basis is not None))
        facts: dict[str, Json] = {"snapshot": made.id, "trigger": content["trigger"]}
        self._service.tell(like.session, Event("compact.summary_changed", facts))
        return made

    def _require(self, made: Snapshot | None) -> Snapshot:
        if made is None:
            raise CompactionBlocked("the summary was changed by somebody else in the meantime. Try again.")
        return made


def _words(summary: Snapshot) -> str:
    """What a summary says, without the marks around it."""
    return str(summary.content.get("words") or summary.content.get("summaryText", ""))
