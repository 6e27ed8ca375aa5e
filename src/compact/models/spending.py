"""What summaries cost: foreseen, really, and one against the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal, InvalidOperation
from statistics import median
from typing import Any, NamedTuple

from compact.ports import CompactionFacts

FEWEST = 3
"""Bills of a model for one recipe before the lengths of its answers are relied on."""
_RECENT = 20
"""How many of the latest bills count."""


class AnswerShares(NamedTuple):
    """How much of the length that is asked for an answer takes: a short one, the usual one, and a long one.

    The usual one has at least so many tokens, `least`, if so many are asked for.
    """

    low: float
    usual: float
    high: float
    least: int = 0

    def lengths(self, asked: int) -> tuple[float, float, float]:
        """How long answers are of which so many tokens are asked for."""
        return asked * self.low, max(asked * self.usual, min(asked, self.least)), asked * self.high


PRIOR = AnswerShares(0.3, 0.6, 2.0, 100)
"""The shares assumed until a model has sent enough bills."""


@dataclass(frozen=True, slots=True)
class Charge:
    """Questions to a model, the tokens they take, and what they cost in dollars, where the price is known.

    An estimate costs from `low` to `high`, depending on how long the answers will be; a bill costs what it says.
    """

    questions: int = 0
    input: int = 0
    output: int = 0
    cost: Decimal | None = Decimal(0)
    low: Decimal | None = None
    high: Decimal | None = None

    def __add__(self, other: Charge) -> Charge:
        """Both together; an unknown cost makes the sum unknown."""
        is_range = self.low is not None or other.low is not None
        (low, high), (others_low, others_high) = self.range, other.range
        return Charge(
            self.questions + other.questions,
            self.input + other.input,
            self.output + other.output,
            _add(self.cost, other.cost),
            _add(low, others_low) if is_range else None,
            _add(high, others_high) if is_range else None,
        )

    @property
    def range(self) -> tuple[Decimal | None, Decimal | None]:
        """The least and the most that it costs."""
        return (self.cost, self.cost) if self.low is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Spending:
    """The expected and the actual cost of one compaction's questions.

    `at` is the time in UTC, `limit` the length that was asked for, of all answers together, in tokens. `compaction` is
    the id of the compaction that they were asked for, and `facts` its record, where they were written down after it.
    The tokens before and after are those that earlier versions wrote; they are 0 where they are not known.
    """

    at: str
    way: str
    profile: str
    model: str
    estimated: Charge
    actual: Charge
    limit: int
    tokens_before: int = 0
    tokens_after: int = 0
    compaction: str = ""
    facts: CompactionFacts | None = None

    @property
    def error(self) -> float | None:
        """By which share of the actual cost the estimate was too high, or too low if negative."""
        expected, spent = self.estimated.cost, self.actual.cost
        return float((expected - spent) / spent) if expected is not None and spent else None

    def to_json(self) -> dict[str, Any]:
        """Plain values; money as text, so that nothing is rounded."""
        facts = self.facts and self.facts.to_json()
        return {key: _plain(value) for key, value in asdict(replace(self, facts=None)).items()} | {"facts": facts}

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
                compaction=str(data.get("compaction") or ""),
                facts=CompactionFacts.from_json(facts) if isinstance(facts := data.get("facts"), dict) else None,
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


def find_shares(records: Iterable[Spending], model: str, recipe: str) -> AnswerShares:
    """How much of the length asked for the model's answers take with a recipe, by its latest bills."""
    found = [
        record.actual.output / record.limit
        for record in records
        if (record.model, record.way) == (model, recipe) and record.limit > 0 and record.actual.output > 0
    ][-_RECENT:]
    return PRIOR if len(found) < FEWEST else AnswerShares(min(found), median(found), max(found))


def _add(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    return None if one is None or other is None else one + other


def _charge(data: Mapping[str, Any]) -> Charge:
    given = data["cost"], data.get("low"), data.get("high")  # earlier versions had no range
    costs = [None if amount is None else Decimal(str(amount)) for amount in given]
    if not all(cost is None or cost.is_finite() for cost in costs):
        raise TypeError("a cost is not finite")
    return Charge(int(data["questions"]), int(data["input"]), int(data["output"]), *costs)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return str(value) if isinstance(value, Decimal) else value
