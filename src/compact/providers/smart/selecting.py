"""Which messages a pass works on."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
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

    def told(self, indices: Collection[int], folded: Iterable[Collection[int]] = ()) -> Iterator[str]:
        """The ids of the messages at those positions, where they can be told.

        `folded` are the positions that passes fold. A summary may stand for messages that did not stand together: from
        it on to the last position that it may have been made of, nobody can tell.
        """
        summaries = [start for start, one in zip(self._starts, self._messages, strict=False) if is_summary(one)]
        spans = list(_merged(filter(None, map(self._within, (indices, *folded)))))
        for index in self._within(indices):
            first = next(first for first, last in spans if first <= index <= last)
            summary = bisect_left(summaries, first)
            if summary == len(summaries) or summaries[summary] > index:
                yield self._messages[bisect_right(self._starts, index) - 1].id

    def _within(self, indices: Collection[int]) -> list[int]:
        """The positions that exist, counted from the start, in order."""
        size = len(self)
        return sorted({index % size for index in indices if -size <= index < size})


def _merged(positions: Iterable[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """From where to where the positions reach; those that overlap together."""
    spans = sorted((each[0], each[-1]) for each in positions)
    while spans:
        first, last = spans.pop(0)
        while spans and spans[0][0] <= last:
            last = max(last, spans.pop(0)[1])
        yield first, last


def _weight(message: Message) -> int:
    return count_of(message) or 1


def selected(
    messages: Sequence[Message],
    selection: SelectionSettings,
    original: Sequence[Message],
    folded: Iterable[Collection[int]] = (),
) -> list[int]:
    """The positions of the selected messages.

    They are selected among the `original` ones: what earlier passes folded does not make others older. `folded` are the
    positions that passes fold.
    """
    match selection.type:
        case "custom":
            ids = set(Positions(original).told(selection.indices, folded))
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
