"""Fit the weights by which facts are judged likely to be needed again, and tell how well they do elsewhere.

Run as `python -m scripts.fit_relevance` with COMPACT_TRANSCRIPTS set. Sessions are cut after half and after three
quarters. Each name and number seen before the cut is a row: its features, and whether the model wrote it within the
next forty messages. The weights are those of a logistic regression on the sessions of some sources; the figures are for
the sources it never saw. Nothing is written: who likes the weights puts them into `compact.facts.relevance`.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log
from operator import add, mul
from pathlib import Path
from typing import TypeAlias

from compact.app.transcripts import read_transcript
from compact.facts import WEIGHTS, standings
from compact.lab.retention import KINDS, used_again
from compact.messages import Conversation

CUTS = (0.5, 0.75)
HELD_OUT = ("cc-entire-cli", "opencode-nimbus", "pi")
"""Sources whose sessions are only reported on."""
RIDGE = 1.0
ROUNDS = 12
STEPS = (0.4, 0.2, 0.1)
NAMES = 100
"""How many of the likeliest names are looked at."""

Row: TypeAlias = tuple[tuple[float, ...], bool]


@dataclass(frozen=True, slots=True)
class Cut:
    """A session as far as it had come: from where it is, and a row for each name and number it had seen."""

    source: str
    rows: tuple[Row, ...]


def cuts(source: str, session: Conversation) -> Iterator[Cut]:
    """The session cut at each place where enough follows to tell what is needed."""
    for share in CUTS:
        at = int(len(session) * share)
        before = session.messages[:at]
        needed = {(fact.kind, fact.text) for fact in used_again(before, session.messages[at:])}
        if needed:
            named = [standing for standing in standings(before).values() if standing.kind in KINDS]
            rows = tuple((tuple(map(float, one.features(at))), (one.kind, one.text) in needed) for one in named)
            if any(needed for _, needed in rows):
                yield Cut(source, rows)


def fit(cuts: Sequence[Cut]) -> list[float]:
    """The weights that find most of what is needed: a logistic regression's, improved a step at a time."""
    weights = [round(weight, 1) for weight in regression(cuts)]
    best = _found(cuts, weights)
    for step in STEPS:
        improved = True
        while improved:
            improved = False
            for at, change in product(range(len(weights)), (step, -step)):
                tried = [round(weight + change * (i == at), 1) for i, weight in enumerate(weights)]
                if (now := _found(cuts, tried)) > best + 1e-4:
                    weights, best, improved = tried, now, True
    return weights


