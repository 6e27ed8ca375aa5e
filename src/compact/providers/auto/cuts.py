"""What is left of each long text of a conversation that is cut: excerpts chosen by what the rest of it takes up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from compact.history.actions import written_by
from compact.history.outcomes.outcome import NOTHING, Outcome
from compact.messages import Where, together, unwrap, with_handle
from compact.providers.auto.excerpts import Excerpts
from compact.providers.auto.interest import Interest
from compact.providers.auto.ladders import WORTH_CUTTING, Cuttable, Ladder
from compact.providers.auto.settings import AutoSettings
from compact.providers.provider import Task
from compact.summaries.offline.records import names_in


class Cuts:
    """The excerpts of long texts, each made once. With `handles`, each says how to recall the whole."""

    def __init__(self, ladders: Sequence[Ladder], task: Task, settings: AutoSettings) -> None:
        self._ladders = ladders
        self._messages = task.conversation.messages
        self._measure = task.measure
        self._handles = settings.handles
        self._excerpts: dict[tuple[Cuttable, int], str] = {}
        # What a line is worth depends on the conversation and the settings alone, however often it is composed.
        self._sources: dict[tuple[Where, str], Excerpts] = task.conversation.memo.setdefault((Cuts, settings), {})

    def saved(self, each: Cuttable, room: int) -> int:
        """How many tokens an excerpt in so much room saves."""
        if each.tokens <= room + WORTH_CUTTING:
            return 0
        return max(0, each.tokens - self._measure.text(self.excerpt(each, room)))

    def excerpt(self, each: Cuttable, room: int) -> str:
        """What is left of the text in so much room."""
        key = (each, room)
        if key not in self._excerpts:
            source = (each.where, each.source)
            made = self._sources.get(source)
            if made is None:
                said_next = self._next_words.get(each.where.message, {})
                sought = self._sought.get(each.where.message, frozenset())
                rules = each.where.message in self._rules
                asked, outcome = self._ladders[-1].told.asked, self._outcomes.get(each.source, NOTHING)
                items = self._items.get(each.where.message, frozenset())
                interest = Interest(asked, self._mentioned, said_next, sought, rules, outcome, each.said, items)
                text = _readable(each.source)
                made = Excerpts(text, self._measure.text(text), interest)
                self._sources[source] = made
            text = made.within(room, self._measure.text)
            self._excerpts[key] = with_handle(text, each.source) if self._handles else text
        return self._excerpts[key]

    @cached_property
    def _rules(self) -> set[str]:
        """The messages that show files of rules."""
        return {self._messages[index].id for ladder in self._ladders if ladder.told.rules for index in ladder.group}

    @cached_property
    def _items(self) -> dict[str, frozenset[str]]:
        """The items that the latest request names, by the message that has them."""
        named = [ladder for ladder in self._ladders if ladder.items]
        return {self._messages[index].id: ladder.items for ladder in named for index in ladder.group}

    @cached_property
    def _outcomes(self) -> dict[str, Outcome]:
        """What came of the commands that were run, by what they printed."""
        actions = (action for ladder in self._ladders for action in ladder.told.actions)
        return {action.answer.text: action.outcome for action in actions if action.kind == "ran" and action.answer}

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
    def _next_words(self) -> dict[str, Mapping[str, int]]:
        """The words of what was said after each message."""
        return {self._messages[index].id: each.told.taken_up for each in self._ladders for index in each.group}

    @cached_property
    def _sought(self) -> dict[str, frozenset[str]]:
        """The words that the searches of each exchange looked for."""
        searches = [ladder for ladder in self._ladders if ladder.told.sought]
        return {self._messages[index].id: ladder.told.sought for ladder in searches for index in ladder.group}


def _readable(text: str) -> str:
    """The text; of JSON around what was printed, which has no lines of its own, what was printed."""
    printed = together(unwrap(text)).text
    return text if printed in text else printed
