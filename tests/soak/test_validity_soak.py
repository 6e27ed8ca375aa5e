"""A hundred thousand valid requests, and a thousand of each broken kind, other ones every time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from compact.formats import FORMATS, Request
from compact.testing.corrupt import CORRUPTIONS
from compact.testing.generate import random_body
from tests.formats.test_validity import CASES, SIZES, assert_valid, breaches, rule_named

BODIES = 100_000
BROKEN = 1_000

pytestmark = pytest.mark.soak


@contextmanager
def dice() -> Iterator[Random]:
    """Fresh randomness, whose seed a failure names."""
    seed = Random().getrandbits(64)
    try:
        yield Random(seed)
    except AssertionError as error:
        error.add_note(f"with Random({seed})")
        raise


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_valid_requests_break_no_rule(name: str) -> None:
    with dice() as rng:
        for _ in range(BODIES // len(FORMATS)):
            assert_valid(name, random_body(rng, name, size=rng.choice(SIZES)))


@pytest.mark.parametrize(("name", "id"), CASES)
def test_broken_requests_are_caught_by_their_rule(name: str, id: str) -> None:
    rule = rule_named(name, id)
    with dice() as rng:
        for _ in range(BROKEN):
            valid = random_body(rng, name)
            broken = CORRUPTIONS[name][id](valid, rng)
            if broken is not None:
                before = breaches(name, rule, Request(valid, origin=valid))
                assert breaches(name, rule, Request(broken, origin=valid)) > before
