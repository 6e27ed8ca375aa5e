"""How much of 1,500 worlds `auto` tells, and how much of that is wrong."""

from __future__ import annotations

import json
import time
from typing import NamedTuple

import pytest

from compact.testing.worlds import ErrorKind, Topic, TruthKind, judge, make_world, plant, tally
from tests.testing.worlds.trials import SHARES, accusations, inverted, leave, try_worlds

WORLDS, TOGETHER = 1_500, 300


class Bound(NamedTuple):
    """What holds today in each 300 worlds, and what is to hold; None where nothing was agreed on."""

    held: float
    goal: float | None = None


# Tighten these when accounts get better; loosen one only where others gain far more.
TOLD = {
    0.25: {
        Topic.ORDERS: Bound(0.984, 0.98),
        Topic.PROHIBITIONS: Bound(0.98, 0.98),
        Topic.REQUESTS: Bound(0.935, 0.95),
        Topic.DROPPED: Bound(0.948),
        Topic.OUTCOMES: Bound(0.9, 0.90),
        Topic.VALUES: Bound(0.94, 0.90),
        Topic.DECISIONS: Bound(0.879),
        Topic.RULES: Bound(0.81),
    },
    0.1: {
        Topic.ORDERS: Bound(0.799, 0.95),
        Topic.PROHIBITIONS: Bound(0.769, 0.95),
        Topic.REQUESTS: Bound(0.59, 0.85),
        Topic.DROPPED: Bound(0.634),
        Topic.OUTCOMES: Bound(0.467, 0.75),
        Topic.VALUES: Bound(0.613, 0.60),
        Topic.DECISIONS: Bound(0.525),
        Topic.RULES: Bound(0.76),
    },
}
WRONG = {
    0.25: {"contradicted": Bound(2, 0), "false": Bound(2, 0), "wrong speaker": Bound(1, 0), "inverted": Bound(0, 0)},
    0.1: {"contradicted": Bound(2, 0), "false": Bound(6, 0), "wrong speaker": Bound(2, 0), "inverted": Bound(0, 0)},
}


@pytest.mark.laws
@pytest.mark.parametrize("start", range(0, WORLDS, TOGETHER))
@pytest.mark.parametrize("share", SHARES)
def test_what_is_told_of_worlds(share: float, start: int) -> None:
    judgements = list(try_worlds(range(start, start + TOGETHER), share))
    found = tally(judgements)
    told = {topic: count.share for topic, count in found.counts.items()}
    wrong = {
        "contradicted": found.contradicted,
        "false": found.false,
        "wrong speaker": found.wrong_speaker,
        "inverted": sum(len(inverted(judgement)) for judgement in judgements),
    }
    less = {name: (told[name], bound) for name, bound in TOLD[share].items() if told[name] < bound.held}
    more = {name: (wrong[name], bound) for name, bound in WRONG[share].items() if wrong[name] > bound.held}
    assert (less, more) == ({}, {})


def test_every_topic_has_a_bound() -> None:
    assert {share: set(bounds) for share, bounds in TOLD.items()} == {share: set(Topic) for share in SHARES}


def test_an_accusation_says_all_that_is_needed_to_see_it_again() -> None:
    world = make_world(5, tokens=2_000)
    planted = plant(world, world.messages, seed=1)
    found = [json.loads(line) for line in accusations(judge(world, planted.messages), 0.25)]
    one = next(each for each in found if each["truth"] == planted.truth)
    assert (one["seed"], one["recipe"], one["share"]) == (5, "auto", 0.25)
    assert one["reading"] in {"false", "wrong speaker"}
    assert all(one[key] for key in ("reason", "statement", "true", "language", "kind"))
    assert accusations(judge(world, world.messages), 0.25) == []


def test_a_prohibition_without_its_not_is_inverted() -> None:
    found = 0
    for seed in range(60):
        world = make_world(seed, tokens=2_000)
        planted = plant(world, world.messages, seed)
        truth, statements = world.by_id[planted.truth], inverted(judge(world, planted.messages))
        if planted.kind is ErrorKind.NEGATION and truth.kind is TruthKind.PROHIBITION:
            assert truth.id in {each.truth for each in statements}
            found += 1
    assert found


@pytest.mark.clock
def test_all_worlds_take_at_most_three_minutes_of_two_cores() -> None:
    few = 30
    list(try_worlds(range(3), SHARES[0]))
    start = time.process_time()
    for share in SHARES:
        list(try_worlds(range(few), share))
    assert (time.process_time() - start) / few * WORLDS < 2 * 180


@pytest.mark.parametrize("seed", [910005009, 910017002, 910019036, 910021951, 910024503, 920067459])
def test_a_postponed_request_is_not_shown_without_its_outcome(seed: int) -> None:
    world = make_world(seed)
    assert accusations(judge(world, leave(world, 0.25)), 0.25) == []


@pytest.mark.parametrize("seed", [910002838, 910026713, 910029934, 920002556, 920012605])
def test_words_behind_a_list_of_tasks_do_not_describe_its_last_task(seed: int) -> None:
    world = make_world(seed)
    assert accusations(judge(world, leave(world, 0.25)), 0.25) == []
