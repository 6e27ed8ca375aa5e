"""The conversations of an application while it runs: each with its log, its view and its counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from itertools import takewhile
from threading import Lock, RLock
from typing import TypeAlias

from compact.engine.gauge import Gauge
from compact.engine.projection import BreakCause, Line, Lines, Projection, by_turns, copied
from compact.engine.recorded import UNUSABLE, chain_of, log_of, mismatch, plan_of
from compact.engine.report import Report
from compact.engine.variants import choose_variant
from compact.errors import InvalidConversation, NotFound, StoredPlanMismatch
from compact.formats import detect, parse, parts_of, recognise, render, tools_of
from compact.formats.identity import with_cache_marks, without_cache_marks
from compact.messages import Conversation, Json, Metas, assuming, common_prefix, freeze, wires_of, without_meta
from compact.ports import Originals, Record
from compact.tokens import Counter

Clean: TypeAlias = Callable[[Json], Json]
"""What is done to a message before it is kept."""

_DECIDES = ("model", "thinking")


class Session:
    """One conversation. Use it under its lock."""

    def __init__(
        self, id: str, counter: Counter, model: str = "", variant: str = "", clean: Clean | None = None
    ) -> None:
        self.id = id
        self._named: Mapping[str, Json] = {"model": model} if model else {}
        self._variant = variant
        self.assumed = self._named
        """What is known of its requests beside the messages, the system prompt and the tools."""
        self.lock = RLock()
        self.projection: Projection | None = None
        self.shown_last: Projection | None = None
        """The projection whose view was sent last."""
        self.report: Report | None = None
        self.unfit: tuple[StoredPlanMismatch, ...] = ()  # what was kept and could not be taken up
        self.unkept: list[Json] = []
        """Messages with a `meta` that the originals do not have yet."""
        self._clean = clean
        self._metas = Metas()
        self._counter = counter
        self._beside: Json = None
        self._gauge: Gauge | None = None

    @property
    def gauge(self) -> Gauge:
        if self._gauge is None:
            raise RuntimeError("a session is measured once it has messages")
        return self._gauge

    @property
    def current(self) -> Projection:
        if self.projection is None:
            raise RuntimeError("a session has a projection once it has messages")
        return self.projection

    def follow(
        self,
        messages: Sequence[Json],
        system: Json,
        tools: Sequence[Json] | None,
        originals: Originals | None,
        format: str = "",
    ) -> Mapping[Line, Json]:
        """Take in what the caller holds now; gives the caller's own objects for the lines that are theirs.

        The format is recognised unless it is named.
        """

        def named() -> str:
            return format or detect(messages, system=system, tools=tools).name

        if self.projection is None:
            frame = self._framed(named(), system, tools)
            self._metas = self._known_metas(originals)
            messages = [self._metas.complete(wire) for wire in messages]
            known, self.unfit = remembered(frame, self.id, messages, originals)
            known = known or Projection(frame)
            self.projection = replace(known, counted=originals.last(self.id)) if originals else known
        elif self._beside != [system, tools] or self._outdated(self.projection.frame):
            frame = self._framed(self.projection.frame.format, system, tools)
            self.projection = replace(self.projection, frame=frame).sound()
        before = self.projection
        followed = self._followed(before, messages, named)
        if followed is None or (followed[0].rewound(before) and self.is_behind(originals)):
            self.projection = None
            return self.follow(messages, system, tools, originals, format)
        self.projection, own = followed
        new = [line.message.wire for line in reversed(_fresh(before, self.projection))]
        self.unkept += [wire for wire in new if self._metas.add(wire)]
        return own

    def project(self, request: Mapping[str, Json], originals: Originals | None) -> list[Json]:
        """The messages of a whole request as they would be sent now; the session does not change."""
        format, messages, system, tools = parts_of(request)
        aside = copy(self)
        aside.unkept, aside._metas = list(self.unkept), self._metas.copy()  # noqa: SLF001 - of this very class
        aside.learn(request)
        return aside.sent(aside.follow(messages, system, tools, originals, format.name))

    def _outdated(self, frame: Conversation) -> bool:
        known = {key: value for key, value in frame.assumed.items() if key != "variant"}
        return known != self.assumed

    def learn(self, request: Mapping[str, Json]) -> None:
        """Take note of what a whole request says beside its messages, as far as rules depend on it."""
        self.assumed = {**self._named, **decisive(request)}

    def is_behind(self, originals: Originals | None) -> bool:
        """Whether another process has compacted the session, or protected some of it, since it was taken up here."""
        if originals is None:
            return False
        return originals.last(self.id) > self.current.counted or self._metas.lacks(self._known_metas(originals))

    def recollect(self, originals: Originals | None) -> None:
        """Take up what was kept of the session last; NotFound where nothing was, StoredPlanMismatch where it cannot."""
        records = {record.number: record for record in originals.records(self.id)} if originals else {}
        if originals is None or not records:
            raise nothing_to_undo(self.id)
        last = records[max(records)]
        chain_of(last, records)  # a newer version may know formats that this one does not
        known = _replayed(self._framed(last.format), last, records, originals)
        self.projection = replace(known, counted=originals.last(self.id))
        self._metas = self._known_metas(originals)

    def _known_metas(self, originals: Originals | None) -> Metas:
        kept = originals.with_meta(self.id) if originals else ()
        return Metas((*kept, *self.unkept), self._clean)

    def _followed(
        self, projection: Projection, messages: Sequence[Json], format: Callable[[], str]
    ) -> tuple[Projection, Mapping[Line, Json]] | None:
        """What the messages continue; None where what is new tells that they are in another format than was thought.

        Plain text looks the same in several formats.
        """
        try:
            after, own = projection.follow(messages, self._metas.complete)
        except InvalidConversation:
            if projection.frame.format == format():
                raise
            return None
        proven = recognise([own[line] for line in _fresh(projection, after)])
        if proven is not None and projection.frame.format not in (proven.name, format()):
            return None
        return after, own

    @property
    def messages(self) -> list[Json]:
        """Copies of what the view shows, as the application gave it: with its `meta`."""
        return [copied(wire) for wire in wires_of(self.current.conversation)]

    def sent(self, own: Mapping[Line, Json]) -> list[Json]:
        """What is to be sent, without `meta`: the caller's own objects where they are unchanged, else copies.

        Copies have the cache marks that the caller's message has now.
        """
        return [
            own[turn[0]] if turn[0] in own and turn[0].shown is turn[0].given else self._copy_of(turn, own)
            for turn in by_turns(self.current.view)
        ]

    def tokens_of(self, own: Mapping[Line, Json]) -> int:
        """How many tokens the request has as the caller gave it."""
        turns = {turn[0]: turn for turn in by_turns(self.current.view)}
        given = [line.message for first in own for line in turns.get(first, (first,))]
        return self.gauge.conversation(self.current.frame.with_messages(given))

    def note_sent(self) -> BreakCause:
        """Take note that the view is sent now; gives why it does not begin with what was sent before, if so."""
        before, self.shown_last = self.shown_last, self.current
        return self.current.break_cause(before) if before is not None else ""

    def _copy_of(self, turn: Lines, own: Mapping[Line, Json]) -> Json:
        first = turn[0]
        if first in own:
            return copied(without_meta(own[first]))
        made = copied(render(self.current.frame.with_messages([line.message for line in turn]))[0])
        log = self.current.log[first.position]
        edited = len(turn) == 1 and log.message.id == first.message.id
        return with_cache_marks(without_cache_marks(made), own.get(log) if edited else None)

    def _framed(self, format: str, system: Json = None, tools: Sequence[Json] | None = None) -> Conversation:
        """The conversation without its messages, by which it is measured from now on."""
        frame = assuming(parse([], format=format, system=system, tools=tools), self.assumed)
        chosen = choose_variant(format, str(self.assumed.get("model", "")), self._variant)
        frame = assuming(frame, {"variant": chosen}) if chosen else frame
        self._gauge = Gauge(self._counter, tools_of(frame))
        self._beside = freeze([system, tools])
        return frame


def _fresh(before: Projection, after: Projection) -> list[Line]:
    """The lines that are new in the log, the last first."""
    known = before.log
    return list(takewhile(lambda line: line not in known[line.position : line.position + 1], reversed(after.log)))


def decisive(request: Mapping[str, Json]) -> dict[str, Json]:
    """What of a request's options the rules about a condensed conversation depend on."""
    return {key: copied(request[key]) for key in _DECIDES if request.get(key)}


