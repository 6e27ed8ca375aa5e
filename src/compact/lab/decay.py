"""What is left of the first part of a session after compacting it again and again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from compact.lab.evaluating import Means, comes_back, is_valid
from compact.lab.growing import Growth
from compact.lab.retention import missing, text_of
from compact.messages import Message, Plan
from compact.providers import Recipe

SHARE = 0.5
"""Each compaction halves what is there, and what is added then about doubles it."""


@dataclass(frozen=True, slots=True)
class Round:
    """The needed facts of the first part after so many compactions, and the tokens of what the model then sees."""

    number: int
    in_context: float
    recoverable: float
    lost: float
    tokens: float
    met: float
    valid: float


def decay(growth: Growth, recipe: Recipe, means: Means) -> Iterator[Round]:
    """Add part after part, and compact each time what the time before left: nothing else is known of it."""
    view = growth.session
    given: tuple[Message, ...] = ()
    plan: Plan = ()
    of = len(growth.needed)
    for number, part in enumerate(growth.parts, 1):
        given += part
        grown = view.with_messages((*view.messages, *part))
        result = means.run(means.condensation(grown, SHARE), recipe)
        view, plan = result.conversation, (*plan, *result.plan)
        gone = missing(growth.needed, "\n".join(map(text_of, view.messages)))
        lost = 0 if comes_back(view, plan, view.with_messages(given)) else len(gone)
        yield Round(
            number,
            in_context=1 - len(gone) / of,
            recoverable=(len(gone) - lost) / of,
            lost=lost / of,
            tokens=result.report.tokens_after,
            met=result.target_met,
            valid=is_valid(grown, view),
        )


def average(sessions: Sequence[Sequence[Round]]) -> list[Round]:
    """The rounds of several sessions as one."""
    names = ("in_context", "recoverable", "lost", "tokens", "met", "valid")
    return [
        Round(same[0].number, *(fmean(getattr(one, name) for one in same) for name in names))
        for same in zip(*sessions, strict=True)
    ]
