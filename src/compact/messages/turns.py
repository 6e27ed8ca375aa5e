"""Turns: where a server wants user and assistant to alternate, each removed message may leave two of one role together.

Messages stay as they are for that: the later one is marked to be sent in one turn with the message before it. A short
turn of the other role stands between the two where one of them must be sent by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compact.messages.blocks import Attachment, Block, Image, Json, Text
from compact.messages.conversation import Conversation, Dialect, Message
from compact.messages.edits import Fold
from compact.messages.meta import merge_meta
from compact.messages.seals import TURN, is_framed

_BRIDGE = ".turn"
_SPEAKERS = ("user", "assistant")
_SAID = frozenset({"role", "content", "name", "meta"})
_NOTHING: tuple[Json, ...] = (None, [], "")


@dataclass(frozen=True, slots=True)
class Alternation:
    """How a server wants turns to follow each other.

    `turn` gives the role in which a message takes a turn, nothing where it takes none. `missing` tells by two turns
    whose turn is missing between them; before the first stands "". Where it `merges`, two of one role that come
    together are sent as one; plans of earlier versions put a short turn between them.
    """

    turn: Callable[[Message], str]
    missing: Mapping[tuple[str, str], str]
    merges: bool = True
    write: Callable[[str, str], Json] = field(default=lambda role, text: {"role": role, "content": text}, repr=False)


ANY_ORDER = Alternation(lambda message: message.role, {})
"""That of servers that do not care."""


@dataclass(frozen=True, slots=True)
class Before:
    """Who came before whom, by ids, while the messages were as the server has taken them.

    `turns` tells for each message that takes a turn which one took the turn before, "" for the first; `neighbours` for
    each joined message which one it was sent with.
    """

    turns: Mapping[str, str] = field(default_factory=dict)
    neighbours: Mapping[str, str] = field(default_factory=dict)


def order_of(alternation: Alternation, messages: Sequence[Message]) -> Before:
    """Who comes before whom."""
    turns, neighbours, last = {}, {}, ""
    for index, message in enumerate(messages):
        if message.joined and index:
            neighbours[message.id] = messages[index - 1].id
        if alternation.turn(message):
            turns[message.id], last = last, message.id
    return Before(turns, neighbours)


def is_bridge(id: str) -> bool:
    """Whether a plan put the message of that id there only to have turns alternate."""
    return _BRIDGE in id


def turns_of(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """The messages in the turns that they are sent in."""
    turns: list[tuple[Message, ...]] = []
    for message in messages:
        if message.joined and turns and _can_join(turns[-1][-1], message):
            turns[-1] = (*turns[-1], message)
        else:
            turns.append((message,))
    return turns


def wires_of(conversation: Conversation) -> list[Json]:
    """What is sent of the messages, their `meta` included: the very objects where a message is a turn of its own."""
    messages = conversation.messages
    if not any(message.joined for message in messages):
        return [message.wire for message in messages]
    return [_merged(conversation.dialect, turn) for turn in turns_of(messages)]


def _merged(dialect: Dialect, turn: Sequence[Message]) -> Json:
    """The turn as one wire object: the texts of its messages in order, each a part of its own."""
    first = turn[0]
    if len(turn) == 1:
        return first.wire
    parts: list[Json] = []
    for message in turn:
        said = message.wire["content"]
        parts += said if isinstance(said, list) else [dialect.text_part(said, message.role)]
    meta = merge_meta(*(message.wire.get("meta") for message in turn))
    return {**first.wire, "content": parts} | ({} if meta is None else {"meta": meta})


def _can_join(earlier: Message, later: Message) -> bool:
    """Whether nothing is lost where the two are sent in one turn."""
    return earlier.role == later.role and earlier.name == later.name and _only_says(earlier) and _only_says(later)


def _only_says(message: Message) -> bool:
    """Whether all there is to a message is what is said in it: no calls, results, reasoning, signatures, or fields."""
    wire = message.wire
    if message.role not in _SPEAKERS or not message.blocks or not isinstance(wire, dict):
        return False
    if not all(map(_is_said, message.blocks)):
        return False
    return all(key in _SAID or value in _NOTHING for key, value in wire.items())


def _is_said(block: Block) -> bool:
    if isinstance(block, Text):
        return block.path[:1] == ("content",) and not block.signed and bool(block.text.strip())
    return isinstance(block, Image | Attachment)


def parted(conversation: Conversation) -> Conversation:
    """The conversation with turns taken apart that were sent with something of ours among other words.

    What stands for removed messages is a message of its own again; sent, they are the turn that they were.
    """
    if not any(_holds_ours(message) for message in conversation.messages):
        return conversation
    messages: list[Message] = []
    for message in conversation.messages:
        messages += _parts(conversation.dialect, message) if _holds_ours(message) else (message,)
    return conversation.with_messages(messages)


def _holds_ours(message: Message) -> bool:
    if len(message.blocks) < 2 or not any(isinstance(one, Text) and is_framed(one.text) for one in message.blocks):
        return False
    content = message.wire.get("content") if isinstance(message.wire, dict) else None
    return isinstance(content, list) and len(content) == len(message.blocks) and _only_says(message)


def _parts(dialect: Dialect, message: Message) -> Iterator[Message]:
    """The message in parts: each frame of ours by itself, and what is between them."""
    runs: list[list[Json]] = []
    apart = True
    for block, part in zip(message.blocks, message.wire["content"], strict=True):
        ours = isinstance(block, Text) and is_framed(block.text)
        if ours or apart:
            runs.append([])
        runs[-1].append(part)
        apart = ours
    for number, run in enumerate(runs):
        id = f"{message.id}.{number}" if number else message.id
        read = dialect.parse_message({**message.wire, "content": run}, id)
        yield replace(read, protected=message.protected, joined=message.joined or number > 0)


def stand(
    dialect: Dialect,
    fold: Fold,
    earlier: Sequence[Message],
    later: Sequence[Message],
    alternation: Alternation | None = None,
) -> list[Message]:
    """The message of a fold between those that stay, in its role unless the other fits better between them.

    One fits better that needs fewer turns between, then one that is sent with fewer others.
    """

    def written(role: str) -> list[Message]:
        neighbours = (earlier[-1] if earlier else None, later[0] if later else None)
        wires = dialect.summary(fold.text, role, neighbours)
        ids = [fold.handle] if len(wires) == 1 else [f"{fold.handle}.{index}" for index in range(len(wires))]
        return [dialect.parse_message(wire, id) for wire, id in zip(wires, ids, strict=True)]

    if alternation is None:
        return written(fold.role)
    around = _up_to_a_turn(alternation, reversed(earlier))[::-1], _up_to_a_turn(alternation, later)

    def misfit(between: list[Message]) -> tuple[int, int]:
        shown = [*around[0], *between, *around[1]]
        settled = list(settle(dialect, alternation, shown, Before(), fold.handle))
        return len(settled) - len(shown), sum(message.joined for message in settled)

    return min(map(written, ("user", "assistant") if fold.role == "user" else ("assistant", "user")), key=misfit)


def _up_to_a_turn(alternation: Alternation, messages: Iterator[Message] | Sequence[Message]) -> list[Message]:
    found = []
    for message in messages:
        found.append(replace(message, joined=False) if message.joined else message)
        if alternation.turn(message):
            break
    return found


def settle(
    dialect: Dialect, alternation: Alternation, after: Sequence[Message], before: Before, handle: str
) -> Iterator[Message]:
    """The messages in turns that follow each other as the server wants.

    Two that came together are sent as one turn where nothing is lost by it, else with a short turn between them. What
    the server has taken before stays: two turns of one role in the input, and those that are sent as one.
    """
    turn, last, number = "", "", 0
    earlier: Message | None = None
    for message in after:
        joined = message.joined and earlier is not None and before.neighbours.get(message.id) == earlier.id
        if own := alternation.turn(message):
            role = None if joined else alternation.missing.get((turn, own))
            if role and before.turns.get(message.id) != last:
                joined = alternation.merges and earlier is not None and _may_join(earlier, message)
                if not joined:
                    yield dialect.parse_message(alternation.write(role, TURN), f"{handle}{_BRIDGE}{number}")
                    number += 1
            turn, last = own, message.id
        earlier = message if message.joined == joined else replace(message, joined=joined)
        yield earlier


def _may_join(earlier: Message, later: Message) -> bool:
    """Whether the two can be sent as one turn, and neither is protected."""
    return not earlier.fixed and not later.fixed and _can_join(earlier, later)
