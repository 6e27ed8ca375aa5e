"""How likely a fact is to be needed again.

The weights were fitted to what the model itself wrote in the next forty messages of every other one of 57 real coding
sessions; on the sessions held out, the hundred likeliest names hold 60% of what comes back. What the model wrote itself
comes back most, then what many messages mention, then what was mentioned last. Standing in an error or in an open task
added nothing to that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log2

from compact.facts.conversation import mentions_of
from compact.facts.fact import Fact, Kind, Source
from compact.messages import Message


@dataclass(slots=True)
class Standing:
    """A fact, and how often, when last and by whom it was mentioned; `label` is what a number is called."""

    kind: Kind
    text: str
    last: int = -1
    mentions: float = 0
    by_user: bool = False
    by_assistant: bool = False
    edits: int = 0
    shown: bool = False
    label: str = ""

    def odds(self, length: int) -> float:
        """The odds that it will be needed after so many messages, up to a factor."""
        is_number = self.kind is Kind.NUMBER
        is_plain = self.kind is Kind.IDENTIFIER and self.text.isalpha() and self.text.islower()
        log_odds = (
            -0.4 * log2(max(length - self.last, 1))
            + 1.2 * log2(self.mentions + 1)
            + 0.4 * log2(1 + self.edits)
            + 2.0 * (not self.shown)
            + 0.5 * self.by_user
            + 0.5 * self.by_assistant
            + 0.3 * is_number
            - 1.2 * (is_number and not self.label)
            - 0.7 * is_plain
        )
        return float(2**log_odds)


def standings(messages: Iterable[Message]) -> dict[Fact, Standing]:
    """Every fact of the messages with its standing, in the order they were first mentioned in."""
    found: dict[Fact, Standing] = {}
    for index, source, fact, changes in mentions_of(messages):
        standing = found.get(fact)
        if standing is None:
            standing = found[fact] = Standing(fact.kind, fact.text)
        if standing.last != index:
            standing.last = index
            standing.mentions += 1
        standing.by_user |= source is Source.USER
        standing.by_assistant |= source is Source.ASSISTANT
        standing.shown |= source in (Source.TOOL, Source.SHOWN)
        standing.edits += changes
    return found
