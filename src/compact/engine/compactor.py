"""When the conversation of a session is compacted, how far, and with what: the same for a manager and for a replay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from compact.engine.compaction import Goal, Inputs, compact
from compact.engine.driver import Asker, Outcome
from compact.engine.floor import floor_of
from compact.engine.gauge import Gauge
from compact.engine.projection import Projection
from compact.errors import CompactionBlocked, CondensationStalled, InsufficientBudget
from compact.formats import tools_of
from compact.messages import RECALL_TOOL
from compact.models import Limits
from compact.policies import AnswerRoom, Decision, Room, should_condense
from compact.policies.threshold import USUAL_TARGET, Threshold
from compact.ports import Observe
from compact.providers import Recipe
from compact.providers.provider import TAGGED, AccountStyle

ATTEMPTS = 3
COOLDOWN = 300.0
LEAST_PROGRESS = 0.1


@dataclass(frozen=True, slots=True)
class Compactor:
    """Compacts sessions by a recipe, for a model's limits, from a threshold down to a share of the window.

    `answer` is the room of answers for which a request sets no limit. Without a share, the recipe's passes run to their
    end, and what the threshold starts goes on to `room_share` of the window, if there is one. Markers name handles
    where the request has the tool for them, and with `handles` in any case.
    """

    recipe: Recipe
    limits: Limits
    answer: AnswerRoom
    threshold: Threshold
    target_share: float | None
    account: AccountStyle = TAGGED
    handles: bool = False
    room_share: float | None = None

    @property
    def window(self) -> int:
        """The size that shares refer to."""
        return self.limits.window

    def decide(self, projection: Projection, gauge: Gauge, answer: AnswerRoom | None = None) -> Decision:
        """Decide whether the session has reached the threshold; `answer` is the room that this request asks for.

        Room for the answer is made by compaction only if what must stay takes no more than half of the way from the
        target to the threshold: a compaction would be due again at once.
        """
        conversation = projection.conversation
        used = gauge.frame(conversation) + sum(gauge.roles(conversation).values())
        size = gauge.size(conversation) if self.limits.size else 0
        decision = self.judge(used, answer, size)
        if not (decision.triggered and decision.lowered < 1):
            return decision
        most = decision.trigger_at if self.target_share is None else (self._target(decision) + decision.trigger_at) // 2
        reachable = floor_of(conversation, gauge).total <= most
        return decision if reachable else self.judge(used, answer, size, reachable=False)

    def judge(self, used: int, answer: AnswerRoom | None = None, size: int = 0, *, reachable: bool = True) -> Decision:
        """Decide whether so many tokens or bytes reach the threshold; without `reachable`, the answer gets the rest."""
        room = self.threshold.divide(self.limits, answer or self.answer)
        return should_condense(used, replace(room, reachable=reachable), self.threshold, size)

    def goal(self, decision: Decision) -> Goal:
        """What a compaction comes down to, and what a request may take.

        The target is lowered with the trigger: a compaction is not due again at once. Where only bytes triggered, all
        tokens may stay.
        """
        if decision.triggered and not decision.is_full and decision.is_large:
            return Goal(decision.used, decision.budget, decision.trigger_at, decision.room.most, size=self._size())
        size = self._size() if decision.is_large else None
        target = None if self.target_share is None else max(1, min(self._target(decision), decision.used - 1))
        room = None if self.room_share is None else int(self.window * self.room_share * decision.lowered)
        return Goal(target, decision.budget, decision.trigger_at, decision.room.most, room, size)

    def _size(self) -> int:
        return int((self.limits.size or 0) * (self.target_share or self.room_share or USUAL_TARGET))

    def _target(self, decision: Decision) -> int:
        return int(self.window * (self.target_share or 0) * decision.lowered)

    def inputs(self, projection: Projection, gauge: Gauge, observe: Observe | None = None) -> Inputs:
        """The named inputs of the engine for this session."""
        return Inputs(
            gauge,
            self.window,
            self.account,
            self.handles or any(tool.name == RECALL_TOOL for tool in tools_of(projection.conversation)),
            originals=projection.originals,
            items=projection.items,
            observe=observe,
        )

    def compact(
        self, projection: Projection, decision: Decision, inputs: Inputs, ask: Asker, focus: str = ""
    ) -> Outcome:
        """Compact what the model sees of the session; `focus` says what matters, in a person's words, who starts it."""
        recipe, goal = self.recipe, self.goal(decision)
        if focus:
            wanted = replace(decision, triggered=False)
            recipe, goal = recipe.changed(focus=focus), replace(self.goal(wanted), room=None)
        try:
            return compact(projection.conversation, recipe, goal, inputs, ask)
        except InsufficientBudget as error:  # the engine knows what is left for the input, and nothing of the answer
            raise insufficient(str(error), error.needed, decision.room) from error


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
        self._clock = clock
        self._vain: dict[str, tuple[int, float]] = {}  # by session: attempts in a row, and until when it is left alone

    def admits(self, now: Round) -> bool:
        """Whether the session may be compacted now; a request that does not fit always is."""
        attempts, until = self._vain.get(now.session, (0, 0.0))
        return now.decision.used > now.decision.budget or attempts < ATTEMPTS or self._clock() >= until

    def reduce(self, now: Round, inputs: Inputs, ask: Asker, note: str = "") -> Outcome:
        """What the recipe makes of the session; InsufficientBudget or CompactionBlocked where that does not fit."""
        outcome = self._compactor.compact(now.projection, now.decision, inputs, ask, note)
        used = now.gauge.conversation(outcome.conversation)
        if used > now.decision.room.most:
            raise self._too_much(outcome, used, now.decision)
        return outcome

    def record(self, now: Round, used: int) -> CondensationStalled | None:
        """Take note of an automatic compaction that left `used` tokens.

        It was in vain if it freed less than a tenth of what it could have, or would have to be repeated at once. Gives
        what to report if it is the third in vain, or one more after that.
        """
        if not now.decision.is_full and now.decision.is_large:
            return None  # it was not about tokens
        before, target = now.decision.used, self._compactor.goal(now.decision).target or now.decision.trigger_at
        floor = floor_of(now.projection.conversation, now.gauge)
        possible = before - max(target, floor.total)
        enough = used < now.decision.trigger_at
        if enough and possible > 0 and before - used >= LEAST_PROGRESS * possible:
            self._vain.pop(now.session, None)
            return None
        attempts = self._vain.get(now.session, (0, 0.0))[0] + 1
        self._vain[now.session] = (attempts, self._clock() + COOLDOWN)
        if attempts < ATTEMPTS:
            return None
        text = (
            f"{attempts} times in a row condensing freed {before - used:,} tokens where {before - target:,} were to be "
            f"freed ({before:,} now, target {target:,}); {floor}. Raise the target, protect fewer messages, shorten "
            "the system prompt or the tools, use a model with a larger window, or switch to another provider; the next "
            f"attempt is made in {COOLDOWN:.0f} s at the earliest."
        )
        return CondensationStalled(text, attempts=attempts, retry_after=COOLDOWN)

    def _too_much(self, outcome: Outcome, used: int, decision: Decision) -> InsufficientBudget | CompactionBlocked:
        why = "; ".join(done.skipped for done in outcome.passes if done.skipped)
        budget = decision.room.most
        text = f"{used:,} tokens are left where {budget:,} may be used ({why or 'nothing else may go'})"
        if getattr(self._compactor.recipe.settings, "on_failure", "") == "block":
            return CompactionBlocked(f"{text}. Try again, or set policy.on_summary_failure to prune or offline.")
        remedy = (
            "Protect fewer or shorter messages, cut long tool results before they are added, "
            "or use a model with a larger context window."
        )
        return insufficient(f"{text}. {remedy}", used, decision.room)


def insufficient(problem: str, needed: int, room: Room) -> InsufficientBudget:
    """The error of so many input tokens; it names the answer if they would fit without one, and not with this one."""
    total, answer = room.limits.total, room.answer.limit
    alone = replace(room, answer=AnswerRoom(0)).most
    if total is not None and needed <= alone and needed + answer > total:
        return InsufficientBudget(problem, needed=needed, budget=total, answer=answer)
    return InsufficientBudget(problem, needed=needed, budget=room.most)
