"""Which lines of a text stay when it is cut: those with what is most likely to be needed again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from compact.facts import Kind, Source, names_in, numbers_in, standings
from compact.messages import Conversation, texts
from compact.providers.truncation.cutting import Cut
from compact.providers.truncation.places import Place

Name: TypeAlias = tuple[Kind, str]


class Relevance:
    """How likely each name and number is to be needed again, and which of them stand in context already."""

    def __init__(self, conversation: Conversation, found: Iterable[Place]) -> None:
        size = len(conversation)
        self._odds = {
            (fact.kind, fact.text): standing.odds(size) for fact, standing in standings(conversation.messages).items()
        }
        cut = {place.where for place in found}
        self._said = {name for where, text in texts(conversation) if where not in cut for name in _names(text)}

    def apply(self, cut: Cut, place: Place) -> str:
        """What is left of the place's text: as many lines and characters as the cut leaves, the likeliest needed.

        What they say need not be said by the texts that are cut later.
        """
        text = place.text
        kept = sorted(self._chosen(text, cut.lines or 0, len(text) if cut.chars is None else cut.chars))
        if not kept or sum(end - start + 1 for start, end in kept) >= len(text):
            return cut.apply(text, place.tool)
        for start, end in kept:
            self._said.update(_names(text[start:end]))
        return cut.apply_to_lines(text, kept, place.tool)

    def _chosen(self, text: str, lines: int, chars: int) -> set[tuple[int, int]]:
        """Where the lines are that name the likeliest."""
        unsaid = ((self._odds.get(name, 0.0), name) for name in _names(text) if name not in self._said)
        chosen: set[tuple[int, int]] = set()
        for _, (_, name) in sorted(unsaid, key=lambda pair: (-pair[0], pair[1])):
            if len(chosen) >= lines:
                break
            if (at := text.find(name)) >= 0:
                line = text.rfind("\n", 0, at) + 1, (text.find("\n", at) + 1 or len(text) + 1) - 1
                size = line[1] - line[0] + 1
                if line not in chosen and size <= chars:
                    chosen.add(line)
                    chars -= size
        return chosen


def _names(text: str) -> Iterator[Name]:
    yield from dict.fromkeys(names_in(text, Source.SHOWN))
    yield from {(Kind.NUMBER, number.text): None for number in numbers_in(text)}
