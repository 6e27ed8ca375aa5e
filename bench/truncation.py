"""What truncation makes of real coding sessions: how much V1 removes, and how close to its target V2 comes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import TextIO

from bench.limits import size
from compact.app import Condensation, read_transcript, resolve_recipe
from compact.messages import Conversation, ToolResult

MOSTLY_OUTPUT = 0.8
"""From this share of the characters on, tool output is most of a session."""
EXPECTED = (0.8, 0.9)
TARGETS = (0.5, 0.3)
CLOSE = 0.02


def run(out: TextIO) -> None:
    """Prints a table of V1, the sessions it should shrink most first, and a summary of V2."""
    sessions = dict(_sessions())
    if len(sessions) == 1:
        print("real sessions not found: set COMPACT_TRANSCRIPTS; the bundled one alone is measured\n", file=out)
    _mechanical(out, sessions)
    for share in TARGETS:
        _targeted(out, sessions, share)


def _mechanical(out: TextIO, sessions: dict[str, Conversation]) -> None:
    rows = []
    for name, conversation in sessions.items():
        result = Condensation(conversation, "gpt-4o", None).run(resolve_recipe("v1"))
        fewer = 1 - result.report.tokens_after / result.report.tokens_before
        rows.append((_output(conversation), 1 - size(result.conversation) / size(conversation), fewer, name))
    rows.sort(reverse=True)
    low, high = EXPECTED
    most = [row for row in rows if row[0] >= MOSTLY_OUTPUT]
    within = sum(low <= row[1] <= high for row in most)
    above = sum(row[1] > high for row in most)
    print(f"V1, of {len(rows)} sessions {len(most)} are at least {MOSTLY_OUTPUT:.0%} tool output: ", end="", file=out)
    print(f"{low:.0%} to {high:.0%} removed from {within}, more from {above}\n", file=out)
    print(" output  chars  tokens  (removed)", file=out)
    for output, chars, tokens, name in rows:
        print(f"{output:7.1%} {chars:6.1%} {tokens:7.1%}  {name}", file=out)


def _targeted(out: TextIO, sessions: dict[str, Conversation], share: float) -> None:
    """How far from the target V2 ends where it reaches it; where it does not, candidates did not suffice."""
    missed, short = {}, 0
    for name, conversation in sessions.items():
        report = Condensation(conversation, "gpt-4o", share).run(resolve_recipe("v2")).report
        if report.target is not None and report.target_met:
            missed[name] = (report.target - report.tokens_after) / report.target
        else:
            short += 1
    far = {name: miss for name, miss in missed.items() if miss > CLOSE}
    print(f"\nV2 to {share:.0%}: target met by {len(missed)} of {len(sessions)} sessions, ", end="", file=out)
    if missed:
        middle, worst = median(missed.values()), max(missed.values())
        print(f"below it by {middle:.2%} (median), {worst:.2%} at most; ", end="", file=out)
    print(f"more than {CLOSE:.0%} below: {len(far)}; candidates did not suffice: {short}", file=out)
    for name, miss in far.items():
        print(f"  {miss:.1%}  {name}", file=out)


def _output(conversation: Conversation) -> float:
    """The share of the characters that tools answered."""
    answered = sum(
        len(block.text)
        for message in conversation.messages
        for block in message.blocks
        if isinstance(block, ToolResult)
    )
    return answered / (size(conversation) or 1)


def _sessions() -> Iterator[tuple[str, Conversation]]:
    bundled = files("compact.cli") / "transcripts" / "session.openai-chat.json"
    yield "bundled session", read_transcript(bundled.read_bytes())
    if folder := os.environ.get("COMPACT_TRANSCRIPTS"):
        for path in sorted(Path(folder, "coding").glob("*.json")):
            yield path.name, read_transcript(path.read_bytes())


if __name__ == "__main__":
    run(sys.stdout)
