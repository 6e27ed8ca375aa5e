"""When the conversation of a session is compacted, how far, and with what: the same for a manager and for a replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compact.engine.compaction import Goal, Inputs, compact
from compact.engine.driver import AskModel, Outcome
from compact.engine.gauge import Gauge
from compact.engine.guard import LoopGuard, Progress, floor_of
from compact.engine.projection import Projection
from compact.errors import CompactionBlocked, CondensationStalled, InsufficientBudget
from compact.policies import Decision, should_condense
from compact.policies.threshold import Threshold
from compact.ports import Observe
from compact.providers import Recipe
from compact.providers.provider import TAGGED, AccountStyle


@dataclass(frozen=True, slots=True)
class Compactor:
    """Compacts sessions by a recipe, for a window, from a threshold down to a share of the window."""

    recipe: Recipe
    window: int
    threshold: Threshold
    target_share: float
    account: AccountStyle = TAGGED
    handles: bool = True

    def decide(self, projection: Projection, gauge: Gauge) -> Decision:
        """Whether the session has reached the threshold."""
        conversation = projection.conversation
        return self.judge(gauge.frame(conversation) + sum(gauge.roles(conversation).values()))

    def judge(self, used: int) -> Decision:
        """Whether so many tokens reach the threshold."""
        return should_condense(used, self.window, self.threshold)

    def goal(self, decision: Decision) -> Goal:
        """What a compaction comes down to, and what a request may take."""
        target = max(1, min(int(self.window * self.target_share), decision.used - 1))
        return Goal(target, decision.budget)

    def inputs(self, projection: Projection, gauge: Gauge, observe: Observe | None = None) -> Inputs:
        """The named inputs of the engine for this session."""
        return Inputs(
            gauge,
            self.window,
            self.account,
            self.handles,
            originals=projection.originals,
            items=projection.items,
            observe=observe,
        )

    def compact(
        self, projection: Projection, decision: Decision, inputs: Inputs, ask: AskModel | None, focus: str = ""
    ) -> Outcome:
        """Compact what the model sees of the session; `focus` says what matters, in a person's words."""
        recipe = self.recipe.changed(focus=focus) if focus else self.recipe
        return compact(projection.conversation, recipe, self.goal(decision), inputs, ask)


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
        return now.decision.used > now.decision.budget or self._guard.admits(now.session)

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
        return self._guard.record(now.session, Progress(now.decision.used, used, target, floor, enough))

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
