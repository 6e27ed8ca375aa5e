"""What condensing costs and what it is worth: before, for every model that might summarize, and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from compact import formats, models
from compact.app.condensing import Condensation, Result
from compact.app.counting import counter_for
from compact.app.estimating import Estimate, estimate_way
from compact.app.overhearing import Overheard, Reading, usual_size
from compact.engine import AskModel
from compact.errors import InvalidConfiguration
from compact.messages import Conversation, Json, common_prefix
from compact.models import Model, Usage, find_model
from compact.models.payback import Payback, Rewrite, payback
from compact.models.spending import Charge, Spending, habits
from compact.policies import Profile
from compact.ports import Answer, Ask, Failure
from compact.providers import Provider
from compact.settings.spending import add_spending, load_spending
from compact.tokens import Counter


class Way(NamedTuple):
    """A way to condense: what it is called, and the provider with its settings."""

    name: str
    provider: Provider
    settings: Any


class Summarizer(NamedTuple):
    """A model that may write the summaries: the name of its profile, its own, and how long its answers may be.

    `called` is how the vendor's answers begin to name it: a date may follow.
    """

    name: str
    model: str
    most: int | None = None
    called: str = ""

    @classmethod
    def of(cls, profile: Profile) -> Summarizer:
        return cls(profile.name, profile.catalogue_name, profile.max_output_tokens, profile.model)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a way would come to: its estimate, the questions as they would be sent, and what they leave."""

    way: Way
    estimate: Estimate
    asks: tuple[Ask, ...]
    rewrite: Rewrite


@dataclass(frozen=True, slots=True)
class Option:
    """A way with a summarizer; `summarizer` is None where nobody is asked.

    `warm` is when it has paid for itself if the conversation goes on at once, `cold` if it does so after a pause that
    outlasts the vendor's prompt cache; None where a price is unknown.
    """

    way: str
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
    """The ways to condense a conversation, priced for the model it is with.

    Without `cache` every request is reckoned at the full price of its input.
    """

    def __init__(self, condensation: Condensation, *, cache: bool = True) -> None:
        self.condensation = condensation
        self.model = condensation.model
        self._counter = counter_for(self.model.id)
        self._cache = self.model.cache if cache else None
        self._habits = habits(load_spending())

    def foresee(self, way: Way) -> Foreseen:
        """What the way would come to; nobody is asked."""
        overheard = Overheard(way.provider)
        estimate = estimate_way(self.condensation, overheard, way.settings)
        after = overheard.left()
        if after is None:
            # Either nothing had to be done, or what comes before the provider's own passes was enough.
            after = self.condensation.run(way.provider, way.settings).conversation
        kept = self._kept(after)
        rewrite = Rewrite(estimate.tokens_before, estimate.tokens_after, min(kept, estimate.tokens_after))
        return Foreseen(way, estimate, tuple(overheard.asks), rewrite)

    def options(self, foreseen: Foreseen, summarizers: Iterable[Summarizer]) -> tuple[Option, ...]:
        """The way with each of the summarizers, or by itself where it needs none."""
        if not foreseen.asks:
            return (self._option(foreseen, None, Charge()),)
        return tuple(self._option(foreseen, each, self.charge(foreseen.asks, each)) for each in summarizers)

    def charge(self, asks: Sequence[Ask], summarizer: Summarizer) -> Charge:
        """What the questions would take, as they would be sent to this model."""
        model = find_model(summarizer.model)
        counter = counter_for(summarizer.model)
        share = self._habits.get(model.id)
        seen: set[str] = set()
        charges = []
        for ask in asks:
            # The same text put twice, such as a file that was read twice, is in the vendor's cache by then.
            again = ask.material in seen and _caches_by_itself(model)
            seen.add(ask.material)
            charges.append(_foreseen_charge(ask, model, counter, _room(ask, summarizer, share), again=again))
        return _added(charges)

    def reads(self, asks: Sequence[Ask], summarizer: Summarizer) -> int:
        """How much the summarizer reads at once, in tokens of the conversation's model, which may be larger or less."""
        own, its = self._counter.text, counter_for(summarizer.model).text
        sizes = [(own(ask.material), its(ask.material)) for ask in asks]
        ours, theirs = sum(size for size, _ in sizes), sum(size for _, size in sizes)
        limit = find_model(summarizer.model).max_input
        return limit * ours // theirs if theirs else limit

    def _option(self, foreseen: Foreseen, summarizer: Summarizer | None, charge: Charge) -> Option:
        def paid(*, warm: bool) -> Payback | None:
            if charge.cost is None:
                return None
            return payback(foreseen.rewrite, self.model.prices, self._cache, condensing=charge.cost, warm=warm)

        return Option(foreseen.way.name, summarizer, foreseen.rewrite, charge, paid(warm=True), paid(warm=False))

    def _kept(self, after: Conversation) -> int:
        """The tokens from the start of a request up to the first change: tools, system prompt, messages."""
        before = self.condensation.conversation
        same = common_prefix(
            [message.wire for message in before.messages], [message.wire for message in after.messages]
        )
        frame = self._counter.frame(before, formats.tools_of(before))
        return frame + sum(map(self._counter.message, before.messages[:same]))


