"""The threshold that is in force for a model, where it was set, and the window that a profile gives."""

from __future__ import annotations

from compact.errors import InvalidConfiguration
from compact.policies import EffectiveThreshold, OwnThreshold, Policy, model_of
from compact.settings.profiles import load_profiles


def threshold_for(policy: Policy, model: str = "") -> EffectiveThreshold:
    """From which share of the window a manager for the model compacts, and where that was set."""
    own = profile_threshold(model) if model else None
    return policy.effective_threshold(*([own] if own else []))


def profile_threshold(model: str) -> OwnThreshold | None:
    """The threshold of the first profile for conversations with the model; None where there is no such profile.

    Profiles that cannot be read are a problem of that threshold: another one holds then.
    """
    try:
        serving = load_profiles().for_conversation(model)
    except InvalidConfiguration as error:
        return OwnThreshold("profile", None, problem=f"the thresholds of profiles are not used: {error}")
    return serving[0].own_threshold if serving else None


def profile_window(model: str) -> int | None:
    """How many tokens the first profile for conversations with the model lets a request have; None where none says so.

    Profiles that cannot be read are a problem of the threshold, which is reported.
    """
    try:
        serving = load_profiles().for_conversation(model)
    except InvalidConfiguration:
        return None
    return model_of(serving[0]).max_input if serving and serving[0].context_window else None
