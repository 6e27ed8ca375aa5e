"""Which call each result answers."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from compact.messages.blocks import ToolCall, ToolResult
from compact.messages.conversation import Message, once

Place: TypeAlias = tuple[int, int]
"""A block, as (position of its message, position in it)."""

_Calls: TypeAlias = dict[Place, ToolCall]
_Results: TypeAlias = dict[Place, ToolResult]
_Key: TypeAlias = Callable[[ToolCall | ToolResult], str]


@once
def pairs(messages: Sequence[Message]) -> Mapping[Place, Place]:
    """Which call each result answers, in the order of the results.

    Real transcripts repeat ids, so a result belongs to the nearest preceding message with an unanswered call of its
    id, and there to the first such call. Where the vendor goes by order, the turns decide first.
    """
    tools = (block for message in messages for block in message.blocks if isinstance(block, ToolCall | ToolResult))
    first = next(tools, None)
    return MappingProxyType(_by_order(messages) if first is not None and first.by_order else _by_id(messages))


def _by_id(messages: Sequence[Message]) -> dict[Place, Place]:
    waiting: defaultdict[str, list[Place]] = defaultdict(list)
    same: defaultdict[tuple[str, int], deque[Place]] = defaultdict(deque)  # further calls of an id in one message
    answers: dict[Place, Place] = {}
    for index, message in enumerate(messages):
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                calls = waiting[block.id]
                if calls and calls[-1][0] == index:
                    same[block.id, index].append((index, position))
                else:
                    calls.append((index, position))
            elif isinstance(block, ToolResult) and (calls := waiting[block.call_id]):
                call = answers[index, position] = calls.pop()
                if same and (others := same[block.call_id, call[0]]):
                    calls.append(others.popleft())
    return answers


def _by_order(messages: Sequence[Message]) -> dict[Place, Place]:
    """Pairs the results of each turn with its calls: those of one id, then those of one name, then in order.

    A name may be another on the result than on the call, so it does not decide alone. A result with the id of a call
    in an earlier turn belongs there; one that finds no call in its turn may have the name of an earlier one.
    """
    answers: dict[Place, Place] = {}
    waiting: defaultdict[str, list[Place]] = defaultdict(list)  # calls of earlier turns, the latest last
    known: set[str] = set()  # those of them that are ids, not names
    for calls, results in _turns(messages):
        for key in (_id, _name):
            _pair(calls, results, key, answers)
        _pair_earlier({place: one for place, one in results.items() if one.call_id in known}, waiting, answers)
        left = {place: one for place, one in results.items() if place not in answers}
        _pair(calls, left, _any, answers)
        _pair_earlier(left, waiting, answers)
        for place in reversed(calls):
            waiting[calls[place].id].append(place)
        known |= {call.id for call in calls.values() if call.id != call.name}
    return dict(sorted(answers.items()))


def _turns(messages: Sequence[Message]) -> Iterator[tuple[_Calls, _Results]]:
    """The calls and the results of each turn: neighbouring messages of the model, and all up to its next ones."""
    calls: _Calls = {}
    results: _Results = {}
    previous = ""
    for index, message in enumerate(messages):
        if message.role == "assistant" != previous:
            yield calls, results
            calls, results = {}, {}
        previous = message.role
        for position, block in enumerate(message.blocks):
            if isinstance(block, ToolCall):
                calls[index, position] = block
            elif isinstance(block, ToolResult):
                results[index, position] = block
    yield calls, results


def _pair(calls: _Calls, results: _Results, key: _Key, answers: dict[Place, Place]) -> None:
    """Gives each result the first call before it that has its key; both are taken out."""
    waiting: defaultdict[str, deque[Place]] = defaultdict(deque)
    for at, call in calls.items():
        waiting[key(call)].append(at)
    for place, result in list(results.items()):
        found = waiting.get(key(result))
        if found and found[0] < place:
            answers[place] = found.popleft()
            del calls[answers[place]], results[place]


def _pair_earlier(results: _Results, waiting: Mapping[str, list[Place]], answers: dict[Place, Place]) -> None:
    """Gives each result the call of its id that waits in the nearest earlier turn."""
    for place, result in list(results.items()):
        if calls := waiting.get(result.call_id):
            answers[place] = calls.pop()
            del results[place]


def _id(block: ToolCall | ToolResult) -> str:
    return block.id if isinstance(block, ToolCall) else block.call_id


def _name(block: ToolCall | ToolResult) -> str:
    return block.name if isinstance(block, ToolCall) else block.call_id


def _any(_: ToolCall | ToolResult) -> str:
    return ""
