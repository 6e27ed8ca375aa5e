"""Finding the policy under which a recorded session would have cost least, and still have had what it needed.

The search is the same every time: the usual policy, then a coarse grid of recipes, triggers and targets, then the
neighbours of the best two recipes, in steps that become smaller. Only what a configuration file can say is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from statistics import fmean

from compact.app.recipes import list_recipes, resolve_recipe
from compact.errors import InvalidInput
from compact.facts import Fact
from compact.lab.replaying import NOTHING, Played, Replay, Terms, replay
from compact.lab.retention import missing, text_of, used_again
from compact.messages import Conversation, Json
from compact.policies import Policy, configure
from compact.policies.threshold import LEAST_SHARE

TRIGGERS = (0.3, 0.5, 0.7, 0.9)
"""Shares of the window, or of the largest request if that is smaller."""
TARGETS = (0.3, 0.55, 0.8)
"""Shares of the trigger."""
STEPS = (0.25, 0.12, 0.06)
"""By what share the neighbours differ."""
LEADERS = 2
_LONGEST_CLIMB = 6
_LOWEST = LEAST_SHARE
_TURNS = {"keep_recent_turns": 1, "keep_tool_io_pairs": 1}
_COUNTS = {"auto": _TURNS, "layers": {**_TURNS, "summary_tokens": 250}}
"""What a policy says of turns, calls and summaries, at least how many, by the recipes that have a place for it.

Here `auto` writes its account without a model, whatever a model's may take.
"""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a session came to under a policy.

    `retention` is the share of the facts used later that was in context after a compaction, on the average; None where
    the session ended too soon after each of them to tell. `played` is None where a manager would have refused a
    request; so many were sent before.
    """

    policy: Policy
    recipe: str
    sent: int
    played: Played | None = None
    retention: float | None = None

    @property
    def dollars(self) -> Decimal | None:
        return None if self.played is None else self.played.dollars

    def keeps(self, retention: float) -> bool:
        """Whether no request was refused, and so much of what was used later was there."""
        return self.retention is not None and self.retention >= retention

    def rank(self, retention: float) -> tuple[int, float, Decimal]:
        """The cheapest that keeps enough is the least; then come those that keep most, and those that get furthest."""
        if self.keeps(retention):
            return 0, 0.0, self.dollars or Decimal(0)
        if self.played is not None:
            return 1, 1 - (self.retention or 0.0), self.dollars or Decimal(0)
        return 2, -self.sent, Decimal(0)


@dataclass(slots=True)
class Rehearsal:
    """A recorded session, and what playing it takes; `terms` says neither when to compact nor how far down."""

    session: Conversation
    terms: Terms
    needed: dict[int, frozenset[Fact]] = field(default_factory=dict)
    """The facts that are used after each place where something was compacted."""

    def untouched(self) -> Played:
        """The session with no compaction; InvalidInput where there is no telling what it costs."""
        played = replay(self.session, NOTHING, self.terms)
        if not played.sent:
            raise InvalidInput("nothing was asked of a model", field="session", remedy="Give one that has answers.")
        if played.dollars is None:
            problem = f"the prices of {self.terms.model.id} are not known"
            raise InvalidInput(problem, field="model", remedy="Name a model that `compact models` has prices of.")
        return played

    def trial(self, policy: Policy) -> Trial:
        """Play the session under the policy, and look at what each compaction left."""
        recipe = resolve_recipe(policy=policy)
        terms = replace(self.terms, trigger=policy.trigger_pct, target=policy.target_pct, buffer=policy.hard_cap_buffer)
        session = Replay(self.session, recipe, terms)
        after: list[tuple[int, Conversation]] = []
        for count, (sent, view) in enumerate(session):
            if sent.overflows:
                return Trial(policy, recipe.name, count)
            if sent.before:
                after.append((sent.position, view))
        played = session.played
        return Trial(policy, recipe.name, len(played.sent), played, self._retention(after))

    def _retention(self, after: Sequence[tuple[int, Conversation]]) -> float | None:
        shares = []
        for position, view in after:
            if needed := self._needed(position):
                gone = missing(needed, "\n".join(map(text_of, view.messages)))
                shares.append(1 - len(gone) / len(needed))
        return fmean(shares) if shares else None if after else 1.0

    def _needed(self, position: int) -> frozenset[Fact]:
        if position not in self.needed:
            messages = self.session.messages
            self.needed[position] = used_again(messages[:position], messages[position:])
        return self.needed[position]


def tune(rehearsal: Rehearsal, untouched: Played, names: Sequence[str], retention: float) -> Iterator[Trial]:
    """Every trial of the search as it is made; `names` are recipes, none for all of them."""
    recipes = list(names) or [name for name, _ in list_recipes()]
    tried: dict[Policy, Trial] = {}

    def attempt(policies: Iterable[Policy]) -> Iterator[Trial]:
        for policy in policies:
            if policy not in tried:
                tried[policy] = rehearsal.trial(policy)
                yield tried[policy]

    top = min(1.0, untouched.peak / rehearsal.terms.window)
    yield from attempt(_policy(name) for name in recipes)
    yield from attempt(_grid(recipes, top))
    for step in STEPS:
        for _ in range(_LONGEST_CLIMB):
            leaders = best_of_each(tried.values(), retention)[:LEADERS]
            yield from attempt(near for leader in leaders for near in _neighbours(leader.policy, step))
            if best_of_each(tried.values(), retention)[:LEADERS] == leaders:
                break


def best_of_each(trials: Iterable[Trial], retention: float) -> list[Trial]:
    """The best trial of each recipe, the best first; of equals the one that was tried first."""
    best: dict[str, Trial] = {}
    for trial in trials:
        known = best.get(trial.recipe)
        if known is None or trial.rank(retention) < known.rank(retention):
            best[trial.recipe] = trial
    return sorted(best.values(), key=lambda trial: trial.rank(retention))


def settings_of(policy: Policy) -> dict[str, Json]:
    """The policy as a configuration file says it: what was set, and always when it compacts and how far."""
    shown = policy.model_dump(mode="json", exclude_unset=True)
    return {**shown, "trigger_pct": policy.trigger_pct, "target_pct": policy.target_pct}


def _policy(recipe: str, **changes: float) -> Policy:
    return configure(Policy, {"recipe": recipe, **changes}, under="policy")


def _grid(recipes: Sequence[str], top: float) -> Iterator[Policy]:
    for recipe in recipes:
        for trigger in TRIGGERS:
            for target in TARGETS:
                yield _policy(recipe, **_shares(trigger * top, trigger * target * top))


def _shares(trigger: float, target: float) -> dict[str, float]:
    """Both in whole percents, the target below the trigger."""
    above = min(1.0, max(_LOWEST, round(trigger, 2)))
    return {"trigger_pct": above, "target_pct": min(max(0.01, round(target, 2)), round(above - 0.01, 2))}


def _neighbours(policy: Policy, step: float) -> Iterator[Policy]:
    trigger, target = policy.trigger_pct, policy.target_pct
    for factor in (1 - step, 1 + step):
        for shares in (_shares(trigger * factor, target * factor), _shares(trigger, target * factor)):
            yield policy.model_copy(update=shares)
    for name, least in _COUNTS.get(policy.recipe, {}).items():
        count = getattr(policy, name)
        for changed in (max(least, count // 2), count * 2):
            yield policy.model_copy(update={name: changed})
