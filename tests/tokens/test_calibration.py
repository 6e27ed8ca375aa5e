from __future__ import annotations

import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.errors import InvalidConfiguration
from compact.tokens.calibration import HIGHEST, LOWEST, Calibration, anchored

PAIRS = st.lists(st.tuples(st.integers(0, 10**7), st.integers(-5, 10**8)), max_size=40)


def _learned(pairs: list[tuple[int, int]], prior: float = 1.0) -> Calibration:
    calibration = Calibration(prior)
    for local, reported in pairs:
        calibration = calibration.observe(local, reported)
    return calibration


def test_it_learns_the_ratio_of_the_counts() -> None:
    learned = _learned([(10_000, 13_000), (20_000, 26_400), (5000, 6450)], prior=1.0)
    assert learned.factor == 1.3
    assert learned.samples == 3


def test_observing_leaves_the_old_value_alone() -> None:
    before = Calibration(1.2)
    after = before.observe(1000, 1500)
    assert before == Calibration(1.2)
    assert after == Calibration(1.2, samples=1, recent=(1.5,))


def test_a_factor_holds_once_three_samples_agree() -> None:
    calibration = Calibration()
    for reported in (7_590, 12_000, 12_100):
        calibration = calibration.observe(10_000, reported)
        assert (calibration.settled, calibration.factor) == (False, 1.0)
    calibration = calibration.observe(10_000, 12_900)
    assert (calibration.settled, calibration.factor) == (True, 1.205)
    # From then on it moves only where three agree again.
    assert calibration.observe(10_000, 20_000).factor == 1.205


def test_three_samples_agree_within_fifteen_percent() -> None:
    assert _learned([(10_000, 10_000), (10_000, 11_500), (10_000, 10_700)]).settled
    assert not _learned([(10_000, 10_000), (10_000, 11_510), (10_000, 10_700)]).settled


def test_a_certain_observation_holds_at_once() -> None:
    learned = _learned([(10_000, 12_000)] * 20)
    certain = learned.observe(10_000, 15_000, certain=True)
    assert certain == Calibration(1.5, samples=21, recent=(1.5,), settled=True)
    assert certain.observe(10_000, 12_000).observe(10_000, 15_600).factor == 1.5
    assert certain.observe(10_000, 15_200).observe(10_000, 15_600).factor == 1.52
    assert Calibration().observe(1_000, 1_300, certain=True).factor == 1.3


def test_what_was_learned_before_samples_had_to_agree_holds_where_they_do() -> None:
    """Files of earlier versions do not say whether the factor holds."""
    assert not Calibration.from_json('{"version": 1, "factor": 0.759, "samples": 2, "recent": [0.76, 0.758]}').settled
    kept = Calibration.from_json('{"version": 1, "factor": 1.2, "samples": 9, "recent": [0.8, 1.2, 1.21, 1.19]}')
    assert (kept.settled, kept.factor) == (True, 1.2)


def test_outliers_do_not_move_it() -> None:
    pairs = [(10_000, 12_000 + 10 * turn) for turn in range(12)]
    pairs[3:3] = [(10_000, 100), (10_000, 400_000)]
    assert _learned(pairs).factor == pytest.approx(1.2, rel=0.02)


def test_it_follows_a_change_at_the_vendor_within_eight_requests() -> None:
    calibration = _learned([(10_000, 12_000)] * 50)
    for _ in range(8):
        calibration = calibration.observe(10_000, 15_600)
    assert calibration.factor == 1.56
    assert calibration.samples == 58


def test_requests_too_small_to_tell_anything_are_passed_over() -> None:
    calibration = Calibration(1.2)
    assert calibration.observe(199, 500) is calibration
    assert calibration.observe(0, 500) is calibration
    assert calibration.observe(5000, 0) is calibration


@given(PAIRS)
def test_the_factor_stays_sane_and_survives_storage(pairs: list[tuple[int, int]]) -> None:
    learned = _learned(pairs)
    assert LOWEST <= learned.factor <= HIGHEST
    assert len(learned.recent) <= 15
    assert Calibration.from_json(learned.to_json()) == learned


