"""What compactions have come to: tokens and dollars by day and by kind, and what would save more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal, TypeAlias

from compact.app.condensing import Condensation
from compact.app.costing import Costing, Option
from compact.app.pricing import Summarizer
from compact.app.profiles import find_profile
from compact.app.recipes import list_recipes, resolve_recipe
from compact.app.recommending import recommend
from compact.engine.stored.snapshots import describe_summary
from compact.messages import Conversation, Json
from compact.models import find_model, saved_dollars
from compact.models.payback import Payback, Rewrite, payback
from compact.models.spending import Spending
from compact.ports import CompactionFacts, Snapshot, StoredSession
from compact.settings.profiles import load_profiles

Grouping: TypeAlias = Literal["provider", "strategy", "trigger", "preset", "step", "source"]
GROUPINGS: tuple[Grouping, ...] = ("provider", "strategy", "trigger", "preset", "step", "source")
_COMPRESSED = ("automatic", "manual")
_CONDENSED, _FAILED = "compact.condensed", "compact.error"
_USUAL = ("openai", "anthropic", "gemini")
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Done:
    """One compaction by its record, or one that failed; `session` and `title` where it is of a stored session.

    Money that was paid for a compaction of which no record is known has a record without tokens.
    """

    facts: CompactionFacts
    session: str = ""
    title: str = ""
    failed: bool = False

    @property
    def at(self) -> str:
        return self.facts.ended_at

    @property
    def recorded(self) -> bool:
        """True if it succeeded, and its sizes are known."""
        return self.facts.tokens_before > 0 and not self.failed

    @property
    def compacted(self) -> bool:
        """True if it made the conversation smaller: a summary that is written anew saves nothing further."""
        return self.recorded and self.facts.trigger in _COMPRESSED

    @property
    def key(self) -> object:
        """Return what all records of the compaction share: its id, or in older rows its day and its sizes."""
        facts = self.facts
        return facts.id or (facts.ended_at[:10], facts.tokens_before, facts.tokens_after)

    def names(self, by: Grouping) -> tuple[tuple[str, int, int], ...]:
        """The names by which it is grouped, each with the tokens before and after: of the passes, there are several."""
        facts = self.facts
        if by == "step":
            return facts.passes
        name = facts.recipe if by == "preset" else str(getattr(facts, by))
        return ((name, facts.tokens_before, facts.tokens_after),)

    def payback(self) -> Payback | None:
        """When it has paid for itself, as if nothing of the beginning had stayed in the vendor's cache."""
        facts, model = self.facts, find_model(self.facts.model)
        rewrite = Rewrite(facts.tokens_before, facts.tokens_after, 0)
        return payback(rewrite, model.prices, model.cache, condensing=facts.cost or _NOTHING)


@dataclass(frozen=True, slots=True)
class Total:
    """Several compactions together; `unpriced` is how many of them have no known price, and are not in `worth`.

    `older` is how many were recorded by a version that did not store all their facts.
    """

    compressions: int
    failures: int
    before: int
    after: int
    worth: Decimal
    unpriced: int
    spent: Decimal
    older: int

    @property
    def saved(self) -> int:
        return self.before - self.after


def of_session(session: StoredSession, snapshots: Iterable[Snapshot]) -> Iterator[Done]:
    """The compactions of a stored session; a summary that was edited is none."""
    for snapshot in snapshots:
        facts = describe_summary(snapshot).facts
        if facts is not None:
            known = replace(facts, source="chat", model=session.model) if facts.older else facts
            yield Done(known, session.id, session.title)


def of_spans(spans: Iterable[Mapping[str, Json]]) -> Iterator[Done]:
    """The compactions that traces have records of, and those that failed."""
    for span in spans:
        data, failed = span.get("data"), span.get("status") == "error"
        at = str(span.get("ended_at", ""))
        if not isinstance(data, dict) or (span.get("name") == _FAILED and data.get("fallback")):
            continue
        if failed and span.get("name") in (_CONDENSED, _FAILED):
            yield Done(CompactionFacts(ended_at=at, source=str(data.get("source", ""))), failed=True)
        elif span.get("name") == _CONDENSED:
            facts = CompactionFacts.from_json(data)
            yield Done(facts if facts.ended_at else replace(facts, ended_at=at))


def of_spending(records: Iterable[Spending]) -> Iterator[Done]:
    """The compactions that a model was paid for, and what was paid where nothing more is known of one."""
    for record in records:
        sizes = {"tokens_before": record.tokens_before, "tokens_after": record.tokens_after}
        told = {"id": record.compaction, "ended_at": record.at, "recipe": record.way, **sizes}
        facts = record.facts or replace(CompactionFacts.from_json(told), cost=record.actual.cost)
        yield Done(facts)


def merged(done: Iterable[Done]) -> list[Done]:
    """Every compaction once, by the first record of it; what was paid for one that is there is in its record."""
    found: dict[object, Done] = {}
    rest: list[Done] = []
    for one in done:
        if one.recorded:
            found.setdefault(one.key, one)
        else:
            rest.append(one)
    return [*found.values(), *(one for one in rest if one.facts.id not in found)]


def total(done: Sequence[Done]) -> Total:
    """All of them together."""
    good = [one.facts for one in done if one.compacted]
    worths = [saved_dollars(facts) for facts in good]
    return Total(
        compressions=len(good),
        failures=sum(one.failed for one in done),
        before=sum(facts.tokens_before for facts in good),
        after=sum(facts.tokens_after for facts in good),
        worth=sum((worth for worth in worths if worth is not None), _NOTHING),
        unpriced=sum(worth is None for worth in worths),
        spent=sum((one.facts.cost for one in done if one.facts.cost is not None), _NOTHING),
        older=sum(facts.older for facts in good),
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
    """The compactions by source, provider, strategy, trigger, recipe or pass; those without a name are left out."""
    groups: dict[str, list[Done]] = {}
    for one in done:
        for name, before, after in one.names(by):
            if name and (one.compacted or one.failed):
                sizes = replace(one.facts, tokens_before=before, tokens_after=after)
                groups.setdefault(name, []).append(replace(one, facts=sizes))
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
