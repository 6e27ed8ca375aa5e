"""The threshold that is in force for a model, where it was set, and the profile that serves the model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compact.engine.stored.preferences import limits_of
from compact.errors import InvalidConfiguration
from compact.models import Limits, find_model
from compact.policies import AnswerRoom, CompactConfig, EffectiveThreshold, OwnThreshold, Policy, Profile, model_of
from compact.ports import ModelConfig
from compact.settings.profiles import load_profiles


def threshold_for(policy: Policy, model: str = "") -> EffectiveThreshold:
    """From which share of the window a manager for the model compacts, and where that was set."""
    own = profile_threshold(model) if model else None
    return policy.effective_threshold(*([own] if own else []))


def gateway_threshold(
    policy: Policy, stored: ModelConfig | None, profile: Profile | None, usual: OwnThreshold
) -> EffectiveThreshold:
    """From which share of the window the gateway compacts conversations with a model, and where that was set.

    The order is that of stored sessions: what was set for the model, its profile's, then what holds for all. `usual` is
    the threshold that stored sessions have for all; one in the configuration goes before it.
    """
    own = [OwnThreshold("model", stored.threshold, stored.id)] if stored else []
    return policy.effective_threshold(*own, *([profile.own_threshold] if profile else []), after=[usual])


def profile_threshold(model: str) -> OwnThreshold | None:
    """The threshold of the first profile for conversations with the model; None where there is no such profile.

    Profiles that cannot be read are a problem of that threshold: another one holds then.
    """
    try:
        serving = load_profiles().for_conversation(model)
    except InvalidConfiguration as error:
        return OwnThreshold("profile", None, problem=f"the thresholds of profiles are not used: {error}")
    return serving[0].own_threshold if serving else None


def serving_profile(model: str) -> Profile | None:
    """Return the first profile for conversations with the model; None where there is none.

    Profiles that cannot be read are a problem of the threshold, which is reported.
    """
    try:
        serving = load_profiles().for_conversation(model)
    except InvalidConfiguration:
        return None
    return serving[0] if serving else None


@dataclass(frozen=True, slots=True)
class Serving:
    """The profile that serves a model, and what a person has set for the model or a vendor told of it."""

    profile: Profile | None = None
    stored: ModelConfig | None = None


def room_for(config: CompactConfig, serving: Serving) -> tuple[Limits, AnswerRoom]:
    """Return the limits of the conversations' model, and the room of answers for which a request sets no limit.

    A window in the configuration goes before what is known otherwise.
    """
    profile, stored = serving.profile, serving.stored
    model = model_of(profile) if profile else find_model(config.model)
    limits = limits_of(stored, profile) if stored else model.limits
    if window := config.max_context_tokens:
        limits = replace(model.resized(window).limits, window=window)
    limits = replace(limits, size=model.limits.size)
    own, longest = profile and profile.max_output_tokens, (stored and stored.max_output) or model.max_output
    return limits, AnswerRoom(own) if own else AnswerRoom.usual(longest)
