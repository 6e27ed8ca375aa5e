"""Questions to a summarizing model, and what may come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from compact.messages import Where
from compact.ports.usage import Usage

LEAST_ANSWER = 256
"""No model is asked for fewer tokens: it could not say anything."""
LEAST_SAVED = 200
"""No model is asked for a summary that saves fewer tokens: it is not worth a question."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question: what to do, on what material, in how many tokens at most.

    `length` is how many tokens the instructions name, where the answer may take more than those.
    `sources` are the ids of the messages the material comes from, and `place` is where in them, if it is one text.
    `profile` names the model to ask, if not the usual, and `strategy` the one that the instructions follow.
    """

    instructions: str
    material: str
    max_tokens: int
    sources: tuple[str, ...] = ()
    profile: str = ""
    place: Where | None = None
    strategy: str = ""
    length: int = 0

    @property
    def wished(self) -> int:
        """How long the answer is to be, in tokens."""
        return self.length or self.max_tokens


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """A model that reads questions: how many tokens it takes at once, and what counts them as it does."""

    limit: int
    count: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote. `truncated`: it had more to say; `estimated`: nobody was asked, only the size is right.

    `trusted`: no model wrote it, but our own code, of nothing but the words of the sources.
    `model` is the one that answered; `usage` and `cost` are what that took, where it is known.
    """

    text: str
    cost: Decimal | None = None
    truncated: bool = False
    estimated: bool = False
    usage: Usage | None = None
    model: str = ""
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """The model declined, which may cost as much as an answer."""

    reason: str
    cost: Decimal | None = None
    usage: Usage | None = None
    model: str = ""


FailureKind: TypeAlias = Literal[
    "authentication",
    "connection",
    "malformed",
    "overflow",
    "quota",
    "rate_limited",
    "rejected",
    "timeout",
    "unavailable",
    "unconfigured",
    "unknown",
]
"""What went wrong: "overflow" is a question too long for the model, "malformed" an answer nobody can read."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The model could not be asked. `final`: neither could any other, so that nobody is left to turn to."""

    reason: str
    kind: FailureKind = "unknown"
    final: bool = False


Answer: TypeAlias = Completion | Refusal | Failure
