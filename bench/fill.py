"""How much of its target `auto` fills, on real sessions: what it leaves empty it could have kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TextIO

from compact.app import Condensation, read_transcript, resolve_recipe
from compact.engine import floor_of
from compact.messages import Conversation

FOLDERS = ("chat", "coding", "service")
MODEL = "gpt-4o"
TARGETS = (0.5, 0.25, 0.1)
ROOM = 200
"""Tokens that a target must have beside what must stay, or there is nothing to fill it with."""
LARGE = 2_000
UNFILLED_SHARE, UNFILLED_TOKENS = 0.05, 100
"""From LARGE tokens on this share of the target may stay empty, below so many tokens."""


@dataclass(frozen=True, slots=True)
class Filled:
    """One session compacted to one target."""

    name: str
    target: int
    after: int

    @property
    def met(self) -> bool:
        return self.after <= self.target

    @property
    def fill(self) -> float:
        return self.after / self.target

    @property
    def unfilled(self) -> bool:
        """Whether more is left empty than may be."""
        allowed = self.target * UNFILLED_SHARE if self.target >= LARGE else UNFILLED_TOKENS
        return self.target - self.after > allowed


def sessions() -> Iterator[tuple[str, Conversation]]:
    """The real sessions below COMPACT_TRANSCRIPTS, by their names."""
    root = os.environ.get("COMPACT_TRANSCRIPTS")
    for folder in FOLDERS if root else ():
        for path in sorted(Path(root or "", folder).glob("*.json")):
            if not path.name.endswith(".qa.json"):
                yield f"{folder}/{path.name}", read_transcript(path.read_bytes())


def filled(name: str, conversation: Conversation, share: float) -> Filled | None:
    """The session compacted to a share of its tokens; None where the target has no room beside what must stay."""
    condensation = Condensation(conversation, MODEL, share)
    target = condensation.target or 0
    if target < floor_of(condensation.conversation, condensation.inputs.gauge).total + ROOM:
        return None
    return Filled(name, target, condensation.run(resolve_recipe("auto")).report.tokens_after)


def run(out: TextIO) -> None:
    found = dict(sessions())
    if not found:
        print("real sessions not found: set COMPACT_TRANSCRIPTS", file=out)
        return
    limit = f"more than {UNFILLED_SHARE:.0%}, or {UNFILLED_TOKENS} tokens of a target below {LARGE:,}"
    print(f"{len(found)} sessions for {MODEL}; unfilled: {limit}\n", file=out)
    print(f"{'target':>7} {'cases':>6} {'met':>7} {'median fill':>12} {'worst fill':>11} {'unfilled':>9}", file=out)
    unfilled: list[Filled] = []
    for share in TARGETS:
        cases = [one for name, session in found.items() if (one := filled(name, session, share)) is not None]
        if not cases:
            print(f"{share:7.0%} {0:6}", file=out)
            continue
        met = [one for one in cases if one.met]
        fills = [one.fill for one in met] or [0.0]
        wasted = [one for one in met if one.unfilled]
        figures = f"{len(met) / len(cases):7.1%} {median(fills):12.1%} {min(fills):11.1%} {len(wasted):9}"
        print(f"{share:7.0%} {len(cases):6} {figures}", file=out, flush=True)
        unfilled += [*(one for one in cases if not one.met), *wasted]
    for one in unfilled:
        about = "missed" if not one.met else "unfilled"
        print(f"  {about:8} {one.after:>8,} of {one.target:>8,} {one.fill:7.1%}  {one.name}", file=out)


if __name__ == "__main__":
    run(sys.stdout)
