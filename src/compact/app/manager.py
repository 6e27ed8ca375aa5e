"""The compaction manager: keeps the conversations of an application within their model's window."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from time import monotonic

from compact import models
from compact.app.counting import counter_for
from compact.app.keeping import Keeper, storing
from compact.app.preflight import Call, Preflight, listed
from compact.app.questions import Questions
from compact.app.recall import Recollection
from compact.app.recipes import resolve_recipe
from compact.app.threads import in_thread
from compact.app.thresholds import Serving, room_for, serving_profile, threshold_for
from compact.app.undo import undo_compaction
from compact.engine import AskModel, Gauge, Inputs, Outcome, Report, report_of
from compact.engine.compactor import Compactor, Round, Rounds
from compact.engine.events import discarded_event, error_event, pruned_event, public_events, result_events
from compact.engine.preparing import Background
from compact.engine.projection import Line, Projection
from compact.engine.recalling import Recalled
from compact.engine.searching import Hits
from compact.engine.sessions import Session, Sessions
from compact.errors import CompactionBlocked, InvalidConfiguration, InvalidInput
from compact.formats import parts_of
from compact.messages import Json
from compact.policies import CompactConfig, Decision, EffectiveThreshold, check_session_id
from compact.ports import CompactionOrigin, EntryPoint, Event, Observe
from compact.ports.closeable import Closeable
from compact.ports.compactions import new_id
from compact.providers.provider import AccountStyle
from compact.settings.seals import seal_of

_log = logging.getLogger("compact")
_WITHOUT = ("summary_pruned", "summary_created")


class CompactManager(Closeable):
    """Compacts conversations before they outgrow their model's window.

    Call `prepare` or `preflight` before each request with the messages about to be sent, and send what it gives back.
    Pass what you got the last time with new messages appended, or the whole history: both come to the same. It may be
    used from many threads, for many sessions.
    """

    def __init__(
        self,
        config: CompactConfig,
        *,
        ask: AskModel | None = None,
        observe: Observe | None = None,
        threshold: EffectiveThreshold | None = None,
        serving: Serving | None = None,
    ) -> None:
        """A manager; `serving` says who serves the conversations' model, by default the first profile for it.

        `threshold` takes the place of the one that profiles and configuration say, and no profile is looked for.
        """
        if not isinstance(config, CompactConfig):
            raise InvalidConfiguration(
                f"must be a CompactConfig, not {type(config).__name__}",
                field="config",
                remedy='Pass CompactConfig(model="gpt-4o"), or CompactConfig.load().',
            )
        self.threshold = threshold or threshold_for(config.policy, config.model)
        """From which share of the window on sessions are compacted, down to which, and where that was set."""
        for warning in self.threshold.warnings:
            _log.warning("%s", warning)
        policy = config.policy.triggered_by(self.threshold)
        if policy is not config.policy:
            config = config.model_copy(update={"policy": policy})
        self.config = config
        profile = serving.profile if serving else None
        self.source: EntryPoint = "manager"
        """The entry point that the records of its compactions name."""
        self.vendor = profile.recipient if profile else models.find_model(config.model).vendor
        """Whose model the conversations are with, as the catalogue names it; others get placeholders for secrets."""
        account = AccountStyle(tag=True, seal=seal_of(config.seal_key.get_secret_value()))
        recipe = resolve_recipe(policy=policy)
        with ExitStack() as opened:
            self._questions = opened.enter_context(Questions(config, recipe, ask))
            self._keeper = Keeper(config, observe)
            opened.callback(self._keeper.close)
            self._sessions = Sessions(counter_for(config.model), config.model, config.variant, self._keeper.kept_form)
            self._recollection = Recollection(self._keeper.kept, self._sessions)
            self._background = Background(self._keeper.emit)
            opened.callback(self._background.close)
            self._open = opened.pop_all()
        limits, answer = room_for(config, serving or Serving(None if threshold else serving_profile(config.model)))
        self.window = limits.window
        target = recipe.choose_target(policy.given_target, policy.target_pct)
        self.compactor = Compactor(
            self._questions.recipe, limits, answer, policy.threshold, target, account, config.recall, policy.target_pct
        )
        self._rounds = Rounds(self.compactor, monotonic)

    def prepare(
        self,
        session_id: str,
        messages: Sequence[Json] | Mapping[str, Json],
        *,
        system: Json = None,
        tools: Sequence[Json] | None = None,
        max_tokens: int | None = None,
    ) -> Preflight:
        """What to send: the messages as they are, or compacted where they have reached the trigger.

        A whole request may be given in place of its messages. Its format is recognised, unless it says so: "format".
        The limit of its answer is read from it, or given as `max_tokens`; where it does not fit, the result has the
        one to send. After `undo`, a session is compacted again only when the request would not fit otherwise.

        InsufficientBudget where what must stay does not fit; CompactionBlocked where there is no summary and the policy
        forbids to prune without; StorageError where what goes cannot be kept. Where compacting keeps freeing next to
        nothing, it is left alone for a while, as long as what is sent fits.
        """
        with self._sessions.hold(check_session_id(session_id)) as session:
            return self._prepared(Call(self._keeper, session, max_tokens), messages, system, tools)

    aprepare = in_thread(prepare)

    def fit(self, session_id: str, request: Mapping[str, Json]) -> Preflight:
        """What to send of a whole request: as `prepare`, but compacted only if it would not fit otherwise."""
        with self._sessions.hold(check_session_id(session_id)) as session:
            return self._prepared(Call(self._keeper, session, only_if_needed=True), request, None, None)

    def project(self, session_id: str, request: Mapping[str, Json]) -> list[Json]:
        """The messages of a whole request as `prepare` would give them without a new compaction; nothing changes."""
        with self._sessions.hold(check_session_id(session_id)) as session, storing():
            return session.project(request, self._keeper.originals)

    def preflight(
        self,
        session_id: str,
        messages: Sequence[Json] | Mapping[str, Json],
        *,
        system: Json = None,
        tools: Sequence[Json] | None = None,
    ) -> list[Json]:
        """The messages to send: those of `prepare`. InsufficientBudget where the limit of the answer does not fit."""
        with self._sessions.hold(check_session_id(session_id)) as session:
            return self._prepared(Call(self._keeper, session, lowers=False), messages, system, tools).messages

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
        """The messages compacted, whether they need to be or not; the note says why, or what matters.

        InsufficientBudget where the limit of the answer does not fit beside them.
        """
        with self._sessions.hold(check_session_id(session_id)) as session:
            return self._made_by_hand(Call(self._keeper, session, lowers=False), messages, note, system, tools).messages

    amanual_compact = in_thread(manual_compact)

    def compact_now(
        self,
        session_id: str,
        messages: Sequence[Json] | Mapping[str, Json],
        note: str = "",
        *,
        system: Json = None,
        tools: Sequence[Json] | None = None,
    ) -> Preflight:
        """Compact the messages, whether they need it or not; the note says why, or what matters."""
        with self._sessions.hold(check_session_id(session_id)) as session:
            return self._made_by_hand(Call(self._keeper, session), messages, note, system, tools)

    def undo(self, session_id: str, compaction: int | None = None) -> list[Json]:
        """The messages without a compaction, by default the last one, with their `meta`; later turns stay.

        Later compactions that were built on it go with it. Of a session that has not been at work since a restart,
        what was kept is given: the messages up to its last compaction. NotFound where there is nothing to undo,
        StoredPlanMismatch where that cannot be read, DamagedOriginals where what was kept is damaged.
        """
        with self._sessions.hold(check_session_id(session_id)) as session, self._keeper.reporting_damage():
            return undo_compaction(session, self._keeper, compaction)

    def recall(self, handle: str, session_id: str | None = None) -> Recalled:
        """What was removed under the handle in its marker, in one session or in any.

        InvalidInput names near handles where there is no such one. DamagedOriginals where it may be in what is damaged.
        """
        with self._keeper.reporting_damage():
            return self._recollection.recall(handle, session_id)

    def search(self, text: str, session_id: str | None = None, limit: int = 20) -> Hits:
        """Where all the words were in what was removed, whatever their case; each hit has a handle to recall.

        What is damaged is passed over: `unread` of the result has the errors. Where nothing was found in the rest, the
        first of them is raised.
        """
        with self._keeper.reporting_damage():
            hits = self._recollection.search(text, session_id, limit)
        for error in hits.unread:
            self._keeper.report_damage(error)
        return hits

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

    def _prepared(
        self, call: Call, messages: Sequence[Json] | Mapping[str, Json], system: Json, tools: Sequence[Json] | None
    ) -> Preflight:
        session = call.session
        own = self._follow(call, messages, system, tools)
        decision = self._decide(call)
        if decision.triggered and self._is_behind(session):
            session.projection = None
            own = self._follow(call, messages, system, tools)
            decision = self._decide(call)
        fits, left = decision.fits, call.only_if_needed
        held = decision.triggered and fits and (left or self._keeper.undone(session.id))
        if decision.triggered and not held:
            self._compact(call, decision, note="")
        else:
            reason = "it is left to the vendor" if left else "the last compaction was undone"
            reason += ", and the request still fits"
            shown = replace(decision, triggered=False, reason=reason) if held else decision
            call.emit_decision(shown, self.config.policy, self.threshold)
            if not (held or left):
                self._prefetch(session, decision)
        return call.lower(self._sent(call, own, decision), decision.room)

    def _made_by_hand(
        self,
        call: Call,
        messages: Sequence[Json] | Mapping[str, Json],
        note: str,
        system: Json,
        tools: Sequence[Json] | None,
    ) -> Preflight:
        if not isinstance(note, str):
            raise InvalidInput(f"must be text, not {type(note).__name__}", field="note", remedy="Say what matters.")
        own = self._follow(call, messages, system, tools)
        decision = self._decide(call)
        self._compact(call, decision, note=note or "manual")
        return call.lower(self._sent(call, own, decision), decision.room)

    def _follow(
        self, call: Call, messages: Sequence[Json] | Mapping[str, Json], system: Json, tools: Sequence[Json] | None
    ) -> Mapping[Line, Json]:
        format, session = "", call.session
        if isinstance(messages, Mapping):
            session.learn(messages)
            call.read_limit(messages, (parts := parts_of(messages))[0])
            chosen, messages, own, tools = parts
            format, system = chosen.name, system if own is None else own
        known = session.unfit
        with storing():
            beside = None if tools is None else listed(tools, "tools")
            own = session.follow(listed(messages), system, beside, self._keeper.originals, format)
        for error in session.unfit if session.unfit is not known else ():
            call.emit(error_event(type(error).__name__, str(error), "as if it was not compacted"))
        self._keeper.keep_early(session.id, session.unkept, call.emit)
        return own

    def _decide(self, call: Call) -> Decision:
        session = call.session
        decision = self.compactor.decide(session.current, session.gauge, call.answer)
        call.emit_estimate(self.config.model, decision)
        return decision

    def _sent(self, call: Call, own: Mapping[Line, Json], decision: Decision) -> Preflight:
        session, report, used = call.session, call.report, decision.used
        sent, given = session.sent(own), session.tokens_of(own) if session.current.compactions else used
        cause, events = session.note_sent(), tuple(call.events)
        if report is None:
            return Preflight(sent, False, given, used, events=events, break_cause=cause, left=decision.left)
        last = session.current.compactions[-1]
        after, reach = report.tokens_after, last.reach + 1
        return Preflight(sent, True, given, after, report, reach, events, cause, compaction=last.number)

    def _compact(self, call: Call, decision: Decision, note: str) -> None:
        """Compact the session, or report what is in the way."""
        call.emit_decision(decision, self.config.policy, self.threshold, note)
        try:
            self._compacted(call, decision, note)
        except Exception as error:  # whatever it is, it is reported before it is raised
            call.emit(error_event(type(error).__name__, str(error)))
            raise

    def _compacted(self, call: Call, decision: Decision, note: str) -> None:
        """Keep what goes, and only then let it go."""
        session = call.session
        before = session.current.conversation
        if not note and not self._rounds.admits(_round(session, decision)):
            return
        outcome = None if note or decision.is_large else self._prefetched(call, decision)
        outcome = outcome or self._reduced(call, decision, note)
        if not outcome.plan:
            return
        recipe, target = self.compactor.recipe, self.compactor.goal(decision).target
        report = report_of(recipe, before, outcome, session.gauge, target)
        with self._keeper.alone(session.id):
            counted = session.current.counting_from(self._keeper.last(session.id))
            after = counted.compacted(outcome.plan, outcome.conversation, report.facts)
            self._keeper.keep(session.id, after, report, call.emit)
        session.projection, session.report, call.report = after, report, report
        roles, undo = self.config.policy.roles_never_prune, f"undo({session.id!r}, {after.compactions[-1].number})"
        call.emit(pruned_event(before, outcome.conversation, report.facts, roles, undo))
        for event in result_events(before, outcome, report.facts, session.gauge):
            call.emit(event)
        self._keeper.write_events(session.id)

    def _is_behind(self, session: Session) -> bool:
        with storing():
            return session.is_behind(self._keeper.originals)

    def _record(self, call: Call, decision: Decision, used: int) -> None:
        """Take note of what an automatic compaction left; one that was in vain again is an event."""
        if stalled := self._rounds.record(_round(call.session, decision), used):
            call.emit(error_event(type(stalled).__name__, str(stalled), "none"))

    def _prefetch(self, session: Session, decision: Decision) -> None:
        """Have the next compaction made ready, if it is near."""
        background = self.config.background
        wanted = self._questions.can_ask if background is None else background
        if not (wanted and decision.left is not None):
            return
        basis, gauge, keeper = session.current, session.gauge, self._keeper

        def work() -> Outcome:
            seen: list[Event] = []
            inputs = self._inputs(basis, gauge, seen.append)
            observe = partial(_relayed, keeper, session.id)
            outcome = self.compactor.compact(basis, decision, inputs, self._questions.asker(observe, inputs.origin.id))
            failed = (one for one in seen if one.name in _WITHOUT and one.properties.get("kind") == "failure")
            if event := next(failed, None):
                raise CompactionBlocked(str(event.properties.get("reason")))  # there is time to ask again
            return replace(outcome, events=tuple(seen))

        self._background.prepare(session.id, basis, work)

    def _prefetched(self, call: Call, decision: Decision) -> Outcome | None:
        """What was made ready for now, if it is enough."""
        session = call.session
        outcome = self._background.take(session.id, session.current, session.gauge)
        if outcome is None:
            return None
        used = session.gauge.conversation(outcome.conversation)
        if used >= decision.trigger_at:
            call.emit(discarded_event(outcome, f"it would leave {used:,} tokens"))
            return None
        self._record(call, decision, used)
        for event in outcome.events:
            call.relay(event)
        return outcome

    def _reduced(self, call: Call, decision: Decision, note: str) -> Outcome:
        """What the recipe makes of the session, or the error that says what is in the way."""
        session = call.session
        inputs = self._inputs(session.current, session.gauge, call.relay, "manual" if note else "automatic")
        asker = self._questions.asker(call.relay, inputs.origin.id)
        outcome = self._rounds.reduce(_round(session, decision), inputs, asker, note)
        if decision.triggered and not note:
            self._record(call, decision, session.gauge.conversation(outcome.conversation))
        return outcome

    def _inputs(
        self, basis: Projection, gauge: Gauge, observe: Observe | None = None, trigger: str = "automatic"
    ) -> Inputs:
        origin = CompactionOrigin(self.source, self.config.model, trigger, new_id())
        inputs = replace(self.compactor.inputs(basis, gauge, observe), vendor=self.vendor, origin=origin)
        return replace(inputs, redactor=self._keeper.redactor)


def _round(session: Session, decision: Decision) -> Round:
    return Round(session.id, session.current, session.gauge, decision)


def _relayed(keeper: Keeper, session: str, event: Event) -> None:
    for public in public_events(event):
        keeper.emit(session, public)
