"""What a strategy cares about where no model writes the summary: the lines are the same, and others are told first."""

from __future__ import annotations

from dataclasses import dataclass

from compact.facts import Source
from compact.history.actions import CHANGES, Action
from compact.history.outcomes.outcome import Verdict
from compact.history.plans import plans
from compact.history.quoting import after_quote
from compact.history.reading import Utterance, binds
from compact.history.speech import share_of_reasons
from compact.summaries.accounts import AFTER_STEPS, UNVERIFIED

_STORED = "in the end: "
"""What stands in stored accounts in the place of `AFTER_STEPS`."""


@dataclass(frozen=True, slots=True)
class Emphasis:
    """How many times its usual worth each thing has that an exchange can hold.

    `person` is what a person said, `rules` those that a person gave or changed, or that stand in a file of rules,
    `talk` what the assistant said. The sentences of any of them that tell a decision or a reason count as `reasons`
    where that is more. `changes` are changed files with what was written, `runs` commands and other calls with what
    came of them, `plans` lists of tasks, and `looks` what was only read. A failure counts like a success: told without
    the success that followed, it would be taken for how things stand. What answers the latest request counts as ever.
    """

    person: float = 1.0
    rules: float = 1.0
    reasons: float = 1.0
    talk: float = 1.0
    changes: float = 1.0
    runs: float = 1.0
    plans: float = 1.0
    looks: float = 1.0

    def of_words(self, spoken: Utterance) -> float:
        """For what somebody said; where reasons come first, for all of it that tells no decision and no reason."""
        if spoken.source is Source.TOOL:
            return self.runs
        by_user = spoken.source is Source.USER
        usual = self.rules if spoken.binding else self.person if by_user else self.talk
        return usual if self.favours_reasons else self._of_text(spoken.text, usual)

    @property
    def favours_reasons(self) -> bool:
        """True if decisions and reasons come before all else but rules."""
        return self.reasons > max(1.0, self.person, self.talk, self.changes, self.runs)

    def of_deed(self, action: Action) -> float:
        """For what was done; a refusal is a person's decision."""
        if action.outcome.kind is Verdict.REFUSED:
            return max(self.person, self.reasons)
        if action.kind in CHANGES:
            return self.changes
        if action.kind == "read":
            return self.looks
        return self.plans if action.kind == "called" and plans(action) else self.runs

    def of_line(self, line: str) -> float:
        """For a line of an earlier account: that of the part which counts most."""
        return max(map(self._of_part, line.replace(UNVERIFIED, "", 1).removeprefix("- ").split(" → ")))

    def _of_part(self, part: str) -> float:
        first = _first_word(part)
        if first == "user":
            rule = self.rules > self.person and binds(after_quote(part))
            return self._of_text(part, self.rules if rule else self.person)
        if first == "assistant":
            return self._of_text(part, self.talk)
        if first in CHANGES:
            return self.changes
        known = {"ran": self.runs, "planned": self.plans, "read": self.looks, "rules": self.rules}
        return known.get(first, 1.0)

    def _of_text(self, text: str, usual: float) -> float:
        return usual + (self.reasons - usual) * share_of_reasons(text) if self.reasons > usual else usual


def is_assistants(part: str) -> bool:
    """Return True if the part of a line says what the assistant said."""
    return _first_word(part) == "assistant"


def _first_word(part: str) -> str:
    return part.removeprefix(AFTER_STEPS).removeprefix(_STORED).partition(" ")[0].rstrip(":")


EVEN = Emphasis()
# What a person set as a rule has the greatest weight of each: no strategy forgets it sooner than another.
_EMPHASES = {
    "decision_log": Emphasis(
        person=0.7, rules=2.0, reasons=2.0, talk=0.15, changes=0.1, runs=0.2, plans=0.02, looks=0.02
    ),
    "code_delta": Emphasis(person=0.6, rules=3.0, reasons=0.3, talk=0.1, changes=3.0, runs=2.0, plans=0.04, looks=0.05),
    "brief": Emphasis(person=1.2, rules=1.5, reasons=0.8, talk=0.4, changes=0.6, runs=0.8, plans=1.5, looks=0.2),
    "general": Emphasis(person=1.2, rules=1.5, reasons=1.5, changes=0.6, runs=0.8, plans=0.6, looks=0.4),
    "code": Emphasis(person=0.8, rules=2.0, reasons=1.2, talk=0.5, changes=2.0, runs=1.5, plans=0.8, looks=0.4),
}


def emphasis_of(strategy: str) -> Emphasis:
    """The emphasis of the strategy of that name; even where it has none of its own."""
    return _EMPHASES.get(strategy, EVEN)


def describe_no_effect(strategy: str, *, prompt: bool, same: bool) -> tuple[str, ...]:
    """Notes for the report of a summary that no model wrote: what was set for it in vain.

    `prompt` says that a prompt was given, and `same` that the default strategy gives the same text.
    """
    notes = ("the prompt had no effect: no model wrote the summary",) if prompt else ()
    if same and emphasis_of(strategy) != EVEN:
        why = "without a model it only chooses what comes first, and here the default chooses the same"
        notes = (*notes, f"the strategy {strategy} had no effect: {why}")
    return notes
