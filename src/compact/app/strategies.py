"""Which strategy a summary is written by, and how it comes into the settings of a provider."""

from __future__ import annotations

from typing import Any

from compact.errors import InvalidConfiguration
from compact.policies import Configuration, Profile, configure
from compact.providers.native.sections import OWN as ROO
from compact.providers.native.sections import choose_strategy as find_native
from compact.providers.smart.settings import BatchSettings, PassSettings, SmartSettings
from compact.settings.profiles import list_prompts, load_prompt, prompt_of
from compact.summaries.model.strategy import DEFAULT, NAMES, Strategy, custom_strategy, find_strategy

EVERYBODYS = "default"
"""The prompt that holds where no other does."""


def choose_strategy(name: str = "", profile: Profile | None = None) -> Strategy | None:
    """The strategy to summarize by: the one that is named, else the profile's; None where nothing is said.

    A name is that of a built-in strategy or of a prompt of your own, whose words then take the place of the base's.
    Where neither a name nor the profile says anything, the prompt called `default` holds, if there is one.
    """
    own = profile.strategy if profile else ""
    if name in NAMES or name == ROO:
        return find_native(name)
    if name:
        known = list_prompts()
        if name not in known:
            remedy = f"Known: {', '.join((*NAMES, ROO, *known))}."
            raise InvalidConfiguration(f"there is no strategy {name!r}", field="strategy", remedy=remedy)
        return custom_strategy(load_prompt(name), find_strategy(own or DEFAULT))
    prompt = prompt_of(profile) if profile else ""
    if not prompt and not own and EVERYBODYS in list_prompts():
        prompt = load_prompt(EVERYBODYS)
    if prompt:
        return custom_strategy(prompt, find_strategy(own or DEFAULT))
    return find_strategy(own) if own else None


def with_strategy(settings: Any, strategy: Strategy, detail: str = "") -> Any:
    """The settings of a provider with the strategy in them; the same ones where it writes no such summaries."""
    changes = {"strategy": strategy.name} | ({"prompt": strategy.prompt} if strategy.custom else {})
    changes |= {"detail": detail} if detail else {}
    if _has_strategy(settings):
        return configure(type(settings), {**settings.model_dump(), **changes})
    if isinstance(settings, SmartSettings):
        passes = tuple(_changed(each, changes) if _summarizes(each) else each for each in settings.passes)
        return settings.model_copy(update={"passes": passes})
    return settings


def takes_strategy(settings: Configuration) -> bool:
    """Whether a provider with these settings writes summaries by a strategy."""
    return _has_strategy(settings) or (isinstance(settings, SmartSettings) and any(map(_summarizes, settings.passes)))


def _has_strategy(settings: Configuration) -> bool:
    return {"strategy", "prompt"} <= type(settings).model_fields.keys()


def _summarizes(each: PassSettings) -> bool:
    return each.mode == "batch" and each.batch.operation == "summarize"


def _changed(each: PassSettings, changes: dict[str, str]) -> PassSettings:
    batch = configure(BatchSettings, {**each.batch.model_dump(), **changes}, under=each.id)
    return each.model_copy(update={"batch": batch})
