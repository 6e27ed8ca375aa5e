"""What a request of a stored session is made of: the summary that stands, what is pinned, what is recent, the input."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from compact.formats import parse, tools_of
from compact.messages import (
    Conversation,
    Drop,
    EditKind,
    Json,
    Message,
    Pass,
    Reasoning,
    Tool,
    Where,
    apply,
    assuming,
    exchanges,
)
from compact.ports import Active, StoredMessage
from compact.tokens import Counter

_NEAR = 0.01
_NAME = re.compile(r"(.+)\*(\d+(?:\.\d+)?)@(.*)")


@dataclass(frozen=True, slots=True)
class Assembled:
    """A stored session as a conversation; `messages` are its stored messages by the ids they have in there.

    `input` is what the user is about to say; it stands at the end of the conversation, and is not stored.
    """

    active: Active
    conversation: Conversation
    messages: dict[str, StoredMessage]
    input: tuple[Json, ...]
    tokens: int

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(tools_of(self.conversation))


def assemble(
    active: Active, counter: Counter, kept: Sequence[StoredMessage] = (), input: Sequence[Json] = ()
) -> Assembled:
    """The conversation as it would be sent, and its size.

    `kept` are messages from before the summary that stand all the same. What the database says of a message's size
    is believed where the same tokenizer has counted it, by a factor that is not far off.
    """
    session = active.session
    frame = parse([], format=session.format, system=session.system, tools=_listed(session.tools))
    frame = assuming(frame, {"model": session.model})
    stored = sorted({one.id: one for one in (*active.pinned, *kept, *active.recent)}.values(), key=_position)
    read = {str(one.position): one for one in stored}
    lines = [_read(frame, one) for one in stored]
    bare = _without_reasoning(frame, lines, active)
    fresh = [frame.dialect.parse_message(wire, f"input-{at}") for at, wire in enumerate(input)]
    whole = frame.with_messages(_with_summary(frame, active, [*bare, *fresh]))
    trusted = believed(stored, counter)
    known = {message.id: read[message.id].tokens for message in lines if read[message.id].counter in trusted}
    unchanged = {message.id for message, other in zip(lines, bare, strict=True) if message is other}
    sizes = (
        known[message.id] if message.id in known and message.id in unchanged else counter.message(message)
        for message in whole.messages
    )
    return Assembled(active, whole, read, tuple(input), counter.frame(whole, tools_of(whole)) + sum(sizes))


def counter_name(counter: Counter) -> str:
    """What tells counts apart: the tokenizer, and what its counts are multiplied with."""
    return f"{counter.meter.encoding}*{counter.meter.factor:.6g}@{counter.meter.vendor}"


def believed(messages: Iterable[StoredMessage], counter: Counter) -> set[str]:
    """Those who counted the messages whose counts hold for this counter, by their names.

    A learned factor is an estimate and moves a little with every answer of the vendor. Counts by one that is less than
    1% off hold, or whoever reads a session would have to count and store all of it again each time.
    """
    return {name for name in {one.counter for one in messages} if _holds(name, counter)}


def kept_ids(active: Active) -> list[int]:
    """The ids of the messages from before the summary that stand all the same."""
    ids = active.summary.content.get("kept") if active.summary else None
    return [id for id in ids if isinstance(id, int)] if isinstance(ids, list) else []


def summary_text(active: Active) -> str:
    return str(active.summary.content.get("summaryText", "")) if active.summary else ""


def whole_exchanges(messages: Sequence[Message]) -> Iterator[tuple[Message, ...]]:
    """The messages in the groups that stay together."""
    for group in exchanges(tuple(messages)):
        yield tuple(messages[index] for index in group)


def _with_summary(frame: Conversation, active: Active, messages: list[Message]) -> list[Message]:
    """The messages with the summary before the first one that nothing pins."""
    if active.summary is None:
        return messages
    at = next((index for index, message in enumerate(messages) if not message.protected), len(messages))
    neighbours = (messages[at - 1] if at else None, messages[at] if at < len(messages) else None)
    role = str(active.summary.content.get("role", "system"))
    wires = frame.dialect.summary(summary_text(active), role, neighbours)
    made = [frame.dialect.parse_message(wire, f"summary-{index}") for index, wire in enumerate(wires)]
    return [*messages[:at], *made, *messages[at:]]


def _without_reasoning(frame: Conversation, messages: list[Message], active: Active) -> list[Message]:
    """The messages without what was thought up to a point: some vendors bind it to everything before it."""
    upto = active.summary.content.get("thoughtless") if active.summary else None
    if not isinstance(upto, int):
        return messages
    drops = tuple(
        Drop(Where(message.id, index), EditKind.BOUND_TO_SUMMARIZED)
        for message in messages
        if message.id.isdigit() and int(message.id) <= upto
        for index, block in enumerate(message.blocks)
        if isinstance(block, Reasoning)
    )
    if not drops:
        return messages
    after, _ = apply(frame.with_messages(messages), Pass("Reasoning dropped", drops))
    return list(after.messages)


def _read(frame: Conversation, stored: StoredMessage) -> Message:
    message = frame.dialect.parse_message(json.loads(stored.raw), str(stored.position))
    return replace(message, protected=True) if stored.pinned else message


def _holds(name: str, counter: Counter) -> bool:
    meter, read = counter.meter, _NAME.fullmatch(name)
    if meter.precision != "calibrated" or read is None:
        return name == counter_name(counter)
    encoding, factor, vendor = read.groups()
    return (encoding, vendor) == (meter.encoding, meter.vendor) and abs(float(factor) / meter.factor - 1) < _NEAR


def _position(stored: StoredMessage) -> int:
    return stored.position


def _listed(tools: Json) -> list[Json] | None:
    return tools if isinstance(tools, list) else None
