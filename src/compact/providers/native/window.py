"""The last resort: the oldest messages go, with nothing in their place but a mark that says where they are."""

from __future__ import annotations

from collections.abc import Sequence

from compact.messages import Conversation, EditKind, Fold, Message, Pass, is_pruned, stands_for
from compact.policies import Retention, select
from compact.providers.folding import standing
from compact.providers.provider import Applied, Steps, Task, propose

NAME = "Sliding window"


def slide(task: Task) -> Steps:
    """Prune the oldest messages after the first until the target is met, at most half of them at a time.

    Half is rounded down to an even number. Whole exchanges only; what must stay as it is stays.
    """
    conversation, tokens = task.conversation, task.tokens
    while not task.reached(tokens):
        oldest = _oldest(task, conversation, tokens)
        if not oldest:
            yield from propose(Pass(NAME, (), ("nothing is left that may go",)))
            return
        verdict = yield from propose(Pass(NAME, (_pruned(oldest),)))
        if not isinstance(verdict, Applied):
            return
        conversation, tokens = verdict.conversation, verdict.tokens


def _oldest(task: Task, conversation: Conversation, tokens: int) -> list[Message]:
    """The oldest messages that meet the target by going; of as many as may go at once if that is less."""
    messages, count = conversation.messages, task.measure.message
    older = select(conversation, Retention(), count).older
    limit = (len(conversation) - 1) // 2 // 2 * 2
    chosen: list[int] = []
    for group in older:
        # Marks of before alone would only be written anew.
        if len(chosen) + len(group) > limit and not all(is_pruned(messages[index]) for index in chosen):
            break
        chosen += group
        tokens -= sum(count(messages[index]) for index in group)
        if task.reached(tokens) and task.reached(tokens + count(standing(_pruned(_at(messages, chosen)).text))):
            break
    return _at(messages, chosen)


def _at(messages: Sequence[Message], positions: list[int]) -> list[Message]:
    return [messages[index] for index in sorted(positions)]


def _pruned(messages: Sequence[Message]) -> Fold:
    return Fold(
        tuple(message.id for message in messages), None, EditKind.OVER_LIMIT, count=sum(map(stands_for, messages))
    )
