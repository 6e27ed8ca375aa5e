"""How much of the front of a conversation may stay as it is when a session is compacted again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

from compact.messages import is_summary
from compact.providers.provider import Task

_SHARES = (0.7, 0.55, 0.4, 0.25)
"""Shares of the target that may stay."""


def steady_prefixes(task: Task, target: int) -> Iterator[int]:
    """How many messages at the front may stay as they are, a vendor having them in its cache: most first.

    Only where an account stands among them: what follows it was made smaller before.
    """
    messages = task.conversation.messages
    accounts = [index for index, message in enumerate(messages) if is_summary(message)]
    if not accounts:
        return
    sizes = list(accumulate(map(task.measure.message, messages)))
    for share in _SHARES:
        count = bisect_right(sizes, int(target * share))
        if count > accounts[0] + 1:
            yield count
