"""What is true in a world, and the world itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from compact.messages import Json


class Kind(StrEnum):
    """What a conversation is about."""

    CODING = "coding"
    CHAT = "chat"
    SERVICE = "service"


class TruthKind(StrEnum):
    """What a truth is about."""

    ORDER = "order"
    PROHIBITION = "prohibition"
    REQUEST = "request"
    OUTCOME = "outcome"
    VALUE = "value"
    DECISION = "decision"
    QUOTATION = "quotation"
    PROJECT_RULE = "project_rule"


class Speaker(StrEnum):
    """Who said it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    PROJECT = "project"
    OTHER = "other"


class Fate(StrEnum):
    """What became of a request."""

    DONE = "done"
    OPEN = "open"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    REPLACED = "replaced"


class Outcome(StrEnum):
    """How a command, a booking or a record ended."""

    OK = "ok"
    FAILED = "failed"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True)
class Truth:
    """One thing that is so in a world, and the words that say it."""

    id: str
    kind: TruthKind
    speaker: Speaker
    names: tuple[str, ...]
    """What it is called, the usual name first; no other truth of the world is called so."""
    text: str
    """The sentence as said, or the record as printed."""
    at: int
    """The message that settled it."""
    said: int
    """The message with `text`."""
    settled: str = ""
    """The words that settled it, where these are not `text`."""
    deferred: str = ""
    """The answer that puts a request off."""
    fate: Fate | None = None
    outcome: Outcome | None = None
    value: str | None = None
    """The value of a thing; of a decision, what its reason names."""
    standing: bool = True
    asked: bool = False
    """The last request needs it."""
    lead: str = ""
    """What governs the text from before it: the head of a list, the wrapper of words that are not the user's."""
    condition: str = ""
    """The part of the text that limits it: unless, except, only after."""
    condition_names: tuple[str, ...] = ()
    opposite: str = ""
    """The text with its meaning reversed."""
    negative: bool = False
    """It forbids. A quotation or a rule of the project may."""
    source: str = ""
    """Where another's words were found: an issue, a mail, a file."""
    replaced_by: str = ""
    """The truth that took its place."""
    rejected: tuple[str, ...] = ()
    """What a decision decided against."""


@dataclass(frozen=True, eq=False)
class World:
    """A generated session whose truth is known."""

    seed: int
    kind: Kind
    language: str
    format: str
    body: Mapping[str, Json]
    truths: tuple[Truth, ...]
    authors: tuple[str, ...] = field(default=("first",))

    @property
    def messages(self) -> list[Json]:
        """The messages of the body."""
        found = self.body["messages"]
        assert isinstance(found, list)  # noqa: S101 - the generator wrote it
        return found

    @cached_property
    def by_id(self) -> dict[str, Truth]:
        """The truths by their ids."""
        return {truth.id: truth for truth in self.truths}
