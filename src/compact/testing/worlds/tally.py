"""What judgements come to: how many truths of each topic are told, missing or contradicted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from compact.messages import Json
from compact.testing.worlds.judgement import Judgement, Reading, Verdict
from compact.testing.worlds.truth import Fate, Truth, TruthKind


class Topic(StrEnum):
    """What a reader needs of a session."""

    ORDERS = "orders"
    """Orders that stand."""
    PROHIBITIONS = "prohibitions"
    """Prohibitions that stand."""
    REQUESTS = "requests"
    """Requests that are open or done."""
    DROPPED = "dropped"
    """Requests that were refused, taken back or replaced."""
    OUTCOMES = "outcomes"
    VALUES = "values"
    """Values that the last request asks for."""
    DECISIONS = "decisions"
    RULES = "rules"
    """Rules of the project."""


_TOPICS = {
    TruthKind.ORDER: Topic.ORDERS,
    TruthKind.PROHIBITION: Topic.PROHIBITIONS,
    TruthKind.OUTCOME: Topic.OUTCOMES,
    TruthKind.DECISION: Topic.DECISIONS,
    TruthKind.PROJECT_RULE: Topic.RULES,
}


def topic_of(truth: Truth) -> Topic | None:
    """The topic of a truth; None where nobody needs it any more: what was superseded, quoted, or not asked for."""
    if truth.kind is TruthKind.REQUEST:
        return Topic.REQUESTS if truth.fate in (Fate.OPEN, Fate.DONE) else Topic.DROPPED
    if truth.kind is TruthKind.VALUE:
        return Topic.VALUES if truth.asked else None
    return _TOPICS.get(truth.kind) if truth.standing else None


@dataclass(frozen=True, slots=True)
class Count:
    """How many truths are told, missing and contradicted."""

    told: int = 0
    missing: int = 0
    contradicted: int = 0

    @property
    def total(self) -> int:
        """How many truths there are."""
        return self.told + self.missing + self.contradicted

    @property
    def share(self) -> float:
        """The share that is told; 1 where there are none."""
        return self.told / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Tally:
    """What the judgements of so many worlds come to.

    `false` and `wrong_speaker` count statements about all truths, of a topic or of none.
    """

    worlds: int
    counts: Mapping[Topic, Count]
    statements: int
    false: int
    wrong_speaker: int

    @property
    def truths(self) -> int:
        """How many truths of all topics there are."""
        return sum(count.total for count in self.counts.values())

    @property
    def contradicted(self) -> int:
        """How many of them are contradicted."""
        return sum(count.contradicted for count in self.counts.values())

    def to_json(self) -> dict[str, Json]:
        """The counts by topic, and those of statements."""
        return {
            "truths": {
                topic.value: {"told": count.told, "missing": count.missing, "contradicted": count.contradicted}
                for topic, count in self.counts.items()
            },
            "statements": self.statements,
            "false": self.false,
            "wrong_speaker": self.wrong_speaker,
        }


def tally(judgements: Iterable[Judgement]) -> Tally:
    """Counts what the judgements say."""
    worlds = 0
    verdicts: Counter[tuple[Topic | None, Verdict]] = Counter()
    readings: Counter[Reading] = Counter()
    for judgement in judgements:
        worlds += 1
        verdicts.update((topic_of(truth), judgement.verdicts[truth.id]) for truth in judgement.world.truths)
        readings.update(statement.reading for statement in judgement.statements)
    counts = {topic: Count(*(verdicts[topic, verdict] for verdict in Verdict)) for topic in Topic}
    return Tally(worlds, counts, readings.total(), readings[Reading.FALSE], readings[Reading.WRONG_SPEAKER])
