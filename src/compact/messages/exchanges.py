"""Which messages belong together.

An *exchange* is one message without calls, or an assistant message with its calls and all their results. Cutting
anywhere but between exchanges breaks a pair that the vendors insist on.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from typing import TypeAlias

from compact.messages.blocks import Reasoning, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Message
from compact.messages.seals import is_summary

Place: TypeAlias = tuple[int, int]
"""A block, as (position of its message, position in it)."""

Exchange: TypeAlias = tuple[int, ...]
"""The positions of the messages of one exchange, ascending."""


def pairs(messages: Sequence[Message]) -> dict[Place, Place]:
    """Which call each result answers.

    Real transcripts repeat ids, so a result belongs to the nearest preceding message with an unanswered call of its
    id, and there to the first such call.
    """
    waiting: defaultdict[str, list[deque[Place]]] = defaultdict(list)
    answers: dict[Place, Place] = {}
    for index, message in enumerate(messages):
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                calls = waiting[block.id]
                if not calls or calls[-1][0][0] != index:
                    calls.append(deque())
                calls[-1].append((index, position))
            elif isinstance(block, ToolResult) and (calls := waiting[block.call_id]):
                answers[index, position] = calls[-1].popleft()
                if not calls[-1]:
                    calls.pop()
    return answers


def exchanges(messages: Sequence[Message]) -> tuple[Exchange, ...]:
    """The exchanges in order of their first message; every message is in exactly one."""
    leader = list(range(len(messages)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    def join(one: int, other: int) -> None:
        first, second = sorted((find(one), find(other)))
        leader[second] = first

    answered = pairs(messages)
    last_answer: dict[int, int] = {}
    for (result, _), (call, _) in answered.items():
        join(call, result)
        last_answer[call] = max(last_answer.get(call, 0), result)
    for earlier, later in _split_turns(messages, last_answer):
        join(earlier, later)
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for index in range(len(messages)):
        groups[find(index)].append(index)
    return tuple(tuple(group) for group in groups.values())


def untouchable(conversation: Conversation) -> frozenset[str]:
    """The ids of the messages no edit may touch.

    These are the protected ones, the first and the last message a person wrote, and the current step: the last
    exchange with calls after that, which the model is about to go on from.
    """
    messages = conversation.messages
    ids = {message.id for message in messages if message.protected}
    people = [index for index, message in enumerate(messages) if message.from_user and not is_summary(message)]
    if people:
        ids |= {messages[people[0]].id, messages[people[-1]].id}
    ids |= {messages[index].id for index in current_step(messages)}
    return frozenset(ids)


def current_step(messages: Sequence[Message]) -> Exchange:
    """The last exchange with calls, if nobody has spoken since; with the reasoning that led to it."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.from_user and not message.results and not is_summary(message):
            return ()
        if message.calls:
            return next(group for group in reversed(exchanges(messages)) if index in group)
    return ()


def _split_turns(messages: Sequence[Message], last_answer: dict[int, int]) -> list[tuple[int, int]]:
    """Neighbours that are one turn of the model, written as several messages.

    Two cases: a turn that begins with reasoning of its own (OpenAI's items), which what follows depends on; and a
    call that follows another one not yet answered.
    """
    joined = []
    reasoned = False
    for index, message in enumerate(messages):
        if message.role != "assistant":
            reasoned = False
            continue
        if index and messages[index - 1].role == "assistant":
            pending = last_answer.get(index - 1, 0) > index
            if reasoned or (pending and message.calls):
                joined.append((index - 1, index))
        reasoned = reasoned or (bool(message.blocks) and all(isinstance(b, Reasoning) for b in message.blocks))
    return joined
