"""Choosing lines until the budget is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from compact.summaries.items import Item, Section, heading, rank, render

Count: TypeAlias = Callable[[str], int]

# What a user asked for comes before everything: rules up to this share of the budget, then requests, and whatever else
# a user said in few words, up to that.
RULES_SHARE = 0.75
REQUESTS_SHARE = 0.6
# Shares of what is left then; names and values get the rest, and what a section does not use goes to the others.
SHARES = {
    Section.FINDINGS: 0.10,
    Section.STATE: 0.18,
    Section.DECISIONS: 0.14,
    Section.STEPS: 0.09,
    Section.SAID: 0.10,
    Section.DIRECTIVES: 0.08,
}
FEW = 60  # tokens: so many a single line may take, however small the share
_SHORTER = (120, 60)
_MISFITS = 12
_GAPS = 2


class Basket:
    """The lines chosen so far, and how many tokens are left by an estimate, line by line."""

    def __init__(self, budget: int, count: Count) -> None:
        self.left: float = budget
        self.items: dict[Item, None] = {}
        self.shortened: set[Item] = set()
        self._count = count
        self._opened: set[Section] = set()

    def tokens(self, text: str) -> int:
        return max(self._count(text), 1)

    def take(self, item: Item, limit: float) -> float:
        """Takes the item if it fits into the limit and into what is left; returns what it cost, or 0."""
        price = self.tokens(item.line + "\n")
        if item.section not in self._opened:
            price += self.tokens(heading(item.section) + "\n")
        if price > min(limit, self.left):
            return 0
        self.left -= price
        self._opened.add(item.section)
        self.items[item] = None
        return price

    def take_best(self, items: Iterable[Item], limit: float) -> None:
        """Takes what is worth most for its length, until it fits no longer; of the last steps, none before a gap."""
        misfits = gaps = 0
        for item in sorted(items, key=worth, reverse=True):
            is_step = item.section is Section.STEPS
            if item in self.items or item in self.shortened or (is_step and gaps > _GAPS):
                continue
            price = self.take(item, limit)
            gaps += is_step and not price
            limit -= price
            misfits = 0 if price else misfits + 1
            if misfits == _MISFITS or limit <= 0:
                return


def worth(item: Item) -> tuple[int, float]:
    return rank(item.tier, item.value, len(item.text))


def take_directives(items: Iterable[Item], basket: Basket) -> None:
    """Takes what a user asked for, before anything else; where it does not fit whole, the beginning of it."""
    budget = basket.left
    asked = sorted((item for item in items if item.tier), key=worth, reverse=True)
    misfits = 0
    for item in asked:
        share = RULES_SHARE if item.tier > 1 else REQUESTS_SHARE
        limit = max(share * budget, min(budget, FEW)) - (budget - basket.left)
        shorter = (item.shortened(longest) for longest in _SHORTER if longest < len(item.text))
        taken = next((one for one in (item, *shorter) if basket.take(one, limit)), None)
        misfits = 0 if taken else misfits + 1
        if taken is not None and taken is not item:
            basket.shortened.add(item)
        if misfits == _MISFITS:
            return


def take_shares(items: Sequence[Item], basket: Basket) -> None:
    """Takes the best of each section, up to its share, but if possible a line of each."""
    rest = basket.left
    for section, share in SHARES.items():
        limit = max(share * rest, min(basket.left / 2, FEW))
        basket.take_best((item for item in items if item.section is section), limit)


def fit(items: Iterable[Item], budget: int, count: Count) -> str:
    """The items rendered, without the least valuable ones if they do not fit after all: estimates are estimates."""
    kept = sorted(items, key=worth, reverse=True)
    text = render(kept)
    while kept and (excess := count(text) - budget) > 0:
        while kept and excess > 0:
            excess -= count(kept.pop().line)
        text = render(kept)
    return text
