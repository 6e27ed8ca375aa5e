"""Money in words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from compact.app.recommending import dollar_range, dollars
from compact.models.spending import Charge


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        (None, "?"),
        ("0", "$0"),
        ("0.03114", "$0.0311"),
        ("-0.5", "-$0.5000"),
        ("0.0000213", "$0.000021"),
        ("12", "$12.0000"),
    ],
)
def test_money_is_shown_so_that_it_is_never_nothing(amount: str | None, shown: str) -> None:
    assert dollars(None if amount is None else Decimal(amount)) == shown


def test_an_estimate_is_shown_with_its_range_and_a_bill_without() -> None:
    estimate = Charge(1, 100, 50, Decimal("0.02"), Decimal("0.01"), Decimal("0.04"))
    assert dollar_range(estimate) == "$0.0200 ($0.0100 to $0.0400)"
    assert dollar_range(Charge(1, 100, 50, Decimal("0.02"))) == "$0.0200"
    assert dollar_range(Charge(cost=None)) == "?"
