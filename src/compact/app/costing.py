"""What compacting costs and what it is worth: before, for every model that might summarize, and after."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from compact.app.condensing import Condensation, Result
from compact.app.estimating import Foreseen, foresee
from compact.app.learning import learn_calibration
from compact.app.pricing import Pricing, Summarizer, find_summarizer, sent
from compact.engine import AskModel
from compact.engine.relays import Relay
from compact.errors import CompactError, InvalidConfiguration
from compact.models import Usage
from compact.models.payback import Payback, Rewrite
from compact.models.spending import Charge, Spending
from compact.ports import Answer, Ask, CompactionFacts, Failure
from compact.providers import Recipe
from compact.settings.spending import add_spending

_WORTH_LEARNING = 2_000
"""Tokens of a question that a model's calibration is learned from; of smaller ones the frame weighs too much."""
_ROOMY, _SHARE = 2, 4
"""A model that reads this many times a conversation, and this many summaries beside, is asked about it as a whole."""


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
        self._cache = self.model.cache if cache else None

    def options(self, recipe: Recipe, summarizers: Iterable[Summarizer]) -> tuple[Option, ...]:
        """The recipe with each of the summarizers, or by itself where it needs none; no model is called."""
        found: list[Option] = []
        first: Foreseen | None = None
        for summarizer in summarizers:
            if first is None or not _asks_alike(first, found[0].summarizer, summarizer):
                foreseen = foresee(self.condensation, recipe, [summarizer])
                first = first or foreseen
            else:
                foreseen = replace(first, charge=price(first.asks, [summarizer], recipe.name))
            found.append(self._option(foreseen, summarizer if foreseen.asks else None))
            if not foreseen.asks:
                return (found[-1],)
        return tuple(found)

    def _option(self, foreseen: Foreseen, summarizer: Summarizer | None) -> Option:
        warm, cold = (foreseen.payback(self._cache, warm=warm) for warm in (True, False))
        return Option(foreseen.recipe.name, summarizer, foreseen.rewrite, foreseen.charge, warm, cold)


def _asks_alike(foreseen: Foreseen, one: Summarizer | None, other: Summarizer) -> bool:
    """True if both get the same questions: each reads all of the conversation at once, and may see the same of it."""
    if one is None or one.vendor != other.vendor:
        return False
    longest = max(ask.max_tokens for ask in foreseen.asks)
    enough = _ROOMY * foreseen.rewrite.before + _SHARE * longest
    return all(each.reader is None or each.reader.limit >= enough for each in (one, other))


def price(asks: Iterable[Ask], summarizers: Sequence[Summarizer], recipe: str) -> Charge:
    """Return the expected charge of a recipe's questions, by the models that they go to."""
    pricing = {one.name: Pricing(one, recipe) for one in summarizers}
    return sum((pricing[find_summarizer(summarizers, ask.profile).name].charge(ask) for ask in asks), Charge())


class Metered(Relay):
    """Passes questions on, and adds up what their answers really took."""

    def __init__(self, ask: AskModel) -> None:
        super().__init__(ask)
        self._asks: list[Ask] = []
        self._answers: list[Answer] = []

    def __call__(self, asks: Sequence[Ask]) -> tuple[Answer, ...]:
        answers = self._ask(asks)
        self._asks += asks
        self._answers += answers
        return answers

    @property
    def answered(self) -> list[tuple[Ask, Answer]]:
        """The questions that a model answered, with the answers."""
        return [(ask, got) for ask, got in zip(self._asks, self._answers, strict=True) if not isinstance(got, Failure)]

    @property
    def limit(self) -> int:
        """How long the answers were to be together."""
        return sum(ask.wished for ask, _ in self.answered)

    @property
    def model(self) -> str:
        """The model that answered last, as it calls itself."""
        return next((got.model for got in reversed(self._answers) if not isinstance(got, Failure)), "")

    @property
    def charge(self) -> Charge:
        """What it took; a failure is not charged for, and an answer of unknown cost makes the sum unknown."""
        usages = ((got.usage or Usage(), got.cost) for got in self._answers if not isinstance(got, Failure))
        return sum((Charge(1, usage.total_input, usage.output, cost) for usage, cost in usages), Charge())


def condense_metered(
    costing: Costing, recipe: Recipe, summarizers: Sequence[Summarizer], ask: AskModel
) -> tuple[Result, Spending]:
    """Compact with a model, and keep what it was expected to cost beside what it did.

    The first of the summarizers is expected to answer; the others are those that may take over.
    """
    condensation = costing.condensation
    expected = foresee(condensation, recipe, summarizers).charge
    metered = Metered(ask)
    result = condensation.run(recipe, metered)
    return result, record_spending(recipe.name, summarizers, metered, expected, result.report.facts)


def record_spending(
    recipe: str,
    summarizers: Sequence[Summarizer],
    metered: Metered,
    expected: Charge,
    done: CompactionFacts | str,
) -> Spending:
    """Record the expected and the actual cost of a compaction, and learn from it, where a model answered.

    `done` is its record, or its id where it failed or goes on.
    """
    answered = _who_answered(summarizers, metered.model)
    # What failed may say something of the conversation.
    facts = None if isinstance(done, str) else replace(done, why_offline="", failure="")
    record = Spending(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        way=recipe,
        profile=answered.name,
        model=answered.facts.id,
        estimated=expected,
        actual=metered.charge,
        limit=metered.limit,
        tokens_before=facts.tokens_before if facts else 0,
        tokens_after=facts.tokens_after if facts else 0,
        compaction=done if isinstance(done, str) else done.id,
        facts=facts,
    )
    if record.actual.questions:
        # What has been paid for is not lost because it cannot be written down.
        with suppress(InvalidConfiguration):
            add_spending(record)
        _learn(answered, metered.answered)
    return record


def _learn(summarizer: Summarizer, answered: Sequence[tuple[Ask, Answer]]) -> None:
    """Learn from a bill how the vendor counts, where it keeps its tokenizer to itself."""
    if summarizer.facts.exact:
        return
    for ask, answer in answered:
        usage = None if isinstance(answer, Failure) else answer.usage
        if usage is not None and usage.total_input >= _WORTH_LEARNING:
            with suppress(CompactError):  # it cannot be a count of this question, or cannot be written down
                learn_calibration(sent(ask), summarizer.model, usage.total_input, certain=False)
                return


def _who_answered(summarizers: Sequence[Summarizer], model: str) -> Summarizer:
    named = [summarizer for summarizer in summarizers if model.startswith(summarizer.called)]
    return max(named, key=lambda summarizer: len(summarizer.called), default=summarizers[0])
