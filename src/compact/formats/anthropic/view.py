"""What the rules can read of a request body; anything of an unexpected type is passed over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from compact.formats.format import Request, text_of
from compact.messages import Json
from compact.messages.conversation import once

Block: TypeAlias = dict[str, Json]
Spot: TypeAlias = tuple[int, int, Block]
"""The index of a message, the position of a block in it, and the block."""
Seal: TypeAlias = tuple[str, str, str, str]
"""All that the vendor compares of a thinking block."""

THINKING = frozenset({"thinking", "redacted_thinking"})
SERVER_CALLS = frozenset({"server_tool_use", "mcp_tool_use"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """The calls of an assistant's turn and the results in the user's turn right after it; either may be none.

    A turn is all neighbouring messages of one role, which the API reads as one. `start` is where the user's begins.
    """

    calls: Sequence[Spot]
    results: Sequence[Spot]
    start: int


class View:
    """A request body, read once for all rules."""

    def __init__(self, body: Mapping[str, Json]) -> None:
        self.body = body
        found = body.get("messages")
        self.messages: list[Json] = found if isinstance(found, list) else []
        self.roles = [role_of(message) for message in self.messages]
        self.cached: list[tuple[int, str, Block]] = []
        """The blocks with a cache breakpoint: the index of the message, where the block stands, and the block."""
        self._kinds: defaultdict[str, list[Spot]] = defaultdict(list)
        for index, message in enumerate(self.messages):
            content = message.get("content") if isinstance(message, dict) else None
            if isinstance(content, list):
                self._read(index, content)

    def _read(self, index: int, content: list[Json]) -> None:
        for position, block in enumerate(content):
            if not isinstance(block, dict):
                continue
            kind = block.get("type")
            if isinstance(kind, str):
                self._kinds[kind].append((index, position, block))
                if kind == "tool_result" and isinstance(inner := block.get("content"), list):
                    self._read_result(index, position, inner)
            if "cache_control" in block and isinstance(block["cache_control"], dict):
                self.cached.append((index, f"messages.{index}.content.{position}", block))

    def _read_result(self, index: int, position: int, inner: list[Json]) -> None:
        for number, part in enumerate(inner):
            if isinstance(part, dict) and isinstance(part.get("cache_control"), dict):
                self.cached.append((index, f"messages.{index}.content.{position}.content.{number}", part))

    def of_kind(self, kind: str) -> Sequence[Spot]:
        """All blocks of the kind, in order."""
        return self._kinds.get(kind, ())

    def of_kinds(self, kinds: Iterable[str]) -> list[Spot]:
        """All blocks of the kinds, in order."""
        return sorted((spot for kind in kinds for spot in self.of_kind(kind)), key=lambda spot: spot[:2])

    @cached_property
    def thinking(self) -> list[Spot]:
        return self.of_kinds(THINKING)

    @cached_property
    def seals(self) -> dict[int, list[Seal]]:
        """The seals of the thinking in each message that has any."""
        found: dict[int, list[Seal]] = {}
        for index, _, block in self.thinking:
            found.setdefault(index, []).append(seal(block))
        return found

    @cached_property
    def latest_assistant(self) -> int:
        """The index of the last assistant message, or -1."""
        return next((index for index in range(len(self.roles) - 1, -1, -1) if self.roles[index] == "assistant"), -1)

    @cached_property
    def server_blocks(self) -> list[Spot]:
        """The calls and the results of tools that the vendor runs."""
        return self.of_kinds(kind for kind in self._kinds if kind in SERVER_CALLS or kind.endswith("_tool_result"))

    @cached_property
    def exchanges(self) -> list[Exchange]:
        """All that hold a call or a result, in order."""
        turn_of, starts = [], []
        for index, role in enumerate(self.roles):
            if index == 0 or role != self.roles[index - 1]:
                starts.append(index)
            turn_of.append(len(starts) - 1)
        calls = grouped((turn_of[spot[0]], spot) for spot in self.of_kind("tool_use") if self._is(spot, "assistant"))
        results = grouped((turn_of[spot[0]], spot) for spot in self.of_kind("tool_result") if self._is(spot, "user"))
        found = []
        for turn in sorted({*calls, *(turn - 1 for turn in results)}):
            # Before a user's turn stands the assistant's, or a system message, which has no calls.
            start = starts[turn + 1] if turn + 1 < len(starts) else len(self.roles)
            found.append(Exchange(calls.get(turn, ()), results.get(turn + 1, ()), start))
        return found

    def _is(self, spot: Spot, role: str) -> bool:
        return self.roles[spot[0]] == role


def grouped(spots: Iterable[tuple[int, Spot]]) -> dict[int, list[Spot]]:
    groups: dict[int, list[Spot]] = {}
    for key, spot in spots:
        groups.setdefault(key, []).append(spot)
    return groups


@once
def view(request: Request) -> View:
    """The request's body, read; one reading serves all rules, so a request is not changed while it is judged."""
    return View(request.body)


def origin_view(request: Request) -> View | None:
    """The body it was condensed from, read, if any."""
    return None if request.origin is None else view(Request(request.origin, memo=request.origin_memo))


def role_of(message: Json) -> str:
    return text_of(message.get("role")) if isinstance(message, dict) else ""


def parts(message: Json) -> Sequence[Json]:
    """The message's content as a list; a string is one text block."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        return content
    return ({"type": "text", "text": content},) if isinstance(content, str) else ()


def kind_of(block: Json) -> str:
    return text_of(block.get("type")) if isinstance(block, dict) else ""


def ids_of(spots: Iterable[Spot], key: str = "id") -> Iterator[tuple[Spot, str]]:
    """The blocks that have an id, with it."""
    for spot in spots:
        if isinstance(id := spot[2].get(key), str):
            yield spot, id


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
