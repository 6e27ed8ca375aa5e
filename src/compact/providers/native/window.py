"""The last resort: the oldest messages go, with nothing in their place but a mark that says where they are."""

from __future__ import annotations

import re

from compact.messages import Fold, Message, Pass
from compact.policies import Retention, select
from compact.providers.provider import Applied, Steps, Task, propose

NAME = "Sliding window"
_PRUNED = re.compile(r"⟨ \d{1,9} earlier messages? removed, recall fold-[0-9a-f]{12} ⟩")


def is_pruned(message: Message) -> bool:
    """Whether the message only says that others were removed."""
    return _PRUNED.fullmatch(message.text) is not None


def slide(task: Task) -> Steps:
    """Prune half of the messages after the first, as an even number, and again until the target is met.

    Whole exchanges only; what must stay as it is stays.
    """
    conversation, tokens = task.conversation, task.tokens
    while not task.reached(tokens):
        older = select(conversation, Retention(), task.measure.message).older
        limit = (len(conversation) - 1) // 2 // 2 * 2
        chosen: list[int] = []
        for group in older:
            if len(chosen) + len(group) > max(limit, len(older[0])):
                break
            chosen += group
        if not chosen:
            yield from propose(Pass(NAME, (), ("nothing is left that may go",)))
            return
        fold = Fold(tuple(conversation.messages[index].id for index in sorted(chosen)), None, "over the limit")
        verdict = yield from propose(Pass(NAME, (fold,)))
        if not isinstance(verdict, Applied):
            return
        conversation, tokens = verdict.conversation, verdict.tokens
