"""What a judge finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from compact.testing.worlds.truth import Truth, World


class Verdict(StrEnum):
    """Whether a text tells a truth."""

    TOLD = "told"
    MISSING = "missing"
    CONTRADICTED = "contradicted"


class Reading(StrEnum):
    """Whether one statement is right."""

    TRUE = "true"
    FALSE = "false"
    WRONG_SPEAKER = "wrong speaker"
    MENTION = "mention"
    """It names the thing and says nothing that can be judged."""


class Reason(StrEnum):
    """What is wrong with a statement."""

    NOTHING = ""
    POLARITY = "polarity"
    """An order as a prohibition, or the reverse."""
    LEAD = "lead"
    """The head that governs it is gone."""
    CONDITION = "condition"
    """Its unless or except is gone."""
    FATE = "fate"
    OUTCOME = "outcome"
    SPEAKER = "speaker"
    VALUE = "value"
    CHOICE = "choice"
    """What was decided against is shown as the choice."""
    STALE = "stale"
    """It was so once; what came after it is gone."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a line says about a truth."""

    truth: str
    reading: Reading
    reason: Reason
    text: str
    message: int
    place: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdicts about all truths of a world, and the statements they rest on."""

    world: World
    verdicts: Mapping[str, Verdict]
    statements: tuple[Statement, ...]

    def truths(self, verdict: Verdict) -> list[Truth]:
        """The truths with the verdict."""
        return [truth for truth in self.world.truths if self.verdicts[truth.id] is verdict]

    @property
    def told(self) -> list[Truth]:
        """What the text tells."""
        return self.truths(Verdict.TOLD)

    @property
    def missing(self) -> list[Truth]:
        """What it leaves out."""
        return self.truths(Verdict.MISSING)

    @property
    def contradicted(self) -> list[Truth]:
        """What it tells wrongly."""
        return self.truths(Verdict.CONTRADICTED)

    @property
    def wrong(self) -> list[Statement]:
        """The statements that are false, or by the wrong speaker."""
        return [each for each in self.statements if each.reading in (Reading.FALSE, Reading.WRONG_SPEAKER)]
