"""What compactions have come to: tokens and dollars by day and by kind, and what would save more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias

from compact import models
from compact.app.condensing import Condensation
from compact.app.costing import Costing, Option
from compact.app.pricing import Summarizer
from compact.app.profiles import find_profile
from compact.app.recipes import list_recipes, resolve_recipe
from compact.app.recommending import recommend
from compact.engine.stored.snapshots import describe_summary
from compact.messages import Conversation, Json
from compact.models import Usage, find_model
from compact.models.payback import Payback, Rewrite, payback
from compact.models.spending import Spending
from compact.ports import Snapshot, StoredSession
from compact.settings.profiles import load_profiles

Grouping: TypeAlias = Literal["provider", "strategy", "trigger", "preset", "step"]
GROUPINGS: tuple[Grouping, ...] = ("provider", "strategy", "trigger", "preset", "step")
STORED = "stored sessions"
"""The provider of compactions in the database, whose sizes the database itself knows."""
_COMPRESSED = ("automatic", "manual")
_CONDENSED = "compact.condensed"
_USUAL = ("openai", "anthropic", "gemini")
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Done:
    """One compaction, as far as it is known; `model` is the conversation's, and empty where it is unknown.

    `spent` is what the summary cost. One that failed has no sizes. `steps` are its passes, each with its own sizes.
    """

    at: str
    provider: str
    before: int = 0
    after: int = 0
    model: str = ""
    strategy: str = ""
    trigger: str = ""
    preset: str = ""
    session: str = ""
    title: str = ""
    spent: Decimal | None = None
    failed: bool = False
    step: str = ""
    steps: tuple[Done, ...] = ()

    @property
    def saved(self) -> int:
        """The tokens that the next request takes less."""
        return self.before - self.after

    @property
    def worth(self) -> Decimal | None:
        """What the next request costs less at the full price of input; None where the price is unknown."""
        if not self.model:
            return None
        prices = find_model(self.model).prices
        costs = [models.cost(Usage(input=tokens), prices) for tokens in (self.before, self.after)]
        return None if costs[0] is None or costs[1] is None else costs[0] - costs[1]

    def payback(self) -> Payback | None:
        """When it has paid for itself, as if nothing of the beginning had stayed in the vendor's cache."""
        facts = find_model(self.model)
        spent = self.spent or _NOTHING
        return payback(Rewrite(self.before, self.after, 0), facts.prices, facts.cache, condensing=spent)


@dataclass(frozen=True, slots=True)
class Total:
    """Several compactions together; `unpriced` is how many of them have no known price, and are not in `worth`."""

    compressions: int
    failures: int
    before: int
    after: int
    worth: Decimal
    unpriced: int
    spent: Decimal

    @property
    def saved(self) -> int:
        return self.before - self.after


def of_session(session: StoredSession, snapshots: Iterable[Snapshot]) -> Iterator[Done]:
    """The compactions of a stored session; a summary that was edited or written anew saved nothing further."""
    for snapshot in snapshots:
        summary = describe_summary(snapshot)
        before, after = summary.tokens_before, summary.tokens_after
        if before is not None and after is not None and summary.trigger in _COMPRESSED:
            yield Done(
                at=snapshot.created,
                provider=STORED,
                before=before,
                after=after,
                model=session.model,
                strategy=summary.strategy,
                trigger=summary.trigger,
                session=session.id,
                title=session.title,
            )


def of_spans(spans: Iterable[Mapping[str, Json]]) -> Iterator[Done]:
    """The compactions that traces tell of; of those in the database only the failures, which it does not know."""
    for span in spans:
        data = span.get("data")
        if span.get("name") != _CONDENSED or not isinstance(data, dict):
            continue
        provider, failed = str(data.get("provider", "")), span.get("status") == "error"
        if provider == STORED and not failed:
            continue
        before, after = (_count(data.get(key)) for key in ("tokens_before", "tokens_after"))
        known = before is not None and after is not None and not failed
        yield Done(
            at=str(span.get("ended_at", "")),
            provider=provider,
            before=(before or 0) if known else 0,
            after=(after or 0) if known else 0,
            trigger="automatic" if data.get("automatic") is True else "manual",
            spent=_money(data.get("cost")),
            failed=failed,
            steps=tuple(_passes(data.get("passes"), str(span.get("ended_at", "")), provider)),
        )


