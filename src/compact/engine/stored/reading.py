"""Reading stored sessions as conversations."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

from compact.engine.stored.context import Assembled, assemble, believed, counter_name, fold_of
from compact.engine.stored.preferences import Effective, Preferences
from compact.engine.stored.snapshots import SummarySnapshot, read_summary, require_known, standing_edits, unfit
from compact.errors import EditError, InvalidConversation, NotFound
from compact.formats import parse
from compact.messages import Json
from compact.ports import Active, SessionStore, Snapshot, StoredMessage
from compact.tokens import Counter

_PAGE = 1000
_SHARE = 8
"""A first request that takes more than this part of the model's maximum input stays away."""


class Reader:
    """Reads sessions, each message with its size for the session's model."""

    def __init__(self, store: SessionStore, counter_for: Callable[[str], Counter]) -> None:
        self.store = store
        self.counter_for = counter_for
        self.preferences = Preferences(store)

    def now(self, id: str, input: Sequence[Json] = ()) -> tuple[Assembled, Effective]:
        """The session as it would be sent, and what holds for it."""
        active = self.store.active(id)
        effective = self.preferences.effective(active.session)
        active = replace(active, variant=effective.settings.variant)
        summary = read_summary(active.summary) if active.summary else None
        return self._assembled(active, summary, input), effective

    def base(self, id: str, input: Sequence[Json] = ()) -> tuple[Assembled, Effective]:
        """The session as it is compacted: as it would be sent, with what a person asked first as a message.

        Summaries of before version 3 only quote that.
        """
        assembled, effective = self.now(id, input)
        active = assembled.active
        summary = read_summary(active.summary) if active.summary else None
        if summary is None or summary.placed:
            return assembled, effective
        frame = parse([], format=active.session.format)
        read = ((one, frame.dialect.parse_message(json.loads(one.raw), "")) for one in self.store.history(id, limit=20))
        first = next((one for one, message in read if message.from_user), None)
        if first is None or str(first.position) in assembled.messages or first.tokens > effective.window // _SHARE:
            return assembled, effective
        active = replace(active, pinned=(first, *active.pinned))
        return self._assembled(active, summary, input), effective

    def before(self, id: str, current: Snapshot) -> tuple[Assembled, Effective]:
        """The session with the messages that the summary took out back in their places, and all others pinned.

        What was done to the others still stands; where there is an earlier summary, that stands in its place.
        """
        now, effective = self.now(id)
        earlier = [one for one in self.store.snapshots(id) if one.id < current.id]
        last = read_summary(earlier[-1]) if earlier else SummarySnapshot()
        start = self.store.messages(id, [last.cutoff])[0].position if last.cutoff else -1
        messages: list[StoredMessage] = []
        while page := self.store.history(id, after=messages[-1].position if messages else start, limit=_PAGE):
            messages += page
        standing = {fold_of(message) for message in now.conversation.messages}
        pinned = tuple(one for one in now.active.pinned if one.position <= start)
        recent = tuple(replace(one, pinned=True) if str(one.position) in standing else one for one in messages)
        active = replace(now.active, summary=earlier[-1] if earlier else None, pinned=pinned, recent=recent)
        before = self._assembled(active, last, ())
        names = {fold_of(message) for message in before.conversation.messages}
        # An earlier account may still stand: a later compaction need not touch it.
        others = {name for name in names if name not in standing or name not in before.messages}
        plan = (*standing_edits(before.plan, others), *standing_edits(now.plan, before.messages.keys() & standing))
        last = replace(before.summary or last, plan=plan)
        return self._assembled(active, last, ()), effective

    def summary(self, id: str) -> Snapshot:
        """The summary that stands."""
        summary = self.store.active(id).summary
        if summary is None:
            raise NotFound(f"session {id} has no summary", field="session", remedy="Compress it first.")
        return require_known(summary)

    def _assembled(self, active: Active, summary: SummarySnapshot | None, input: Sequence[Json]) -> Assembled:
        counter = self.counter_for(active.session.model)
        kept = self.store.messages(active.session.id, summary.kept) if summary and summary.kept else []
        active, kept = self._counted(active, kept, counter)
        try:
            return assemble(active, summary, counter, kept, input)
        except EditError as error:
            if active.summary is None:
                raise
            raise unfit(active.summary, str(error)) from None

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


def load_message(raw: bytes, index: int) -> Json:
    """Read a message that is given as JSON; InvalidConversation where it is none."""
    try:
        wire: Json = json.loads(raw)
    except ValueError as error:
        raise InvalidConversation(
            f"is no JSON ({error})", field=f"messages[{index}]", remedy="Give a message as JSON."
        ) from None
    return wire
