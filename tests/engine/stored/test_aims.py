"""What a compaction of a stored session comes down to, by hand and automatically."""

from __future__ import annotations

import pytest

from compact.engine.stored.compaction import Aim, aim_for
from compact.policies.stored import StoredSettings


@pytest.mark.parametrize(
    ("window", "tokens", "floor", "retention", "aim"),
    [
        # Automatically: to half of the window, beside what must stay and 1,000 tokens of the last messages.
        (4000, 3800, 500, None, Aim(2000, 400)),
        (4000, 3800, 0, None, Aim(2000, 900)),
        (128_000, 100_000, 500, None, Aim(64_000, 2000)),
        (4000, 101, 0, None, Aim(100, 256)),
        (4000, 1, 0, None, Aim(1, 256)),
        # By hand: what must stay, the retention, and an account of a quarter of the rest.
        (128_000, 100_000, 500, 1000, Aim(3700, 2000)),
        (128_000, 5500, 500, 1000, Aim(2700, 1100)),
        (128_000, 4500, 500, 0, Aim(1700, 1200)),
        # A short rest becomes no more than three quarters of it.
        (128_000, 1900, 500, 1000, Aim(1800, 256)),
        (128_000, 1500, 500, 1000, Aim(1500, 256)),
        (128_000, 1000, 500, 1000, Aim(1000, 256)),
        # Never more than automatically, unless what must stay needs more.
        (6000, 10_000, 500, 1000, Aim(3000, 1400)),
        (2000, 10_000, 500, 1000, Aim(1956, 356)),
    ],
)
def test_what_must_stay_the_retention_and_an_account_make_the_target(
    window: int, tokens: int, floor: int, retention: int | None, aim: Aim
) -> None:
    assert aim_for(StoredSettings(), window, tokens, floor, retention) == aim


def test_the_settings_say_how_far_and_how_long() -> None:
    settings = StoredSettings(target=0.25, summary_tokens=300, retention_tokens=50)
    assert aim_for(settings, 8000, 7000, 100, None) == Aim(2000, 300)
    assert aim_for(settings, 8000, 7000, 100, 50) == Aim(650, 300)
