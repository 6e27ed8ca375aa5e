"""What becomes of messages that a summary was asked for: it stands for them, a mark does, or they stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from compact.messages import Fold, Message, Text, seal, stands_for
from compact.ports import Measure
from compact.summaries.ladder import Trouble
from compact.summaries.summarize import NoSummary, Summary

Cause: TypeAlias = Trouble | Literal["grew"]


@dataclass(frozen=True, slots=True)
class Declined:
    """Why the messages stay."""

    cause: Cause
    reason: str


def fold(
    messages: Sequence[Message], summary: Summary | NoSummary, measure: Measure, version: int | None = None
) -> Fold | Declined:
    """The messages folded into their summary, or into a mark where they may go without one; never into more."""
    ids, count = tuple(message.id for message in messages), sum(map(stands_for, messages))
    if isinstance(summary, Summary):
        folded = Fold(ids, seal(summary.text, count, version), "summarized")
    elif summary.prune:
        folded = Fold(ids, None, "pruned", count=count)
    else:
        return Declined(summary.kind, summary.reason)
    before, after = sum(map(measure.message, messages)), measure.message(standing(folded.text))
    if after >= before:
        return Declined("grew", f"{before:,} tokens would have become {after:,}")
    return folded


def standing(text: str) -> Message:
    """A message as it will stand for others."""
    return Message("summary", "assistant", (Text(text, ()),), None)
