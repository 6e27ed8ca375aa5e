"""Batch mode: one summary stands for all selected exchanges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, dropwhile, takewhile

from compact.messages import (
    Conversation,
    Exchange,
    Message,
    Pass,
    apply,
    exchanges,
    frame_account,
    is_pruned,
    is_summary,
    mend,
    persons,
    untouchable,
    with_first_request,
)
from compact.providers.folding import Declined, fold, standing
from compact.providers.provider import Applied, Steps, Task, propose
from compact.providers.smart.selecting import foldable
from compact.providers.smart.settings import BatchSettings, PassSettings
from compact.quantities import counted
from compact.summaries.model.strategy import Style
from compact.summaries.model.summarize import NoSummary, Request, Summary, summarize

# A summary that need not stand for everything takes at most this share of what it replaces, and of the target.
_OF_REPLACED = 4
_OF_TARGET = 6
_LEAST = 200
"""Tokens below which a summary says too little to be worth a request."""


def fold_batch(task: Task, settings: PassSettings, positions: list[int]) -> Steps:
    """Ask for a summary of the selected exchanges, and let it stand for them; without one the settings decide."""
    batch = settings.batch
    if batch.operation == "keep":
        yield from propose(Pass(settings.title, (), ("the operation is to keep them",)))
        return
    groups = _free(task, batch, positions)
    if not groups:
        yield from propose(Pass(settings.title, (), ("no whole exchange is selected that may be summarized",)))
        return
    taken = 0
    while taken < len(groups):
        taken, budget = _enough(task, batch, groups, 2 * taken)
        chosen = _members(task, groups[:taken])
        summary = yield from summarize(_request(task, batch, chosen, budget), task.measure)
        proposal = _folded(task, settings.title, chosen, summary)
        verdict = yield from propose(proposal)
        if isinstance(verdict, Applied) or not proposal.edits:
            return


def _free(task: Task, batch: BatchSettings, positions: list[int]) -> list[Exchange]:
    """Return the selected exchanges that a summary may replace, the oldest first; what people said goes last.

    Where earlier accounts are among them, only those behind the last one and what it calls answered: no account comes
    before an older one, and what an account says of the messages behind it stays true.
    """
    messages = task.conversation.messages
    free = {index for index in foldable(task.conversation, positions, batch) if not is_pruned(messages[index])}
    groups = [group for group in exchanges(messages) if free.issuperset(group)]
    # An earlier account stays, and the new one stands before all that is newer than the first message it tells of.
    ours = (index for index, one in enumerate(messages) if _is_ours(one))
    tells = [(index, _last_answered(messages, index)) for index in ours]
    told = max((last for index, last in tells if groups and index < groups[-1][0] and groups[0][0] < last), default=-1)
    groups = [group for group in groups if group[0] > told]
    return sorted(groups, key=lambda group: messages[group[0]].from_user)


def _members(task: Task, groups: list[Exchange]) -> list[Message]:
    return [task.conversation.messages[index] for index in sorted(chain(*groups))]


def _enough(task: Task, batch: BatchSettings, groups: list[Exchange], least: int) -> tuple[int, int]:
    """How many exchanges meet the target, all if that is not met; and how many tokens their summary may take."""
    target = task.target
    if target is None:
        return len(groups), batch.max_tokens
    messages, count = task.conversation.messages, task.measure.message
    added = count(standing(frame_account(_told(len(messages)), len(messages), task.account.frame())))
    answers = sum(not messages[group[0]].from_user for group in groups)
    folded = back = 0
    for taken, group in enumerate(groups, 1):
        folded += sum(count(messages[index]) for index in group)
        budget = min(batch.max_tokens, max(_LEAST, min(folded // _OF_REPLACED, target // _OF_TARGET)))
        # Rather a short summary than one that stands for what people said.
        wanted = min(budget, _LEAST) if taken == answers else budget
        if taken < least or not task.reached(task.tokens - folded + added + wanted + back):
            continue
        back = folded - task.tokens + _without(task, groups[:taken])
        left = target - (task.tokens - folded + added + back)
        if left >= wanted:
            return taken, min(budget, left)
    return len(groups), batch.max_tokens


def _without(task: Task, groups: list[Exchange]) -> int:
    """The tokens of the conversation without these exchanges: what later messages refer to comes back to them."""
    gone = set(chain(*groups))
    kept = [message for index, message in enumerate(task.conversation.messages) if index not in gone]
    after = task.conversation.with_messages(kept)
    mending = mend(task.conversation, after)
    return task.measure.conversation(apply(after, mending)[0] if mending else after)


def _request(task: Task, batch: BatchSettings, chosen: list[Message], budget: int) -> Request:
    window = task.read_by(batch.profile)
    return Request(
        messages=with_first_request(task.conversation.messages, chosen),
        strategy=batch.chosen_strategy(),
        style=Style(batch.detail),
        budget=budget,
        reads=window - min(budget, window // 4),
        profile=batch.profile,
        on_failure=batch.on_failure,
        kept=untouchable(task.conversation),
        beside=task.conversation.messages,
        asks=task.asks,
    )


def _folded(task: Task, title: str, chosen: list[Message], summary: Summary | NoSummary) -> Pass:
    if isinstance(summary, Summary) and (answered := _answered(task.conversation, chosen)):
        summary = replace(summary, text=f"{_told(answered)}\n{summary.text}")
    folded = fold(task, chosen, summary)
    if isinstance(folded, Declined):
        return Pass(title, (), (f"no summary: {folded.reason}",))
    if isinstance(summary, Summary):
        return Pass(title, (folded,), (f"{counted(len(chosen), 'message')} summarized", *summary.notes))
    return Pass(title, (folded,), (f"{counted(len(chosen), 'message')} removed without a summary: {summary.reason}",))


def _answered(conversation: Conversation, chosen: list[Message]) -> int:
    """How many of the user's messages stay where their answers go: a model would act on them again."""
    gone, messages = {message.id for message in chosen}, conversation.messages
    typed = persons(messages)
    people = [message.id for message in messages if message.id in typed]
    places = [index for index, message in enumerate(messages) if message.id in gone]
    kept = (message for message in messages[places[0] : places[-1]] if message.id not in gone)
    behind = dropwhile(lambda message: message.fixed or message.id in people[:1], kept)  # as the summary will stand
    before_request = takewhile(lambda message: message.id not in people[-1:], behind)
    return sum(message.from_user and not _is_ours(message) for message in before_request)


def _told(answered: int) -> str:
    messages = "message was" if answered == 1 else f"{answered} messages were"
    return f"[The user's next {messages} answered in what is summarized here]"


_ANSWERED = re.compile(r"\[The user's next (?:(\d+) messages were|message was) answered in what is summarized here\]")


def _last_answered(messages: Sequence[Message], account: int) -> int:
    """The position of the last message that the account calls answered; its own where it says nothing of that."""
    said = _ANSWERED.search(messages[account].text)
    behind = (index for index in range(account + 1, len(messages)) if messages[index].from_user)
    asked = [index for index in behind if not _is_ours(messages[index])]
    count = int(said[1] or 1) if said else 0
    return asked[:count][-1] if asked[:count] else account


def _is_ours(message: Message) -> bool:
    return is_summary(message) or is_pruned(message)