class Metered:
    """Passes questions on, and adds up what their answers really took."""

    def __init__(self, ask: AskModel) -> None:
        self._ask = ask
        self._asks: list[Ask] = []
        self._answers: list[Answer] = []

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
        return _added(
            [
                Charge(1, (got.usage or Usage()).total_input, (got.usage or Usage()).output, got.cost)
                for got in self._answers
                if not isinstance(got, Failure)
            ]
        )


def condense_metered(
    costing: Costing, way: Way, summarizers: Sequence[Summarizer], ask: AskModel
) -> tuple[Result, Spending]:
    """Condense with a model, and keep what it was expected to cost beside what it did.

    The first of the summarizers is expected to answer; the others are those that may take over.
    """
    asks = costing.foresee(way).asks
    expected = costing.charge(asks, summarizers[0])
    metered = Metered(ask)
    provider = Reading(way.provider, costing.reads(asks, summarizers[0]))
    result = costing.condensation.run(provider, way.settings, metered)
    answered = _who_answered(summarizers, metered.model)
    record = Spending(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        way=way.name,
        profile=answered.name,
        model=find_model(answered.model).id,
        estimated=expected,
        actual=metered.charge,
        limit=metered.limit,
        tokens_before=result.report.tokens_before,
        tokens_after=result.report.tokens_after,
    )
    if record.actual.questions:
        # What has been paid for is not lost because it cannot be written down.
        with suppress(InvalidConfiguration):
            add_spending(record)
    return result, record


def _who_answered(summarizers: Sequence[Summarizer], model: str) -> Summarizer:
    named = [summarizer for summarizer in summarizers if model.startswith(summarizer.called)]
    return max(named, key=lambda summarizer: len(summarizer.called), default=summarizers[0])


class _Room(NamedTuple):
    """How long an answer may be, and the share of that which it is expected to take, where that is known."""

    most: int
    share: float | None


def _room(ask: Ask, summarizer: Summarizer, share: float | None) -> _Room:
    return _Room(ask.max_tokens if summarizer.most is None else min(ask.max_tokens, summarizer.most), share)


def _caches_by_itself(model: Model) -> bool:
    """Whether the vendor caches without being told to: then it charges nothing for writing."""
    return model.cache is not None and model.prices is not None and model.prices.cache_write is None


def _foreseen_charge(ask: Ask, model: Model, counter: Counter, room: _Room, *, again: bool) -> Charge:
    """What one question would take; one that exceeds what the model reads is put in parts."""
    whole = counter.conversation(_sent(ask)).total
    material = counter.text(ask.material)
    beside = whole - material
    parts = max(1, -(-material // max(1, model.max_input - room.most - beside)))
    size = whole + (parts - 1) * beside
    output = max(1, round(room.most * room.share)) if room.share else usual_size(room.most, material / parts)
    cached = again and parts == 1 and model.cache is not None and whole >= model.cache.minimum
    usage = Usage(cache_read=size, output=output) if cached else Usage(size // parts, output)
    each = models.cost(usage, model.prices)
    return Charge(parts, size, output * parts, None if each is None else each * parts)


def _sent(ask: Ask) -> Conversation:
    said: list[Mapping[str, Json]] = [
        {"role": "system", "content": ask.instructions},
        {"role": "user", "content": ask.material},
    ]
    return formats.parse(said, format="openai-chat")


def _added(charges: Iterable[Charge]) -> Charge:
    total = Charge()
    for each in charges:
        cost = None if total.cost is None or each.cost is None else total.cost + each.cost
        total = Charge(total.questions + each.questions, total.input + each.input, total.output + each.output, cost)
    return total
