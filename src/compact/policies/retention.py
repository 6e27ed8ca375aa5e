"""What is kept: rules that combine into one selection, cut at exchanges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pydantic import Field

from compact.messages import Conversation, Exchange, Message, exchanges, is_summary, untouchable
from compact.policies.configuration import Configuration

CountMessage: TypeAlias = Callable[[Message], int]


class Retention(Configuration):
    """What stays as it is. Each rule keeps something; together they keep everything any of them keeps.

    Protected messages, the first and the last message a person wrote, and the current step are always kept.
    """

    first_message: bool = True
    """Keep the first message."""
    recent_messages: int | None = Field(default=None, ge=0)
    """Keep the last messages, and what belongs to them."""
    recent_turns: int | None = Field(default=None, ge=0)
    """Keep the last turns: a person's message and everything up to the next one."""
    tool_pairs: int | None = Field(default=None, ge=0)
    """Keep the last calls with their results."""
    recent_tokens: int | None = Field(default=None, ge=0)
    """Keep as many of the last messages as fit into this many tokens."""
    recent_share: float | None = Field(default=None, ge=0, le=1)
    """Keep this share of the messages, from the end."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is kept and what may be condensed, in whole exchanges; `reasons` says why a message is kept."""

    kept: tuple[Exchange, ...]
    older: tuple[Exchange, ...]
    reasons: dict[int, str]


def select(conversation: Conversation, retention: Retention, count: CountMessage) -> Selection:
    """The exchanges that the rules keep, and the rest."""
    groups = exchanges(conversation.messages)
    reasons: dict[int, str] = {}
    for reason, indices in _rules(conversation.messages, groups, retention, count):
        for index in indices:
            reasons.setdefault(index, reason)
    fixed = untouchable(conversation)
    for index, message in enumerate(conversation.messages):
        if message.id in fixed:
            reasons[index] = "protected" if message.fixed else "first, last or current"
    kept: list[Exchange] = []
    older: list[Exchange] = []
    for group in groups:
        told = [reasons[index] for index in group if index in reasons]
        (kept if told else older).append(group)
        if told:
            reasons.update({index: told[0] for index in group if index not in reasons})
    return Selection(tuple(kept), tuple(older), reasons)


def _rules(
    messages: Sequence[Message], groups: Sequence[Exchange], retention: Retention, count: CountMessage
) -> Iterator[tuple[str, Sequence[int]]]:
    size = len(messages)
    if retention.first_message and size:
        yield "first message", (0,)
    if retention.recent_messages:
        yield "recent messages", range(max(0, size - retention.recent_messages), size)
    if retention.recent_share:
        yield "recent share", range(size - round(size * retention.recent_share), size)
    if retention.recent_turns:
        starts = [index for index, message in enumerate(messages) if message.from_user]
        if starts:
            yield "recent turns", range(starts[-min(retention.recent_turns, len(starts))], size)
    if retention.tool_pairs:
        yield "recent tool calls", [at for group in last_calls(messages, groups, retention.tool_pairs) for at in group]
    if retention.recent_tokens:
        within = last_within(messages, groups, retention.recent_tokens, count)
        yield "recent tokens", [at for group in within for at in group]


def last_turns(messages: Sequence[Message], groups: Sequence[Exchange], wanted: int) -> list[Exchange]:
    """Return the requests of the last turns, each with the last answer without calls, newest first.

    A request at the end that is not answered yet belongs to them without being counted.
    """
    found: list[Exchange] = []
    answer: tuple[Exchange, ...] = ()
    turns, open_, asked = 0, True, False
    for group in reversed(groups):
        first = messages[group[0]]
        if is_summary(first):
            continue
        if any(messages[index].calls for index in group):
            asked = False
        elif first.from_user:
            turns += not (asked or open_)
            if turns > wanted:
                break
            found += [*answer, group]
            answer, open_, asked = (), False, True
        elif first.role == "assistant":
            answer, open_, asked = answer or (group,), False, False
    return found if wanted else []


def last_calls(messages: Sequence[Message], groups: Sequence[Exchange], wanted: int) -> list[Exchange]:
    """Return the exchanges of the last calls, newest first; one that makes several calls at once stays whole."""
    found: list[Exchange] = []
    called = 0
    for group in reversed(groups):
        calls = sum(len(messages[index].calls) for index in group)
        if calls and called < wanted:
            found.append(group)
            called += calls
    return found


def last_within(
    messages: Sequence[Message], groups: Sequence[Exchange], budget: int, count: CountMessage
) -> list[Exchange]:
    """Return the last exchanges that fit into so many tokens, newest first; a request at the end is not counted."""
    found: list[Exchange] = []
    asked = bool(groups) and messages[groups[-1][0]].from_user
    for group in reversed(groups[:-1] if asked else groups):
        budget -= sum(count(messages[index]) for index in group)
        if budget < 0:
            break
        found.append(group)
    return found


def from_a_request(messages: Sequence[Message], found: Sequence[Exchange]) -> list[Exchange]:
    """Return the exchanges without the oldest ones that answer a request which is not among them."""
    kept = list(found)
    while kept and messages[kept[-1][0]].role == "assistant" and not any(messages[at].calls for at in kept[-1]):
        kept.pop()
    return kept
