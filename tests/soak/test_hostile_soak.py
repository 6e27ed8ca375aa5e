"""A hundred thousand conversations with hostile shapes, other ones every time: none does harm."""

from __future__ import annotations

from random import Random

import pytest

from compact.formats import FORMATS
from tests.app.hostile import try_hostile

ROUNDS, EACH = 50, 500

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_hostile_shapes_do_no_harm(format: str, number: int) -> None:
    tally = try_hostile(format, Random().getrandbits(40) + number * EACH, EACH)
    assert tally.failures == []
