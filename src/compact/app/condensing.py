"""One call to compact a conversation, one to take it back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from compact import formats, models
from compact.app.counting import DEFAULT_MODEL, choose_model, counter_for
from compact.app.recipes import resolve_recipe
from compact.app.strategies import tailor
from compact.engine import Asker, AskModel, Gauge, Goal, Inputs, NoModel, Outcome, Report, compact, floor_of, report_of
from compact.engine.callback import require_callback
from compact.engine.variants import choose_variant, require_variant
from compact.errors import InvalidConfiguration
from compact.facts import Receipt, receipt
from compact.messages import Conversation, Json, Plan, assuming, parted, unfold, wires_of
from compact.messages import restore as restore_plan
from compact.ports import CompactionOrigin, EntryPoint
from compact.providers import Provider, Recipe
from compact.providers.provider import AccountStyle
from compact.providers.smart.settings import SmartSettings
from compact.providers.truncation.settings import TruncationSettings
from compact.settings.seals import seal_of

_FEWEST = 100
"""No fraction between 1 and this is a target: it may be meant as a share, of which there is none above 1."""
_HALF = 0.5
"""Without a target, `auto` and the presets that continue as it does come down to this part of the input."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a condensation came to."""

    conversation: Conversation
    plan: Plan
    report: Report

    @property
    def messages(self) -> list[Json]:
        """The condensed messages, in the format they were given in and ready to be sent: without `meta`."""
        return formats.render(self.conversation)

    @property
    def target_met(self) -> bool:
        return self.report.target_met

    def receipt(self, *, with_plan: bool = True) -> Receipt:
        """What of the original's facts can still be read, and what else can be had back: all of it, with the plan."""
        before = restore_plan(self.conversation, self.plan)
        return receipt(before, self.conversation, self.plan if with_plan else ())


class OtherNames(TypedDict, total=False):
    """Other names for `recipe`."""

    provider: str | Provider | None
    preset: str | None


def condense(
    messages: Sequence[Json] | Mapping[str, Json] | Conversation,
    *,
    recipe: str | None = None,
    config: Mapping[str, Any] | None = None,
    model: str | None = None,
    target: float | None = None,
    system: Json = None,
    tools: Sequence[Json] | None = None,
    ask: AskModel | str | None = None,
    variant: str = "",
    **names: Unpack[OtherNames],
) -> Result:
    """Make a conversation smaller.

    `model` is the one that the conversation is with; tokens are counted for gpt-4o where none is named.
    `target` is a share of the input below 1, or a number of tokens; where none is given, `auto`, `speed`, `balanced`,
    `quality` and `cost` come down to half of the input, and passes of your own run to their end.
    `recipe` names how: `auto` by default, another provider or a preset; `provider` and `preset` are the same by other
    names, and `config` changes settings of it. Where its own passes end above the target, most recipes go on as `auto`
    does; v1, v2, v3, layers and lossless stop, and the report says by how much they missed. A target below what must
    stay cannot be met, and `target_met` says so. `ask` answers the questions that are put to a model: a callback, or
    the name of a profile; without it no model is called, unless a pass of the recipe names a profile. It gets
    placeholders for secrets, unless its `vendors` are the conversation's own. `variant` is the deployment whose rules
    the result keeps, such as vllm or bedrock, where the name of the model does not tell.
    """
    if unknown := names.keys() - OtherNames.__annotations__.keys():
        raise TypeError(f"condense() got an unexpected keyword argument {min(unknown)!r}")
    if not isinstance(ask, str):
        require_callback(ask)
    given = messages if isinstance(messages, Conversation) else formats.parse(messages, system=system, tools=tools)
    chosen = resolve_recipe(recipe, config=config, **names)
    condensation = Condensation(given, model, target, variant=variant)
    if isinstance(ask, str) or (ask is None and chosen.profiles):
        return _run_with(ask or "", condensation, chosen)
    return condensation.run(tailor(chosen) if ask else chosen, ask)


def _run_with(profile: str, condensation: Condensation, recipe: Recipe) -> Result:
    """Compact with the model of the profile."""
    from compact.app.profiles import ask_with
    from compact.app.summarizers import choose_summarizers

    chosen = choose_summarizers(profile, recipe=recipe)
    if not chosen:
        return condensation.run(recipe, NoModel(chosen.reason))
    with ask_with(chosen.profiles, recipe=recipe.name) as ask:
        return condensation.run(tailor(recipe, chosen.profiles[0]), ask)


