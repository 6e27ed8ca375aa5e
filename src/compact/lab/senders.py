"""What an application sends of a session, request by request: what a manager gives it, or what a function makes of it.

Summaries are made here without a model. A question that a recipe would put to one is answered offline, as a manager
without a model answers it, and charged at the price of the model that is named. `auto` puts none where there is no
model to ask: it writes its account itself, and nothing is charged for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeAlias

from compact import models
from compact.app.counting import counter_for
from compact.engine import Gauge
from compact.engine.compactor import Compactor, Round, Rounds
from compact.engine.projection import Projection
from compact.errors import CompactionBlocked, InsufficientBudget
from compact.messages import Conversation, Message, exchanges, seen
from compact.models import Model, Usage
from compact.ports import Answer, Ask, Completion
from compact.providers import Applied, Provider, Recipe, Step, Steps, Task
from compact.providers.provider import follow

Shrink: TypeAlias = Callable[[Conversation], Conversation]
_ONE = "replayed"


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent: its messages and its tokens; those before this compaction where there was one, else 0.

    `refused` where nothing can be sent: what is left is too much, or nothing.
    """

    messages: tuple[Message, ...]
    tokens: int
    before: int = 0
    refused: bool = False


class Managed:
    """Sends what a `CompactManager` would give back; `gap` is the time between two requests in seconds."""

    def __init__(self, whole: Projection, compactor: Compactor, gauge: Gauge, gap: float) -> None:
        self._log, self._projection = whole.log, replace(whole, log=())
        self._compactor, self._gauge, self._gap = compactor, gauge, gap
        self._rounds = Rounds(compactor, lambda: self._time)
        self._time = 0.0

    def send(self, upto: int) -> Request:
        self._time += self._gap
        now = self._projection = replace(self._projection, log=self._log[:upto])
        decision = self._compactor.decide(now, self._gauge)
        current = Round(_ONE, now, self._gauge, decision)
        if not decision.triggered or not self._rounds.admits(current):
            return Request(now.conversation.messages, decision.used)
        try:
            outcome = self._rounds.reduce(current, self._compactor.inputs(now, self._gauge), None)
        except (InsufficientBudget, CompactionBlocked):
            return Request(now.conversation.messages, decision.used, refused=True)
        after = self._gauge.conversation(outcome.conversation)
        self._rounds.record(current, after)
        if not outcome.plan:
            return Request(now.conversation.messages, decision.used)
        self._projection = now.compacted(outcome.plan, outcome.conversation)
        return Request(outcome.conversation.messages, after, before=decision.used)


class Shrunk:
    """Sends what a function makes of what was sent before and what is new; it is called for every request."""

    def __init__(self, whole: Conversation, shrink: Shrink, gauge: Gauge, window: int) -> None:
        self._whole, self._shrink, self._gauge, self._window = whole, shrink, gauge, window
        self._view: tuple[Message, ...] = ()
        self._seen = 0

    def send(self, upto: int) -> Request:
        grown = (*self._view, *self._whole.messages[self._seen : upto])
        self._seen = upto
        before = self._size(grown)
        now = self._shrink(self._whole.with_messages(grown)).messages
        after = self._size(now)
        self._view = now if after < before else grown
        return Request(now, after, before if after < before else 0, after > self._window or not now)

    def _size(self, messages: Sequence[Message]) -> int:
        return self._gauge.frame(self._whole) + sum(map(self._gauge.message, seen(messages)))


class Bill:
    """What the questions of a session cost, whatever model is said to have answered; None where prices are unknown."""

    def __init__(self, model: Model) -> None:
        self._model, self._counter = model, counter_for(model.id)
        self.cost: Decimal | None = Decimal(0)
        self.tokens = 0

    def charge(self, asks: Sequence[Ask], answers: Sequence[Answer]) -> None:
        count = self._counter.text
        for ask, answer in zip(asks, answers, strict=True):
            written = answer.text if isinstance(answer, Completion) else ""
            usage = Usage(count(ask.instructions) + count(ask.material), count(written))
            cost = models.cost(usage, self._model.prices)
            self.tokens += usage.input
            self.cost = None if self.cost is None or cost is None else self.cost + cost


class _Charged:
    """A provider whose questions are charged."""

    def __init__(self, provider: Provider, bill: Bill) -> None:
        self.id, self.name, self.version = provider.id, provider.name, provider.version
        self.description, self.capabilities, self.settings = (
            provider.description,
            provider.capabilities,
            provider.settings,
        )
        self._provider, self._bill = provider, bill

    def condense(self, task: Task, settings: Any, /) -> Steps:
        def reply(step: Step) -> Generator[Step, Any, Any]:
            answer = yield step
            if isinstance(step, tuple):
                self._bill.charge(step, answer)
            return answer

        yield from follow(self._provider.condense(task, settings), Applied(task.conversation, task.tokens), reply)


def charged(recipe: Recipe, bill: Bill) -> Recipe:
    """The recipe, with its questions on the bill."""
    return replace(recipe, provider=_Charged(recipe.provider, bill))


def newest(gauge: Gauge, room: int, conversation: Conversation) -> Conversation:
    """The newest messages that fit, in whole exchanges: what is older is gone."""
    room -= gauge.frame(conversation)
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
