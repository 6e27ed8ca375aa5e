"""What recipes leave of worlds: generated sessions whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compact.cli.console import busy, screen
from compact.cli.tables import Column, numeric, table_of
from compact.lab.evaluating import Means, condense_body
from compact.lab.findings import Experiment
from compact.messages import Json
from compact.providers import Recipe
from compact.quantities import counted
from compact.testing.worlds import Count, Tally, Topic, World, judge, make_world, tally

WORLDS = 24
SEED = 0
"""Of the first world; the others follow. It is fixed, so that results can be compared."""
_ROOMY = 110
_DISPENSABLE = tuple(map(numeric, (Topic.DROPPED, Topic.DECISIONS, Topic.RULES)))


@dataclass(frozen=True, slots=True)
class Judged:
    """What a recipe left of the worlds at one size; `met` is how often it came down to that."""

    recipe: str
    share: float
    met: float
    tally: Tally


@dataclass(frozen=True, slots=True)
class Trial:
    """The worlds that were condensed, and what each recipe left of them at each size."""

    worlds: int
    judged: Sequence[Judged]

    def to_json(self) -> dict[str, Json]:
        judged = [
            {"recipe": one.recipe, "share": one.share, "met": one.met, **one.tally.to_json()} for one in self.judged
        ]
        return {"count": self.worlds, "seed": SEED, "recipes": judged}


def try_worlds(count: int, experiment: Experiment) -> Trial:
    """Condense so many worlds by each recipe to each size, and judge what is left."""
    worlds = [make_world(SEED + number) for number in range(count)]
    means = replace(experiment.means, variant="")  # worlds are in all formats, and a deployment is of one
    judged = [
        _judged(worlds, recipe, share, means)
        for recipe in (experiment.recipes if worlds else ())
        for share in experiment.shares
    ]
    return Trial(count, judged)


def _judged(worlds: Sequence[World], recipe: Recipe, share: float, means: Means) -> Judged:
    judgements, met = [], 0
    for number, world in enumerate(worlds, 1):
        with busy(f"{recipe.name} at {share:.0%}: world {number:,} of {len(worlds):,}"):
            result = condense_body(world.body, world.format, recipe, share, means)
            judgements.append(judge(world, result.messages))
            met += result.target_met
    return Judged(recipe.name, share, met / len(worlds), tally(judgements))


def show_worlds(trial: Trial) -> None:
    """The figures as a table; a narrow screen goes without the columns that can be spared."""
    out = screen()
    out.print()
    truths = trial.judged[0].tally.truths
    out.print(
        f"{counted(trial.worlds, 'generated world')} from seed {SEED} on, {counted(truths, 'truth')} that are needed: "
        "told/missing/contradicted.",
        soft_wrap=True,
    )
    rows = [_row(one) for one in trial.judged]
    out.print(table_of(rows, without=() if out.width >= _ROOMY else _DISPENSABLE))
    out.print(
        "False, speaker: how many statements are false, or given to somebody who did not say so. Met: how often the "
        "target is; what stays larger tells more easily.",
        soft_wrap=True,
    )


def _row(one: Judged) -> dict[str | Column, str]:
    return {
        "recipe": one.recipe,
        numeric("tokens"): f"{one.share:.0%}",
        **{numeric(topic): _slashed(count) for topic, count in one.tally.counts.items()},
        numeric("false"): f"{one.tally.false:,}",
        numeric("speaker"): f"{one.tally.wrong_speaker:,}",
        numeric("met"): f"{one.met:.0%}",
    }


def _slashed(count: Count) -> str:
    return f"{count.told}/{count.missing}/{count.contradicted}"
