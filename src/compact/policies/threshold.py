"""When to condense."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema

from compact.messages import Json
from compact.models import Limits
from compact.policies.configuration import Configuration
from compact.policies.room import USUAL_ANSWER, AnswerRoom, Room

MIN_CONDENSE_THRESHOLD = 5
MAX_CONDENSE_THRESHOLD = 100
TOKEN_BUFFER_PERCENTAGE = 0.1
DEFAULT_RESERVED_OUTPUT = USUAL_ANSWER
INHERIT = -1
"""The threshold of what has none of its own."""
LEAST_SHARE = MIN_CONDENSE_THRESHOLD / 100
USUAL_TARGET = 0.5
_MB = 1_000_000
_USUAL_TRIGGER = 0.85
NEAR = 0.9
"""The share of the trigger from which on a compaction is near: it is reported, and prepared."""
_RANGE = f"{MIN_CONDENSE_THRESHOLD}% to {MAX_CONDENSE_THRESHOLD}%"


def check_share(value: float) -> float:
    """The threshold as a share of the window; ValueError where it is out of range."""
    if value != INHERIT and not LEAST_SHARE <= value <= 1:
        percent = MIN_CONDENSE_THRESHOLD <= value <= MAX_CONDENSE_THRESHOLD
        hint = f"; {value:g}% is {value / 100:g}" if percent else ""
        raise ValueError(f"must be a share from {LEAST_SHARE:g} to 1 ({_RANGE}), or {INHERIT} to inherit{hint}")
    return value


def check_percent(value: float) -> float:
    """The threshold in percent of the window; ValueError where it is out of range."""
    if value != INHERIT and not MIN_CONDENSE_THRESHOLD <= value <= MAX_CONDENSE_THRESHOLD:
        raise ValueError(
            f"must be from {MIN_CONDENSE_THRESHOLD} to {MAX_CONDENSE_THRESHOLD}, or {INHERIT} for what holds elsewhere"
        )
    return value


TriggerShare: TypeAlias = Annotated[
    float,
    AfterValidator(check_share),
    WithJsonSchema({"anyOf": [{"type": "number", "minimum": LEAST_SHARE, "maximum": 1}, {"const": INHERIT}]}),
]
"""A threshold as a share of the window; -1 inherits."""


def inherit(settings: Configuration, name: str) -> None:
    """Take a threshold of -1 as one that was not set."""
    if getattr(settings, name) == INHERIT:
        settings.__dict__[name] = type(settings).model_fields[name].default
        settings.__pydantic_fields_set__.discard(name)


def target_below(trigger: float, target: float | None = None) -> float:
    """The share to come down to: the target that was set if it lies below the trigger, else one that follows it.

    That is half of the window, and at most as much of the trigger as half of the window is of 85%.
    """
    if target is not None and target < trigger:
        return target
    return min(USUAL_TARGET, round(trigger * USUAL_TARGET / _USUAL_TRIGGER, 3))


class Threshold(Configuration):
    """The point from which a conversation is condensed.

    It is reached at `share` of the window or at `tokens`, or where input, buffer and answer no longer fit. Never below
    `minimum`.
    """

    share: float | None = Field(default=None, gt=0, le=1)
    """Trigger at this share of the window; at 1 only where the request does not fit."""
    tokens: int | None = Field(default=None, gt=0)
    """Trigger at this many tokens."""
    buffer_share: float = Field(default=0, ge=0, lt=1)
    """Share of the window that is kept free."""
    buffer_tokens: int = Field(default=0, ge=0)
    """Tokens that are kept free, for the next input and the tools' answers."""
    reserved_output: int = Field(default=0, ge=0)
    """Tokens kept free for the model's answer where the request does not say how long it may be."""
    minimum: int = Field(default=0, ge=0)
    """Never trigger below this many tokens."""
    automatic: bool = True
    """Whether it triggers at all; without it only a manual call condenses."""

    def divide(self, limits: Limits | int, answer: AnswerRoom | None = None) -> Room:
        """Divide a window between input, answer and buffer; the buffer takes at most half of it."""
        limits = Limits.shared(limits) if isinstance(limits, int) else limits
        buffer = ceil(round(limits.window * self.buffer_share, 6)) + self.buffer_tokens
        return Room(limits, min(buffer, limits.window // 2), answer or AnswerRoom.limited(self.reserved_output))

    def budget(self, window: int) -> int:
        """Return the input tokens that fit into the window beside buffer and answer."""
        return self.divide(window).budget


MANAGER = Threshold(share=_USUAL_TRIGGER, buffer_tokens=1500)
"""The default of `CompactManager`."""

SESSIONS_BUFFER = 0.05
SESSIONS = Threshold(share=0.95, buffer_share=SESSIONS_BUFFER, minimum=2000)
"""The default of stored sessions, as a share of the model's maximum input."""

PROVIDERS = Threshold(share=1.0, buffer_share=TOKEN_BUFFER_PERCENTAGE, reserved_output=DEFAULT_RESERVED_OUTPUT)
"""The default of the provider manager."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether to condense, why, and every number that led there.

    `trigger_at` is the size from which on it triggers; `lowered` by what factor the answer's room lowers that. `size`
    is that of the request in bytes, and `size_at` from where on that triggers; None where the vendor states no limit.
    `left` is how many tokens there are until it triggers, where that is near; None where it is not, or has come.
    """

    triggered: bool
    reason: str
    used: int
    trigger_at: int
    minimum: int
    room: Room
    lowered: float = 1.0
    size: int = 0
    size_at: int | None = None
    left: int | None = None

    @property
    def is_full(self) -> bool:
        """True if it has as many tokens as triggers."""
        return self.used >= self.trigger_at

    @property
    def is_large(self) -> bool:
        """True if it has as many bytes as trigger."""
        return self.size_at is not None and self.size >= self.size_at

    @property
    def fits(self) -> bool:
        """True if the request can be sent as it is."""
        return self.used <= self.budget and self.size <= (self.room.limits.size or self.size)

    @property
    def window(self) -> int:
        """The size that shares refer to."""
        return self.room.limits.window

    @property
    def budget(self) -> int:
        """The most input tokens beside which buffer and answer fit."""
        return self.room.budget

    @property
    def usage(self) -> float:
        """The share of the window in use."""
        return self.used / self.window if self.window else 1.0


def should_condense(used: int, window: int | Room, threshold: Threshold, size: int = 0) -> Decision:
    """True if a request of `used` tokens and `size` bytes (the last message included) calls for condensing."""
    room = threshold.divide(window) if isinstance(window, int) else window
    marks = [mark for mark in (_share(threshold, room.limits.window), threshold.tokens) if mark is not None]
    mark, budget = min(marks, default=None), room.budget
    trigger_at = min([*marks, budget + 1])
    unlowered = min([*marks, replace(room, answer=AnswerRoom(0)).budget + 1])
    most = room.limits.size
    size_at = None if most is None else int(most * (threshold.share or 1))
    if not threshold.automatic:
        triggered, reason = False, "automatic condensing is off"
    elif size_at is not None and size >= size_at and used < trigger_at:
        triggered, reason = True, f"{size / _MB:,.1f} MB reach the threshold of {size_at / _MB:,.1f} MB"
    elif used < threshold.minimum and used <= room.most:
        triggered, reason = False, f"{used:,} tokens are below the minimum of {threshold.minimum:,}"
    elif mark is not None and used >= mark:
        triggered, reason = True, f"{used:,} tokens reach the threshold of {mark:,}"
    elif used > budget:
        triggered, reason = True, f"{used:,} tokens exceed the {budget:,} that buffer and reserved output leave"
    else:
        triggered, reason = False, f"{used:,} tokens are below the threshold of {trigger_at:,}"
    begins = max(trigger_at, threshold.minimum)
    near = threshold.automatic and not triggered and used >= NEAR * begins
    left, lowered = begins - used if near else None, trigger_at / max(1, unlowered)
    return Decision(triggered, reason, used, trigger_at, threshold.minimum, room, lowered, size, size_at, left)


Source: TypeAlias = Literal["profile", "model", "workspace", "global", "default"]


@dataclass(frozen=True, slots=True)
class OwnThreshold:
    """The threshold that was set in one place, as a share; None or -1 where that place inherits.

    `name` is what the place is called, such as a profile's name. `problem` says why it could not be read.
    """

    source: Source
    share: Json
    name: str = ""
    problem: str = ""

    @property
    def warning(self) -> str:
        """Why the threshold cannot be used; empty where it can."""
        if self.problem or self.share in (None, INHERIT):
            return self.problem
        if isinstance(self.share, int | float) and LEAST_SHARE <= self.share <= 1:
            return ""
        given = f"{self.share * 100:g}%" if isinstance(self.share, int | float) else repr(self.share)
        return f"{self.source} {self.name}".rstrip() + f": threshold {given} is outside {_RANGE} and is not used"


@dataclass(frozen=True, slots=True)
class EffectiveThreshold:
    """The threshold that is in force and the target below it, as shares of the window, and where it was set.

    `warnings` are about thresholds that could not be used.
    """

    share: float
    target: float
    source: Source = "default"
    name: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """Where it was set, for people."""
        return f"{self.source} {self.name}".rstrip()


def effective_threshold(own: Iterable[OwnThreshold], usual: float, target: float | None = None) -> EffectiveThreshold:
    """The first threshold that was set and can be used, else the usual one; the target lies below it."""
    warnings = []
    for each in own:
        if warning := each.warning:
            warnings.append(warning)
        elif isinstance(each.share, int | float) and each.share != INHERIT:
            below = target_below(each.share, target)
            return EffectiveThreshold(each.share, below, each.source, each.name, tuple(warnings))
    return EffectiveThreshold(usual, target_below(usual, target), warnings=tuple(warnings))


def _share(threshold: Threshold, window: int) -> int | None:
    if threshold.share in (None, 1):  # all of the window: only the budget triggers
        return None
    # Rounded first: 0.07 * 100 is 7.000000000000001 in floating point, and 7 tokens are 7%.
    return ceil(round(threshold.share * window, 6))
