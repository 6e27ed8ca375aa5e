"""Which strategy a summary is written by, and how it comes into a recipe."""

from __future__ import annotations

from compact.errors import InvalidConfiguration
from compact.policies import Configuration, Profile
from compact.policies.stored import StoredSettings
from compact.providers import Recipe
from compact.providers.native.sections import OWN as ROO
from compact.providers.native.sections import choose_strategy as find_native
from compact.providers.smart.settings import SmartSettings
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
    prompt = _prompt(profile)
    if prompt:
        return custom_strategy(prompt, find_strategy(own or DEFAULT))
    return find_strategy(own) if own else None


def with_strategy(recipe: Recipe, strategy: Strategy, detail: str = "") -> Recipe:
    """The recipe with the strategy in it; the same one where it writes no such summaries."""
    words = {"strategy": strategy.name, "prompt": strategy.custom and strategy.prompt, "detail": detail}
    return recipe.worded(unless_said=False, **{name: value for name, value in words.items() if value})


def tailor(recipe: Recipe, profile: Profile | None = None) -> Recipe:
    """The recipe as a model is asked by it: with the profile's strategy and prompt, else the prompt called `default`.

    What was set for the recipe itself comes before both. The profile is the one that is asked first; None stands for a
    callback.
    """
    strategy, prompt = profile.strategy if profile else "", _prompt(profile)
    if prompt:
        custom_strategy(prompt, find_strategy(strategy or DEFAULT))  # raises where the words cannot be used
    words = {name: value for name, value in (("strategy", strategy), ("prompt", prompt)) if value}
    return recipe.worded(unless_said=True, **words)


def tailor_stored(recipe: Recipe, settings: StoredSettings, profile: Profile | None = None) -> Recipe:
    """The recipe for a stored session: with the strategy and prompt that were set for it, else as `tailor` has them."""
    said = {name for name in settings.model_fields_set & {"strategy", "prompt"} if getattr(settings, name)}
    own = profile.strategy if profile else ""
    strategy = settings.strategy if "strategy" in said else own or settings.strategy
    prompt = settings.prompt or ("" if said else _prompt(profile))
    words = {"strategy": strategy} | ({"prompt": prompt} if prompt else {})
    return recipe.worded(unless_said=not said, **words).worded(detail=settings.detail)


def takes_strategy(settings: Configuration) -> bool:
    """Whether a provider with these settings writes summaries by a strategy."""
    if isinstance(settings, SmartSettings):
        return any(each.mode == "batch" and each.batch.operation == "summarize" for each in settings.passes)
    return {"strategy", "prompt"} <= type(settings).model_fields.keys()


def _prompt(profile: Profile | None) -> str:
    """The profile's own prompt; where that has neither prompt nor strategy, the one called `default`."""
    prompt = prompt_of(profile) if profile else ""
    if prompt or (profile and profile.strategy) or EVERYBODYS not in list_prompts():
        return prompt
    return load_prompt(EVERYBODYS)
