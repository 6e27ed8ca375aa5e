"""When to condense, with the seeds' own numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConfiguration
from compact.policies import MANAGER, PROVIDERS, SESSIONS, Threshold, configure, effective_percent, should_condense


def test_manager_triggers_at_85_percent() -> None:
    decision = should_condense(108_800, 128_000, MANAGER)
    assert decision.triggered
    assert decision.reason == "108,800 tokens reach the threshold of 108,800"
    assert decision.budget == 126_500
    assert not should_condense(96_000, 128_000, MANAGER).triggered
    assert not should_condense(108_799, 128_000, MANAGER).triggered


def test_sessions_trigger_at_95_percent_of_the_input_but_never_below_the_minimum() -> None:
    assert should_condense(950, 1_000, SESSIONS).reason == "950 tokens are below the minimum of 2,000"
    assert should_condense(190_000, 200_000, SESSIONS).triggered
    assert not should_condense(189_999, 200_000, SESSIONS).triggered


def test_providers_leave_room_for_buffer_and_answer() -> None:
    allowed = 200_000 * 0.9 - 8192
    assert not should_condense(int(allowed), 200_000, PROVIDERS).triggered
    decision = should_condense(int(allowed) + 1, 200_000, PROVIDERS)
    assert decision.triggered
    assert "buffer and reserved output" in decision.reason


def test_absolute_threshold_and_switch() -> None:
    threshold = Threshold(tokens=5_000)
    assert should_condense(5_000, 128_000, threshold).triggered
    assert not should_condense(4_999, 128_000, threshold).triggered
    off = Threshold(share=0.5, automatic=False)
    assert should_condense(100_000, 100_000, off).reason == "automatic condensing is off"


@pytest.mark.parametrize(
    ("own", "effective", "warned"),
    [(None, 80, False), (-1, 80, False), (40, 40, False), (3, 80, True), (120, 80, True)],
)
def test_profile_thresholds_inherit(own: float | None, effective: float, warned: bool) -> None:
    profiles = {} if own is None else {"work": own}
    percent, warning = effective_percent("work", 80, profiles)
    assert (percent, bool(warning)) == (effective, warned)


def test_wrong_configuration_names_the_field() -> None:
    with pytest.raises(InvalidConfiguration, match=r"^policy\.share: should be less than or equal to 1\. Correct it"):
        configure(Threshold, {"share": 85}, under="policy")
    with pytest.raises(InvalidConfiguration, match=r"^shear: is no setting\. Known settings: share, tokens"):
        configure(Threshold, {"shear": 0.5})


@given(st.integers(0, 10**7), st.integers(1, 10**7), st.floats(0.01, 1), st.integers(0, 5000))
def test_more_tokens_never_turn_a_trigger_off(used: int, window: int, share: float, more: int) -> None:
    threshold = Threshold(share=share, buffer_tokens=100)
    if should_condense(used, window, threshold).triggered:
        assert should_condense(used + more, window, threshold).triggered
    assert should_condense(window, window, threshold).triggered


def test_small_windows_are_not_all_reserve_and_overflow_beats_the_minimum() -> None:
    assert not should_condense(1, 8192, PROVIDERS).triggered
    assert PROVIDERS.budget(8192) == 4096
    assert Threshold(buffer_share=0.3).budget(10) == 7
    assert should_condense(1500, 1000, SESSIONS).triggered


def test_usage_of_an_empty_window_is_full() -> None:
    assert should_condense(1, 0, MANAGER).usage == 1.0
