"""Which models write summaries; and where none does, why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from compact.app.profiles import OFFLINE, Standing, examine, find_profile, vendor_profile
from compact.errors import InvalidConfiguration
from compact.models import find_model
from compact.policies import Profile, Vendor, default_profile
from compact.providers import Recipe
from compact.settings.offline import VARIABLE, is_offline
from compact.settings.profiles import load_profiles

NOT_CONFIGURED: Final = "no profile is configured or named"
_OWN: Final[tuple[Vendor, ...]] = ("openai", "anthropic", "gemini", "openrouter")
"""The vendors whose keys are looked for; the others need more than a key."""


@dataclass(frozen=True, slots=True)
class Summarizers:
    """The profiles whose models write summaries, in the order of asking.

    Where there is none, `reason` says why. `own`: no profile is configured or named; the key of the conversation's own
    vendor was found.
    """

    profiles: tuple[Profile, ...] = ()
    reason: str = ""
    own: bool = False

    def __bool__(self) -> bool:
        return bool(self.profiles)


def choose_summarizers(name: str = "", *, model: str = "", recipe: Recipe | None = None) -> Summarizers:
    """The profile that is named, then those that are configured and can be asked, then those that passes name.

    `recipe` has the passes. Where none is named or configured, `model` is the one that the conversation is with: its
    vendor's small model writes the summaries if the key for it is in the environment. With the name "offline", or
    `COMPACT_OFFLINE` set, no model does. InvalidConfiguration where a profile that is named, or all that are
    configured, cannot be asked.
    """
    if is_offline():
        return Summarizers(reason=f"{VARIABLE} is set")
    if name == OFFLINE:
        return Summarizers(reason="the profile is offline")
    configured = [examine(profile) for profile in load_profiles().for_condensation()]
    chosen = [examine(find_profile(name))] if name else []
    in_passes = [examine(each) for each in find_profiles(recipe)] if recipe else []
    if unready := [standing for standing in (*chosen, *in_passes) if not standing.ready]:
        raise _cannot_be_asked(unready)
    usable = [standing for standing in configured if standing.ready]
    if configured and not (usable or chosen or in_passes):
        raise _cannot_be_asked(configured)
    profiles = tuple(dict.fromkeys(standing.profile for standing in (*chosen, *usable, *in_passes)))
    return Summarizers(profiles) if profiles else _own(model)


def find_profiles(recipe: Recipe) -> tuple[Profile, ...]:
    """Return the profiles that passes of the recipe name; InvalidConfiguration where there is no such profile."""
    found = []
    for name in recipe.profiles:
        try:
            found.append(find_profile(name))
        except InvalidConfiguration as error:
            problem = f"a pass of {recipe.name} names {name!r}, and there is no such profile"
            raise InvalidConfiguration(problem, field="profile", remedy=error.remedy) from None
    return tuple(found)


def ready_vendors() -> tuple[Profile, ...]:
    """The vendors' small models that can be asked when they are named: their keys are in the environment."""
    standings = (examine(vendor_profile(vendor), "vendor") for vendor in _OWN)
    return tuple(standing.profile for standing in standings if standing.ready)


def _own(model: str) -> Summarizers:
    """The small model of the vendor whose model the conversation is with."""
    if not model:
        return Summarizers(reason=NOT_CONFIGURED)
    owner = find_model(model).vendor
    vendor = next((each for each in _OWN if default_profile(each).recipient == owner), None)
    if vendor is None:
        return Summarizers(reason=f"no profile is configured, and {model[:80]} is of no vendor whose key is looked for")
    try:
        standing = examine(vendor_profile(vendor), "vendor")
    except InvalidConfiguration as error:
        return Summarizers(reason=f"{error.field}: {error.problem}")
    if standing.ready:
        return Summarizers((standing.profile,), own=True)
    return Summarizers(reason=f"no profile is configured, and {standing.problems[0].rstrip('.')}")


def _cannot_be_asked(standings: Sequence[Standing]) -> InvalidConfiguration:
    reasons = "; ".join(f"profile {standing.profile.name}: {standing.problems[0]}" for standing in standings)
    return InvalidConfiguration(reasons.removesuffix("."), remedy="`compact profiles` lists which can be asked.")
