"""What a compaction of a stored session comes down to, in numbers."""

from __future__ import annotations

import pytest

from compact.engine.stored.compaction import Aim, aim_for
from compact.policies.stored import StoredSettings

SETTINGS = StoredSettings(target=0.5, retention_tokens=1000, summary_tokens=2000)


@pytest.mark.parametrize(
    ("window", "tokens", "floor", "retention", "aim"),
    [
        (10_000, 9000, 500, None, Aim(5000, 2000)),  # half of the window
        (10_000, 4000, 500, None, Aim(3999, 2000)),  # but less than there is
        (10_000, 1, 0, None, Aim(1, 256)),
        (10_000, 9000, 3644, None, Aim(5000, 256)),  # the shortest account
        (10_000, 9000, 3643, None, Aim(5000, 257)),
        (10_000, 9000, 500, 1000, Aim(3575, 1975)),  # by hand: what stays, and a quarter of the rest
        (10_000, 9000, 500, 0, Aim(2700, 2000)),
        (10_000, 9000, 500, 200, Aim(2900, 2000)),
        (100_000, 90_000, 500, 1000, Aim(3700, 2000)),  # the longest account
        (10_000, 2524, 500, 1000, Aim(1956, 356)),
        (10_000, 2529, 500, 1000, Aim(1957, 357)),
        (10_000, 1600, 500, 1000, Aim(1575, 256)),  # three quarters of what is left
        (10_000, 1501, 500, 1000, Aim(1500, 256)),
        (10_000, 1500, 500, 1000, Aim(1500, 256)),  # nothing is left
        (10_000, 1400, 500, 1000, Aim(1400, 256)),
        (10_000, 9000, 8000, 0, Aim(8456, 456)),  # what must stay is more than half of the window
        (2000, 9000, 500, 0, Aim(1000, 500)),
        (10_000, 600, 100, 0, Aim(475, 375)),
    ],
)
def test_what_a_compaction_comes_down_to(window: int, tokens: int, floor: int, retention: int | None, aim: Aim) -> None:
    assert aim_for(SETTINGS, window, tokens, floor, retention) == aim
