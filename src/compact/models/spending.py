"""What summaries cost: foreseen, really, and one against the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from statistics import median
from typing import Any

FEWEST = 3
"""Condensations of one model before its habits are relied on."""


@dataclass(frozen=True, slots=True)
class Charge:
    """Questions to a model, the tokens they take, and what they cost in dollars, where the price is known."""

    questions: int = 0
    input: int = 0
    output: int = 0
    cost: Decimal | None = Decimal(0)


@dataclass(frozen=True, slots=True)
class Spending:
    """One condensation: what it was expected to cost and what it did.

    `at` is the time in UTC, `limit` the tokens that the answers might have had together. The tokens before and after
    are 0 where they are not known.
    """

    at: str
    way: str
    profile: str
    model: str
    estimated: Charge
    actual: Charge
    limit: int
    tokens_before: int
    tokens_after: int

    @property
    def error(self) -> float | None:
        """By which share of the actual cost the estimate was too high, or too low if negative."""
        expected, spent = self.estimated.cost, self.actual.cost
        return float((expected - spent) / spent) if expected is not None and spent else None

    def to_json(self) -> dict[str, Any]:
        """Plain values; money as text, so that nothing is rounded."""
        return {key: _plain(value) for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Spending:
        """What `to_json` gave; ValueError where it is something else."""
        try:
            return cls(
                at=str(data["at"]),
                way=str(data["way"]),
                profile=str(data["profile"]),
                model=str(data["model"]),
                estimated=_charge(data["estimated"]),
                actual=_charge(data["actual"]),
                limit=int(data["limit"]),
                tokens_before=int(data["tokens_before"]),
                tokens_after=int(data["tokens_after"]),
            )
        except (KeyError, TypeError, AttributeError, ValueError, InvalidOperation) as error:
            raise ValueError(f"no record of a condensation: {error}") from None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well costs were foreseen: of how many condensations, how many within a fifth, and the median miss."""

    condensations: int
    within_a_fifth: int
    median_miss: float | None
    spent: Decimal


def accuracy(records: Iterable[Spending]) -> Accuracy:
    """How the estimates stood up."""
    known = list(records)
    misses = [abs(error) for record in known if (error := record.error) is not None]
    spent = sum((record.actual.cost for record in known if record.actual.cost is not None), Decimal(0))
    close = sum(1 for miss in misses if miss <= 0.2)
    return Accuracy(len(misses), close, median(misses) if misses else None, spent)


def habits(records: Iterable[Spending]) -> dict[str, float]:
    """For each model that was asked often enough, the usual share of the room for its answers that it fills."""
    shares: dict[str, list[float]] = {}
    for record in records:
        if record.limit > 0 and record.actual.output > 0:
            shares.setdefault(record.model, []).append(min(1.0, record.actual.output / record.limit))
    return {model: median(found) for model, found in shares.items() if len(found) >= FEWEST}


def _charge(data: Mapping[str, Any]) -> Charge:
    cost = None if data["cost"] is None else Decimal(str(data["cost"]))
    if cost is not None and not cost.is_finite():
        raise TypeError("a cost is not finite")
    return Charge(int(data["questions"]), int(data["input"]), int(data["output"]), cost)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return str(value) if isinstance(value, Decimal) else value
