"""Playing a recorded session again, request by request, as an application would have sent it.

Each request is compacted as it would have been, priced as the vendor prices it, and held against the vendor's prompt
cache: what the request has in common with the one before it is read from there, if it is long enough and young enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from itertools import takewhile
from typing import TypeAlias

from compact import formats, models
from compact.app.costing import Way
from compact.app.counting import counter_for
from compact.engine import Gauge, Judge, answer_offline
from compact.engine.compacting import Order, compact
from compact.errors import InsufficientBudget
from compact.messages import Conversation, Message, exchanges
from compact.models import Model, Usage
from compact.policies import CHEAP, should_condense
from compact.policies.threshold import Threshold
from compact.ports import Answer, Ask, Completion
from compact.tokens import Counter

NOTHING = "no compaction"
NAIVE = "naive truncation"
_GRAIN = 128
"""Vendors that cache by themselves do so in pieces of this many tokens."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a session is played: with which model, how large a window, when it is compacted and how far down.

    `gap` is the time between two requests in seconds; `summarizer` is the model that writes summaries, whose price is
    charged although they are made here without one; `buffer` is how many tokens of the window are kept free.
    """

    model: Model
    window: int
    trigger: float = 0.85
    target: float = 0.5
    gap: float = 30.0
    summarizer: Model | None = None
    buffer: int = 0

    @property
    def threshold(self) -> Threshold:
        return Threshold(share=self.trigger, buffer_tokens=self.buffer)


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its size, how much of it the cache had and took, the answer's size, and what all that cost.

    `before` is the size without this compaction, where there was one, else 0.
    """

    position: int
    tokens: int
    usage: Usage
    cost: Decimal | None
    before: int = 0
    overflows: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """What a session came to, played one way; `condensing` is what its summaries cost."""

    way: str
    sent: tuple[Sent, ...]
    condensing: Decimal | None = Decimal(0)
    condensed_tokens: int = 0

    @property
    def dollars(self) -> Decimal | None:
        costs = [one.cost for one in self.sent]
        known = [cost for cost in costs if cost is not None]
        return None if self.condensing is None or len(known) < len(costs) else sum(known, self.condensing)

    @property
    def tokens(self) -> int:
        """All input of all requests."""
        return sum(one.tokens for one in self.sent) + self.condensed_tokens

    @property
    def hit_rate(self) -> float:
        """The share of the input that the vendor's cache had."""
        whole = sum(one.tokens for one in self.sent)
        return sum(one.usage.cache_read for one in self.sent) / whole if whole else 0.0

    @property
    def compactions(self) -> int:
        return sum(one.before > 0 for one in self.sent)

    @property
    def peak(self) -> int:
        return max((one.tokens for one in self.sent), default=0)

    @property
    def overflows(self) -> int:
        """How many requests the vendor would have refused."""
        return sum(one.overflows for one in self.sent)


Shrink: TypeAlias = Callable[[Conversation], Conversation]


@dataclass(slots=True)
class _Player:
    """Plays one session one way."""

    whole: Conversation
    terms: Terms
    gauge: Gauge
    shrink: Shrink
    last: tuple[Message, ...] = ()
    sent: list[Sent] = field(default_factory=list)

    def play(self) -> tuple[Sent, ...]:
        view: tuple[Message, ...] = ()
        asked = 0
        for position, answered in _requests(self.whole.messages):
            view = (*view, *self.whole.messages[asked:position])
            before = self._size(view)
            now = self.shrink(self.whole.with_messages(view)).messages
            after = before if now is view else self._size(now)
            output = sum(map(self.gauge.message, self.whole.messages[position:answered]))
            usage = self._usage(now, after, output)
            cost = models.cost(usage, self.terms.model.prices)
            changed = before if after < before else 0
            refused = after > self.terms.window or not now  # vendors refuse a request without messages, too
            self.sent.append(Sent(position, after, usage, cost, changed, refused))
            view, self.last, asked = (now if after < before else view), now, position
        return tuple(self.sent)

    def _size(self, messages: Sequence[Message]) -> int:
        return self.gauge.frame(self.whole) + sum(map(self.gauge.message, messages))

    def _usage(self, messages: tuple[Message, ...], tokens: int, output: int) -> Usage:
        """What the vendor's cache has of the request, and what it takes of it."""
        model, rules = self.terms.model, self.terms.model.cache
        if rules is None:
            return Usage(tokens, output)
        young = bool(self.last) and (not rules.lifetimes or self.terms.gap <= max(rules.lifetimes[:1]))
        shared = self._shared(messages) if young else 0
        writes = model.prices is not None and model.prices.cache_write is not None
        read = (shared if writes else shared // _GRAIN * _GRAIN) if shared >= rules.minimum else 0
        written = tokens - read if writes and tokens >= rules.minimum else 0
        return Usage(tokens - read - written, output, cache_write=written, cache_read=read)

    def _shared(self, messages: tuple[Message, ...]) -> int:
        """The tokens from the start that the request before had, too."""
        pairs = zip(self.last, messages, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0].wire == pair[1].wire, pairs))
        return self._size(messages[:same])


