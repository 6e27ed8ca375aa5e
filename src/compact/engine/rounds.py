"""Automatic compactions of sessions: the same rules for a manager and for a replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compact.engine.compaction import Inputs
from compact.engine.compactor import Compactor
from compact.engine.driver import AskModel, Outcome
from compact.engine.gauge import Gauge
from compact.engine.guard import LoopGuard, Progress, floor_of
from compact.engine.projection import Projection
from compact.errors import CompactionBlocked, CondensationStalled, InsufficientBudget
from compact.policies import Decision


@dataclass(frozen=True, slots=True)
class Round:
    """One request of a session: what the model would see, what counts it, and what was decided about it."""

    session: str
    projection: Projection
    gauge: Gauge
    decision: Decision


class Rounds:
    """Compacts sessions, and leaves a session alone for a while where compacting frees next to nothing."""

    def __init__(self, compactor: Compactor, clock: Callable[[], float]) -> None:
        self._compactor = compactor
        self._guard = LoopGuard(clock)

    def admits(self, now: Round) -> bool:
        """Whether the session may be compacted now; a request that does not fit always is."""
        if now.decision.used > now.decision.budget:
            return True
        try:
            self._guard.admit(now.session)
        except CondensationStalled:
            return False
        return True

    def reduce(self, now: Round, inputs: Inputs, ask: AskModel | None, note: str = "") -> Outcome:
        """What the recipe makes of the session; InsufficientBudget or CompactionBlocked where that does not fit."""
        outcome = self._compactor.compact(now.projection, now.decision, inputs, ask, note)
        used = now.gauge.conversation(outcome.conversation)
        if used > now.decision.budget:
            raise self._too_much(outcome, used, now.decision)
        return outcome

    def record(self, now: Round, used: int) -> CondensationStalled | None:
        """Take note of an automatic compaction that left `used` tokens; gives back what to report if it was in vain."""
        target = self._compactor.goal(now.decision).target or 0
        enough = not self._compactor.judge(used).triggered
        floor = floor_of(now.projection.conversation, now.gauge)
        try:
            self._guard.record(now.session, Progress(now.decision.used, used, target, floor, enough))
        except CondensationStalled as stalled:
            return stalled
        return None

    def _too_much(self, outcome: Outcome, used: int, decision: Decision) -> InsufficientBudget | CompactionBlocked:
        why = "; ".join(done.skipped for done in outcome.passes if done.skipped)
        text = f"{used:,} tokens are left where {decision.budget:,} may be used ({why or 'nothing else may go'})"
        if getattr(self._compactor.recipe.settings, "on_failure", "") == "block":
            return CompactionBlocked(f"{text}. Try again, or set policy.on_summary_failure to prune or offline.")
        remedy = (
            "Protect fewer or shorter messages, cut long tool results before they are added, "
            "or use a model with a larger context window."
        )
        return InsufficientBudget(f"{text}. {remedy}", needed=used, budget=decision.budget)
