"""How many messages stand neither in the account nor in the conversation, whenever they were removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import groupby

from compact.messages import AccountItem, Message, is_pruned, is_summary, persons, stands_for
from compact.providers.provider import Task
from compact.summaries.accounts import undescribed_in


@dataclass(frozen=True, slots=True)
class Removal:
    """What a pass removes for an account: the messages that are `gone`, and those that markers in their place describe.

    `dropped` are the statements of earlier accounts that it leaves out.
    """

    gone: Sequence[Message]
    marked: AbstractSet[str]
    dropped: Sequence[AccountItem]


@dataclass(frozen=True, slots=True)
class Undescribed:
    """How many messages no statement describes; of these the user's, and how many stood in a row, where known."""

    count: int
    by_user: int | None = None
    in_row: int = 0


def count_undescribed(task: Task, removal: Removal, items: Sequence[AccountItem]) -> Undescribed:
    """Count what the account with these items does not describe."""
    described = {id for item in items for id in item.sources}
    count = sum(_undescribed(message, described) for message in removal.gone)
    # What an earlier account described, and this one does not; where nothing says how many that were, at least one.
    left_out = {id for item in removal.dropped for id in item.sources} - described
    count += len(left_out) + sum(not item.sources for item in removal.dropped)
    originals, typed = _known(task)
    gone = {message.id for message in removal.gone}
    below = [message.id for message in task.conversation.messages if message.id not in gone]
    stands = {*below, *(id for one in below for item in task.items.get(one, ()) for id in item.sources)}
    stands |= removal.marked | described
    silent = [id for id in originals if id not in stands]
    if len(silent) != count:
        return Undescribed(count)  # which they are is not known
    unsaid = set(silent)
    runs = (len(list(run)) for among, run in groupby(originals, key=unsaid.__contains__) if among)
    return Undescribed(count, len(typed & unsaid), max(runs, default=0))


def _undescribed(message: Message, described: AbstractSet[str]) -> int:
    if is_summary(message):
        return undescribed_in(message)
    return 0 if message.id in described else stands_for(message)


def _known(task: Task) -> tuple[Mapping[str, Message], frozenset[str]]:
    """The messages that there were, as far as they are known, and the ids of those that a person wrote."""
    memo = task.conversation.memo
    if count_undescribed not in memo:
        known = task.originals or {message.id: message for message in task.conversation.messages}
        own = {id: message for id, message in known.items() if not (is_summary(message) or is_pruned(message))}
        memo[count_undescribed] = own, persons(list(own.values()))
    found: tuple[Mapping[str, Message], frozenset[str]] = memo[count_undescribed]
    return found