GOOD = {"version": 1, "factor": 1.2, "samples": 2, "recent": [1.1, 1.3]}


@pytest.mark.parametrize(
    ("change", "field", "problem"),
    [
        ({"version": 2}, "calibration.version", "2 is not 1"),
        ({"version": None}, "calibration.version", "None is not 1"),
        ({"factor": 0.4}, "calibration.factor", "0.4 is not between 0.5 and 3.0"),
        ({"factor": math.nan}, "calibration.factor", "nan is not between"),
        ({"factor": "1.2"}, "calibration.factor", "'1.2' is not a number"),
        ({"factor": True}, "calibration.factor", "True is not a number"),
        ({"samples": 1.5}, "calibration.samples", "1.5 is not a whole number"),
        ({"samples": 1}, "calibration.samples", "1 is less than the 2 observations"),
        ({"recent": {}}, "calibration.recent", "not a list of numbers"),
        ({"settled": 1}, "calibration.settled", "1 is neither true nor false"),
        ({"recent": [1.1, "x"]}, "calibration.recent", "not a list of numbers"),
        ({"recent": [1.1, 9]}, r"calibration.recent[1]", "9 is not between"),
    ],
)
def test_what_cannot_be_a_calibration_is_refused(change: dict[str, object], field: str, problem: str) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        Calibration.from_json(json.dumps(GOOD | change))
    assert caught.value.field == field
    assert problem in caught.value.problem
    assert "Delete this model's calibration" in caught.value.remedy


@pytest.mark.parametrize("text", ["", "{", "[]", "null", b"\xff\xfe", "[" * 100_000])
def test_what_is_no_json_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(InvalidConfiguration) as caught:
        Calibration.from_json(text)
    assert caught.value.field == "calibration"


def test_a_calibration_of_another_version_cannot_be_made() -> None:
    with pytest.raises(InvalidConfiguration, match=r"calibration\.version: 2 is not 1"):
        Calibration(version=2)


def test_a_request_is_anchored_on_the_usage_of_the_one_before() -> None:
    assert anchored(100_000, 1.25, 1001, overhead=7) == 100_000 + 1252 + 7
    assert anchored(100_000, 1.25, 0) == 100_000


def _conversation(chance: random.Random) -> list[tuple[int, int]]:
    """Messages as tokens of ours and of the vendor's, whose tokenizer makes about 1.3 of one, more in some texts."""
    messages = []
    for _ in range(60):
        local = round(chance.lognormvariate(6, 1.2)) + 5
        messages.append((local, round(local * 1.3 * chance.lognormvariate(0, 0.12))))
    return messages


@pytest.mark.parametrize("prior", [0.91, 1.69])  # 30% below and above
def test_preflights_are_within_five_percent_after_a_few_observations(prior: float) -> None:
    chance = random.Random(17)
    anchored_right = scaled_right = preflights = 0
    calibration = Calibration(prior)
    for _ in range(30):
        local = reported = usage = 0
        for turn, (ours, theirs) in enumerate(_conversation(chance)):
            local, reported = local + ours, reported + theirs
            if turn >= 5:
                preflights += 1
                anchored_right += abs(anchored(usage, calibration.factor, ours) / reported - 1) < 0.05
                scaled_right += abs(local * calibration.factor / reported - 1) < 0.05
            usage = reported
            calibration = calibration.observe(local, reported)
    assert anchored_right >= 0.98 * preflights
    assert scaled_right >= 0.95 * preflights


def test_even_a_wrong_factor_is_mostly_right_when_anchored() -> None:
    chance = random.Random(18)
    right = preflights = 0
    for _ in range(30):
        usage = 0
        for turn, (ours, theirs) in enumerate(_conversation(chance)):
            if turn >= 10:
                preflights += 1
                right += abs(anchored(usage, 1.3 * 0.7, ours) / (usage + theirs) - 1) < 0.05
            usage += theirs
    assert right >= 0.95 * preflights
