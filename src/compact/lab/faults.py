"""Whether compacting comes to a good end although one answer in twenty of the model's is of no use."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from compact.lab.evaluating import Case, Means, comes_back, is_valid
from compact.ports import Answer, Ask, Completion, Failure, Refusal
from compact.providers import Recipe

EVERY = 20
"""One answer among so many is spoiled."""
SHARE = 0.25
LEAST_TRIED = 30
"""So many compactions there are at least: one in which no answer is spoiled tells nothing."""
_MOST_CASES = 20


@dataclass(frozen=True, slots=True)
class Survival:
    """How many compactions came to a good end, and how many of the answers they got had been spoiled."""

    tried: int
    succeeded: int
    answers: int
    spoiled: int

    @property
    def rate(self) -> float | None:
        """The share that succeeded; None where no question was asked."""
        return self.succeeded / self.tried if self.answers else None


class Faulty:
    """Answers with the first words of what it is given; one answer of every so many fails in a way that models do.

    With 0 none does.
    """

    def __init__(self, seed: int, every: int = EVERY) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - the same faults every time
        self._every = every
        self._next = -1
        self.answers = 0
        self.spoiled = 0

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        return tuple(map(self._answer, asks))

    def _answer(self, ask: Ask) -> Answer:
        good = Completion(_beginning(ask), trusted=True)
        if self._every and self.answers % self._every == 0:
            self._next = self.answers + self._rng.randrange(self._every)
        self.answers += 1
        if self._next != self.answers - 1:
            return good
        self.spoiled += 1
        half = good.text[: len(good.text) // 2]
        faults = (Failure("injected"), Completion(""), Completion(half, truncated=True), Refusal("injected"))
        return self._rng.choice(faults)


def survive(cases: Sequence[Case], recipes: Sequence[Recipe], means: Means, ask: Faulty) -> Survival:
    """Compact the cases by those of the recipes that ask a model, again and again until enough has been tried."""
    asking = [recipe for recipe in recipes if recipe.provider.capabilities.summarizes]
    tried = list(product(cases[:_MOST_CASES], asking))
    again = -(-LEAST_TRIED // len(tried)) if tried else 0
    succeeded = sum(survives(case, recipe, means, ask) for _ in range(again) for case, recipe in tried)
    return Survival(again * len(tried), succeeded, ask.answers, ask.spoiled)


def survives(case: Case, recipe: Recipe, means: Means, ask: Faulty) -> bool:
    """Whether it is valid, can be taken back, and meets the target if it would have done so without faults."""
    condensation = means.condensation(case.before, SHARE)
    result = condensation.run(recipe, ask)
    good = is_valid(case.before, result.conversation) and comes_back(result.conversation, result.plan, case.before)
    return good and (result.target_met or not condensation.run(recipe).target_met)


def _beginning(ask: Ask) -> str:
    return " ".join(ask.material.split()[: max(8, ask.max_tokens // 4)])
