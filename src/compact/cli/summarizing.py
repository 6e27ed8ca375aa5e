"""Summaries from the command line: by which strategy, by which model, and what to report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import typer

from compact.app.condensing import Condensation, Result
from compact.app.costing import Costing, condense_metered
from compact.app.pricing import Summarizer
from compact.app.profiles import OFFLINE, ask_with
from compact.app.recommending import dollar_range, dollars
from compact.app.strategies import choose_strategy, tailor, takes_strategy, with_strategy
from compact.app.summarizers import NOT_CONFIGURED, Summarizers, choose_summarizers, ready_vendors
from compact.engine import NoModel
from compact.errors import InvalidInput
from compact.messages import EditKind, Json
from compact.models.spending import Spending
from compact.ports import Event
from compact.providers import Recipe

StrategyName: TypeAlias = Annotated[
    str | None, typer.Option("--strategy", help="What a summary keeps: see `compact prompt`.")
]
ProfileName: TypeAlias = Annotated[
    str | None,
    typer.Option("--profile", help="The profile whose model summarizes: see `compact profiles`."),
]
Offline: TypeAlias = Annotated[bool, typer.Option("--offline", help="Call no model, whatever is configured.")]
How: TypeAlias = Literal["model", "offline", "failed"]
_TOLD = 3


@dataclass(frozen=True, slots=True)
class Summarized:
    """A condensation, and how its summaries came about; `spent` where a model answered.

    `how` is None where no summary was wanted, or none was made though no model was called; `remedy` says what helps
    where none could be had, and `hint` how a model can be asked where none was.
    """

    result: Result
    how: How | None
    spent: Spending | None = None
    failures: tuple[str, ...] = ()
    remedy: str = ""
    hint: str = ""

    @property
    def lines(self) -> list[str]:
        """What the report does not say."""
        told = [f" - Could not be asked: {failure}" for failure in self.failures[:_TOLD]]
        if self.spent is not None:
            estimated, actual = dollar_range(self.spent.estimated), dollars(self.spent.actual.cost)
            told.append(f" - Summaries by {self.spent.model}: {actual}, estimated {estimated}")
        if self.how == "failed":
            told.append(f" - No summary was made; {self.remedy}")
        elif self.how == "offline" and self.hint:
            told.append(f" - {self.hint}")
        return told

    @property
    def facts(self) -> dict[str, Json]:
        """The same for programs."""
        return {"summaries": self.how, "spending": self.spent and self.spent.to_json()}


def named_profile(profile: str | None, *, offline: bool) -> str | None:
    """The profile that the options name; InvalidInput where --offline contradicts it."""
    if offline and profile not in (None, OFFLINE):
        raise InvalidInput(f"contradicts --profile {profile}", field="--offline", remedy="Give one of the two.")
    return OFFLINE if offline else profile


def prepare(recipe: Recipe, strategy: str | None, profile: str | None) -> tuple[Recipe, Summarizers]:
    """The recipe with its strategy, and the profiles that are asked for summaries."""
    if not recipe.provider.capabilities.summarizes:
        wish = "--strategy" if strategy else "--profile" if profile not in (None, OFFLINE) else ""
        if wish:
            raise InvalidInput(f"{recipe.name} writes no summaries", field=wish, remedy=_REMEDY)
        return recipe, Summarizers()
    if strategy and not takes_strategy(recipe.settings):
        raise InvalidInput(f"{recipe.name} writes no summaries by a strategy", field="--strategy", remedy=_REMEDY)
    found = choose_summarizers(profile or "", recipe=recipe)
    first = found.profiles[0] if found else None
    if strategy and (chosen := choose_strategy(strategy, first)):
        return with_strategy(recipe, chosen), found
    return tailor(recipe, first) if found else recipe, found


def condense_with(condensation: Condensation, recipe: Recipe, summarizers: Summarizers) -> Summarized:
    """Compact, asking the profiles in their order."""
    profiles = summarizers.profiles
    if not profiles:
        result = condensation.run(recipe, NoModel(summarizers.reason))
        hint = _hint() if summarizers.reason == NOT_CONFIGURED else ""
        return Summarized(result, "offline" if _holds_summary(result) else None, hint=hint)
    failures: dict[str, None] = {}

    def observe(event: Event) -> None:
        if event.name == "handler_failed":
            failures[f"{event.properties['profile']}: {event.properties['reason']}"] = None

    with ask_with(profiles, observe, recipe=recipe.name) as ask:
        result, spent = condense_metered(Costing(condensation), recipe, [*map(Summarizer.of, profiles)], ask)
    paid = spent if spent.actual.questions else None
    return Summarized(result, _how(result, paid), paid, tuple(failures), _remedy(recipe.settings))


def _hint() -> str:
    """How a model can be asked, in one line."""
    ready = [f"--profile {profile.name} ({profile.model})" for profile in ready_vendors()]
    return f"To have a model write it: {' or '.join(ready) or '--profile NAME; `compact profiles` lists them'}"


def _holds_summary(result: Result) -> bool:
    """Whether one was made, and kept: a pass that would have grown is skipped."""
    return any(edit.kind is EditKind.SUMMARIZED for step in result.plan for edit in step.edits)


def _asked(result: Result) -> bool:
    return any(done.asked for done in result.report.passes)


def _how(result: Result, paid: Spending | None) -> How | None:
    """How the summaries came about where a model was to write them."""
    if not _asked(result):
        return None
    events = result.report.events
    made_offline = any(event.name == "summary_created" and event.properties.get("offline") for event in events)
    if made_offline and _holds_summary(result):
        return "offline"
    created = any(event.name == "summary_created" for event in events)
    unusable = any(event.name in ("summary_failed", "summary_refused") for event in events)
    return "failed" if paid is None or (unusable and not created) else "model"


def _remedy(settings: object) -> str:
    """What helps where a model gives no summary."""
    offline = "makes one without a model"
    match getattr(settings, "on_failure", ""):
        case "block":
            return f"--set on_failure=offline {offline}, --set on_failure=prune removes the messages without one"
        case "prune":
            return f"--set on_failure=offline {offline}, --set on_failure=block leaves the messages"
        case _:
            return f"--profile offline {offline}"


_REMEDY = "Choose a recipe that does: --recipe auto, native, balanced or cost."
