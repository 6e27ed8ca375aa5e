"""Everything that is measured of some recipes, on some sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from typing import TypeAlias

from compact.lab.decay import Round, average, decay
from compact.lab.evaluating import Case, Comparison, Means, Row, Score, compare, score, summary
from compact.lab.faults import Faulty, Survival, survive
from compact.lab.growing import Growth, growth
from compact.messages import Conversation, Json
from compact.providers import Recipe

Busy: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""Shows what is under way for as long as it takes."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is tried: which recipes, down to which sizes, by which means, and in how many compactions in a row.

    `beside` names for each recipe the position of the one that it is compared with, None where there is none.
    """

    recipes: Sequence[Recipe]
    shares: Sequence[float]
    means: Means
    rounds: int
    beside: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Findings:
    """What an experiment came to, and the models that tokens were counted for.

    `decay` has the rounds of each recipe, on the average of the sessions that tell.
    """

    models: Sequence[str]
    cases: Sequence[Case]
    rows: Sequence[Row]
    compared: Sequence[Comparison]
    survival: Survival
    rounds: int = 0
    growths: Sequence[Growth] = ()
    decay: dict[str, list[Round]] = field(default_factory=dict)

    @property
    def flawless(self) -> bool:
        """Whether nothing is lost, and everything is valid."""
        rounds = (one for rounds in self.decay.values() for one in rounds)
        kept = all(row.restored == 1 and row.valid == 1 for row in self.rows)
        return kept and all(not one.lost and one.valid == 1 for one in rounds)

    @property
    def made_up(self) -> int:
        """How many sessions grew by turns that are made up."""
        return sum(grown.made_up for grown in self.growths)

    @property
    def facts(self) -> int:
        """How many facts the cases used later."""
        return sum(len(case.needed) for case in self.cases)

    @property
    def first_facts(self) -> int:
        """How many facts of the first parts were looked for after each of the compactions in a row."""
        return sum(len(grown.needed) for grown in self.growths)

    def to_json(self) -> dict[str, Json]:
        return {
            "models": list(self.models),
            "cases": len(self.cases),
            "facts": self.facts,
            "recipes": [asdict(row) for row in self.rows],
            "comparisons": [asdict(one) for one in self.compared],
            "survives_faults": self.survival.rate,
            "faults": asdict(self.survival),
            "decay": {
                "rounds": self.rounds,
                "sessions": len(self.growths),
                "made_up": self.made_up,
                "facts": self.first_facts,
                "recipes": {name: [asdict(one) for one in rounds] for name, rounds in self.decay.items()},
            },
        }


def measure(sessions: Sequence[Conversation], cases: Sequence[Case], experiment: Experiment, busy: Busy) -> Findings:
    """Try the recipes on the cases, with answers that are spoiled, and on sessions that grow."""
    means = experiment.means
    scored = list(_scored(cases, experiment, busy))
    with busy("spoiling one answer in twenty"):
        survival = survive(cases, experiment.recipes, means, Faulty(seed=0))
    with busy("parting the sessions"):
        rounds, models = experiment.rounds, list(map(means.model_for, sessions))
        parted = (growth(session, model, rounds) for session, model in zip(sessions, models, strict=True) if rounds)
        growths = [grown for grown in parted if grown is not None]
    rows, compared = [row for row, _ in scored], [one for _, one in scored if one is not None]
    decayed = _decayed(growths, experiment, busy)
    return Findings(tuple(dict.fromkeys(models)), cases, rows, compared, survival, rounds, growths, decayed)


def _scored(cases: Sequence[Case], experiment: Experiment, busy: Busy) -> Iterator[tuple[Row, Comparison | None]]:
    """Every case compacted by every recipe to every size."""
    done: dict[tuple[int, float], list[Score]] = {}
    for at, (recipe, base) in enumerate(zip(experiment.recipes, experiment.beside, strict=True)):
        for share in experiment.shares:
            scores = done[at, share] = []
            for number, case in enumerate(cases, 1):
                with busy(f"{recipe.name} at {share:.0%}: case {number:,} of {len(cases):,}"):
                    scores.append(score(case, recipe, share, experiment.means))
            row = summary(recipe.name, share, scores)
            other = None if base is None else compare(row, scores, experiment.recipes[base].name, done[base, share])
            yield row, other


def _decayed(growths: Sequence[Growth], experiment: Experiment, busy: Busy) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = {}
    for recipe in experiment.recipes if growths else ():
        with busy(f"{recipe.name}: {experiment.rounds:,} compactions in a row"):
            found[recipe.name] = average([list(decay(grown, recipe, experiment.means)) for grown in growths])
    return found
