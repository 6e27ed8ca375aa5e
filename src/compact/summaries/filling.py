"""Choosing lines until the budget is used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from compact.summaries.items import Item, Section, heading, render

Count: TypeAlias = Callable[[str], int]

# What a user asked for comes before everything: rules up to this share of the budget, then requests up to that.
RULES_SHARE = 0.75
REQUESTS_SHARE = 0.6
# Shares of what is left then; names and values get the rest, and what a section does not use goes to the others.
SHARES = {
    Section.DIRECTIVES: 0.08,
    Section.SAID: 0.06,
    Section.STATE: 0.18,
    Section.FINDINGS: 0.10,
    Section.DECISIONS: 0.14,
    Section.STEPS: 0.09,
}
_MISFITS = 12
_OVERHEAD = 60


class Basket:
    """The lines chosen so far, and how many tokens are left by an estimate, line by line."""

    def __init__(self, budget: int, count: Count) -> None:
        self.left: float = budget
        self.items: dict[str, Item] = {}
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
        self.items[item.line] = item
        return price

    def take_best(self, items: Iterable[Item], limit: float) -> None:
        """Takes what is worth most for its length, until it fits no longer."""
        misfits = 0
        for item in sorted(items, key=worth, reverse=True):
            if item.line in self.items:
                continue
            price = self.take(item, limit)
            limit -= price
            misfits = 0 if price else misfits + 1
            if misfits == _MISFITS or limit <= 0:
                return


def worth(item: Item) -> tuple[int, float]:
    """What ranks an item: what a user asked for by its value, the rest by value for its length."""
    return item.tier, item.value if item.tier else item.value / (len(item.text) + _OVERHEAD)


def take_directives(items: Iterable[Item], basket: Basket) -> None:
    """Takes what a user asked for, before anything else."""
    budget = basket.left
    asked = [item for item in items if item.tier]
    basket.take_best((item for item in asked if item.tier > 1), RULES_SHARE * budget)
    basket.take_best((item for item in asked if item.tier == 1), REQUESTS_SHARE * budget - (budget - basket.left))


def take_shares(items: Sequence[Item], basket: Basket) -> None:
    """Takes the best of each section, up to its share."""
    rest = basket.left
    for section, share in SHARES.items():
        basket.take_best((item for item in items if item.section is section), share * rest)


def fit(items: Iterable[Item], budget: int, count: Count) -> str:
    """The items rendered, without the least valuable ones if they do not fit after all: estimates are estimates."""
    kept = sorted(items, key=worth, reverse=True)
    text = render(kept)
    while kept and (excess := count(text) - budget) > 0:
        while kept and excess > 0:
            excess -= count(kept.pop().line)
        text = render(kept)
    return text
