"""What a condensation would come to, told without a model and before anything is spent.

The provider is run on the real conversation, so what it would choose, cut and ask is not guessed. Two things are:
a model's answer is only as long as one is expected to be, and the first round counts where a provider would go round
again. No pass is checked against the vendor's rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple, TypedDict, Unpack

from compact import formats, models
from compact.app.condensing import Condensation, choose
from compact.app.counting import DEFAULT_MODEL, counter_for
from compact.engine import Gauge
from compact.errors import EditError
from compact.messages import Conversation, Json, Pass, apply
from compact.models import Model, Usage
from compact.ports import Ask, Completion
from compact.providers import Applied, Provider, Rejected, Steps, Task, Verdict
from compact.providers.giving_way import give_way
from compact.providers.lossless import LosslessProvider, LosslessSettings
from compact.providers.smart.settings import Prelude, SmartSettings

_ANSWER_SHARE = 4
"""An answer is at most this part of what it is about, and at most as long as it may be."""
_LATENCY = 1.5
_TOKENS_PER_SECOND = 60
_WORD = " ..."
_WORDS = _WORD * 100
_REPEATED = "Repeated text"


class Given(TypedDict, total=False):
    """What else `condense` takes."""

    provider: str | None
    preset: str | None
    config: Mapping[str, Any] | None
    system: Json
    tools: Sequence[Json] | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a condensation would come to.

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


def estimate(
    messages: Sequence[Json] | Mapping[str, Json] | Conversation,
    *,
    model: str = DEFAULT_MODEL,
    target: float | None = None,
    **given: Unpack[Given],
) -> Estimate:
    """What `condense` would come to if it were given the same, with the model answering what it is asked."""
    system, tools = given.get("system"), given.get("tools")
    whole = messages if isinstance(messages, Conversation) else formats.parse(messages, system=system, tools=tools)
    way = choose(given.get("provider"), given.get("preset"), given.get("config"))
    return estimate_way(Condensation(whole, model, target), *way)


def estimate_way(condensation: Condensation, provider: Provider, settings: Any) -> Estimate:
    """What one way to condense would come to."""
    model = condensation.model
    gauge = Gauge(counter_for(model.id), formats.tools_of(condensation.conversation))
    asking = Asking(model, gauge.text)
    now = Task(condensation.conversation, condensation.tokens, condensation.target, model.context_window, gauge)
    for stage in _stages(provider, settings):
        if not now.reached(now.tokens):
            now = _run(stage.provider.condense(now, stage.settings), now, asking, stage.last)
    for goal in condensation.goals(provider)[-1:]:
        now = replace(now, target=goal)
        now = _run(give_way(now), now, asking if condensation.may_ask(provider, goal) else Asking(model, gauge.text))
    return Estimate(
        tokens_before=condensation.tokens,
        tokens_after=now.tokens,
        target=condensation.target,
        asks=asking.asks,
        cost=asking.cost,
        saved=models.cost(Usage(max(0, condensation.tokens - now.tokens), 0), model.prices),
        seconds=asking.seconds,
    )


class Asking:
    """Answers questions by the size of an answer, and adds up what they would cost and how long they would take."""

    def __init__(self, model: Model, count: Callable[[str], int]) -> None:
        self.asks = 0
        self.cost: Decimal | None = Decimal(0)
        self.seconds = 0.0
        self._model = model
        self._count = count

    def __call__(self, asks: Sequence[Ask]) -> tuple[Completion, ...]:
        answers = tuple(map(self._answer, asks))
        self.asks += len(answers)
        # Those that are asked together are answered together.
        longest = max((answer.usage.output for answer in answers if answer.usage), default=0)
        self.seconds += _LATENCY + longest / _TOKENS_PER_SECOND
        for answer in answers:
            self.cost = None if self.cost is None or answer.cost is None else self.cost + answer.cost
        return answers

    def _answer(self, ask: Ask) -> Completion:
        material = self._count(ask.material)
        expected = max(1, min(ask.max_tokens, material // _ANSWER_SHARE))
        usage = Usage(self._count(ask.instructions) + material, expected)
        cost = models.cost(usage, self._model.prices)
        words = expected * len(_WORDS) // (len(_WORD) * self._count(_WORDS)) or 1
        return Completion((_WORD * words).strip(), cost, estimated=True, usage=usage, model=self._model.id)


class _Stage(NamedTuple):
    """A provider with its settings; `last` is the pass after which it would only look again at what it has done."""

    provider: Provider
    settings: Any
    last: str = ""


def _stages(provider: Provider, settings: Any) -> Iterator[_Stage]:
    """What is run, one after the other: the smart provider's prelude by itself, so that it too ends in time."""
    if isinstance(settings, LosslessSettings):
        yield _Stage(provider, settings, _REPEATED)
    elif isinstance(settings, SmartSettings):
        if settings.lossless_prelude.enabled:
            yield from _stages(LosslessProvider(), LosslessSettings(level=settings.lossless_prelude.level))
        rest = settings.model_copy(update={"lossless_prelude": Prelude(enabled=False)})
        yield _Stage(provider, rest, settings.passes[-1].title if settings.passes else "")
    else:
        yield _Stage(provider, settings)


def _run(steps: Steps, now: Task, asking: Asking, last: str = "") -> Task:
    """Let the provider have its way, up to its last pass, and tell what is left."""
    reply: Any = None
    while True:
        try:
            step = steps.send(reply)
        except StopIteration:
            return now
        if not isinstance(step, Pass):
            reply = asking(step) if isinstance(step, tuple) else None
            continue
        reply = _verdict(now, step)
        if isinstance(reply, Applied):
            now = replace(now, conversation=reply.conversation, tokens=reply.tokens)
        if step.name == last:
            steps.close()
            return now


def _verdict(now: Task, step: Pass) -> Verdict:
    if not step.edits:
        return Rejected("nothing to do")
    try:
        after, _ = apply(now.conversation, step)
    except EditError as error:
        return Rejected(str(error))
    tokens = now.measure.conversation(after)
    return Applied(after, tokens) if tokens < now.tokens else Rejected("it grew")