def _found(cuts: Sequence[Cut], weights: Sequence[float]) -> float:
    """What the weights are judged by: the share found among few names, some, and many; every cut counts alike."""
    total = 0.0
    for cut in cuts:
        ordered = sorted(cut.rows, key=lambda row: -sum(map(mul, weights, row[0])))
        needed = sum(needed for _, needed in ordered)
        total += sum(sum(needed for _, needed in ordered[:names]) / needed for names in (NAMES // 3, NAMES, 3 * NAMES))
    return total / (3 * len(cuts))


def regression(cuts: Sequence[Cut]) -> list[float]:
    """The weights of a logistic regression, by Newton's method, as powers of two.

    Every cut has a level of its own: some sessions come back to more of what they saw than others, and what matters is
    the order within each.
    """
    size = len(WEIGHTS)
    weights, levels = [0.0] * size, [-2.0] * len(cuts)
    for _ in range(ROUNDS):
        slope = [-RIDGE * weight for weight in weights]
        curve = [[RIDGE * (i == j) for j in range(size)] for i in range(size)]
        own = [_level(cut, weights, level, slope, curve) for cut, level in zip(cuts, levels, strict=True)]
        change = _solved(curve, slope)
        weights = list(map(add, weights, change))
        levels = [
            level + (off - sum(map(mul, shared, change))) / steep
            for level, (off, steep, shared) in zip(levels, own, strict=True)
        ]
    return [weight / log(2) for weight in weights]


def _level(
    cut: Cut, weights: Sequence[float], level: float, slope: list[float], curve: list[list[float]]
) -> tuple[float, float, list[float]]:
    """Add a cut's part to the slope and the curve, its own level solved for, and give back what that takes."""
    off, steep, shared = 0.0, 1e-6, [0.0] * len(weights)
    for features, needed in cut.rows:
        score = level + sum(map(mul, weights, features))
        likely = 1 / (1 + exp(-max(-30.0, min(30.0, score))))
        wrong, sure = needed - likely, likely * (1 - likely)
        off, steep = off + wrong, steep + sure
        for i, value in enumerate(features):
            if value:
                slope[i] += wrong * value
                shared[i] += sure * value
                row, part = curve[i], sure * value
                for j in range(i + 1):
                    row[j] += part * features[j]
    for i, part in enumerate(shared):
        slope[i] -= part * off / steep
        for j in range(i + 1):
            curve[i][j] -= part * shared[j] / steep
    return off, steep, shared


def _solved(lower: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a symmetric system of which the lower half is given, by elimination."""
    size = len(right)
    rows = [[lower[max(i, j)][min(i, j)] for j in range(size)] + [right[i]] for i in range(size)]
    for i in range(size):
        for other in rows[i + 1 :]:
            factor = other[i] / rows[i][i]
            for j in range(i, size + 1):
                other[j] -= factor * rows[i][j]
    solution = [0.0] * size
    for i in reversed(range(size)):
        rest = sum(rows[i][j] * solution[j] for j in range(i + 1, size))
        solution[i] = (rows[i][size] - rest) / rows[i][i]
    return solution


def found(cuts: Sequence[Cut], score: Callable[[tuple[float, ...]], float]) -> dict[str, float]:
    """By source, the share of what was needed that is among the likeliest names."""
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for cut in cuts:
        best = sorted(cut.rows, key=lambda row: -score(row[0]))[:NAMES]
        shares[cut.source].append(sum(needed for _, needed in best) / sum(needed for _, needed in cut.rows))
    return {source: sum(all_) / len(all_) for source, all_ in sorted(shares.items())}


def weighted(weights: Sequence[float]) -> Callable[[tuple[float, ...]], float]:
    return lambda features: sum(map(mul, weights, features))


def is_held_out(path: Path) -> bool:
    """Whether a session is of a source that the weights were not fitted to."""
    return source_of(path) in HELD_OUT


def source_of(path: Path) -> str:
    return path.name.split("__")[0]


def main() -> int:
    folder = os.environ.get("COMPACT_TRANSCRIPTS")
    paths = sorted(Path(folder, "coding").glob("*.json")) if folder else []
    if not paths:
        print("no coding sessions found: set COMPACT_TRANSCRIPTS", file=sys.stderr)
        return 1
    every = [cut for path in paths for cut in cuts(source_of(path), read_transcript(path.read_bytes()))]
    fitted = fit([cut for cut in every if cut.source not in HELD_OUT])
    print(f"{len(every)} cuts, {sum(len(cut.rows) for cut in every):,} names and numbers")
    print(f"\n{'weight':34} {'fitted':>7} {'in use':>7}")
    for (name, used), weight in zip(WEIGHTS.items(), fitted, strict=True):
        print(f"{name:34} {weight:7.1f} {used:7.1f}")
    ways = {
        "fitted": weighted(fitted),
        "in use": weighted(tuple(WEIGHTS.values())),
        "latest": lambda features: -features[0],
        "most mentioned": lambda features: features[1],
    }
    print(f"\nshare of what was needed again among the {NAMES} likeliest names\n{'source':24}", end="")
    print("".join(f" {way:>15}" for way in ways))
    shares = {way: found(every, score) for way, score in ways.items()}
    for source in shares["fitted"]:
        held = " (held out)" if source in HELD_OUT else ""
        print(f"{source + held:34}"[:34] + "".join(f" {shares[way][source]:15.1%}" for way in ways))
    return 0


if __name__ == "__main__":
    sys.exit(main())
