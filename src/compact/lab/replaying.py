"""Playing a recorded session again, request by request, as an application would have sent it.

Each request is compacted as it would have been, priced as the vendor prices it, and held against the vendor's prompt
cache: what the request has in common with the one before it is read from there, if it is long enough and young enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import groupby, takewhile

from compact import formats, models
from compact.app.counting import counter_for
from compact.engine import Gauge
from compact.engine.compactor import Compactor
from compact.engine.projection import Projection
from compact.engine.sessions import decisive
from compact.engine.variants import choose_variant, require_variant
from compact.lab.senders import Bill, Managed, Request, Shrink, Shrunk, charged, newest
from compact.messages import Conversation, Message, Tool, seen
from compact.models import Limits, Model, Usage
from compact.policies import CHEAP, AnswerRoom
from compact.policies.compaction import Policy
from compact.policies.room import read_answer_room
from compact.policies.threshold import USUAL_TARGET, Threshold
from compact.providers import Recipe
from compact.quantities import counted
from compact.tokens import Counter

NOTHING = "no compaction"
NAIVE = "naive truncation"
USUAL_TRIGGER: float = Policy.model_fields["trigger_pct"].default
USUAL_GAP = 30.0
"""Seconds between two requests."""
_ROOMY = 1.25
_ROUND, _LEAST_WINDOW = 500, 2_000
_GRAIN = 128
"""Vendors that cache by themselves do so in pieces of this many tokens."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a session is played: for which model, with how large a window, when it is compacted and how far down.

    `gap` is the time between two requests in seconds; `summarizer` is the model that writes summaries, whose price is
    charged although they are made here without one; `buffer` is how many tokens of the window are kept free. `variant`
    is the deployment whose rules hold, empty for what the model's name tells. `unseen` tokens of each request are not
    in the session: a log may hold neither system prompt nor tools.
    """

    model: Model
    window: int
    trigger: float = USUAL_TRIGGER
    target: float = USUAL_TARGET
    gap: float = USUAL_GAP
    summarizer: Model | None = None
    buffer: int = 0
    variant: str = ""
    unseen: int = 0

    @property
    def threshold(self) -> Threshold:
        return Threshold(share=self.trigger, buffer_tokens=self.buffer)

    def compactor(self, recipe: Recipe) -> Compactor:
        """What a manager under these terms compacts with."""
        known = self.model.limits
        limits = known if self.window == known.window else Limits.shared(self.window)
        return Compactor(recipe, limits, AnswerRoom.usual(self.model.max_output), self.threshold, self.target)


@dataclass(frozen=True, slots=True)
class Sent:
    """One request: its size, how much of it the cache had and took, the answer's size, and what all that cost.

    `before` is the size without this compaction, where there was one, else 0. `overflows` where the request is refused:
    by the vendor, or by the manager, which raises InsufficientBudget or CompactionBlocked.
    """

    position: int
    tokens: int
    usage: Usage
    cost: Decimal | None
    before: int = 0
    overflows: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """What a session came to, played with one recipe; `condensing` is what its summaries cost."""

    recipe: str
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
        """How many requests would have been refused."""
        return sum(one.overflows for one in self.sent)


class Replay:
    """A session that is played with one recipe, with NOTHING, with NAIVE, or made smaller by a function.

    Iterate over it once: each request comes with the conversation that is sent. `played` is what it came to so far.
    """

    def __init__(self, conversation: Conversation, by: Recipe | Shrink | str, terms: Terms) -> None:
        self._terms = terms
        log = _log(conversation, terms)
        self._frame, self._messages = log.frame, tuple(line.message for line in log.log)
        self._gauge = _gauge(log.conversation, terms)
        self._bill = Bill(terms.summarizer) if terms.summarizer else None
        room = read_answer_room(formats.format_named(conversation.format), conversation.options)
        self._name = by.name if isinstance(by, Recipe) else by if isinstance(by, str) else ""
        self._sender = self._sending(by, log, room)
        self._last: tuple[Message, ...] = ()
        self._sent: list[Sent] = []

    @property
    def played(self) -> Played:
        """What was sent so far, and what its summaries cost."""
        cost, tokens = (self._bill.cost, self._bill.tokens) if self._bill else (Decimal(0), 0)
        return Played(self._name, tuple(self._sent), cost, tokens)

    def __iter__(self) -> Iterator[tuple[Sent, Conversation]]:
        for position, answered in _requests(self._messages):
            request = self._sender.send(position)
            usage = self._usage(request, sum(map(self._gauge.message, self._messages[position:answered])))
            cost = models.cost(usage, self._terms.model.prices)
            self._sent.append(Sent(position, request.tokens, usage, cost, request.before, request.refused))
            self._last = request.messages
            yield self._sent[-1], self._frame.with_messages(request.messages)

    def _sending(self, by: Recipe | Shrink | str, log: Projection, answer: AnswerRoom | None) -> Managed | Shrunk:
        terms, gauge = self._terms, self._gauge
        if isinstance(by, Recipe):
            recipe = charged(by, self._bill) if self._bill else by
            made = terms.compactor(recipe)
            return Managed(log, replace(made, answer=answer or made.answer), gauge, terms.gap)
        if isinstance(by, str):
            room = int(terms.window * terms.trigger)
            by = (lambda whole: whole) if by == NOTHING else partial(newest, gauge, room)
        return Shrunk(log.conversation, by, gauge, terms.window)

    def _usage(self, request: Request, output: int) -> Usage:
        """What the vendor's cache has of the request, and what it takes of it."""
        model, rules, tokens = self._terms.model, self._terms.model.cache, request.tokens
        if rules is None:
            return Usage(tokens, output)
        young = bool(self._last) and (not rules.lifetimes or self._terms.gap <= max(rules.lifetimes[:1]))
        shared = self._shared(request.messages) if young else 0
        writes = model.prices is not None and model.prices.cache_write is not None
        read = (shared if writes else shared // _GRAIN * _GRAIN) if shared >= rules.minimum else 0
        written = tokens - read if writes and tokens >= rules.minimum else 0
        return Usage(tokens - read - written, output, cache_write=written, cache_read=read)

    def _shared(self, messages: tuple[Message, ...]) -> int:
        """The tokens from the start that the request before had, too."""
        pairs, read = zip(seen(self._last), seen(messages), strict=False), seen(messages)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1] or pair[0].wire == pair[1].wire, pairs))
        return self._gauge.frame(self._frame) + sum(map(self._gauge.message, read[:same]))


