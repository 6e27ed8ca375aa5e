"""Records of what was spent: read back as written, and what they teach."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compact.models.spending import PRIOR, AnswerShares, Charge, Spending, accuracy, find_shares

counts = st.integers(0, 10**9)
costs = st.none() | st.decimals(0, 1000, places=8)
charges = st.builds(Charge, counts, counts, counts, costs, costs, costs)
records = st.builds(
    Spending, st.text(), st.text(), st.text(), st.text(max_size=2), charges, charges, counts, counts, counts
)
ONE = Spending("", "native", "p", "m", Charge(1, 100, 50, Decimal(1)), Charge(1, 110, 60, Decimal(2)), 100, 900, 90)


@given(records)
def test_a_record_survives_being_written(record: Spending) -> None:
    assert Spending.from_json(json.loads(json.dumps(record.to_json()))) == record


@pytest.mark.parametrize("spoiled", [{}, {"actual": {}}, {"limit": "many"}, {"estimated": None}, {"limit": None}])
def test_something_else_is_no_record(spoiled: dict[str, object]) -> None:
    data = {**ONE.to_json(), **spoiled} if spoiled else {}
    with pytest.raises(ValueError, match="no record of a condensation"):
        Spending.from_json(data)


def test_the_error_is_a_share_of_what_was_spent() -> None:
    assert ONE.error == -0.5
    assert replace(ONE, estimated=Charge(1, 1, 1, Decimal(3))).error == 0.5
    assert replace(ONE, actual=Charge(1, 1, 1, None)).error is None
    assert replace(ONE, actual=Charge(cost=Decimal(0))).error is None


def test_accuracy_counts_what_is_within_a_fifth() -> None:
    found = accuracy([replace(ONE, estimated=Charge(cost=Decimal(cost))) for cost in ("1.6", "2", "2.4", "2.41", "9")])
    assert (found.condensations, found.within_a_fifth) == (5, 3)
    assert found.spent == 10
    assert found.median_miss == pytest.approx(0.2)
    assert accuracy([]).median_miss is None


def test_the_lengths_of_answers_are_learned_for_each_model_and_recipe() -> None:
    written = [replace(ONE, actual=Charge(1, 1, output, None)) for output in (10, 30, 120)]
    assert find_shares(written[:2], "m", "native") == PRIOR
    assert find_shares(written, "m", "native") == AnswerShares(0.1, 0.3, 1.2)
    assert find_shares(written, "m", "auto") == find_shares(written, "other", "native") == PRIOR
    assert find_shares([replace(each, limit=0) for each in written], "m", "native") == PRIOR


def test_only_the_latest_bills_count() -> None:
    bills = [replace(ONE, actual=Charge(1, 1, output, None)) for output in (*[90] * 30, *[20] * 20)]
    assert find_shares(bills, "m", "native") == AnswerShares(0.2, 0.2, 0.2)


def test_estimates_add_up_with_their_ranges() -> None:
    one = Charge(1, 100, 50, Decimal(2), Decimal(1), Decimal(4))
    assert sum([one, one], Charge()) == Charge(2, 200, 100, Decimal(4), Decimal(2), Decimal(8))
    assert one.range == (Decimal(1), Decimal(4))
    bill = Charge(1, 100, 50, Decimal(3))
    assert bill.range == (Decimal(3), Decimal(3))
    assert (one + bill).range == (Decimal(4), Decimal(7))
    unknown = one + Charge(1, 1, 1, None)
    assert (unknown.cost, unknown.range) == (None, (None, None))


def test_records_of_earlier_versions_have_no_range() -> None:
    data = ONE.to_json()
    for charge in (data["estimated"], data["actual"]):
        del charge["low"], charge["high"]
    assert Spending.from_json(data) == ONE


@given(st.lists(records))
def test_the_usual_length_lies_between_the_shortest_and_the_longest(found: list[Spending]) -> None:
    for record in found:
        shares = find_shares(found, record.model, record.way)
        assert 0 < shares.low <= shares.usual <= shares.high
