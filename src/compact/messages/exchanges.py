"""Which messages belong together.

An *exchange* is one message without calls, or an assistant message with its calls and all their results. Cutting
anywhere but between exchanges breaks a pair that the vendors insist on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from compact.messages.blocks import Block, Opaque, Reasoning, ToolCall, ToolResult
from compact.messages.conversation import Conversation, Message, once, seen
from compact.messages.handles import fresh_recalls
from compact.messages.pairing import pairs
from compact.messages.speakers import persons

Exchange: TypeAlias = tuple[int, ...]
"""The positions of the messages of one exchange, ascending."""
MOVING_TAIL = 8
"""Messages at the end of a request that clients may still move or rewrite, such as files that always stand last."""


def same_shape(before: Sequence[Message], after: Sequence[Message]) -> bool:
    """Whether they are the same messages in the same order, with the same calls and results at the same places.

    What texts say does not matter, so pairs and exchanges are the same.
    """
    if len(before) != len(after):
        return False
    different = (pair for pair in zip(before, after, strict=True) if pair[0] is not pair[1])
    return all(one.id == other.id and _shape(one) == _shape(other) for one, other in different)


def _shape(message: Message) -> list[str | type]:
    shape: list[str | type] = [message.role]
    for block in message.blocks:
        shape.append(type(block))
        if isinstance(block, ToolCall):
            shape.append(block.id)
        elif isinstance(block, ToolResult):
            shape.append(block.call_id)
    return shape


@once
def exchanges(messages: Sequence[Message]) -> tuple[Exchange, ...]:
    """The exchanges in order of their first message; every message is in exactly one."""
    leader = list(range(len(messages)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    def join(one: int, other: int) -> None:
        one, other = find(one), find(other)
        leader[max(one, other)] = min(one, other)

    last_answer: dict[int, int] = {}
    for (result, _), (call, _) in pairs(messages).items():
        if leader[result] == result and leader[call] == call:
            leader[result] = call  # as join does, and nearly always all there is to do
        else:
            join(call, result)
        last_answer[call] = result  # they come in order
    for earlier, later in (*_split_turns(messages, last_answer), *_referred(messages)):
        join(earlier, later)
    groups: dict[int, list[int]] = {}
    for index, earlier in enumerate(leader):
        if earlier == index:
            groups[index] = [index]
        else:
            # A leader comes first, so its own is known already.
            first = leader[index] = leader[earlier]
            groups[first].append(index)
    return tuple(map(tuple, groups.values()))


@once
def untouchable(conversation: Conversation) -> frozenset[str]:
    """The ids of the messages no edit may touch.

    These are the protected and the pinned ones, the first and the last message a person wrote, and the current step:
    the last exchange with calls after that, which the model is about to go on from. And what was recalled of late, and
    what the vendor leaves out anyway.
    """
    messages = conversation.messages
    ids = {message.id for message in messages if message.fixed}
    if (read := seen(messages)) is not messages:
        ids |= {message.id for message in messages} - {message.id for message in read}
    people = persons(messages)
    if (first := next((message.id for message in messages if message.id in people), None)) is not None:
        ids |= {first, next(message.id for message in reversed(messages) if message.id in people)}
    ids |= {messages[index].id for index in current_step(messages)}
    ids |= {message.id for message in fresh_recalls(messages)}
    return frozenset(ids)


def with_first_request(messages: Sequence[Message], chosen: Sequence[Message]) -> tuple[Message, ...]:
    """The chosen messages, headed by the first thing a person asked: who reads them should know what it was about."""
    people = persons(messages)
    first = next((message for message in messages if message.id in people), None)
    return tuple(chosen) if first is None or first in chosen else (first, *chosen)


def current_step(messages: Sequence[Message]) -> Exchange:
    """The last exchange with calls, if nobody has spoken since; with the reasoning that led to it."""
    people = persons(messages)
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.id in people and not message.results:
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
        reasoned = reasoned or _only_reasons(message.blocks)
    return joined


def _referred(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """Neighbours of which the first refers to an item that the vendor keeps.

    That may be the call whose answer comes next, or reasoning that the next item depends on: nobody here can know.
    """
    if not any(map(_refers, messages)):
        return []
    paired = pairs(messages)
    joined = []
    waiting = False
    for index, message in enumerate(messages):
        answers = bool(message.results) and (index, 0) not in paired
        if (waiting and answers) or (_refers(message) and index and _refers(messages[index - 1])):
            joined.append((index - 1, index))
        waiting = _refers(message) or (waiting and answers)
    return joined


def _refers(message: Message) -> bool:
    block = message.blocks[0] if message.blocks else None
    return isinstance(block, Opaque) and block.kind == "item_reference"


def _only_reasons(blocks: Sequence[Block]) -> bool:
    return bool(blocks) and isinstance(blocks[0], Reasoning) and all(isinstance(block, Reasoning) for block in blocks)
