"""When to condense, with the seeds' own numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConfiguration
from compact.policies import (
    MANAGER,
    PROVIDERS,
    SESSIONS,
    CompactConfig,
    OwnThreshold,
    Policy,
    Profile,
    Threshold,
    configure,
    effective_threshold,
    should_condense,
)
from compact.policies.stored import StoredSettings
from compact.policies.threshold import target_below


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
    share = own if own in (None, -1) else own / 100
    found = effective_threshold([OwnThreshold("profile", share, "work"), OwnThreshold("global", 0.8)], 0.85)
    assert (found.share, found.source) == (effective / 100, "profile" if effective == own else "global")
    assert bool(found.warnings) == warned
    if warned:
        assert found.warnings == (f"profile work: threshold {own}% is outside 5% to 100% and is not used",)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.85, 1])
def test_every_share_from_5_to_100_percent_is_a_trigger_whose_target_lies_below(share: float) -> None:
    policy, settings = Policy(trigger_pct=share), StoredSettings(threshold=share)
    assert (policy.trigger_pct, settings.threshold) == (share, share)
    assert policy.target_pct == settings.target < share
    assert policy.target_pct == (0.5 if share >= 0.85 else pytest.approx(share * 0.5 / 0.85, abs=0.001))


@pytest.mark.parametrize("share", [0, 0.01, 0.049, 1.01, 40, 500, -2])
def test_other_shares_are_an_error_that_names_the_field_and_the_range(share: float) -> None:
    words = r"must be a share from 0\.05 to 1 \(5% to 100%\), or -1 to inherit"
    with pytest.raises(InvalidConfiguration, match=rf"^policy\.trigger_pct: {words}"):
        configure(CompactConfig, {"model": "gpt-4o", "policy": {"trigger_pct": share}})
    with pytest.raises(InvalidConfiguration, match=f"^threshold: {words}"):
        configure(StoredSettings, {"threshold": share})


def test_a_percentage_for_a_share_is_named_as_the_share() -> None:
    with pytest.raises(InvalidConfiguration, match=r"inherit; 40% is 0\.4\. Correct it"):
        Policy(trigger_pct=40)


def test_minus_one_is_as_if_it_was_not_set() -> None:
    assert Policy(trigger_pct=-1) == Policy()
    assert StoredSettings(threshold=-1) == StoredSettings()
    assert Policy(trigger_pct=-1).effective_threshold().source == "default"
    assert Profile(name="a", vendor="openai", model="gpt-4o", threshold=-1).own_threshold.share is None


def test_a_target_that_was_set_is_kept_or_refused() -> None:
    assert Policy(trigger_pct=0.4, target_pct=0.39).target_pct == 0.39
    assert StoredSettings(threshold=0.4, target=0.39).target == 0.39
    with pytest.raises(InvalidConfiguration, match=r"target_pct \(0\.4\) must lie below trigger_pct \(0\.4\)"):
        Policy(trigger_pct=0.4, target_pct=0.4)
    with pytest.raises(InvalidConfiguration, match=r"^target: must lie below threshold \(0\.4\)"):
        StoredSettings(threshold=0.4, target=0.4)


def test_a_profile_may_go_below_the_target_of_all() -> None:
    cheap = Profile(name="cheap", vendor="openai", model="gpt-4o", threshold=40).own_threshold
    found = Policy(trigger_pct=0.9, target_pct=0.6).effective_threshold(cheap)
    assert (found.share, found.origin, found.target) == (0.4, "profile cheap", target_below(0.4))
    assert Policy(target_pct=0.3).effective_threshold(cheap).target == 0.3


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
    assert PROVIDERS.budget(8192) == 8192 - 820 - 1024
    assert Threshold(buffer_share=0.3).budget(10) == 7
    assert should_condense(1500, 1000, SESSIONS).triggered


def test_usage_of_an_empty_window_is_full() -> None:
    assert should_condense(1, 0, MANAGER).usage == 1.0
