"""Conversations in a database that always fit their model: the service over a session store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from uuid import uuid4

from compact.engine.driver import Asker, NoModel
from compact.engine.events import error_event, public_events
from compact.engine.floor import floor_of
from compact.engine.gauge import Gauge
from compact.engine.report import Report
from compact.engine.stored.compaction import Compacted, Job, aim_for, compact_session
from compact.engine.stored.context import Assembled, counter_name, whole_exchanges
from compact.engine.stored.events import compaction_events, preview_of, request_events
from compact.engine.stored.preferences import Effective
from compact.engine.stored.reading import Reader, load_message
from compact.errors import CompactError, CompactionBlocked, InsufficientBudget, NothingToCompact
from compact.formats import format_named, parse, render
from compact.messages import Json, Seal, message_bytes, message_texts
from compact.models.spending import Charge
from compact.policies import Decision, check_session_id
from compact.policies.stored import StoredSettings
from compact.ports import Event, NewMessage, Observe, SessionStore, Snapshot, StoredMessage, StoredSession, Usage
from compact.providers import Recipe
from compact.summaries.model.strategy import find_strategy
from compact.tokens import Counter

WAIT = 30.0
"""Seconds that a request waits for another compaction of the same session."""
_AUTOMATIC, _MANUAL = "automatic", "manual"
_NEIGHBOURS = 200
_OFFLINE = NoModel("it was asked for without a model")


@dataclass(frozen=True, slots=True)
class Wish:
    """How a compression is to be done, where not as the settings say.

    `retention` is how many tokens of the last messages stay, 0 for none. `note` says what matters, in a person's
    words. With `offline` no model is called.
    """

    retention: int | None = None
    note: str = ""
    strategy: str = ""
    offline: bool = False


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a session is compressed, and which summary the new one replaces."""

    trigger: str
    replaces: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class Compression:
    """The result of a compression: how many messages it took into the summary.

    `report` says more: the size before and after, who wrote the summary and what that cost, or why no model did.
    """

    snapshot: Snapshot
    messages: int
    report: Report
    warnings: tuple[str, ...] = ()

    @property
    def tokens_before(self) -> int:
        return self.report.tokens_before

    @property
    def tokens_after(self) -> int:
        return self.report.tokens_after

    @property
    def seconds(self) -> float:
        """How long making it took."""
        return self.report.seconds


_NOTHING = Charge()