def _passes(told: Json, at: str, provider: str) -> Iterator[Done]:
    for row in told if isinstance(told, list) else ():
        if not isinstance(row, dict):
            continue
        before, after = _count(row.get("tokens_before")), _count(row.get("tokens_after"))
        if before is not None and after is not None:
            yield Done(at, provider, before, after, step=str(row.get("name", "")))


def of_spending(records: Iterable[Spending]) -> Iterator[Done]:
    """The condensations that a model was paid for at the command line."""
    for record in records:
        yield Done(
            at=record.at,
            provider="command line",
            before=record.tokens_before,
            after=record.tokens_after,
            trigger="manual",
            preset=record.way,
            spent=record.actual.cost,
        )


def total(done: Sequence[Done]) -> Total:
    """All of them together."""
    good = [one for one in done if not one.failed]
    worths = [one.worth for one in good]
    return Total(
        compressions=len(good),
        failures=len(done) - len(good),
        before=sum(one.before for one in good),
        after=sum(one.after for one in good),
        worth=sum((worth for worth in worths if worth is not None), _NOTHING),
        unpriced=sum(worth is None for worth in worths),
        spent=sum((one.spent for one in done if one.spent is not None), _NOTHING),
    )


def by_day(done: Sequence[Done], since: date, until: date) -> Iterator[tuple[date, Total]]:
    """Every day from the first to the last, also those on which nothing happened; days are UTC's."""
    days: dict[str, list[Done]] = {}
    for one in done:
        days.setdefault(one.at[:10], []).append(one)
    for offset in range((until - since).days + 1):
        day = since + timedelta(days=offset)
        yield day, total(days.get(day.isoformat(), []))


def grouped(done: Sequence[Done], by: Grouping) -> Iterator[tuple[str, Total]]:
    """The compactions of each provider, strategy, trigger, preset or pass; those without a name are left out."""
    groups: dict[str, list[Done]] = {}
    for one in (step for whole in done for step in whole.steps) if by == "step" else done:
        if name := str(getattr(one, by)):
            groups.setdefault(name, []).append(one)
    yield from ((name, total(groups[name])) for name in sorted(groups))


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do for less money, and how much less that is over the requests that were counted on."""

    text: str
    saves: Decimal | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every recipe for a conversation with every model that might summarize, priced."""

    costing: Costing
    options: tuple[Option, ...]
    turns: int

    def advice(self) -> tuple[Advice, ...]:
        """Which model should summarize, and which recipe pays most."""
        *cheaper, best = recommend(self.options, turns=self.turns)
        worth = max((worth for option in self.options if (worth := option.worth(self.turns)) is not None), default=None)
        return (
            *(Advice(text, self._difference()) for text in cheaper),
            Advice(best, worth if worth is not None and worth > 0 else None),
        )

    def _difference(self) -> Decimal:
        """How much less the cheapest summarizer costs than the first, for the recipe where that is most."""
        most = _NOTHING
        for recipe in {option.recipe for option in self.options}:
            costs = [
                option.charge.cost
                for option in self.options
                if option.recipe == recipe and option.summarizer and option.charge.cost is not None
            ]
            if costs:
                most = max(most, costs[0] - min(costs))
        return most


def compare(conversation: Conversation, model: str, *, turns: int = 20) -> Comparison:
    """What compacting the conversation would cost and save; no model is called."""
    costing = Costing(Condensation(conversation, model, None))
    who = summarizers(model)
    recipes = [resolve_recipe(name) for name, _ in list_recipes()]
    options = [option for recipe in recipes for option in costing.options(recipe, who)]
    return Comparison(costing, tuple(options), turns)


def summarizers(model: str, names: Sequence[str] = ()) -> list[Summarizer]:
    """Who might summarize, the one that would be asked first: profiles by name, else those configured, else the model.

    The model itself is always among them; where no profile is named or configured, so are the vendors' cheap ones.
    """
    chosen = [find_profile(name) for name in names] or load_profiles().for_condensation()
    itself = Summarizer(find_model(model).id, model)
    usual = [Summarizer.of(find_profile(vendor)) for vendor in _USUAL]
    found = [*map(Summarizer.of, chosen), itself] if chosen else [itself, *usual]
    return list({summarizer.name: summarizer for summarizer in found}.values())


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) else None


def _money(value: Json) -> Decimal | None:
    try:
        amount = Decimal(str(value)) if value is not None else None
    except InvalidOperation:
        return None
    return amount if amount is not None and amount.is_finite() else None
