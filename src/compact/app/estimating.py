"""What a compaction would come to, before anything is spent.

The engine itself is run on the real conversation, and no model is called: each question is answered by a text of the
size that an answer is expected to have. Everything else is as it would be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypedDict, Unpack

from compact import formats
from compact.app.condensing import Condensation, Result
from compact.app.counting import DEFAULT_MODEL, counter_for
from compact.app.pricing import Pricing, Summarizer, find_summarizer
from compact.app.recipes import resolve_recipe
from compact.messages import Conversation, Json, fingerprint
from compact.models import CacheRules, Model, Usage
from compact.models.payback import Payback, Rewrite, payback
from compact.models.spending import Charge
from compact.ports import Ask, Completion, ReadingLimits
from compact.providers import Recipe

_LATENCY = 1.5
_TOKENS_PER_SECOND = 60
_WORD = " ..."
_WORDS = _WORD * 100


class Given(TypedDict, total=False):
    """What else `condense` takes."""

    recipe: str | None
    provider: str | None
    preset: str | None
    config: Mapping[str, Any] | None
    system: Json
    tools: Sequence[Json] | None
    variant: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a compaction would come to.

    `asks` questions would be put to a model; they cost about `cost` dollars, from `least_cost` to `most_cost` by how
    long the answers are, None where the model's price is unknown, and take about `seconds` to answer. `saved` is what
    each later request would cost less, with the prompt cache of the conversation's model.
    """

    tokens_before: int
    tokens_after: int
    target: int | None
    asks: int
    cost: Decimal | None
    saved: Decimal | None
    seconds: float
    least_cost: Decimal | None = None
    most_cost: Decimal | None = None

    @property
    def reduction(self) -> float:
        """The share of the tokens that would go."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    @property
    def target_met(self) -> bool:
        return self.target is None or self.tokens_after <= self.target


@dataclass(frozen=True, slots=True)
class Foreseen:
    """An estimated run of a recipe: its result, the questions as they would be sent, and what their answers take."""

    recipe: Recipe
    result: Result
    asks: tuple[Ask, ...]
    charge: Charge
    seconds: float
    model: Model

    @property
    def estimate(self) -> Estimate:
        report, (least, most) = self.result.report, self.charge.range
        return Estimate(
            tokens_before=report.tokens_before,
            tokens_after=report.tokens_after,
            target=report.target,
            asks=self.charge.questions,
            cost=self.charge.cost,
            saved=report.saved,
            seconds=self.seconds,
            least_cost=least,
            most_cost=most,
        )

    @property
    def rewrite(self) -> Rewrite:
        """How large a request is before and after, and how much of its beginning stays."""
        report = self.result.report
        return Rewrite(report.tokens_before, report.tokens_after, report.kept_prefix)

    def payback(self, cache: CacheRules | None, *, warm: bool = True) -> Payback | None:
        """When it has paid for itself, by the prices of the conversation's model; None where a price is unknown."""
        cost = self.charge.cost
        return None if cost is None else payback(self.rewrite, self.model.prices, cache, condensing=cost, warm=warm)


def estimate(
    messages: Sequence[Json] | Mapping[str, Json] | Conversation,
    *,
    model: str = DEFAULT_MODEL,
    target: float | None = None,
    **given: Unpack[Given],
) -> Estimate:
    """What `condense` would come to if it were given the same, with the model answering what it is asked."""
    system, tools = given.pop("system", None), given.pop("tools", None)
    whole = messages if isinstance(messages, Conversation) else formats.parse(messages, system=system, tools=tools)
    recipe = resolve_recipe(
        given.get("recipe"), provider=given.get("provider"), preset=given.get("preset"), config=given.get("config")
    )
    return foresee(Condensation(whole, model, target, variant=given.get("variant", "")), recipe).estimate


def foresee(condensation: Condensation, recipe: Recipe, summarizers: Sequence[Summarizer] = ()) -> Foreseen:
    """What the recipe would come to; no model is called.

    The questions are those that the first of the summarizers would get, or those of them that passes name. Without any,
    they are those of a callback, priced for the conversation's own model.
    """
    model = condensation.model
    asking = Asking(recipe.name, summarizers or [Summarizer.unknown(model)])
    result = condensation.run(recipe, asking)
    return Foreseen(recipe, result, tuple(asking.asks), asking.charge, asking.seconds, model)


class Asking:
    """A callback that answers by the size of an answer, and keeps the questions and what they would take."""

    def __init__(self, recipe: str, summarizers: Sequence[Summarizer]) -> None:
        self.asks: list[Ask] = []
        self.seconds = 0.0
        self.charge = Charge()
        self._summarizers = summarizers
        self._pricing = {one.name: Pricing(one, recipe) for one in summarizers}

    @property
    def vendors(self) -> frozenset[str]:
        return frozenset(one.vendor for one in self._summarizers)

    def reader(self, profile: str) -> ReadingLimits | None:
        return find_summarizer(self._summarizers, profile).reader

    def __call__(self, asks: Sequence[Ask]) -> tuple[Completion, ...]:
        chosen = [find_summarizer(self._summarizers, ask.profile) for ask in asks]
        charges = [self._pricing[one.name].charge(ask) for one, ask in zip(chosen, asks, strict=True)]
        self.asks += asks
        self.charge = sum(charges, self.charge)
        # Those that are asked together are answered together.
        longest = max((charge.output for charge in charges), default=0)
        self.seconds += _LATENCY + longest / _TOKENS_PER_SECOND
        return tuple(map(_answer, asks, charges, chosen))


def _answer(ask: Ask, charge: Charge, summarizer: Summarizer) -> Completion:
    words = charge.output * len(_WORDS) // (len(_WORD) * counter_for(summarizer.model).text(_WORDS)) or 1
    # No two answers are alike, or one would be taken for a repetition of the other.
    text = f"{fingerprint(ask.instructions + ask.material)[:8]}{_WORD * words}"
    usage = Usage(charge.input, charge.output)
    return Completion(text, charge.cost, estimated=True, usage=usage, model=summarizer.facts.id)
