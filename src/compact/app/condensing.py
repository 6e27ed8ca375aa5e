"""One call to condense, one to take it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

from compact import formats, models
from compact.app.answering import answer_offline
from compact.app.counting import DEFAULT_MODEL, counter_for
from compact.engine import Gauge, Judge, Outcome, Report, floor_of, run
from compact.errors import InvalidConfiguration
from compact.messages import Conversation, Json, Plan, Violation, common_prefix, unfold
from compact.messages import restore as restore_plan
from compact.models import Usage
from compact.policies import configure
from compact.providers import Provider, Task, find_preset, find_provider

DEFAULT_PRESET = "v2"


@dataclass(frozen=True, slots=True)
class Result:
    """What a condensation came to."""

    conversation: Conversation
    plan: Plan
    report: Report

    @property
    def messages(self) -> list[Json]:
        """The condensed messages, in the format they were given in."""
        return formats.render(self.conversation)

    @property
    def target_met(self) -> bool:
        return self.report.target_met


def condense(
    messages: Sequence[Json] | Mapping[str, Json] | Conversation,
    *,
    provider: str | None = None,
    preset: str | None = None,
    config: Mapping[str, Any] | None = None,
    model: str = DEFAULT_MODEL,
    target: float | None = None,
    system: Json = None,
    tools: Sequence[Json] | None = None,
) -> Result:
    """Make a conversation smaller.

    `target` is a share of the input below 1, or a number of tokens; one that cannot be reached gives the least there
    is, with `target_met` false. With nothing said, the preset `v2` is used.
    """
    given = messages if isinstance(messages, Conversation) else formats.parse(messages, system=system, tools=tools)
    chosen, settings = choose(provider, preset, config)
    return Condensation(given, model, target).run(chosen, settings)


def choose(provider: str | None, preset: str | None, config: Mapping[str, Any] | None) -> tuple[Provider, Any]:
    """The provider and its settings, from a provider's or a preset's name and what the configuration overrides."""
    if provider is not None and preset is not None:
        raise InvalidConfiguration(
            "cannot be given beside a preset", field="provider", remedy="Name one or the other; a preset has its own."
        )
    if provider is None:
        named = find_preset(preset or DEFAULT_PRESET)
        found = find_provider(named.provider)
        return found, configure(found.settings, {**named.settings, **(config or {})}, under="config")
    found = find_provider(provider)
    return found, configure(found.settings, config or {}, under="config")


class Condensation:
    """A conversation with its measure and its target, to be condensed in one way or in several."""

    def __init__(self, conversation: Conversation, model: str, target: float | None) -> None:
        self.conversation = conversation
        self.model = models.find_model(model)
        self._gauge = Gauge(counter_for(model), formats.tools_of(conversation))
        self.tokens = self._gauge.conversation(conversation)
        self.target = _tokens(target, self.tokens)

    def run(self, provider: Provider, settings: Any) -> Result:
        began = perf_counter()
        judge = Judge(self.conversation, self._gauge, _violations)
        task = Task(self.conversation, self.tokens, self.target, self.model.context_window, self._gauge)
        if task.reached(self.tokens):
            outcome = judge.outcome()
        else:
            outcome = run(provider.condense(task, settings), judge, partial(answer_offline, judge, self._gauge))
        return Result(outcome.conversation, outcome.plan, self._report(provider, outcome, perf_counter() - began))

    def _report(self, provider: Provider, outcome: Outcome, seconds: float) -> Report:
        after = self._gauge.conversation(outcome.conversation)
        prices = self.model.prices
        removed = models.cost(Usage(max(0, self.tokens - after), 0), prices) if prices else None
        kept = common_prefix(
            [message.wire for message in self.conversation.messages],
            [message.wire for message in outcome.conversation.messages],
        )
        spent = [done.cost for done in outcome.passes if done.cost is not None]
        return Report(
            provider=provider.name,
            passes=outcome.passes,
            tokens_before=self.tokens,
            tokens_after=after,
            target=self.target,
            kept_prefix=sum(map(self._gauge.message, self.conversation.messages[:kept])),
            seconds=seconds,
            cost=sum(spent[1:], spent[0]) if spent else None,
            saved=removed,
            notes=self._notes(after),
            events=outcome.events,
        )

    def _notes(self, after: int) -> tuple[str, ...]:
        if self.target is None or after <= self.target:
            return ()
        floor = floor_of(self.conversation, self._gauge)
        return (f"Target of {self.target:,} tokens not met, {after:,} remain; {floor}",)


def restore(condensed: Result | Conversation | Sequence[Json]) -> Any:
    """What was there before.

    A result gives back its original messages. Condensed messages alone give back what references stand for: that is
    everything, where the condensation was verbatim.
    """
    if isinstance(condensed, Result):
        return formats.render(restore_plan(condensed.conversation, condensed.plan))
    if isinstance(condensed, Conversation):
        return unfold(condensed)
    return formats.render(unfold(formats.parse(condensed)))


def _tokens(target: float | None, tokens: int) -> int | None:
    if target is None:
        return None
    if isinstance(target, bool) or not 0 < target < float("inf"):
        raise InvalidConfiguration(
            f"{target!r} is no target", field="target", remedy="Give a share such as 0.5, or a number of tokens."
        )
    return int(tokens * target) if target < 1 else int(target)


def _violations(before: Conversation, after: Conversation) -> list[Violation]:
    return formats.violations(after, origin=before)
