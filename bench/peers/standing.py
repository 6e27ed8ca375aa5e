"""The measured rows added up: one standing for every way and budget, and one for what sessions cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.peers.catalogue import WAYS, Way

ENOUGH = 0.9
"""The share of cuts in which a way has to meet its budget to be compared by what it kept."""
_BY_KEY = {way.key: way for way in WAYS}


@dataclass(frozen=True, slots=True)
class Standing:
    """What a way came to at one budget, over all cuts; shares of the facts and relations that are used later."""

    way: Way
    share: float
    removed: float
    met: float
    valid: float
    in_context: float
    recoverable: float
    lost: float
    together: float
    milliseconds: float
    memory: float
    errors: int

    @property
    def missing(self) -> float:
        return 1 - self.in_context

    @property
    def parted(self) -> float:
        """The share of relations that no line tells."""
        return 1 - self.together

    @property
    def comparable(self) -> bool:
        """Whether it came down to the budget, and a vendor would take all of it."""
        return self.met >= ENOUGH and self.valid == 1


@dataclass(frozen=True, slots=True)
class Bill:
    """What the long sessions came to, played with one way, by model."""

    name: str
    way: Way | None
    dollars: Mapping[str, float]
    summaries: Mapping[str, float]
    compactions: int
    refused: int
    requests: int


def standings(rows: Iterable[Mapping[str, Any]]) -> list[Standing]:
    groups: defaultdict[tuple[str, float], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["way"], row["share"]].append(row)
    return [_standing(_BY_KEY[key], share, group) for (key, share), group in groups.items()]


def _standing(way: Way, share: float, rows: Sequence[Mapping[str, Any]]) -> Standing:
    timed = [row for row in rows if row["seconds"] is not None]
    needed = sum(row["needed"] for row in rows)
    missing, lost = (sum(row[key] for row in rows) / needed for key in ("missing", "lost"))
    return Standing(
        way,
        share,
        removed=1 - sum(row["after"] for row in rows) / sum(row["before"] for row in rows),
        met=sum(row["met"] for row in rows) / len(rows),
        valid=sum(row["valid"] for row in rows) / len(rows),
        in_context=1 - missing,
        recoverable=missing - lost,
        lost=lost,
        together=1 - sum(row["parted"] for row in rows) / max(sum(row["related"] for row in rows), 1),
        milliseconds=sum(row["seconds"] for row in timed) / max(sum(row["before"] for row in timed), 1) * 1e8,
        memory=max((row["peak"] for row in timed), default=0) / 1e6,
        errors=len(rows) - len(timed),
    )


def bills(rows: Iterable[Mapping[str, Any]]) -> list[Bill]:
    groups: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["way"]].append(row)
    return [_bill(name, group) for name, group in groups.items()]


def _bill(name: str, rows: Sequence[Mapping[str, Any]]) -> Bill:
    models = list(dict.fromkeys(row["model"] for row in rows))
    # What is compacted and refused is the same for every model: both are counted in the first one's tokens.
    first = [row for row in rows if row["model"] == models[0]]
    return Bill(
        name,
        _BY_KEY.get(name),
        {model: sum(row["dollars"] for row in rows if row["model"] == model) for model in models},
        {model: sum(row["summaries"] for row in rows if row["model"] == model) for model in models},
        compactions=sum(row["compactions"] for row in first),
        refused=sum(row["refused"] for row in first),
        requests=sum(row["requests"] for row in first),
    )
