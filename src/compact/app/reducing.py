"""What a policy compacts with."""

from __future__ import annotations

from typing import Any

from compact.app.condensing import choose
from compact.app.recall import with_handles
from compact.policies import Policy, configure
from compact.providers import Provider, find_provider

LAYERS = "layers"


def reducer(policy: Policy) -> tuple[Provider, Any]:
    """The provider and its settings that the policy names; what it removes can be recalled by handles."""
    if policy.preset or policy.provider != LAYERS:
        chosen, own = choose(None, policy.preset, None) if policy.preset else choose(policy.provider, None, None)
        return chosen, with_handles(own)
    provider = find_provider(LAYERS)
    settings = {
        "recent_turns": policy.keep_recent_turns,
        "tool_pairs": policy.keep_tool_io_pairs,
        "roles_kept": policy.roles_never_prune,
        "strategy": policy.strategy,
        "max_summary_tokens": policy.summary_tokens,
        "on_failure": policy.on_summary_failure,
    }
    return provider, configure(provider.settings, settings, under="policy")
