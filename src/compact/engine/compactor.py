"""When the conversation of a session is compacted, how far, and with what: the same for a manager and for a replay."""

from __future__ import annotations

from dataclasses import dataclass

from compact.engine.compaction import Goal, Inputs, compact
from compact.engine.driver import AskModel, Outcome
from compact.engine.gauge import Gauge
from compact.engine.projection import Projection
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
