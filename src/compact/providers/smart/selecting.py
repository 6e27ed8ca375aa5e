"""Which messages a pass works on."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

from compact.messages import ROLES_NEVER_PRUNED, Conversation, Message, count_of, exchanges, is_summary, untouchable
from compact.providers.smart.settings import BatchSettings, SelectionSettings
from compact.providers.truncation.places import older


class Positions:
    """The positions of messages as they were before any was folded: a summary has those of all it stands for.

    So settings that name positions, or a share of the messages, mean the same when a conversation is condensed again.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._starts = list(accumulate(map(_weight, messages), initial=0))

    def __len__(self) -> int:
        return self._starts[-1]

    def id_at(self, index: int) -> str | None:
        """The id of the message at a position, counted from the end if negative; None where there is none."""
        size = len(self)
        if not -size <= index < size:
            return None
        return self._messages[bisect_right(self._starts, index % size) - 1].id

    def told(self, indices: Collection[int]) -> Iterator[str]:
        """The ids of the messages at those positions, up to the first summary that stands among them.

        It may stand for messages that did not stand together, so what comes after it cannot be told by position; and
        it is there because what was named has been summarized.
        """
        size = len(self)
        named = sorted({index % size for index in indices if -size <= index < size})
        summaries = (start for start, message in zip(self._starts, self._messages, strict=False) if is_summary(message))
        end = next((start for start in summaries if named and start >= named[0]), size)
        for index in named[: bisect_left(named, end)]:
            yield self._messages[bisect_right(self._starts, index) - 1].id


def _weight(message: Message) -> int:
    return count_of(message) or 1


def selected(messages: Sequence[Message], selection: SelectionSettings, original: Sequence[Message]) -> list[int]:
    """The positions of the selected messages.

    They are selected among the `original` ones: what earlier passes folded does not make others older.
    """
    match selection.type:
        case "custom":
            ids = set(Positions(original).told(selection.indices))
        case "preserve_percent":
            recent = round(len(Positions(original)) * selection.keep_percentage / 100)
            ids = {original[index].id for index in older(original, recent)}
        case _:
            ids = {original[index].id for index in older(original, selection.keep_recent)}
    return [index for index, message in enumerate(messages) if message.id in ids]


def foldable(conversation: Conversation, positions: Collection[int], batch: BatchSettings) -> list[int]:
    """The positions of the whole exchanges that a summary may stand for.

    All of an exchange must be selected, and nothing in it kept, fixed or a summary itself.
    """
    messages = conversation.messages
    fixed = untouchable(conversation)
    ordered = sorted(positions)
    free = {
        index
        for index in ordered[batch.keep_first : len(ordered) - batch.keep_last]
        if messages[index].id not in fixed
        and messages[index].role not in ROLES_NEVER_PRUNED
        and not is_summary(messages[index])
    }
    return sorted(index for group in exchanges(messages) if free.issuperset(group) for index in group)
