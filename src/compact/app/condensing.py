"""One call to condense, one to take it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from compact import formats, models
from compact.app.counting import DEFAULT_MODEL, counter_for
from compact.engine import (
    Asking,
    AskModel,
    Gauge,
    Judge,
    Outcome,
    Report,
    RetainFacts,
    answer_offline,
    floor_of,
    report_of,
    restate,
    run,
)
from compact.errors import InvalidConfiguration
from compact.facts import Receipt, receipt
from compact.messages import Conversation, Json, Plan, assuming, unfold
from compact.messages import restore as restore_plan
from compact.models import Usage
from compact.policies import configure
from compact.providers import Provider, Task, find_provider
from compact.providers.provider import quietly
from compact.settings.presets import find_preset

DEFAULT_PRESET = "v2"
_LOSSY = (
    "This way only removes what can be had back from the rest, and there is no more of it: try the preset balanced or "
    "the provider layers"
)
_LEAST_SUMMARY, _SHARE_OF_FLOOR = 200, 8
"""Tokens of a summary that remains where the target is out of reach: so many, or this part of what must stay."""

_FEWEST = 100
"""No fraction between 1 and this is a target: it may be meant as a share, of which there is none above 1."""

Retain: TypeAlias = Literal["facts"] | RetainFacts
"""What is put back into context: facts, with the usual room or another."""


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

    def receipt(self, *, with_plan: bool = True) -> Receipt:
        """What of the original's facts can still be read, and what else can be had back: all of it, with the plan."""
        before = restore_plan(self.conversation, self.plan)
        return receipt(before, self.conversation, self.plan if with_plan else ())


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
    ask: AskModel | None = None,
    retain: Retain | None = None,
) -> Result:
    """Make a conversation smaller.

    `target` is a share of the input below 1, or a number of tokens. Where the chosen way ends above it, what that
    spared gives way: recent tool output is cut, and very long texts; then the oldest messages go into a summary. Only a
    lossless way stops there. A target below what must stay cannot be met, and `target_met` says so. With nothing said,
    the preset `v2` is used. `ask` answers the questions that are put to a model; without it, summaries are made of the
    conversation's own words. `retain="facts"` names missing facts again that are likely to be needed, within 10% of the
    target.
    """
    given = messages if isinstance(messages, Conversation) else formats.parse(messages, system=system, tools=tools)
    chosen, settings = choose(provider, preset, config)
    return Condensation(given, model, target, retain).run(chosen, settings, ask)


def choose(provider: str | None, preset: str | None, config: Mapping[str, Any] | None) -> tuple[Provider, Any]:
    """The provider and its settings, from a provider's or a preset's name and what the configuration overrides."""
    if provider is not None and preset is not None:
        raise InvalidConfiguration(
            "cannot be given beside a preset", field="provider", remedy="Name one or the other; a preset has its own."
        )
    if config is not None and not isinstance(config, Mapping):
        raise InvalidConfiguration(
            f"{config!r} is no mapping"[:100],
            field="config",
            remedy='Give names and values, such as {"level": "verbatim"}.',
        )
    if provider is None:
        named = find_preset(preset or DEFAULT_PRESET)
        found = find_provider(named.provider)
        return found, configure(found.settings, {**named.settings, **(config or {})}, under="config")
    found = find_provider(provider)
    return found, configure(found.settings, config or {}, under="config")


