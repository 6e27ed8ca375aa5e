"""Which items of two sequences correspond."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias

Span: TypeAlias = tuple[bool, range, range]
"""Whether a run of items is the same on both sides, and where it is on each."""
Positions: TypeAlias = tuple[int | None, int | None]
"""The position of an item on each side; None where a side does not have it."""
_FINEST = 4_000
"""Items beyond which two sequences are compared by their common beginning and end alone."""


def spans(left: Sequence[Hashable], right: Sequence[Hashable]) -> Iterator[Span]:
    """Runs that both sides share, and what is between them; the common beginning and end are taken off first."""
    size = min(len(left), len(right))
    head = next((index for index in range(size) if left[index] != right[index]), size)
    tail = next((index for index in range(size - head) if left[-1 - index] != right[-1 - index]), size - head)
    if head:
        yield True, range(head), range(head)
    middle = left[head : len(left) - tail], right[head : len(right) - tail]
    if len(middle[0]) + len(middle[1]) > _FINEST:
        yield False, range(head, len(left) - tail), range(head, len(right) - tail)
    else:
        for tag, a, a_end, b, b_end in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
            yield tag == "equal", range(head + a, head + a_end), range(head + b, head + b_end)
    if tail:
        yield True, range(len(left) - tail, len(left)), range(len(right) - tail, len(right))


def pair_ids(before: Sequence[str], after: Sequence[str]) -> Iterator[Positions]:
    """The positions of each id in both, in order: edits never change the order of what stays."""
    at = {id: position for position, id in enumerate(after)}
    told = 0
    for position, id in enumerate(before):
        now = at.get(id)
        if now is None:
            yield position, None
            continue
        yield from ((None, new) for new in range(told, now))
        yield position, now
        told = now + 1
    yield from ((None, new) for new in range(told, len(after)))
