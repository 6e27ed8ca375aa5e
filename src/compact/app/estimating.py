"""What a compaction would come to, before anything is spent.

The engine itself is run on the real conversation, and no model is called: each question is answered by a text of the
size that an answer is expected to have. Everything else is as it would be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypedDict, Unpack

from compact import formats
from compact.app.condensing import Condensation, Result
from compact.app.counting import DEFAULT_MODEL, counter_for
from compact.app.pricing import Pricing, Summarizer, add_charges, usual_size
from compact.app.recipes import resolve_recipe
from compact.messages import Conversation, Json
from compact.models import Usage
from compact.models.payback import Rewrite
from compact.models.spending import Charge
from compact.ports import Ask, Completion
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

    `asks` questions would be put to a model; they cost `cost` dollars, None where the model's price is unknown, and
    take about `seconds` to answer. `saved` is what each later request would cost less, without a prompt cache.
    """

    tokens_before: int
    tokens_after: int
    target: int | None
    asks: int
    cost: Decimal | None
    saved: Decimal | None
    seconds: float

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

    @property
    def estimate(self) -> Estimate:
        report = self.result.report
        return Estimate(
            tokens_before=report.tokens_before,
            tokens_after=report.tokens_after,
            target=report.target,
            asks=self.charge.questions,
            cost=self.charge.cost,
            saved=report.saved,
            seconds=self.seconds,
        )

    @property
    def rewrite(self) -> Rewrite:
        """How large a request is before and after, and how much of its beginning stays."""
        report = self.result.report
        return Rewrite(report.tokens_before, report.tokens_after, report.kept_prefix)


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


def foresee(condensation: Condensation, recipe: Recipe, vendors: Collection[str] | None = None) -> Foreseen:
    """What the recipe would come to; no model is called.

    The questions are those for models of `vendors`, by default the conversation's own.
    """
    name = condensation.model.id
    asking = Asking(Summarizer(name, name), counter_for(name).text)
    asking.vendors = frozenset({condensation.inputs.vendor} if vendors is None else vendors)
    result = condensation.run(recipe, asking)
    return Foreseen(recipe, result, tuple(asking.asks), asking.charge, asking.seconds)


class Asking:
    """A callback that answers by the size of an answer, and keeps the questions and what they would take."""

    def __init__(self, summarizer: Summarizer, count: Callable[[str], int]) -> None:
        self.asks: list[Ask] = []
        self.vendors: frozenset[str] = frozenset()
        self.seconds = 0.0
        self._charges: list[Charge] = []
        self._model = summarizer.model
        self._count = count
        self._pricing = Pricing(summarizer)

    def __call__(self, asks: Sequence[Ask]) -> tuple[Completion, ...]:
        charges = list(map(self._pricing.charge, asks))
        self.asks += asks
        self._charges += charges
        # Those that are asked together are answered together.
        longest = max((charge.output for charge in charges), default=0)
        self.seconds += _LATENCY + longest / _TOKENS_PER_SECOND
        return tuple(map(self._answer, asks, charges))

    @property
    def charge(self) -> Charge:
        """What all questions would take."""
        return add_charges(self._charges)

    def _answer(self, ask: Ask, charge: Charge) -> Completion:
        expected = usual_size(ask.max_tokens, self._count(ask.material))
        words = expected * len(_WORDS) // (len(_WORD) * self._count(_WORDS)) or 1
        usage = Usage(charge.input, charge.output)
        return Completion((_WORD * words).strip(), charge.cost, estimated=True, usage=usage, model=self._model)