class Condensation:
    """A conversation with its measure and its target, to be condensed in one way or in several.

    `handles` says whether what is left of a text is to name the handle it can be recalled by.
    """

    def __init__(
        self,
        conversation: Conversation,
        model: str,
        target: float | None,
        retain: Retain | None = None,
        *,
        handles: bool = False,
    ) -> None:
        # What is kept with it lasts as long as the runs that share it.
        self.conversation = assuming(conversation, {"model": model})
        self.model = models.find_model(model)
        self._gauge = Gauge(counter_for(model), formats.tools_of(conversation))
        self.tokens = self._gauge.conversation(self.conversation)
        self.target = _tokens(target, self.tokens)
        self.retain = read_retain(retain)
        self._handles = handles

    def run(self, provider: Provider, settings: Any, ask: AskModel | None = None, *, give_way: bool = True) -> Result:
        """Condense it in that way, and in others where that ends above the target, unless nothing shall give way."""
        judge = Judge(self.conversation, self._gauge, formats.reject)
        if self.target is None or self.tokens > self.target:
            task = Task(self.conversation, self.tokens, self._aim(), self.model.context_window, self._gauge)
            answer = Asking().now(ask or partial(answer_offline, judge))
            run(provider.condense(task, settings), judge, answer)
            while give_way and self._gave_way(provider, task, judge, ask):
                # A cut may leave lines that repeat each other: so condensing the result again changes nothing.
                task = replace(task, conversation=judge.conversation, tokens=judge.tokens)
                run(quietly(provider.condense(task, settings), task), judge, answer)
            self._put_back(judge)
        outcome = judge.outcome()
        return Result(outcome.conversation, outcome.plan, self._report(provider, settings, outcome))

    def _aim(self) -> int | None:
        """What the provider is to come down to: room for facts is kept free."""
        if self.target is None or self.retain is None:
            return self.target
        return max(self.target - self.retain.room(self.target), 1)

    def goals(self, provider: Provider) -> list[int]:
        """What is given way to, one after the other: what leaves room for facts, and the target.

        Where what must stay takes more than that, it is this and a short summary of the rest.
        """
        if self.target is None or provider.capabilities.lossless:
            return []
        floor = floor_of(self.conversation, self._gauge).total
        wanted = [goal for goal in dict.fromkeys((self._aim(), self.target)) if goal is not None]
        return [goal for goal in wanted if floor <= goal] or [floor + max(_LEAST_SUMMARY, floor // _SHARE_OF_FLOOR)]

    def may_ask(self, provider: Provider, goal: int) -> bool:
        """Whether a model is asked on the way to a goal: by a way that asks any, and for what will suffice."""
        return provider.capabilities.summarizes and self.target is not None and goal <= self.target

    def _gave_way(self, provider: Provider, task: Task, judge: Judge, ask: AskModel | None) -> bool:
        """Go on where the provider ended above its target; whether that helped, and was not enough."""
        before = judge.tokens
        if task.target is None or task.reached(before):
            return False
        from compact.providers.giving_way import give_way

        for goal in self.goals(provider):
            left = replace(task, conversation=judge.conversation, tokens=judge.tokens, target=goal)
            offline = partial(answer_offline, judge)
            answer = Asking().now(ask if ask and self.may_ask(provider, goal) else offline)
            run(give_way(left, handles=self._handles), judge, answer)
        return judge.tokens < before and not task.reached(judge.tokens)

    def _put_back(self, judge: Judge) -> None:
        """Name missing facts again, if anything was removed and there is room."""
        limit = self.tokens - 1 if self.target is None else min(self.target, self.tokens - 1)
        if self.retain is None or not judge.outcome().plan or judge.tokens >= limit:
            return
        room = min(self.retain.room(self.target or judge.tokens), limit - judge.tokens)
        judge.decide_within(limit, restate(self.conversation, judge.conversation, room, limit, self._gauge))

    def _report(self, provider: Provider, settings: Any, outcome: Outcome) -> Report:
        report = report_of(provider.name, self.conversation, outcome, self._gauge, self.target)
        removed = Usage(max(0, report.tokens_before - report.tokens_after))
        notes = self._notes(report.tokens_after, settings)
        return replace(report, saved=models.cost(removed, self.model.prices), notes=notes)

    def _notes(self, after: int, settings: Any) -> tuple[str, ...]:
        from compact.providers.lossless import LosslessSettings

        if self.target is None or after <= self.target:
            return ()
        floor = floor_of(self.conversation, self._gauge)
        missed = f"Target of {self.target:,} tokens not met, {after:,} remain; {floor}"
        if after <= floor.total:
            return (missed,)  # no other way would come to less
        return (missed, _LOSSY) if isinstance(settings, LosslessSettings) else (missed,)


def restore(condensed: Result | Conversation | Mapping[str, Json] | Sequence[Json], *, system: Json = None) -> Any:
    """What was there before.

    A result gives back its original messages. Condensed messages alone give back what references stand for: that is
    everything, where the condensation was verbatim. A system prompt that was given beside them is given again, as
    references may lead there.
    """
    if isinstance(condensed, Result):
        return formats.render(restore_plan(condensed.conversation, condensed.plan))
    if isinstance(condensed, Conversation):
        return unfold(condensed)
    return formats.render(unfold(formats.parse(condensed, system=system)))


def _tokens(target: object, tokens: int) -> int | None:
    if target is None:
        return None
    if (
        isinstance(target, bool)
        or not isinstance(target, int | float)
        or not 0 < target < float("inf")
        or (isinstance(target, float) and 1 <= target < _FEWEST)
    ):
        raise InvalidConfiguration(
            f"{target!r} is no target",
            field="target",
            remedy="Give a share below 1, such as 0.5, or a whole number of tokens.",
        )
    return int(tokens * target) if target < 1 else int(target)


def read_retain(retain: str | RetainFacts | None) -> RetainFacts | None:
    """What is to be retained, as a value; `facts` stands for the usual."""
    if retain is None or isinstance(retain, RetainFacts):
        return retain
    if retain == "facts":
        return RetainFacts()
    raise InvalidConfiguration(
        f"{retain!r} cannot be retained", field="retain", remedy='Give "facts", RetainFacts(...) or None.'
    )
