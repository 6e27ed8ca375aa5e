"""What compacting costs and what it is worth: before, for every model that might summarize, and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from compact.app.condensing import Condensation, Result
from compact.app.counting import counter_for
from compact.app.estimating import Foreseen, foresee
from compact.app.pricing import Pricing, Summarizer, add_charges
from compact.engine import AskModel
from compact.engine.hidden_secrets import vendors_of
from compact.errors import InvalidConfiguration
from compact.models import Usage
from compact.models.payback import Payback, Rewrite, payback
from compact.models.spending import Charge, Spending
from compact.ports import Answer, Ask, Failure
from compact.providers import Recipe
from compact.settings.spending import add_spending


@dataclass(frozen=True, slots=True)
class Option:
    """A recipe, by its name, with a summarizer; `summarizer` is None where no model is called.

    `warm` is when it has paid for itself if the conversation goes on at once, `cold` if it does so after a pause that
    outlasts the vendor's prompt cache; None where a price is unknown.
    """

    recipe: str
    summarizer: Summarizer | None
    rewrite: Rewrite
    charge: Charge
    warm: Payback | None
    cold: Payback | None

    @property
    def rewriting(self) -> Decimal | None:
        """What the prompt cache costs once."""
        return None if self.warm is None else self.warm.rewrite

    @property
    def saved(self) -> Decimal | None:
        """What each later request saves."""
        return None if self.warm is None else self.warm.saved

    def worth(self, turns: int) -> Decimal | None:
        """What it has saved in all after so many requests, where that is known."""
        return None if self.warm is None else self.warm.after(turns)


class Costing:
    """The recipes for a conversation, priced for the model it is with.

    Without `cache` every request is priced at the full price of its input.
    """

    def __init__(self, condensation: Condensation, *, cache: bool = True) -> None:
        self.condensation = condensation
        self.model = condensation.model
        self._counter = counter_for(self.model.id)
        self._cache = self.model.cache if cache else None

    def foresee(self, recipe: Recipe) -> Foreseen:
        """What the recipe would come to; no model is called."""
        return foresee(self.condensation, recipe)

    def options(self, foreseen: Foreseen, summarizers: Iterable[Summarizer]) -> tuple[Option, ...]:
        """The recipe with each of the summarizers, or by itself where it needs none."""
        if not foreseen.asks:
            return (self._option(foreseen, None, Charge()),)
        return tuple(self._option(foreseen, each, self.charge(foreseen.asks, each)) for each in summarizers)

    def charge(self, asks: Sequence[Ask], summarizer: Summarizer) -> Charge:
        """What the questions would take, as they would be sent to this model."""
        return add_charges(map(Pricing(summarizer).charge, asks))

    def reads(self, asks: Sequence[Ask], summarizer: Summarizer) -> int:
        """How much the summarizer reads at once, in tokens of the conversation's model, which may be larger or less."""
        own, its = self._counter.text, counter_for(summarizer.model).text
        sizes = [(own(ask.material), its(ask.material)) for ask in asks]
        ours, theirs = sum(size for size, _ in sizes), sum(size for _, size in sizes)
        limit = summarizer.facts.max_input
        return limit * ours // theirs if theirs else limit

    def _option(self, foreseen: Foreseen, summarizer: Summarizer | None, charge: Charge) -> Option:
        rewrite = foreseen.rewrite

        def paid(*, warm: bool) -> Payback | None:
            if charge.cost is None:
                return None
            return payback(rewrite, self.model.prices, self._cache, condensing=charge.cost, warm=warm)

        return Option(foreseen.recipe.name, summarizer, rewrite, charge, paid(warm=True), paid(warm=False))


class Metered:
    """Passes questions on, and adds up what their answers really took."""

    def __init__(self, ask: AskModel) -> None:
        self._ask = ask
        self._asks: list[Ask] = []
        self._answers: list[Answer] = []

    @property
    def vendors(self) -> frozenset[str]:
        return vendors_of(self._ask)

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        answers = self._ask(asks)
        self._asks += asks
        self._answers += answers
        return answers

    @property
    def limit(self) -> int:
        """How long the answers might have been together."""
        return sum(ask.max_tokens for ask in self._asks)

    @property
    def model(self) -> str:
        """The model that answered last, as it calls itself."""
        return next((got.model for got in reversed(self._answers) if not isinstance(got, Failure)), "")

    @property
    def charge(self) -> Charge:
        """What it took; a failure is not charged for, and an answer of unknown cost makes the sum unknown."""
        return add_charges(
            [
                Charge(1, (got.usage or Usage()).total_input, (got.usage or Usage()).output, got.cost)
                for got in self._answers
                if not isinstance(got, Failure)
            ]
        )


def condense_metered(
    costing: Costing, recipe: Recipe, summarizers: Sequence[Summarizer], ask: AskModel
) -> tuple[Result, Spending]:
    """Compact with a model, and keep what it was expected to cost beside what it did.

    The first of the summarizers is expected to answer; the others are those that may take over.
    """
    asks = costing.foresee(recipe).asks
    expected = costing.charge(asks, summarizers[0])
    metered = Metered(ask)
    result = costing.condensation.run(recipe, metered, reads=costing.reads(asks, summarizers[0]))
    sizes = result.report.tokens_before, result.report.tokens_after
    return result, record_spending(recipe.name, summarizers, metered, expected, sizes)


def record_spending(
    recipe: str, summarizers: Sequence[Summarizer], metered: Metered, expected: Charge, sizes: tuple[int, int]
) -> Spending:
    """What a compaction was expected to cost beside what it did; recorded where a model answered."""
    answered = _who_answered(summarizers, metered.model)
    record = Spending(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        way=recipe,
        profile=answered.name,
        model=answered.facts.id,
        estimated=expected,
        actual=metered.charge,
        limit=metered.limit,
        tokens_before=sizes[0],
        tokens_after=sizes[1],
    )
    if record.actual.questions:
        # What has been paid for is not lost because it cannot be written down.
        with suppress(InvalidConfiguration):
            add_spending(record)
    return record


def _who_answered(summarizers: Sequence[Summarizer], model: str) -> Summarizer:
    named = [summarizer for summarizer in summarizers if model.startswith(summarizer.called)]
    return max(named, key=lambda summarizer: len(summarizer.called), default=summarizers[0])
