"""How a corruption is made of a change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from random import Random
from typing import TypeAlias, TypeVar

from compact.messages import Json
from compact.testing.generate.dice import Body

Corruption: TypeAlias = Callable[[Body, Random], Body | None]
Spoiler: TypeAlias = Callable[[Body, Random], bool]
"""Changes the body it is given, and says whether it found a place for that."""

Place = TypeVar("Place")


def corruptions(spoilers: Mapping[str, Sequence[Spoiler]]) -> dict[str, Corruption]:
    """For each rule a corruption that tries its spoilers in random order, each on a copy of its own."""
    return {rule: _corruption(ways) for rule, ways in spoilers.items()}


def _corruption(ways: Sequence[Spoiler]) -> Corruption:
    def corrupt(body: Body, rng: Random) -> Body | None:
        for spoil in rng.sample(ways, len(ways)):
            broken = deepcopy(body)
            if spoil(broken, rng):
                return broken
        return None

    return corrupt


def at(places: Callable[[Body], Sequence[Place]]) -> Callable[[Callable[[Body, Random, Place], None]], Spoiler]:
    """Makes a spoiler of a change to one of the places, whichever the dice choose."""

    def spoiler(change: Callable[[Body, Random, Place], None]) -> Spoiler:
        def spoil(body: Body, rng: Random) -> bool:
            found = places(body)
            if found:
                change(body, rng, rng.choice(found))
            return bool(found)

        return spoil

    return spoiler


def blocks(message: Json) -> list[Json]:
    """The blocks of an Anthropic message; none where its content is a plain string."""
    content = message["content"]
    return content if isinstance(content, list) else []


def of_kind(message: Json, *kinds: str) -> list[Json]:
    """The blocks of these types of an Anthropic message."""
    return [block for block in blocks(message) if block["type"] in kinds]


def blocks_of(body: Body, *kinds: str) -> list[Json]:
    """The blocks of these types of an Anthropic request."""
    return [block for message in body["messages"] for block in of_kind(message, *kinds)]


def text_block(text: str = "And then?") -> dict[str, Json]:
    return {"type": "text", "text": text}
