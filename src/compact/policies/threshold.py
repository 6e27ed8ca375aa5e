"""When to condense."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from pydantic import Field

from compact.policies.configuration import Configuration

MIN_CONDENSE_THRESHOLD = 5
MAX_CONDENSE_THRESHOLD = 100
TOKEN_BUFFER_PERCENTAGE = 0.1
DEFAULT_RESERVED_OUTPUT = 8192
INHERIT = -1


class Threshold(Configuration):
    """The point from which a conversation is condensed.

    It is reached when usage comes up to `share` of the window or to `tokens`, or passes what the buffers and the
    reserved output leave of the window. Never below `minimum`.
    """

    share: float | None = Field(default=None, gt=0, le=1)
    """Trigger at this share of the window."""
    tokens: int | None = Field(default=None, gt=0)
    """Trigger at this many tokens."""
    buffer_share: float = Field(default=0, ge=0, lt=1)
    """Share of the window that is kept free."""
    buffer_tokens: int = Field(default=0, ge=0)
    """Tokens that are kept free, for the next input and the tools' answers."""
    reserved_output: int = Field(default=0, ge=0)
    """Tokens kept free for the model's answer."""
    minimum: int = Field(default=0, ge=0)
    """Never trigger below this many tokens."""
    automatic: bool = True
    """Whether it triggers at all; without it only a manual call condenses."""

    def budget(self, window: int) -> int:
        """What the buffers and the reserved output leave of the window; these take at most half of it together."""
        reserved = ceil(round(window * self.buffer_share, 6)) + self.buffer_tokens + self.reserved_output
        return max(window - reserved, window // 2)


MANAGER = Threshold(share=0.85, buffer_tokens=1500)
"""The default of `CompactManager`."""

SESSIONS = Threshold(share=0.95, minimum=2000)
"""The default of stored sessions, as a share of the model's maximum input."""

PROVIDERS = Threshold(share=1.0, buffer_share=TOKEN_BUFFER_PERCENTAGE, reserved_output=DEFAULT_RESERVED_OUTPUT)
"""The default of the provider manager."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to condense, why, and every number that led there."""

    triggered: bool
    reason: str
    used: int
    window: int
    trigger_at: int
    budget: int
    minimum: int

    @property
    def usage(self) -> float:
        """The share of the window in use."""
        return self.used / self.window if self.window else 1.0


def should_condense(used: int, window: int, threshold: Threshold) -> Decision:
    """Whether a request of `used` tokens (the last message included) calls for condensing."""
    marks = [mark for mark in (_share(threshold, window), threshold.tokens) if mark is not None]
    trigger_at = min(marks, default=window)
    budget = threshold.budget(window)
    if not threshold.automatic:
        triggered, reason = False, "automatic condensing is off"
    elif used < threshold.minimum and used <= window:
        triggered, reason = False, f"{used:,} tokens are below the minimum of {threshold.minimum:,}"
    elif used >= trigger_at:
        triggered, reason = True, f"{used:,} tokens reach the threshold of {trigger_at:,}"
    elif used > budget:
        triggered, reason = True, f"{used:,} tokens exceed the {budget:,} that buffer and reserved output leave"
    else:
        triggered, reason = False, f"{used:,} tokens are below the threshold of {trigger_at:,}"
    return Decision(triggered, reason, used, window, trigger_at, budget, threshold.minimum)


def effective_percent(profile: str, default: float, profiles: Mapping[str, float]) -> tuple[float, str]:
    """A profile's threshold in percent, and a warning where its own is no valid one and the default holds."""
    own = profiles.get(profile, INHERIT)
    if own == INHERIT:
        return default, ""
    if MIN_CONDENSE_THRESHOLD <= own <= MAX_CONDENSE_THRESHOLD:
        return own, ""
    return default, (
        f"profile {profile!r}: threshold {own} is outside {MIN_CONDENSE_THRESHOLD}-{MAX_CONDENSE_THRESHOLD}; "
        f"the default of {default} holds"
    )


def _share(threshold: Threshold, window: int) -> int | None:
    if threshold.share is None:
        return None
    # Rounded first: 0.07 * 100 is 7.000000000000001 in floating point, and 7 tokens are 7%.
    return ceil(round(threshold.share * window, 6))
