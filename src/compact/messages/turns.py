"""Turns: where a server wants user and assistant to alternate, each removed message may leave two of one role together.

Nothing that stays is changed for that. A short turn of the other role stands between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from compact.messages.blocks import Json
from compact.messages.conversation import Dialect, Message
from compact.messages.edits import Fold
from compact.messages.seals import TURN

_BRIDGE = ".turn"


@dataclass(frozen=True, slots=True)
class Alternation:
    """How a server wants turns to follow each other.

    `turn` gives the role in which a message takes a turn, nothing where it takes none. `missing` tells by two turns
    whose turn is missing between them; before the first stands "".
    """

    turn: Callable[[Message], str]
    missing: Mapping[tuple[str, str], str]
    write: Callable[[str, str], Json] = field(default=lambda role, text: {"role": role, "content": text}, repr=False)


def is_bridge(id: str) -> bool:
    """Whether a plan put the message of that id there only to have turns alternate."""
    return _BRIDGE in id


def stand(
    dialect: Dialect,
    fold: Fold,
    earlier: Sequence[Message],
    later: Sequence[Message],
    alternation: Alternation | None = None,
) -> list[Message]:
    """The message of a fold between those that stay, in its role unless the other leaves fewer turns missing."""

    def written(role: str) -> list[Message]:
        neighbours = (earlier[-1] if earlier else None, later[0] if later else None)
        wires = dialect.summary(fold.text, role, neighbours)
        ids = [fold.handle] if len(wires) == 1 else [f"{fold.handle}.{index}" for index in range(len(wires))]
        return [dialect.parse_message(wire, id) for wire, id in zip(wires, ids, strict=True)]

    if alternation is None:
        return written(fold.role)
    before = next((turn for message in reversed(earlier) if (turn := alternation.turn(message))), "")
    after = next((turn for message in later if (turn := alternation.turn(message))), None)

    def missing(between: list[Message]) -> int:
        turns = [before, *filter(None, map(alternation.turn, between)), *([after] if after else [])]
        return sum(pair in alternation.missing for pair in pairwise(turns))

    return min(map(written, ("user", "assistant") if fold.role == "user" else ("assistant", "user")), key=missing)


def bridged(
    dialect: Dialect, alternation: Alternation, after: Sequence[Message], previous: Mapping[str, str], handle: str
) -> Iterator[Message]:
    """The messages with the turns that are missing between them.

    `previous` tells by id who took the turn before a message at first. A turn that was missing then is not added: the
    server has taken the conversation as it was.
    """
    turn, last, number = "", "", 0
    for message in after:
        if own := alternation.turn(message):
            role = alternation.missing.get((turn, own))
            if role and previous.get(message.id) != last:
                yield dialect.parse_message(alternation.write(role, TURN), f"{handle}{_BRIDGE}{number}")
                number += 1
            turn, last = own, message.id
        yield message


def previous_turns(alternation: Alternation, messages: Sequence[Message]) -> dict[str, str]:
    """For each message that takes a turn, which one took the turn before; "" for the first."""
    found, last = {}, ""
    for message in messages:
        if alternation.turn(message):
            found[message.id], last = last, message.id
    return found
