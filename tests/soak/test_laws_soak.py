"""The laws of condensing on a million conversations, other ones every time."""

from __future__ import annotations

from random import Random

import pytest

from compact.formats import FORMATS
from tests.app.laws import try_laws

ROUNDS, CONVERSATIONS = 50, 5000

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_laws_hold(format: str, number: int) -> None:
    try_laws(format, Random().getrandbits(40) + number, CONVERSATIONS)
