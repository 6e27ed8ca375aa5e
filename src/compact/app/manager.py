"""The compaction manager: keeps the conversations of an application within their model's window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, Self

from compact import models
from compact.app.counting import counter_for
from compact.app.keeping import Keeper, storing
from compact.app.profiles import ask_with, condensing_profiles
from compact.app.recall import Recollection
from compact.app.reducing import reducer
from compact.app.threads import in_thread
from compact.engine import (
    Asking,
    AskModel,
    Judge,
    LoopGuard,
    Outcome,
    Progress,
    Report,
    answer_offline,
    floor_of,
    report_of,
)
from compact.engine.compacting import Order, compact
from compact.engine.preparing import NEARLY, Background
from compact.engine.projection import Line
from compact.engine.recalling import Hit, Recalled
from compact.engine.sessions import Session, Sessions
from compact.engine.telling import (
    told_compaction,
    told_decision,
    told_discarded,
    told_error,
    told_estimate,
    told_result,
)
from compact.errors import (
    CompactionBlocked,
    CondensationStalled,
    InsufficientBudget,
    InvalidConfiguration,
    InvalidConversation,
    InvalidInput,
)
from compact.formats import parts_of
from compact.messages import Json
from compact.policies import CompactConfig, Decision, check_session_id, should_condense
from compact.ports import Event, Observe

_UNREACHED = ("summary_pruned", "failure")
_ASKING: ContextVar[str] = ContextVar("session that asks", default="")


class CompactManager:
    """Compacts conversations before they outgrow their model's window.

    Call `preflight` before each request with the messages about to be sent, and send what it gives back. Pass what you
    got the last time with new messages appended, or the whole history: both come to the same. It may be used from many
    threads, for many sessions.
    """

    def __init__(self, config: CompactConfig, *, ask: AskModel | None = None, observe: Observe | None = None) -> None:
        if not isinstance(config, CompactConfig):
            raise InvalidConfiguration(
                f"must be a CompactConfig, not {type(config).__name__}",
                field="config",
                remedy='Pass CompactConfig(model="gpt-4o"), or what load_config gives.',
            )
        self.config = config
        self._model = models.find_model(config.model)
        self.window = config.max_context_tokens or self._model.max_input
        self._sessions = Sessions(counter_for(config.model), config.model)
        self._provider, self._settings = reducer(config.policy)
        self._guard = LoopGuard(monotonic)
        profiles = condensing_profiles(config.profile) if ask is None else ()
        with ExitStack() as opened:
            self._keeper = Keeper(config, observe)
            opened.callback(self._keeper.close)
            self._recollection = Recollection(self._keeper.originals, self._sessions)
            self._ask = opened.enter_context(ask_with(profiles, self._relay)) if profiles else ask
            self._background = Background(self._keeper.emit)
            opened.callback(self._background.close)
            self._open = opened.pop_all()

    def preflight(
        self,
        session_id: str,
        messages: Sequence[Json] | Mapping[str, Json],
        *,
        system: Json = None,
        tools: Sequence[Json] | None = None,
    ) -> list[Json]:
        """The messages to send: as they are, or compacted where they have reached the trigger.

        A whole request may be given in place of its messages. Its format is recognised, unless it says so: "format".

        InsufficientBudget where what must stay does not fit; CompactionBlocked where there is no summary and the policy
        forbids to prune without; StorageError where what goes cannot be kept. Where compacting keeps freeing next to
        nothing, it is left alone for a while, as long as what is sent fits.
        """
        with self._sessions.hold(check_session_id(session_id)) as session:
            own = self._follow(session, messages, system, tools)
            decision = self._decide(session)
            if decision.triggered and self._is_behind(session):
                session.projection = None
                own = self._follow(session, messages, system, tools)
                decision = self._decide(session)
            if decision.triggered:
                self._compact(session, decision, note="")
            else:
                self._keeper.emit(session_id, told_decision(decision, self.config.policy))
                self._prepare(session, decision)
            return session.sent(own)

    apreflight = in_thread(preflight)

    def manual_compact(
        self,
        session_id: str,
        messages: Sequence[Json] | Mapping[str, Json],
        note: str = "",
        *,
        system: Json = None,
        tools: Sequence[Json] | None = None,
    ) -> list[Json]:
        """The messages compacted, whether they need to be or not; the note says why, or what matters."""
        if not isinstance(note, str):
            raise InvalidInput(f"must be text, not {type(note).__name__}", field="note", remedy="Say what matters.")
        with self._sessions.hold(check_session_id(session_id)) as session:
            own = self._follow(session, messages, system, tools)
            self._compact(session, self._decide(session), note=note or "manual")
            return session.sent(own)

    amanual_compact = in_thread(manual_compact)

    def undo(self, session_id: str, compaction: int | None = None) -> list[Json]:
        """The messages without a compaction, by default the last one; later turns stay.

        Later compactions that were built on it go with it. Of a session that has not been at work since a restart,
        what was kept is given: the messages up to its last compaction. NotFound where there is nothing of it,
        StoredPlanMismatch where that cannot be read.
        """
        with self._sessions.hold(check_session_id(session_id)) as session:
            if session.projection is None:
                with storing():
                    session.recollect(self._keeper.originals)
            before = session.current.compactions
            number = compaction if compaction is not None else (before[-1].number if before else 0)
            if session.unfit and all(done.number != number for done in before):
                raise session.unfit[0]
            after = session.current.without(number)
            left = {done.number for done in after.compactions}
            self._keeper.follow_on(session_id, after, [done.number for done in before])
            self._keeper.retract(session_id, [done.number for done in before if done.number not in left])
            session.projection = after
            return session.sent({})

    def recall(self, handle: str, session_id: str | None = None) -> Recalled:
        """What was removed under the handle in its marker, in one session or in any.

        InvalidInput names near handles where there is no such one.
        """
        return self._recollection.recall(handle, session_id)

    def search(self, text: str, session_id: str | None = None, limit: int = 20) -> list[Hit]:
        """Where all the words were in what was removed, whatever their case; each hit has a handle to recall."""
        return self._recollection.search(text, session_id, limit)

    def report(self, session_id: str) -> Report | None:
        """What the last compaction of the session did; None where there was none since the start."""
        return self._sessions.get(check_session_id(session_id)).report

    def forget(self, session_id: str) -> None:
        """Let go of what is held in memory of a session; what was kept on disk stays, and it can be taken up again."""
        with self._sessions.hold(check_session_id(session_id)):
            self._background.forget(session_id)
            self._keeper.write_events(session_id)
            self._sessions.forget(session_id)

    def close(self) -> None:
        """Send what is still to be sent, and let go of connections."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _follow(
        self,
        session: Session,
        messages: Sequence[Json] | Mapping[str, Json],
        system: Json,
        tools: Sequence[Json] | None,
    ) -> Mapping[Line, Json]:
        format = ""
        if isinstance(messages, Mapping):
            session.learn(messages)
            chosen, messages, own, tools = parts_of(messages)
            format, system = chosen.name, system if own is None else own
        known = session.unfit
        with storing():
            beside = None if tools is None else _listed(tools, "tools")
            own = session.follow(_listed(messages), system, beside, self._keeper.originals, format)
        for error in session.unfit if session.unfit is not known else ():
            self._keeper.emit(session.id, told_error(type(error).__name__, str(error), "as if it was not compacted"))
        return own

    def _compact(self, session: Session, decision: Decision, note: str) -> None:
        """Compact the session, or tell what is in the way."""
        before = session.current.conversation
        self._keeper.emit(session.id, told_decision(decision, self.config.policy, note, before))
        try:
            self._compacted(session, decision, note)
        except Exception as error:  # whatever it is, it is told before it is raised
            self._keeper.emit(session.id, told_error(type(error).__name__, str(error)))
            raise

    def _compacted(self, session: Session, decision: Decision, note: str) -> None:
        """Keep what goes, and only then let it go."""
        began = perf_counter()
        before = session.current.conversation
        if not note and decision.used <= decision.budget and not self._admitted(session):
            return
        outcome = None if note else self._prepared(session, decision)
        outcome = outcome or self._reduced(session, decision, note)
        if not outcome.plan:
            return
        target = int(self.window * self.config.policy.target_pct)
        report = report_of(self._provider.name, before, outcome, session.gauge, target)
        report = replace(report, seconds=perf_counter() - began)
        with self._keeper.alone(session.id):
            counted = session.current.counting_from(self._keeper.last(session.id))
            after = counted.compacted(outcome.plan, outcome.conversation)
            self._keeper.keep(session.id, after, report)
        session.projection, session.report = after, report
        for event in told_compaction(before, outcome, report, session.gauge, self.config.policy):
            self._keeper.emit(session.id, event)
        custom = bool(getattr(self._settings, "prompt", ""))
        event = told_result(report, automatic=not note, custom_prompt=custom, custom_handler=self._ask is not None)
        self._keeper.emit(session.id, event)
        self._keeper.write_events(session.id)

    def _decide(self, session: Session) -> Decision:
        conversation = session.current.conversation
        used = session.gauge.frame(conversation) + sum(session.gauge.roles(conversation).values())
        decision = should_condense(used, self.window, self.config.policy.threshold)
        self._keeper.emit(session.id, told_estimate(self.config.model, conversation, decision, session.gauge))
        return decision

    def _order(self, decision: Decision, note: str = "") -> Order:
        return Order(
            self._provider,
            _focused(self._settings, note),
            self.window,
            decision.budget,
            self._target(decision),
            prune=self.config.policy.on_summary_failure != "block",
        )

    def _target(self, decision: Decision) -> int:
        return max(1, min(int(self.window * self.config.policy.target_pct), decision.used - 1))

    def _is_behind(self, session: Session) -> bool:
        with storing():
            return session.is_behind(self._keeper.originals)

    def _admitted(self, session: Session) -> bool:
        try:
            self._guard.admit(session.id)
        except CondensationStalled:
            return False
        return True

    def _record(self, session: Session, decision: Decision, used: int) -> None:
        """Tell the loop guard what an automatic compaction came to, and others if it was in vain again."""
        enough = not should_condense(used, self.window, self.config.policy.threshold).triggered
        floor = floor_of(session.current.conversation, session.gauge)
        try:
            self._guard.record(session.id, Progress(decision.used, used, self._target(decision), floor, enough))
        except CondensationStalled as stalled:
            self._keeper.emit(session.id, told_error(type(stalled).__name__, str(stalled), "none"))

    def _prepare(self, session: Session, decision: Decision) -> None:
        """Have the next compaction made ready, if it is near."""
        near = decision.used >= NEARLY * min(decision.trigger_at, decision.budget)
        if not (near and self.config.background and self.config.policy.automatic):
            return
        basis, gauge, order = session.current, session.gauge, self._order(decision)
        asker = partial(self._asker, session.id)

        def work() -> Outcome:
            seen: list[Event] = []
            outcome = compact(basis.conversation, order, gauge, asker, seen.append)
            failed = (event for event in seen if (event.name, event.properties.get("kind")) == _UNREACHED)
            if event := next(failed, None):
                raise CompactionBlocked(str(event.properties.get("reason")))  # there is time to ask again
            return replace(outcome, events=tuple(seen))

        self._background.prepare(session.id, basis, work)

    def _prepared(self, session: Session, decision: Decision) -> Outcome | None:
        """What was made ready for now, if it is enough."""
        outcome = self._background.take(session.id, session.current, session.gauge)
        if outcome is None:
            return None
        used = session.gauge.conversation(outcome.conversation)
        if used > decision.budget or should_condense(used, self.window, self.config.policy.threshold).triggered:
            self._keeper.emit(session.id, told_discarded(outcome, f"it would leave {used:,} tokens"))
            return None
        self._record(session, decision, used)
        for event in outcome.events:
            self._keeper.relay(session.id, event)
        return outcome

    def _reduced(self, session: Session, decision: Decision, note: str) -> Outcome:
        """What the provider makes of the session, or the error that says what is in the way."""
        conversation, gauge = session.current.conversation, session.gauge
        order = self._order(decision, note)
        observe = partial(self._keeper.relay, session.id)
        outcome = compact(conversation, order, gauge, partial(self._asker, session.id), observe)
        used = gauge.conversation(outcome.conversation)
        if used > decision.budget:
            raise self._too_much(outcome, used, decision)
        if decision.triggered and not note:
            self._record(session, decision, used)
        return outcome

    def _too_much(self, outcome: Outcome, used: int, decision: Decision) -> InsufficientBudget | CompactionBlocked:
        why = "; ".join(done.skipped for done in outcome.passes if done.skipped)
        text = f"{used:,} tokens are left where {decision.budget:,} may be used ({why or 'nothing else may go'})"
        if self.config.policy.on_summary_failure == "block":
            return CompactionBlocked(f"{text}. Try again, or set policy.on_summary_failure to prune or offline.")
        remedy = (
            "Protect fewer or shorter messages, cut long tool results before they are added, "
            "or use a model with a larger context window."
        )
        return InsufficientBudget(f"{text}. {remedy}", needed=used, budget=decision.budget)

    def _relay(self, event: Event) -> None:
        """Pass on what those who are asked tell; they know nothing of sessions, but go with who asked."""
        self._keeper.relay(_ASKING.get(), event)

    def _asker(self, session_id: str, judge: Judge) -> AskModel:
        _ASKING.set(session_id)
        return Asking().now(self._ask or partial(answer_offline, judge))


def _listed(given: Sequence[Json], what: str = "messages") -> list[Json]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InvalidConversation(
            f"must be a list of {what}, not {type(given).__name__}",
            field=what,
            remedy=f"Pass the {what} of the request.",
        )
    return list(given)


def _focused(settings: Any, note: str) -> Any:
    """The settings with a person's note on what matters, where the provider has a place for it."""
    return settings.model_copy(update={"focus": note}) if note and "focus" in type(settings).model_fields else settings
