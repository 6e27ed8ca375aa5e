"""Reading stored sessions as conversations."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from compact.engine.stored.context import Assembled, assemble, believed, counter_name, kept_ids
from compact.engine.stored.preferences import Effective, Preferences
from compact.errors import NewerVersion, NotFound
from compact.formats import parse
from compact.messages import Json
from compact.ports import SNAPSHOT_VERSION, Active, SessionStore, Snapshot, StoredMessage
from compact.tokens import Counter

_PAGE = 1000


class Reader:
    """Reads sessions, each message with its size for the session's model."""

    def __init__(self, store: SessionStore, counter_for: Callable[[str], Counter]) -> None:
        self.store = store
        self.counter_for = counter_for
        self.preferences = Preferences(store)

    def now(self, id: str, input: Sequence[Json] = ()) -> tuple[Assembled, Effective]:
        """The session as it would be sent, and what holds for it."""
        active = self.store.active(id)
        if active.summary is not None:
            _require_known(active.summary)
        return self._assembled(active, input), self.preferences.effective(active.session)

    def before(self, id: str, summary: Snapshot) -> tuple[Assembled, Effective]:
        """The session as it would be without a summary that stands: with the one before it, and all messages since."""
        active = self.store.active(id)
        earlier = [one for one in self.store.snapshots(id) if one.id < summary.id]
        last = _require_known(earlier[-1]) if earlier else None
        cutoff = last.cutoff if last else None
        start = self.store.messages(id, [cutoff])[0].position if cutoff else -1
        recent: list[StoredMessage] = []
        while page := self.store.history(id, after=recent[-1].position if recent else start, limit=_PAGE):
            recent += page
        pinned = tuple(one for one in active.pinned if one.position <= start)
        active = replace(active, summary=last, pinned=pinned, recent=tuple(recent))
        return self._assembled(active, ()), self.preferences.effective(active.session)

    def summary(self, id: str) -> Snapshot:
        """The summary that stands."""
        summary = self.store.active(id).summary
        if summary is None:
            raise NotFound(f"session {id} has no summary", field="session", remedy="Compress it first.")
        return _require_known(summary)

    def _assembled(self, active: Active, input: Sequence[Json]) -> Assembled:
        counter = self.counter_for(active.session.model)
        kept = kept_ids(active)
        messages = self.store.messages(active.session.id, kept) if kept else []
        active, messages = self._counted(active, messages, counter)
        return assemble(active, counter, messages, input)

    def _counted(
        self, active: Active, kept: list[StoredMessage], counter: Counter
    ) -> tuple[Active, list[StoredMessage]]:
        """The same, with the messages that another tokenizer had counted counted again, for good."""
        name = counter_name(counter)
        messages = (*active.pinned, *kept, *active.recent)
        trusted = believed(messages, counter)
        frame = parse([], format=active.session.format)
        counts = {
            one.id: counter.message(frame.dialect.parse_message(json.loads(one.raw), str(one.id)))
            for one in messages
            if one.counter not in trusted
        }
        if not counts:
            return active, kept
        self.store.recount(counts, name)

        def counted(messages: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
            return tuple(
                replace(one, tokens=counts[one.id], counter=name) if one.id in counts else one for one in messages
            )

        return replace(active, pinned=counted(active.pinned), recent=counted(active.recent)), list(counted(kept))


def _require_known(summary: Snapshot) -> Snapshot:
    """The summary, if this version can read it."""
    if summary.version <= SNAPSHOT_VERSION:
        return summary
    raise NewerVersion(
        f"summary {summary.id} of session {summary.session} is of version {summary.version}, and this Compact reads "
        f"version {SNAPSHOT_VERSION}",
        remedy="Upgrade Compact.",
    )
