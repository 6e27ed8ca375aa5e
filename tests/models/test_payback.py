"""Laws of paying back."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from compact.models import CacheRules, Prices, find_model
from compact.models.payback import Payback, Rewrite, payback

RULES = CacheRules(1024, (300,))
PRICES = Prices.per_million(3, 15, cache_write="3.75", cache_read="0.30")
dollars = st.decimals(0, 100, places=4)
prices = st.builds(Prices, dollars, dollars, dollars, dollars)
caches = st.none() | st.builds(CacheRules, st.integers(0, 5000))


@st.composite
def rewrites(draw: st.DrawFn) -> Rewrite:
    before = draw(st.integers(0, 1_000_000))
    after = draw(st.integers(0, before))
    return Rewrite(before, after, draw(st.integers(0, after)))


@given(rewrites(), prices, caches, dollars, st.booleans())
def test_it_has_paid_for_itself_from_that_turn_on_and_not_before(
    rewrite: Rewrite, prices: Prices, cache: CacheRules | None, condensing: Decimal, warm: bool
) -> None:
    found = payback(rewrite, prices, cache, condensing=condensing, warm=warm)
    assert found is not None
    if found.turns is None:
        assert found.saved <= 0
        return
    assert found.turns >= 1
    assert found.after(found.turns) >= 0
    assert found.after(found.turns + 1) >= found.after(found.turns)
    if found.turns > 1:
        assert found.after(found.turns - 1) < 0


@given(rewrites(), prices, dollars)
def test_without_a_cache_nothing_is_rewritten(rewrite: Rewrite, prices: Prices, condensing: Decimal) -> None:
    found = payback(rewrite, prices, None, condensing=condensing)
    assert found is not None
    assert found.rewrite == 0
    assert found.saved == (prices.input or 0) * (rewrite.before - rewrite.after) / 1_000_000


@given(rewrites(), dollars, dollars)
def test_a_vendor_without_prices_for_its_cache_charges_as_if_there_were_none(
    rewrite: Rewrite, input: Decimal, output: Decimal
) -> None:
    assert payback(rewrite, Prices(input, output), RULES) == payback(rewrite, Prices(input, output), None)


@given(rewrites())
def test_a_longer_unchanged_beginning_never_costs_more(rewrite: Rewrite) -> None:
    some = payback(rewrite, PRICES, RULES)
    all_of_it = payback(Rewrite(rewrite.before, rewrite.after, rewrite.after), PRICES, RULES)
    assert some is not None
    assert all_of_it is not None
    assert all_of_it.rewrite <= some.rewrite
    assert all_of_it.saved == some.saved


@given(rewrites())
def test_after_a_pause_the_rewrite_costs_no_more_than_before_it(rewrite: Rewrite) -> None:
    assume(rewrite.after >= RULES.minimum)
    warm, cold = payback(rewrite, PRICES, RULES), payback(rewrite, PRICES, RULES, warm=False)
    assert warm is not None
    assert cold is not None
    assert cold.rewrite <= warm.rewrite
    assert cold.saved == warm.saved


def test_a_worked_example() -> None:
    # 100,000 tokens become 40,000, of which the first 10,000 are unchanged: 30,000 are written at $3.75 and not read at
    # $0.30, once; each request then reads 60,000 fewer at $0.30.
    found = payback(Rewrite(100_000, 40_000, 10_000), PRICES, RULES, condensing=Decimal("0.01"))
    assert found == Payback(Decimal("0.01"), Decimal("0.1035"), Decimal("0.018"), 7)
    # The cache has expired: all would have been written anew, so less of it is a gain at once.
    cold = payback(Rewrite(100_000, 40_000, 10_000), PRICES, RULES, condensing=Decimal("0.01"), warm=False)
    assert cold == Payback(Decimal("0.01"), Decimal("-0.207"), Decimal("0.018"), 1)
    assert cold.after(0) == Decimal("-0.01")
    assert cold.after(1) == Decimal("0.215")


def test_what_falls_below_the_cache_minimum_is_read_at_the_full_price_each_time() -> None:
    found = payback(Rewrite(8_000, 1_000, 1_000), PRICES, RULES)
    assert found == Payback(Decimal(0), Decimal(0), Decimal("-0.0006"), None)


def test_a_beginning_too_short_for_the_cache_is_not_found_there() -> None:
    short = payback(Rewrite(8_000, 4_000, 1_000), PRICES, RULES)
    assert short == payback(Rewrite(8_000, 4_000, 0), PRICES, RULES)


def test_a_price_that_nobody_publishes_is_not_guessed() -> None:
    assert payback(Rewrite(8_000, 4_000, 0), None, RULES) is None
    assert payback(Rewrite(8_000, 4_000, 0), Prices(None, None), RULES) is None


@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro"])
def test_every_vendor_charges_for_the_rewrite(name: str) -> None:
    model = find_model(name)
    found = payback(Rewrite(100_000, 40_000, 10_000), model.prices, model.cache)
    assert found is not None
    assert found.rewrite > 0
    assert found.saved > 0
    assert found.turns is not None
    assert found.turns > 1
