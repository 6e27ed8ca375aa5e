"""What is left of each long text of a conversation that is cut: excerpts chosen by what the rest of it takes up."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from compact.history.actions import written_by
from compact.messages import Message, with_handle
from compact.ports import Measure
from compact.providers.auto.excerpts import Excerpts, Interest
from compact.providers.auto.ladders import WORTH_CUTTING, Cuttable, Ladder
from compact.summaries.offline.records import names_in, words_in

_TAKEN_UP = 1_000
"""Characters of what was said next that are looked at."""


class Cuts:
    """The excerpts of long texts, each made once. With `handles`, each says how to recall the whole."""

    def __init__(
        self, ladders: Sequence[Ladder], messages: Sequence[Message], measure: Measure, *, handles: bool
    ) -> None:
        self._ladders = ladders
        self._messages = messages
        self._measure = measure
        self._handles = handles
        self._excerpts: dict[tuple[Cuttable, int], str] = {}
        self._sources: dict[str, Excerpts] = {}

    def saved(self, each: Cuttable, room: int) -> int:
        """How many tokens an excerpt in so much room saves."""
        if each.tokens <= room + WORTH_CUTTING:
            return 0
        return max(0, each.tokens - self._measure.text(self.excerpt(each, room)))

    def excerpt(self, each: Cuttable, room: int) -> str:
        """What is left of the text in so much room."""
        key = (each, room)
        if key not in self._excerpts:
            made = self._sources.get(each.source)
            if made is None:
                said_next = self._next_words.get(each.where.message, set())
                sought = self._sought.get(each.where.message, frozenset())
                rules = each.where.message in self._rules
                interest = Interest(self._ladders[-1].told.asked, self._mentioned, said_next, sought, rules)
                made = Excerpts(each.source, self._measure.text(each.source), interest)
                self._sources[each.source] = made
            text = made.within(room, self._measure.text)
            self._excerpts[key] = with_handle(text, each.source) if self._handles else text
        return self._excerpts[key]

    @cached_property
    def _rules(self) -> set[str]:
        """The messages that show files of rules."""
        return {self._messages[index].id for ladder in self._ladders if ladder.binding for index in ladder.group}

    @cached_property
    def _mentioned(self) -> set[str]:
        """The names and numbers that were said, that calls were made with, or that were put into files."""
        found: set[str] = set()
        for ladder in self._ladders:
            for spoken in ladder.told.said:
                found |= names_in(spoken.text)
            for action in ladder.told.actions:
                found |= names_in(action.subject) | names_in(written_by(action))
        return found

    @cached_property
    def _next_words(self) -> dict[str, set[str]]:
        """The words of what was said after each message, in the next exchange that says anything."""
        found: dict[str, set[str]] = {}
        words: set[str] = set()
        for ladder in reversed(self._ladders):
            found |= dict.fromkeys((self._messages[index].id for index in ladder.group), words)
            if said := ladder.told.said:
                words = words_in(said[0].text[:_TAKEN_UP])
        return found

    @cached_property
    def _sought(self) -> dict[str, frozenset[str]]:
        """The words that the searches of each exchange looked for."""
        searches = [ladder for ladder in self._ladders if ladder.told.sought]
        return {self._messages[index].id: ladder.told.sought for ladder in searches for index in ladder.group}
