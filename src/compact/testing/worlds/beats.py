"""The pieces that scenes are made of, before they are messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compact.messages import Json
from compact.testing.worlds.truth import Truth, TruthKind


class Draft:
    """A truth that does not yet know its messages."""

    __slots__ = ("at", "fields", "said")

    def __init__(self, kind: TruthKind, **fields: Any) -> None:
        self.fields = {"kind": kind, **fields}
        self.said = self.at = -1

    def finish(self) -> Truth:
        """The truth, now that all messages have their places."""
        at = self.at if self.at >= 0 else self.said
        return Truth(said=self.said, at=at, **self.fields)


@dataclass(frozen=True, slots=True)
class Part:
    """Words, with the truths they say and those they settle."""

    text: str
    says: tuple[Draft, ...] = ()
    settles: tuple[Draft, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A tool's call with its result."""

    tool: str
    arguments: Mapping[str, Json]
    result: Part
    asks: Part = field(default=Part(""))
    """What the arguments say and settle; their own text is not used."""


@dataclass(frozen=True, slots=True)
class Step:
    """What an assistant says with the calls it makes at once."""

    calls: tuple[Call, ...]
    text: Part = field(default=Part(""))


@dataclass(slots=True)
class Beat:
    """A turn, or what one scene contributes to a turn: a person's words, work, an answer."""

    user: list[Part] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    answer: list[Part] = field(default_factory=list)
    alone: bool = False
    """Its words came in a message of their own: a wrapper, a pasted document."""

    def join(self, other: Beat) -> None:
        """Takes in another turn: several things asked in one message."""
        self.user += other.user
        self.steps += other.steps
        self.answer += other.answer
