"""What questions to a summarizing model cost, as they would be sent to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from compact import formats, models
from compact.app.counting import counter_for
from compact.messages import Conversation, Json
from compact.models import Model, Usage, find_model
from compact.models.spending import AnswerShares, Charge, find_shares
from compact.policies import Profile, model_of
from compact.ports import Ask, ReadingLimits
from compact.settings.spending import load_spending

_LARGEST_SHARE = 3
"""A summary of little is at most this part of it."""


class Summarizer(NamedTuple):
    """A model that may write the summaries: the name of its profile, its own, and how long its answers may be.

    `called` is how the vendor's answers begin to name it: a date may follow. What it takes at once may be unknown.
    """

    name: str
    model: str
    most: int | None = None
    called: str = ""
    profile: Profile | None = None
    reads: bool = True

    @classmethod
    def unknown(cls, model: Model) -> Summarizer:
        """Whoever answers a callback, at the price of this model."""
        return cls(model.id, model.id, reads=False)

    @classmethod
    def of(cls, profile: Profile) -> Summarizer:
        return cls(profile.name, profile.catalogue_name, profile.max_output_tokens, profile.model, profile)

    @property
    def facts(self) -> Model:
        """Its limits and prices: its profile's, else the catalogue's."""
        return find_model(self.model) if self.profile is None else model_of(self.profile)

    @property
    def vendor(self) -> str:
        """The vendor that gets what is asked, as the catalogue names it; empty where that is not known."""
        return self.facts.vendor if self.profile is None else self.profile.recipient

    @property
    def reader(self) -> ReadingLimits | None:
        """The input that it takes at once; None where its limits are not known."""
        facts = self.facts
        known = self.reads and facts.source != "default"
        return ReadingLimits(facts.max_input, counter_for(self.model).text) if known else None


def find_summarizer(summarizers: Sequence[Summarizer], profile: str) -> Summarizer:
    """The one that a question for the profile goes to: the one of that name, else the first."""
    return next((one for one in summarizers if one.name == profile), summarizers[0])


class Pricing:
    """Prices the questions of a recipe to one model, in the order in which they are asked."""

    def __init__(self, summarizer: Summarizer, recipe: str) -> None:
        self._model = summarizer.facts
        self._counter = counter_for(summarizer.model)
        self._most = summarizer.most
        self.shares: AnswerShares = find_shares(load_spending(), self._model.id, recipe)
        self._seen: set[str] = set()

    def charge(self, ask: Ask) -> Charge:
        """Return the expected charge for an answer of the usual length, with a range from the shortest to the longest.

        The same text put twice, such as a file that was read twice, is in the vendor's cache by then.
        """
        again = ask.material in self._seen and self._caches_by_itself
        self._seen.add(ask.material)
        size = self._counter.conversation(sent(ask)).total
        cached = again and self._model.cache is not None and size >= self._model.cache.minimum
        material = self._counter.text(ask.material)
        lengths = [self._fitted(ask, material, length) for length in self.shares.lengths(ask.wished)]
        low, usual, high = (
            models.cost(Usage(cache_read=size, output=length) if cached else Usage(size, length), self._model.prices)
            for length in lengths
        )
        return Charge(1, size, lengths[1], usual, low, high)

    def most(self, ask: Ask) -> Charge:
        """Return the most that the question can cost: an answer that fills all of its room."""
        size, output = self._counter.conversation(sent(ask)).total, self._room(ask)
        return Charge(1, size, output, models.cost(Usage(size, output), self._model.prices))

    def _fitted(self, ask: Ask, material: int, length: float) -> int:
        """The length of an answer that has no more room than it may take, and no more than there is to say."""
        return max(1, round(min(length, self._room(ask), material / _LARGEST_SHARE)))

    def _room(self, ask: Ask) -> int:
        limits = ask.max_tokens, self._most, self._model.max_output
        return min(limit for limit in limits if limit)

    @property
    def _caches_by_itself(self) -> bool:
        """Whether the vendor caches without being told to: then it charges nothing for writing."""
        model = self._model
        return model.cache is not None and model.prices is not None and model.prices.cache_write is None


def sent(ask: Ask) -> Conversation:
    """The question as the request that a model gets."""
    said: list[Mapping[str, Json]] = [
        {"role": "system", "content": ask.instructions},
        {"role": "user", "content": ask.material},
    ]
    return formats.parse(said, format="openai-chat")
