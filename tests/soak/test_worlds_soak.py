"""A hundred thousand worlds, other ones every time: nothing that `auto` leaves may be wrong.

The first seed is printed; with it in WORLDS_SEED the worlds are the same again.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.testing.worlds.trials import SHARES, accusations, try_worlds

ROUNDS, WORLDS = 200, 500
ACCUSATIONS = Path("build/accusations")
"""What is called wrong, one file a round, to be examined: either the account or the judge is."""

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("number", range(ROUNDS))
def test_nothing_is_false_and_nobody_is_misquoted(number: int) -> None:
    first = int(os.environ["WORLDS_SEED"]) + number * WORLDS
    seeds = range(first, first + WORLDS)
    lines = [line for share in SHARES for each in try_worlds(seeds, share) for line in accusations(each, share)]
    if lines:
        ACCUSATIONS.mkdir(parents=True, exist_ok=True)
        file = ACCUSATIONS / f"{first}.jsonl"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        pytest.fail(f"seeds from {first} on: {len(lines):,} accusations in {file}")