class Sessions:
    """The sessions of a manager, each made when it is first asked for."""

    def __init__(self, counter: Counter, model: str = "", variant: str = "", clean: Clean | None = None) -> None:
        self._counter = counter
        self._clean = clean
        self._model = model
        self._variant = variant
        self._lock = Lock()
        self._sessions: dict[str, Session] = {}

    def get(self, id: str) -> Session:
        with self._lock:
            return self._sessions.setdefault(id, Session(id, self._counter, self._model, self._variant, self._clean))

    @contextmanager
    def hold(self, id: str) -> Iterator[Session]:
        """The session, for one thread at a time."""
        while True:
            session = self.get(id)
            with session.lock:
                if self.get(id) is session:  # else it was forgotten while this thread waited for it
                    yield session
                    return

    def projections(self) -> dict[str, Projection]:
        """What is held of each session that has messages; projections do not change, so no lock is needed to read."""
        with self._lock:
            held = list(self._sessions.values())
        return {session.id: session.projection for session in held if session.projection is not None}

    def forget(self, id: str) -> None:
        """Let go of what is held in memory; what was kept on disk stays."""
        with self._lock:
            self._sessions.pop(id, None)


def remembered(
    frame: Conversation, session: str, messages: Sequence[Json], originals: Originals | None
) -> tuple[Projection | None, tuple[StoredPlanMismatch, ...]]:
    """The projection that was kept of the session and that the messages continue furthest; and what does not fit."""
    records = {record.number: record for record in originals.records(session)} if originals else {}
    parents = {record.parent for record in records.values()}
    best, most = None, 0
    unfit: list[StoredPlanMismatch] = []
    for record in reversed(records.values()):
        if originals is None or record.number in parents or record.format != frame.format:
            continue
        try:
            projection = _replayed(frame, record, records, originals)
        except StoredPlanMismatch as error:
            unfit.append(error)
            continue
        covered = projection.covers(messages)
        if covered > most:
            best, most = projection, covered
    return best, tuple(unfit)


def _replayed(frame: Conversation, last: Record, records: Mapping[int, Record], originals: Originals) -> Projection:
    """What the compactions came to; StoredPlanMismatch where one of them does not fit."""
    projection = Projection(frame)
    known: tuple[str, ...] = ()
    for record in chain_of(last, records):
        plan = plan_of(record)
        projection = projection.cut(common_prefix(known, record.log))
        rest = log_of(record, originals, len(projection.log))
        try:
            projection = projection.extended(rest)
            done = projection.replay(plan, record.number, len(record.log), record.facts)
        except UNUSABLE:
            done = None
        if done is None:
            raise mismatch(record, "its plan does not fit the messages that were kept with it")
        projection, known = done, record.log
    return projection.sound()


def nothing_to_undo(session: str) -> NotFound:
    """The error of an undo where no compaction stands."""
    return NotFound(f"there is nothing to undo: no compaction of {session} stands")
