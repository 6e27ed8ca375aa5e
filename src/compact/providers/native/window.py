"""The last resort: the oldest messages go, with nothing in their place but a mark that says where they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compact.messages import Conversation, Fold, Message, Pass, Text
from compact.policies import Retention, select
from compact.policies.retention import CountMessage
from compact.providers.provider import Applied, Steps, Task, propose

NAME = "Sliding window"
_PRUNED = re.compile(r"⟨ \d{1,9} earlier messages? removed, recall fold-[0-9a-f]{12} ⟩")


def is_pruned(message: Message) -> bool:
    """Whether the message only says that others were removed."""
    return _PRUNED.fullmatch(message.text) is not None


def slide(task: Task) -> Steps:
    """Prune the oldest messages after the first until the target is met, at most half of them at a time.

    Half is rounded down to an even number. Whole exchanges only; what must stay as it is stays.
    """
    conversation, tokens = task.conversation, task.tokens
    while not task.reached(tokens):
        ids = _oldest(task, conversation, tokens)
        if not ids:
            yield from propose(Pass(NAME, (), ("nothing is left that may go",)))
            return
        verdict = yield from propose(Pass(NAME, (Fold(ids, None, "over the limit"),)))
        if not isinstance(verdict, Applied):
            return
        conversation, tokens = verdict.conversation, verdict.tokens


def _oldest(task: Task, conversation: Conversation, tokens: int) -> tuple[str, ...]:
    """The ids of the oldest messages that meet the target by going; of as many as may go at once if that is less."""
    messages, count = conversation.messages, task.measure.message
    older = select(conversation, Retention(), count).older
    limit = (len(conversation) - 1) // 2 // 2 * 2
    chosen: list[int] = []
    for group in older:
        if len(chosen) + len(group) > max(limit, len(older[0])):
            break
        chosen += group
        tokens -= sum(count(messages[index]) for index in group)
        if task.reached(tokens) and task.reached(tokens + _mark(messages, chosen, count)):
            break
    return tuple(messages[index].id for index in sorted(chosen))


def _mark(messages: Sequence[Message], chosen: list[int], count: CountMessage) -> int:
    """The tokens of what says that the messages were removed."""
    fold = Fold(tuple(messages[index].id for index in sorted(chosen)), None, "")
    return count(Message("mark", "assistant", (Text(fold.text, ()),), None))
