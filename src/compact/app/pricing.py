"""What questions to a summarizing model cost, as they would be sent to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from compact import formats, models
from compact.app.counting import counter_for
from compact.messages import Conversation, Json
from compact.models import Model, Usage, find_model
from compact.models.spending import Charge, habits
from compact.policies import Profile, model_of
from compact.ports import Ask
from compact.settings.spending import load_spending

_USUAL_SHARE = 0.5
"""How much of the room for an answer a model fills, until its habits are known."""
_LARGEST_SHARE = 3
"""A summary of little is at most this part of it."""


class Summarizer(NamedTuple):
    """A model that may write the summaries: the name of its profile, its own, and how long its answers may be.

    `called` is how the vendor's answers begin to name it: a date may follow.
    """

    name: str
    model: str
    most: int | None = None
    called: str = ""
    profile: Profile | None = None

    @classmethod
    def of(cls, profile: Profile) -> Summarizer:
        return cls(profile.name, profile.catalogue_name, profile.max_output_tokens, profile.model, profile)

    @property
    def facts(self) -> Model:
        """Its limits and prices: its profile's, else the catalogue's."""
        return find_model(self.model) if self.profile is None else model_of(self.profile)


class Pricing:
    """Prices questions to one model, in the order in which they are asked."""

    def __init__(self, summarizer: Summarizer) -> None:
        self._model = summarizer.facts
        self._counter = counter_for(summarizer.model)
        self._most = summarizer.most
        self._share = habits(load_spending()).get(self._model.id)
        self._seen: set[str] = set()

    def charge(self, ask: Ask) -> Charge:
        """What the question would take; one that exceeds what the model reads is put in parts."""
        # The same text put twice, such as a file that was read twice, is in the vendor's cache by then.
        again = ask.material in self._seen and self._caches_by_itself
        self._seen.add(ask.material)
        model = self._model
        most = ask.max_tokens if self._most is None else min(ask.max_tokens, self._most)
        whole = self._counter.conversation(_sent(ask)).total
        material = self._counter.text(ask.material)
        beside = whole - material
        parts = max(1, -(-material // max(1, model.max_input - most - beside)))
        size = whole + (parts - 1) * beside
        output = max(1, round(most * self._share)) if self._share else usual_size(most, material / parts)
        cached = again and parts == 1 and model.cache is not None and whole >= model.cache.minimum
        usage = Usage(cache_read=size, output=output) if cached else Usage(size // parts, output)
        each = models.cost(usage, model.prices)
        return Charge(parts, size, output * parts, None if each is None else each * parts)

    @property
    def _caches_by_itself(self) -> bool:
        """Whether the vendor caches without being told to: then it charges nothing for writing."""
        model = self._model
        return model.cache is not None and model.prices is not None and model.prices.cache_write is None


def usual_size(most: int, material: float) -> int:
    """How long an answer is expected to be, in tokens."""
    return max(1, round(min(most * _USUAL_SHARE, material / _LARGEST_SHARE)))


def add_charges(charges: Iterable[Charge]) -> Charge:
    """All of them together; one of unknown cost makes the sum unknown."""
    total = Charge()
    for each in charges:
        cost = None if total.cost is None or each.cost is None else total.cost + each.cost
        total = Charge(total.questions + each.questions, total.input + each.input, total.output + each.output, cost)
    return total


def _sent(ask: Ask) -> Conversation:
    said: list[Mapping[str, Json]] = [
        {"role": "system", "content": ask.instructions},
        {"role": "user", "content": ask.material},
    ]
    return formats.parse(said, format="openai-chat")
