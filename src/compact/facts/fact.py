"""What a fact is, and where it was read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What a fact is about."""

    PATH = "path"
    COMMAND = "command"
    URL = "url"
    NUMBER = "number"
    IDENTIFIER = "identifier"
    ERROR = "error"
    DIRECTIVE = "directive"


class Source(StrEnum):
    """Whose words a text is: only a user gives directives, and only a tool that does something reports errors.

    `SHOWN` is what a tool shows of others' words: a file, the lines that a search found.
    """

    USER = "user"
    ASSISTANT = "assistant"
    CALL = "call"
    TOOL = "tool"
    SHOWN = "shown"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text stands: in which message, and whose words they are."""

    message_id: str
    source: Source


@dataclass(frozen=True, slots=True)
class Fact:
    """Something a conversation mentions, in its normal spelling.

    Two facts are equal when they say the same: where one was read is no part of what it says.
    """

    kind: Kind
    text: str
    message_id: str = field(compare=False)
