"""Conversations with hostile shapes: none does harm."""

from __future__ import annotations

import json
from random import Random

import pytest

from compact.formats import FORMATS
from compact.testing.generate import random_body
from compact.testing.hostile import SHAPES, disturb
from tests.app.hostile import try_hostile

COUNT, ROUNDS = 300, 10


@pytest.mark.laws
@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_hostile_shapes_do_no_harm(format: str, number: int) -> None:
    each = COUNT // ROUNDS
    tally = try_hostile(format, number * each, each)
    assert tally.failures == []
    assert tally.condensed > tally.refused


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_every_shape_changes_a_request_and_leaves_the_given_one(format: str) -> None:
    changed: set[str] = set()
    for seed in range(400):
        rng = Random(seed)
        body = random_body(rng, format, size=12)
        written = json.dumps(body)
        disturbed, names = disturb(body, format, rng)
        assert json.dumps(body) == written
        if len(names) == 1 and json.dumps(disturbed) != written:
            changed |= {*names}
    silent = {"openai-responses": {"signed reasoning"}}.get(format, set())
    assert changed == set(SHAPES) - silent
