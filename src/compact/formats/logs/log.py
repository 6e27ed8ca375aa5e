"""What a log holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from compact.messages import Json
from compact.ports import Usage

Row: TypeAlias = dict[str, Json]
ANTHROPIC = "anthropic-messages"
CHAT = "openai-chat"
RESPONSES = "openai-responses"
GEMINI = "google-gemini"
_KEYS = {RESPONSES: ("instructions", "input"), GEMINI: ("systemInstruction", "contents")}


@dataclass(frozen=True, slots=True)
class Log:
    """A session as an agent has written it down: its messages in one wire format, without the agent's bookkeeping.

    `boundaries` are the positions at which the agent itself compacted: the model never saw both sides in one request.
    `accounts` are what it put in the place of all messages before each of them; empty where the log does not say.
    `usages` are what the vendor reported, by the position of the answer that it came with.
    """

    agent: str
    format: str
    messages: list[Json]
    model: str = ""
    system: Json = None
    boundaries: tuple[int, ...] = ()
    accounts: tuple[str, ...] = ()
    usages: Mapping[int, Usage] = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Json]:
        """The session as one request."""
        system, messages = _KEYS.get(self.format, ("system", "messages"))
        body: dict[str, Json] = {"model": self.model} if self.model else {}
        if self.system is not None:
            body[system] = self.system
        return {**body, messages: self.messages}


def rows_of(value: Json) -> list[Row]:
    """The objects of a list; nothing where it is no list."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def only(row: Row, *keys: str) -> Row:
    """These keys of a row, where it has a value for them."""
    return {key: row[key] for key in keys if row.get(key) is not None}