def terms_for(name: str, window: int | None = None) -> Terms:
    """The usual terms for a model; its vendor's cheap one writes the summaries."""
    model = models.find_model(name)
    cheap = next((cheap for vendor, cheap in CHEAP.items() if vendor == model.vendor), model.id)
    return Terms(model, window or model.max_input, summarizer=models.find_model(cheap))


def replay(conversation: Conversation, way: Way | str, terms: Terms) -> Played:
    """Play the session; `way` may be NOTHING or NAIVE."""
    gauge = gauge_for(conversation, terms)
    if isinstance(way, str):
        shrink: Shrink = (lambda whole: whole) if way == NOTHING else partial(_newest, gauge, terms)
        return Played(way, play(conversation, shrink, terms))
    condenser = Condenser(way, terms, gauge)
    return condenser.played(play(conversation, condenser, terms))


def play(conversation: Conversation, shrink: Shrink, terms: Terms) -> tuple[Sent, ...]:
    """The requests of the session, each made smaller by a function of anybody's."""
    return _Player(conversation, terms, gauge_for(conversation, terms), shrink).play()


def gauge_for(conversation: Conversation, terms: Terms) -> Gauge:
    """What measures the session for the model it is played with."""
    return Gauge(counter_for(terms.model.id), formats.tools_of(conversation))


class Condenser:
    """Compacts a conversation that has reached the trigger, and adds up what the summaries would have cost."""

    def __init__(self, way: Way, terms: Terms, gauge: Gauge) -> None:
        self._way, self._terms, self._gauge = way, terms, gauge
        self._threshold = terms.threshold
        self._asked: Counter | None = counter_for(terms.summarizer.id) if terms.summarizer else None
        self.cost: Decimal | None = Decimal(0)
        self.tokens = 0

    def __call__(self, conversation: Conversation) -> Conversation:
        terms, used = self._terms, self._gauge.conversation(conversation)
        decision = should_condense(used, terms.window, self._threshold)
        if not decision.triggered:
            return conversation
        target = min(int(terms.window * terms.target), used - 1)
        order = Order(self._way.provider, self._way.settings, terms.window, decision.budget, target)
        try:
            return compact(conversation, order, self._gauge, self._asker, lambda _: None).conversation
        except InsufficientBudget:
            return conversation

    def played(self, sent: tuple[Sent, ...]) -> Played:
        """What the session came to, its summaries included."""
        return Played(self._way.name, sent, self.cost, self.tokens)

    def _asker(self, judge: Judge) -> Callable[[Sequence[Ask]], tuple[Answer, ...]]:
        def ask(asks: Sequence[Ask]) -> tuple[Answer, ...]:
            answers = answer_offline(judge, asks)
            for question, answer in zip(asks, answers, strict=True):
                self._charge(question, answer.text if isinstance(answer, Completion) else "")
            return answers

        return ask

    def _charge(self, ask: Ask, answer: str) -> None:
        if self._asked is None or self._terms.summarizer is None:
            return
        usage = Usage(self._asked.text(ask.instructions) + self._asked.text(ask.material), self._asked.text(answer))
        cost = models.cost(usage, self._terms.summarizer.prices)
        self.tokens += usage.input
        self.cost = None if self.cost is None or cost is None else self.cost + cost


def _newest(gauge: Gauge, terms: Terms, conversation: Conversation) -> Conversation:
    """The newest messages that stay below the trigger, in whole exchanges: what is older is gone."""
    room = int(terms.window * terms.trigger) - gauge.frame(conversation)
    messages = conversation.messages
    if sum(map(gauge.message, messages)) <= room:
        return conversation
    kept: set[int] = set()
    for group in reversed(exchanges(messages)):
        room -= sum(gauge.message(messages[index]) for index in group)
        if room < 0:
            break
        kept |= set(group)
    return conversation.with_messages([message for index, message in enumerate(messages) if index in kept])


def _requests(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Where the model was asked, and how far its answer goes."""
    position = 0
    while position < len(messages):
        if messages[position].role in ("assistant", "model") and position:
            end = position + 1
            while end < len(messages) and messages[end].role in ("assistant", "model"):
                end += 1
            yield position, end
            position = end
        else:
            position += 1
