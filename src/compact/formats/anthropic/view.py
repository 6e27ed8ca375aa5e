"""What the rules can read of a request body; anything of an unexpected type is passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from compact.formats.format import text_of
from compact.messages import Json

Block: TypeAlias = dict[str, Json]
Spot: TypeAlias = tuple[int, int, Block]
"""The index of a message, the position of a block in it, and the block."""

Seal: TypeAlias = tuple[str, str, str, str]
"""All that the vendor compares of a thinking block."""

THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Turn:
    """Consecutive messages of one role, which the API reads as one."""

    role: str
    start: int
    spots: list[Spot] = field(default_factory=list)


def messages(body: Mapping[str, Json]) -> list[Json]:
    found = body.get("messages")
    return found if isinstance(found, list) else []


def role_of(message: Json) -> str:
    return text_of(message.get("role")) if isinstance(message, dict) else ""


def parts(message: Json) -> Sequence[Json]:
    """The message's content as a list; a string is one text block."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        return content
    return ({"type": "text", "text": content},) if isinstance(content, str) else ()


def listed(body: Mapping[str, Json]) -> Iterator[Spot]:
    """All blocks that stand in a list."""
    for index, message in enumerate(messages(body)):
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            for position, block in enumerate(content):
                if isinstance(block, dict):
                    yield index, position, block


def of_kind(body: Mapping[str, Json], kind: str) -> Iterator[Spot]:
    return (spot for spot in listed(body) if spot[2].get("type") == kind)


def nested(block: Block) -> Iterator[tuple[int, Block]]:
    """The blocks inside a tool result."""
    inner = block.get("content") if block.get("type") == "tool_result" else None
    if isinstance(inner, list):
        for position, part in enumerate(inner):
            if isinstance(part, dict):
                yield position, part


def turns(body: Mapping[str, Json]) -> list[Turn]:
    found: list[Turn] = []
    for index, message in enumerate(messages(body)):
        role = role_of(message)
        if not found or found[-1].role != role:
            found.append(Turn(role, index))
        spots = found[-1].spots
        for position, block in enumerate(parts(message)):
            if isinstance(block, dict):
                spots.append((index, position, block))
    return found


def kind_of(block: Json) -> str:
    return text_of(block.get("type")) if isinstance(block, dict) else ""


def id_of(block: Block, key: str = "id") -> str | None:
    value = block.get(key)
    return value if isinstance(value, str) else None


def seal(block: Block) -> Seal:
    return (
        kind_of(block),
        text_of(block.get("thinking")),
        text_of(block.get("signature")),
        text_of(block.get("data")),
    )


def is_server_result(block: Json) -> bool:
    """Whether the block is what a tool that the vendor runs has answered (`web_search_tool_result` and the like)."""
    return kind_of(block).endswith("_tool_result")


def thinking_mode(body: Mapping[str, Json]) -> str:
    """What the request asks for ("enabled", "adaptive", "disabled"); nothing where it does not say."""
    return kind_of(body.get("thinking"))


def thinks(body: Mapping[str, Json]) -> bool:
    return thinking_mode(body) in ("enabled", "adaptive")
