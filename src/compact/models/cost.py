"""What a request costs: usage times prices."""

from __future__ import annotations

from decimal import Decimal

from compact.models.model import Prices
from compact.ports import Usage

_MILLION = 1_000_000


def cost(usage: Usage, prices: Prices | None) -> Decimal | None:
    """Dollars for one request, or `None` where a price that is needed is unknown (FR-CO-001).

    A vendor without a price for cached tokens bills them as input. So does this, where FR-CO-001's `|| 0` would make
    them free.
    """
    if prices is None:
        return None
    rates = prices.at(usage.total_input)
    write = rates.input if rates.cache_write is None else rates.cache_write
    parts = (
        (usage.cache_write - usage.cache_write_1h, write),
        (usage.cache_write_1h, write if rates.cache_write_1h is None else rates.cache_write_1h),
        (usage.cache_read, rates.input if rates.cache_read is None else rates.cache_read),
        (usage.input, rates.input),
        (usage.output, rates.output),
    )
    total = Decimal(0)
    for tokens, rate in parts:
        if not tokens:
            continue
        if rate is None:
            return None
        total += rate * tokens
    return total / _MILLION