class Condensation:
    """A conversation with its counter and its target, to be compacted by one recipe or by several.

    `model` is the one that the conversation is with; without it, tokens are counted for the default model, and no more
    is known than the request says. `variant` is the deployment whose rules the result keeps,
    """

    def __init__(
        self,
        conversation: Conversation,
        model: str | None,
        target: float | None,
        *,
        handles: bool = False,
        variant: str = "",
    ) -> None:
        require_variant(conversation.format, variant)
        own, stated_by = choose_model(model, conversation)
        model = model or DEFAULT_MODEL
        self.source: EntryPoint = "library"
        """The entry point that the records name."""
        self._name = model
        self.model = models.find_model(model)
        stated = conversation.options.get("model")
        chosen = choose_variant(conversation.format, stated if isinstance(stated, str) else model, variant)
        # What is kept with it lasts as long as the runs that share it.
        # Records of what was removed name messages by their places in what was given.
        whole = conversation if handles else parted(conversation)
        self.conversation = assuming(whole, {"model": model, "variant": chosen or conversation.variant})
        self.inputs = Inputs(
            Gauge(counter_for(model), formats.tools_of(conversation)),
            self.model.context_window,
            AccountStyle(seal=seal_of()),
            handles=handles,
            vendor="" if stated_by == "default" else models.find_model(own).vendor,
        )
        self.tokens = self.inputs.gauge.conversation(self.conversation)
        self.target = _tokens(target, self.tokens)

    def goal(self, recipe: Recipe) -> Goal:
        """What the recipe is to come down to."""
        share = _usual_share(recipe)
        return Goal(recipe.choose_target(self.target, None if share is None else int(self.tokens * share)))

    def run(self, recipe: Recipe, ask: Asker = None) -> Result:
        """Compact it."""
        goal = self.goal(recipe)
        inputs = replace(self.inputs, origin=CompactionOrigin(self.source, self._name))
        outcome = compact(self.conversation, recipe, goal, inputs, ask)
        return Result(outcome.conversation, outcome.plan, self._report(recipe, goal, outcome))

    def _report(self, recipe: Recipe, goal: Goal, outcome: Outcome) -> Report:
        report = report_of(recipe, self.conversation, outcome, self.inputs.gauge, goal.target)
        return replace(report, notes=(*report.notes, *self._notes(recipe, goal, report.tokens_after)))

    def _notes(self, recipe: Recipe, goal: Goal, after: int) -> tuple[str, ...]:
        """Why the target was missed, and what would meet it."""
        if goal.target is None or after <= goal.target:
            return ()
        floor = floor_of(self.conversation, self.inputs.gauge)
        missed = f"Target of {goal.target:,} tokens missed by {after - goal.target:,}, {after:,} remain; {floor}"
        if after <= floor.total or recipe.when_missed == "continue":
            return (missed,)
        return (missed, f"{recipe.name} does only what it is named for; the recipe auto comes down to a target")


def restore(condensed: Result | Conversation | Mapping[str, Json] | Sequence[Json], *, system: Json = None) -> Any:
    """Return the original messages.

    A result gives back its original messages. Condensed messages alone give back what references stand for: that is
    everything, where the condensation was verbatim. A system prompt that was given beside them is given again, as
    references may lead there.
    """
    if isinstance(condensed, Result):
        return wires_of(restore_plan(condensed.conversation, condensed.plan))
    if isinstance(condensed, Conversation):
        return unfold(condensed)
    return wires_of(unfold(formats.parse(condensed, system=system)))


def _usual_share(recipe: Recipe) -> float | None:
    """The share of the input that the recipe comes down to where no target is given; None leaves it to its passes."""
    settings = recipe.settings
    if recipe.provider.id == "auto":
        return _HALF
    if recipe.when_missed == "stop":
        return None
    if isinstance(settings, SmartSettings):
        return 1 - (settings.target_reduction or _HALF)
    if isinstance(settings, TruncationSettings) and settings.mode == "targeted":
        return None if recipe.name == recipe.provider.id else 1 - settings.target_reduction
    return None


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
