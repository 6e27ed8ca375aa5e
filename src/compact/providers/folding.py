"""What becomes of messages that a summary was asked for: it stands for them, a mark does, or they stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from compact.messages import EditKind, Fold, Message, Text, frame_account, pruned_marker, stands_for
from compact.providers.provider import Task
from compact.summaries.model.ladder import Trouble
from compact.summaries.model.summarize import NoSummary, Summary

Cause: TypeAlias = Trouble | Literal["grew"]

_LEAST = 64
"""Tokens below which a summary says nothing."""
_SHARE = 4
"""A summary takes at most this part of what the summarizing model reads at once, and of the target if it can."""


@dataclass(frozen=True, slots=True)
class Declined:
    """Why the messages stay."""

    cause: Cause
    reason: str


def fold(
    task: Task, messages: Sequence[Message], summary: Summary | NoSummary, version: int | None = None
) -> Fold | Declined:
    """The messages folded into their summary, or into a marker where they may go without one; never into more."""
    ids, count = tuple(message.id for message in messages), sum(map(stands_for, messages))
    if isinstance(summary, Summary):
        folded = Fold(ids, frame_account(summary.text, count, task.account.frame(version)), EditKind.SUMMARIZED)
    elif summary.prune:
        folded = Fold(ids, pruned_marker(ids, count, task.account.frame()), EditKind.PRUNED)
    else:
        return Declined(summary.kind, summary.reason)
    before, after = sum(map(task.measure.message, messages)), task.measure.message(standing(folded.text))
    if after >= before:
        return Declined("grew", f"{before:,} tokens would have become {after:,}")
    return folded


_SEAMS = 8
"""Tokens that may be counted otherwise where a summary and its frame, or a line and the next, stand together."""


class SummarySettings(Protocol):
    """The settings of a provider about its one summary: how long it may be, and whose model writes it."""

    @property
    def max_summary_tokens(self) -> int: ...
    @property
    def profile(self) -> str: ...


def summary_room(task: Task, settings: SummarySettings) -> int:
    """How many tokens are kept free for a summary while it is chosen what stays beside it."""
    most = _most(task, settings)
    return most if task.target is None else min(most, max(task.target // _SHARE, _LEAST))


def summary_budget(task: Task, settings: SummarySettings, folded: Sequence[Message]) -> int:
    """How many tokens the summary of these messages may take: no more than is left below the target."""
    most = _most(task, settings)
    if task.target is None:
        return most
    frame = task.measure.message(standing(frame_account("", len(task.conversation), task.account.frame())))
    left = task.target - task.tokens + sum(map(task.measure.message, folded)) - frame - _SEAMS
    return min(most, max(left, _LEAST))


def _most(task: Task, settings: SummarySettings) -> int:
    return max(1, min(settings.max_summary_tokens, task.read_by(settings.profile) // _SHARE))


def standing(text: str) -> Message:
    """A message as it will stand for others."""
    return Message("summary", "assistant", (Text(text, ()),), None)
