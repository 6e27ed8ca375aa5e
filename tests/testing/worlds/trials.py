"""Worlds as `auto` leaves them, judged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from compact.app import resolve_recipe
from compact.lab.evaluating import Means, condense_body
from compact.messages import Json
from compact.testing.worlds import Judgement, Reason, Statement, TruthKind, World, judge, make_world

RECIPE = "auto"
SHARES = (0.25, 0.1)
MEANS = Means("gpt-4o")


def leave(world: World, share: float) -> list[Json]:
    """The messages of the world, condensed to a share of their tokens."""
    return condense_body(world.body, world.format, resolve_recipe(RECIPE), share, MEANS).messages


def try_worlds(seeds: Iterable[int], share: float) -> Iterator[Judgement]:
    """The worlds of these seeds, condensed and judged."""
    for world in map(make_world, seeds):
        yield judge(world, leave(world, share))


def inverted(judgement: Judgement) -> list[Statement]:
    """Prohibitions of the user that stand there as if they were orders."""
    kinds = {truth.id: truth.kind for truth in judgement.world.truths}
    return [
        each
        for each in judgement.wrong
        if kinds[each.truth] is TruthKind.PROHIBITION and each.reason in {Reason.POLARITY, Reason.LEAD}
    ]


def accusations(judgement: Judgement, share: float) -> list[str]:
    """What is wrong, each as a line of JSON with all that is needed to see it again."""
    world = judgement.world
    return [
        json.dumps(
            {
                "seed": world.seed,
                "recipe": RECIPE,
                "share": share,
                "language": world.language,
                "kind": world.kind,
                "truth": each.truth,
                "reading": each.reading,
                "reason": each.reason,
                "statement": each.text,
                "true": world.by_id[each.truth].text,
            },
            ensure_ascii=False,
        )
        for each in judgement.wrong
    ]