class _Gauge(Gauge):
    """Counts tokens of each request that are not in the session, too."""

    def __init__(self, counter: Counter, tools: Sequence[Tool], unseen: int) -> None:
        super().__init__(counter, tools)
        self._unseen = unseen

    def frame(self, conversation: Conversation, /) -> int:
        return super().frame(conversation) + self._unseen


def _gauge(conversation: Conversation, terms: Terms) -> Gauge:
    return _Gauge(counter_for(terms.model.id), formats.tools_of(conversation), terms.unseen)


def terms_for(name: str, window: int | None = None) -> Terms:
    """The usual terms for a model; its vendor's cheap one writes the summaries."""
    model = models.find_model(name)
    cheap = next((cheap for vendor, cheap in CHEAP.items() if vendor == model.vendor), model.id)
    return Terms(model, window or model.max_input, summarizer=models.find_model(cheap))


@dataclass(frozen=True, slots=True)
class Logged:
    """The usage that a log reports of its own requests: their number, input and cost, and what is missing."""

    requests: int = 0
    tokens: int = 0
    dollars: Decimal | None = None
    unseen: int = 0
    unknown: tuple[str, ...] = ()


def read_logged(conversation: Conversation, usages: Mapping[int, Usage], model: Model) -> Logged:
    """Compare the usage that the vendor reported with what the session holds.

    What the first request took beyond its messages is taken to be part of each: system prompt and tools.
    """
    if not usages:
        bare = conversation.system is None and not conversation.tools
        beside = "nor does it hold a system prompt or tools: what those take is not counted" if bare else ""
        return Logged(unknown=tuple(filter(None, ("the file does not say what its requests took", beside))))
    gauge, messages = _gauge(conversation, Terms(model, model.max_input)), conversation.messages
    unseen = 0
    for position, answered in _requests(messages):
        if reported := next((usages[at] for at in range(position, answered) if at in usages), None):
            unseen = reported.total_input - gauge.frame(conversation) - sum(map(gauge.message, messages[:position]))
            break
    costs = [models.cost(usage, model.prices) for usage in usages.values()]
    dollars = None if None in costs else sum(filter(None, costs), Decimal(0))
    asked = sum(1 for _ in _requests(messages))
    missing = f"what {counted(asked - len(usages), 'request')} of {asked:,} took" if asked > len(usages) else ""
    tokens = sum(usage.total_input for usage in usages.values())
    return Logged(len(usages), tokens, dollars, max(0, unseen), (missing,) if missing else ())


def choose_window(terms: Terms, conversation: Conversation) -> int:
    """A window in which something happens: the model's own if the session grows so far, else a smaller one."""
    gauge = _gauge(conversation, terms)
    frame = gauge.frame(conversation)
    asked = [position for position, _ in _requests(conversation.messages)]
    peak = frame + sum(map(gauge.message, conversation.messages[: asked[-1]])) if asked else frame
    if peak >= terms.window * terms.trigger:
        return terms.window
    # What is said comes down to its half, and grows again; what frames it must fit beside it.
    half = max(frame + (peak - frame) // 2, int(frame / terms.target * _ROOMY))
    return max(_LEAST_WINDOW, min(half, peak) // _ROUND * _ROUND)


def replay(conversation: Conversation, by: Recipe | Shrink | str, terms: Terms) -> Played:
    """Play the whole session with a recipe, as a `CompactManager` with it would; `by` may be NOTHING or NAIVE, too."""
    session = Replay(conversation, by, terms)
    for _ in session:
        pass
    return session.played


def _log(conversation: Conversation, terms: Terms) -> Projection:
    """The whole session as a manager reads it: what is known of its requests is assumed, and never sent."""
    known = {"model": terms.model.id, **decisive(conversation.options)}
    wished = require_variant(conversation.format, terms.variant)
    known["variant"] = choose_variant(conversation.format, str(known["model"]), wished)
    frame = replace(conversation.with_messages(()), options={}, assumed=known)
    return Projection(frame).extended([message.wire for message in conversation.messages])


def _requests(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    """Where the model was asked, and how far its answer goes."""
    end = 0
    for answers, group in groupby(messages, lambda message: message.role in ("assistant", "model")):
        start, end = max(end, 1), end + len(list(group))  # the first message answers nothing
        if answers and start < end:
            yield start, end
