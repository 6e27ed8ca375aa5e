"""What a session went on to use of what it had seen: the measure of what a condensation kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from compact.facts import Fact, Kind, facts_of, numbers_in, strings_in
from compact.messages import Message, Text, ToolCall, ToolResult

AHEAD = 40
"""How many messages ahead a fact counts as used again."""
LEAST_USED = 5
KINDS = (Kind.PATH, Kind.IDENTIFIER, Kind.NUMBER)


def used_again(seen: Sequence[Message], following: Sequence[Message]) -> frozenset[Fact]:
    """The facts seen that the assistant soon writes again; none where it says too little to tell.

    A fact is used where the assistant writes it, not where a tool shows it.
    """
    used = [message for message in following[:AHEAD] if message.role in ("assistant", "model")]
    if len(used) < LEAST_USED:
        return frozenset()
    known = {fact for fact in facts_of(seen) if fact.kind in KINDS}
    return frozenset(fact for fact in facts_of(used) if fact in known)


def missing(needed: frozenset[Fact], text: str) -> set[Fact]:
    """The needed facts that the text does not hold.

    A path counts as there if its last two parts are: how far up it is spelled does not matter. So does a number,
    however its thousands and its unit are written.
    """
    words = set(re.findall(r"[\w$#@.+-]+(?:/[\w$#@.+-]+)*", text))
    tails = {"/".join(word.split("/")[-2:]) for word in words}
    unseen = {fact for fact in needed if not _spells(fact, text, tails)}
    if not any(fact.kind is Kind.NUMBER for fact in unseen):
        return unseen
    numbers = {number.text for number in numbers_in(text)}
    return {fact for fact in unseen if fact.kind is not Kind.NUMBER or fact.text not in numbers}


def text_of(message: Message) -> str:
    """Everything a message says, calls and results included; a model's reasoning is not."""
    return "\n".join(strings_of(message))


def strings_of(message: Message) -> Iterator[str]:
    for block in message.blocks:
        if isinstance(block, ToolCall):
            yield block.name
            yield from (text for _, text in strings_in(block.raw if block.arguments is None else block.arguments))
        elif isinstance(block, Text | ToolResult):
            yield block.text


def _spells(fact: Fact, text: str, tails: set[str]) -> bool:
    if fact.kind is Kind.PATH and "/".join(fact.text.strip("/").split("/")[-2:]) in tails:
        return True
    return fact.text in text and re.search(rf"(?<!\w){re.escape(fact.text)}(?!\w)", text) is not None
