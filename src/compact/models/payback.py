"""When a condensation has paid for itself: what it costs once against what each later request saves.

A vendor's prompt cache knows a request by its beginning. Condensing changes the middle of a conversation, so everything
after the first change is read anew, at the price of writing to the cache, once. From then on there is less to read; but
what is saved would mostly have come from the cache, at a tenth of the price. So a condensation that looks cheap may
need many requests to pay for itself, and after a pause that outlasts the cache it needs next to none.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from compact.models.catalogue import find_model
from compact.models.cost import cost
from compact.models.model import CacheRules, Prices
from compact.ports import CompactionFacts, Usage


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A conversation made shorter: its tokens before and after, and how many at the front are still the same."""

    before: int
    after: int
    kept: int


@dataclass(frozen=True, slots=True)
class Payback:
    """The money of a condensation, in dollars.

    `rewrite` is what the first request costs more than the later ones because the cache has to be written anew, less
    what would have been written anyway. `saved` is what each request saves from then on. `turns` is the number of
    requests, at least one, after which `condensing + rewrite` is saved; None where it never is.
    """

    condensing: Decimal
    rewrite: Decimal
    saved: Decimal
    turns: int | None

    def after(self, turns: int) -> Decimal:
        """What has been saved in all after so many requests; negative before it has paid for itself."""
        return self.saved * turns - self.rewrite - self.condensing if turns else -self.condensing


def payback(
    rewrite: Rewrite,
    prices: Prices | None,
    cache: CacheRules | None,
    *,
    condensing: Decimal = Decimal(0),
    warm: bool = True,
) -> Payback | None:
    """When the condensation has paid for itself with a model of these prices; None where a price is unknown.

    Without `cache` every request is read at the full price. `warm` says whether the cache still holds the conversation
    as it was: after a pause longer than its lifetime it does not.
    """
    before, after = rewrite.before, rewrite.after
    requests = (
        _request(before, before if warm else 0, cache),
        _request(before, before, cache),
        _request(after, min(rewrite.kept, after) if warm else 0, cache),
        _request(after, after, cache),
    )
    costs = [amount for usage in requests if (amount := cost(usage, prices)) is not None]
    if len(costs) < len(requests):
        return None
    before_first, before_later, after_first, after_later = costs
    once = (after_first - after_later) - (before_first - before_later)
    saved = before_later - after_later
    return Payback(condensing, once, saved, _turns(condensing + once, saved))


def saved_dollars(facts: CompactionFacts) -> Decimal | None:
    """Return what each later request saves, with the vendor's prompt cache; None where a price is unknown."""
    if not facts.model:
        return None
    model = find_model(facts.model)
    found = payback(Rewrite(facts.tokens_before, facts.tokens_after, 0), model.prices, model.cache)
    return None if found is None else found.saved


def _request(tokens: int, held: int, cache: CacheRules | None) -> Usage:
    """A request whose first `held` tokens the cache holds; too short a beginning is neither kept nor found."""
    if cache is None or tokens < cache.minimum:
        return Usage(input=tokens)
    read = held if held >= cache.minimum else 0
    return Usage(cache_read=read, cache_write=tokens - read)


def _turns(spent: Decimal, saved: Decimal) -> int | None:
    if saved <= 0:
        return None
    if spent <= 0:
        return 1
    whole, rest = divmod(spent, saved)
    return int(whole) + bool(rest)