@dataclass(frozen=True, slots=True)
class Preview:
    """What a compression would do: how many messages would go, and about how many tokens would be left.

    `charge` is what the questions to a model would take, `priced_by` whose price that is; empty where none is asked.
    """

    messages: int
    tokens_before: int
    tokens_after: int
    warnings: tuple[str, ...] = ()
    charge: Charge = _NOTHING
    priced_by: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What is to be sent: `messages` beside the session's own `system` and `tools`; and how full the model is.

    `failure` says why the session was not compressed, where that was tried in vain and the risk is acknowledged.
    `automatic` says whether `prepare` compacts the session.
    """

    session: StoredSession
    messages: list[Json]
    decision: Decision
    summary: Snapshot | None
    compression: Compression | None = None
    failure: str = ""
    automatic: bool = True

    @property
    def tokens(self) -> int:
        return self.decision.used

    @property
    def max_tokens(self) -> int:
        """The limit to send for the answer: as many tokens as are wished for, or what the window leaves."""
        room = self.decision.room
        return room.lowered(self.tokens) or room.answer.limit


class SessionService:
    """Stores conversations, and compresses them before they outgrow their model.

    `ask_with` gives what asks the models of a profile and of a recipe's passes, or the reason why none is called.
    `recipe_for` gives the recipe that the settings name, with the words of summaries in it. `observe` gets the events.
    """

    def __init__(
        self,
        store: SessionStore,
        counter_for: Callable[[str], Counter],
        ask_with: Callable[[str, Recipe, Observe], Asker],
        recipe_for: Callable[[StoredSettings], Recipe],
        observe: Callable[[str, Event], None],
    ) -> None:
        self.store = store
        self.reader = Reader(store, counter_for)
        self.preferences = self.reader.preferences
        self._ask_with = ask_with
        self._recipe_for = recipe_for
        self.tell = observe
        self.seal: Seal | None = None

    def create(self, session: StoredSession) -> StoredSession:
        """Store a new session; one without an id gets one."""
        id = check_session_id(session.id) if session.id else uuid4().hex
        named = format_named(session.format).name
        parse([], format=named, system=session.system, tools=session.tools)
        self.preferences.model(session.model)
        return self.store.create(replace(session, id=id, format=named))

    def append(self, id: str, messages: Sequence[Json], usage: Usage | None = None) -> list[StoredMessage]:
        """Store messages at the end of a session; bytes are kept as they are. `usage` is what the vendor reported."""
        session = self.store.session(id)
        counter = self.reader.counter_for(session.model)
        frame = parse([], format=session.format)
        new = []
        for index, given in enumerate(messages):
            raw, wire = (
                (given, load_message(given, index)) if isinstance(given, bytes) else (message_bytes(given), given)
            )
            message = frame.dialect.parse_message(wire, str(index))
            text = "\n".join(text for _, text in message_texts(message))
            new.append(NewMessage(raw, message.role, text, counter.message(message), counter_name(counter)))
        if new and usage is not None:
            new[-1] = replace(new[-1], input_tokens=usage.input, output_tokens=usage.output)
        return self.store.append(id, new)

    def context(self, id: str, input: Sequence[Json] = (), max_tokens: int | None = None) -> Context:
        """What would be sent now, as it is; nothing is compressed."""
        return self._seen(id, input, max_tokens, silent=True)

    def _seen(self, id: str, input: Sequence[Json], max_tokens: int | None, *, silent: bool = False) -> Context:
        """The context; its size is reported, unless a compaction is due, which is reported as it begins."""
        assembled, effective = self.reader.now(id, input)
        decision = effective.with_answer_limit(max_tokens).decide(assembled.tokens)
        messages, active = list(render(assembled.conversation)), assembled.active
        if not (silent or decision.triggered):
            self._report(id, request_events(assembled, effective, decision))
        return Context(active.session, messages, decision, active.summary, automatic=effective.settings.automatic)

    def prepare(
        self, id: str, input: Sequence[Json] = (), *, wait: float = WAIT, max_tokens: int | None = None
    ) -> Context:
        """What is to be sent, compressed first where it has reached the threshold.

        `max_tokens` limits the answer, by default as profile and model do; the result has the limit to send.
        CompactionBlocked where a summary failed and the risk was not acknowledged; InsufficientBudget where what must
        be sent does not fit. Where the risk was acknowledged, a compression is tried again, and a success lifts the
        block. While another process compacts the session this waits, and goes on with the old context if that takes
        longer and still fits.
        """
        context = self._seen(id, input, max_tokens)
        require_unblocked(context.session)
        if context.decision.triggered:
            with self.store.compacting(id, wait) as alone:
                context = (self._prepared if alone else self._seen)(id, input, max_tokens)
        return _sendable(context)

    def compress(self, id: str, wish: Wish | None = None, *, wait: float = WAIT) -> Compression:
        """Compress a session now, whether it needs to be or not."""
        with self.store.compacting(id, wait) as alone:
            require_alone(alone)
            return self.run(*self.reader.base(id), wish or Wish(), Cause(_MANUAL))

    def foresee(self, id: str, wish: Wish, ask: Asker) -> Preview:
        """What `compress` would do if the callback answered; nothing is changed."""
        assembled, effective = self.reader.base(id)
        job = self._job(assembled, effective, wish, Cause(_MANUAL))
        warnings, before = _small(assembled.tokens, effective), assembled.tokens
        try:
            done = compact_session(job, ask)
        except (CompactionBlocked, InsufficientBudget) as error:
            return Preview(0, before, before, (*warnings, str(error)))
        return Preview(len(done.gone), before, done.assembled.tokens, (*warnings, *done.warnings))

    def compacted(self, job: Job, ask: Asker, observe: Observe) -> Compacted:
        """The compacted session; nothing is stored yet."""
        return compact_session(job, ask, observe)

    def run(self, assembled: Assembled, effective: Effective, wish: Wish, cause: Cause) -> Compression:
        """Compact what was read, and store the summary; the caller holds the lock of the session."""
        session, began = assembled.active.session, perf_counter()
        job = self._job(assembled, effective, wish, cause)
        facts: dict[str, Json] = {"trigger": cause.trigger, "messages": job.scope(), "tokens": assembled.tokens}
        facts |= {"threshold": effective.threshold.share, "threshold_from": effective.threshold.origin}
        note = "" if cause.trigger == _AUTOMATIC else wish.note or cause.trigger
        self._report(session.id, request_events(assembled, effective, job.decision, note))
        self.tell(session.id, Event("compact.compression_started", facts))

        def observe(event: Event) -> None:
            self._report(session.id, public_events(event))

        try:
            ask = _OFFLINE if wish.offline else self._ask_with(effective.settings.profile, job.recipe, observe)
            done = self.compacted(job, ask, observe)
            made = self._kept(done, cause, assembled)
        except CompactError as error:
            self.tell(session.id, error_event(type(error).__name__, str(error)))
            failed = Event("compact.compression_failed", {**facts, "reason": str(error)}, perf_counter() - began, True)
            self.tell(session.id, failed)
            raise
        if session.blocked or session.acknowledged:
            self.store.change(session.id, {"blocked": "", "acknowledged": False})
        warnings = (*done.warnings, *(_small(assembled.tokens, effective) if cause.trigger == _MANUAL else ()))
        result = Compression(made, len(done.gone), done.report, warnings)
        self._report(session.id, compaction_events(job, done))
        after: dict[str, Json] = {"messages": result.messages, "after": result.tokens_after, "snapshot": made.id}
        finished = {**facts, **after, "preview": preview_of(done.summary.words)}
        self.tell(session.id, Event("compact.compression_finished", finished, result.seconds))
        return result

    def _report(self, id: str, events: Iterable[Event]) -> None:
        for event in events:
            self.tell(id, event)

    def pin(self, id: str, message: int, *, pinned: bool = True) -> list[int]:
        """Keep a message in every request, with the calls and results that belong to it; gives their ids."""
        at = self.store.messages(id, [message])[0].position
        around = self.store.history(id, after=max(-1, at - _NEIGHBOURS // 2), limit=_NEIGHBOURS)
        frame = parse([], format=self.store.session(id).format)
        read = [frame.dialect.parse_message(json.loads(one.raw), str(one.id)) for one in around]
        group = next(group for group in whole_exchanges(read) if any(one.id == str(message) for one in group))
        ids = [int(one.id) for one in group]
        self.store.pin(id, ids, pinned=pinned)
        return ids

    def set_automatic(self, id: str, automatic: bool | None) -> StoredSession:  # noqa: FBT001 - it is the whole question
        """Turn automatic compaction of the session on or off; None goes back to what the settings say.

        Off, `prepare` compacts nothing and refuses what does not fit; `compress` works as ever.
        """
        return self.store.change(id, {"automatic": automatic})

    def acknowledge(self, id: str) -> StoredSession:
        """Take the risk of going on without a summary; a request that does not fit is refused all the same."""
        return self.store.change(id, {"acknowledged": True})

    def usage(self, id: str) -> Mapping[str, int]:
        """The tokens of the next request by kind of content."""
        assembled, _ = self.reader.now(id)
        counter = self.reader.counter_for(assembled.active.session.model)
        kinds = counter.conversation(assembled.conversation, assembled.tools).by_kind
        summary = sum(counter.message(m) for m in assembled.conversation.messages if m.id in assembled.made)
        return {**kinds, "text": max(0, kinds.get("text", 0) - summary), "summary": summary} if summary else kinds

    def _prepared(self, id: str, input: Sequence[Json], max_tokens: int | None) -> Context:
        """The context, compacted where that is still needed: another process may have done it while this one waited."""
        context = self._seen(id, input, max_tokens)
        if not context.decision.triggered:
            return context
        try:
            assembled, effective = self.reader.base(id, input)
            done = self.run(assembled, effective.with_answer_limit(max_tokens), Wish(), Cause(_AUTOMATIC))
        except (CompactionBlocked, InsufficientBudget) as error:
            if isinstance(error, NothingToCompact) and context.tokens <= context.decision.room.utmost:
                return context  # the answer gets what is left
            going_on = bool(context.session.blocked) and context.session.acknowledged
            reason = f"The automatic compression failed: {error}"
            self.store.change(id, {"blocked": reason, "acknowledged": going_on})
            if going_on:
                return replace(self.context(id, input, max_tokens), failure=str(error))
            raise
        return replace(self.context(id, input, max_tokens), compression=done)

    def _job(self, assembled: Assembled, effective: Effective, wish: Wish, cause: Cause) -> Job:
        settings, decision = effective.settings, effective.decide(assembled.tokens)
        if wish.strategy:
            settings = settings.model_copy(update={"strategy": find_strategy(wish.strategy).name})
        counter = self.reader.counter_for(assembled.active.session.model)
        retention = settings.retention_tokens if wish.retention is None else wish.retention
        by_hand = cause.trigger != _AUTOMATIC
        floor = floor_of(assembled.conversation, Gauge(counter, assembled.tools)).total
        window = int(decision.window * decision.lowered)
        aim = aim_for(settings, window, assembled.tokens, floor, retention if by_hand else None)
        recipe = _fitted(self._recipe_for(settings), settings, wish, retention, by_hand=by_hand)
        target = recipe.choose_target(aim.target if by_hand or effective.sets_target else None, aim.target)
        if by_hand and recipe.when_missed == "stop":
            target = None  # what stops by itself keeps to the retention itself
        recipe = recipe.changed(max_summary_tokens=aim.account)
        if "summary_tokens" in settings.model_fields_set:
            recipe = recipe.worded(max_tokens=aim.account)
        return Job(assembled, recipe, settings, counter, decision, retention, target, self.seal, cause.trigger)

    def _kept(self, done: Compacted, cause: Cause, assembled: Assembled) -> Snapshot:
        """The summary, stored: in the place of the one that it replaces, or that covers as many messages."""
        basis = cause.replaces or assembled.active.summary
        replaces = cause.replaces or (basis if basis and basis.cutoff == done.summary.cutoff else None)
        summary = replace(done.summary, replaces=replaces.id if replaces else None)
        new = summary.stored(assembled.active.session.id, self.reader.counter_for(assembled.active.session.model).text)
        made = self.store.put_snapshot(new, basis.id if basis else None, replace=replaces is not None)
        if made is None:
            raise CompactionBlocked("the session was compressed by another process in the meantime. Try again.")
        return made


def _fitted(recipe: Recipe, settings: StoredSettings, wish: Wish, retention: int, *, by_hand: bool) -> Recipe:
    """Return the recipe with the settings of stored sessions; by hand, it keeps only the retention."""
    is_set = by_hand or "retention_tokens" in settings.model_fields_set
    recipe = (recipe.changed if is_set else recipe.with_defaults)(recent_tokens=retention)
    recipe = recipe.changed(recent_turns=0, tool_pairs=0, only_recent=True) if by_hand else recipe
    recipe = recipe.changed(focus=wish.note) if wish.note else recipe
    return recipe.worded(on_failure=settings.on_summary_failure)


def _sendable(context: Context) -> Context:
    """The context, if the model can read it."""
    used, most = context.tokens, context.decision.room.utmost
    if used > most:
        problem = f"{used:,} tokens are more than the {most:,} that the model reads. {_remedy(context)}"
        raise InsufficientBudget(problem, needed=used, budget=most)
    return context


def _remedy(context: Context) -> str:
    """What can be done about a request that does not fit."""
    if context.failure:
        return (
            f"The compaction that was tried failed: {context.failure.rstrip('.')}. "
            "Or unpin messages, or use a model with a larger context window."
        )
    if context.automatic:
        return "Compact the session, unpin messages, or use a model with a larger context window."
    where = "for this session" if context.session.automatic is False else "in the settings"
    return (
        f"Automatic compaction is off {where}, so nothing was removed: compact the session by hand, "
        "turn automatic compaction on, or use a model with a larger context window."
    )


def require_unblocked(session: StoredSession) -> None:
    """CompactionBlocked where a compression of the session failed and the risk was not acknowledged."""
    if session.blocked and not session.acknowledged:
        raise CompactionBlocked(f"{session.blocked} To go on without a summary, acknowledge the risk.")


def require_alone(alone: bool) -> None:  # noqa: FBT001 - it is the whole question
    """CompactionBlocked where another process compacts the session."""
    if not alone:
        raise CompactionBlocked("the session is being compressed by another process. Try again later.")


def _small(tokens: int, effective: Effective) -> tuple[str, ...]:
    minimum = effective.settings.minimum_tokens
    if tokens >= minimum:
        return ()
    return (f"{tokens:,} tokens are below the minimum of {minimum:,}: there is little to gain",)
