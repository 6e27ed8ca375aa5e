"""How much smaller Lossless makes real coding sessions, beside what could go at most; and how fast it is.

What could go is computed by `bench.limits`, with references as long as the real ones, without the arguments of calls
and without the messages that no compaction may touch. Where the folder of sessions has a `limits.json`, limits that
somebody else measured, the share of these stands beside.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from time import process_time
from typing import TextIO

from bench.limits import LEVELS, find_limits, size
from bench.recount import forget
from compact.app import counter_for, read_transcript
from compact.engine import Gauge, Judge, Outcome
from compact.engine import run as drive
from compact.formats import reject, tools_of
from compact.messages import Conversation, Replace, restore, unfold
from compact.providers import Task
from compact.providers.lossless import LosslessProvider, LosslessSettings

LEAST = 8
"""Tokens that a reference has to save."""
_GIVEN = dict(zip(LEVELS, ("L1", "L2", "L3"), strict=True))
_HEADINGS = ("saved", "limit", "of it", "tokens", "given", "of it")


@dataclass(frozen=True, slots=True)
class Session:
    """A recorded session, and what one level makes of it."""

    name: str
    conversation: Conversation
    tokens: int
    outcome: Outcome
    fewer: int
    seconds: float

    @property
    def source(self) -> str:
        return self.name.split("__")[0]

    @property
    def saved(self) -> int:
        """The characters that went."""
        return size(self.conversation) - size(self.outcome.conversation)

    @property
    def references(self) -> list[str]:
        """The references that were made."""
        edits = (edit for step in self.outcome.plan for edit in step.edits if step.name == "Repeated text")
        return [edit.with_ for edit in edits if isinstance(edit, Replace)]


def run(out: TextIO) -> None:
    measure(os.environ.get("COMPACT_TRANSCRIPTS"), out)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench lossless", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", metavar="DIR", help="a folder that has coding/, and limits.json if there is one")
    measure(parser.parse_args(arguments).data, sys.stdout)
    return 0


def measure(folder: str | None, out: TextIO) -> None:
    paths = sorted(Path(folder, "coding").glob("*.json")) if folder else []
    if not folder or not paths:
        print("real sessions not found: name a folder that has coding/ with --data or COMPACT_TRANSCRIPTS", file=out)
        return
    measured = Path(folder, "limits.json")
    given = json.loads(measured.read_text(encoding="utf-8")) if measured.is_file() else {}
    length = least = 0.0
    for level in LEVELS:
        sessions = [_condense_file(path, level) for path in paths]
        if not length:
            length, least = _lengths(sessions, out)
        _print_table(level, sessions, (length, least), given, out)
        tokens, seconds = sum(each.tokens for each in sessions), sum(each.seconds for each in sessions)
        print(f"processor time: {seconds / tokens * 1e8:.0f} ms for 100,000 tokens, counted before", file=out)


def condense(conversation: Conversation, level: str) -> tuple[Outcome, Gauge]:
    gauge = Gauge(counter_for("gpt-4o"), tools_of(conversation))
    judge = Judge(conversation, gauge, reject)
    task = Task(conversation, judge.tokens, None, 128_000, gauge)
    settings = LosslessSettings.model_validate({"level": level})
    return drive(LosslessProvider().condense(task, settings), judge, lambda _: ()), gauge


def _condense_file(path: Path, level: str) -> Session:
    forget()
    conversation = read_transcript(path.read_bytes())
    tokens = Gauge(counter_for("gpt-4o"), tools_of(conversation)).conversation(conversation)
    began = process_time()
    outcome, gauge = condense(conversation, level)
    seconds = process_time() - began
    # What is verbatim needs no plan.
    verbatim = level == "verbatim" and unfold(outcome.conversation).messages != conversation.messages
    if verbatim or restore(outcome.conversation, outcome.plan) != conversation:
        raise AssertionError(f"{path.name} is not restored")
    return Session(path.name, conversation, tokens, outcome, tokens - gauge.conversation(outcome.conversation), seconds)


def _lengths(sessions: Sequence[Session], out: TextIO) -> tuple[float, float]:
    """How many characters a reference takes, and how many it has to save."""
    count = counter_for("gpt-4o").text
    made = [reference for session in sessions for reference in session.references]
    if not made:
        return 50, 4 * LEAST
    tokens = sorted(map(count, made))
    low, middle, high = (tokens[len(tokens) * share // 10] for share in (1, 5, 9))
    length = mean(map(len, made))
    print(
        f"{len(made):,} references of {length:.0f} characters; tokens: {low}, {middle}, {high} (p10, p50, p90)",
        file=out,
    )
    return length, LEAST * sum(size(each.conversation) for each in sessions) / sum(each.tokens for each in sessions)


def _print_table(
    level: str,
    sessions: Sequence[Session],
    lengths: tuple[float, float],
    given: dict[str, dict[str, float]],
    out: TextIO,
) -> None:
    rows: defaultdict[str, list[tuple[float, ...]]] = defaultdict(list)
    for session in sessions:
        for group in (session.source, "all"):
            rows[group].append(tuple(_figures(session, level, lengths, given)))
    print(f"\n{level:22} files" + "".join(f" {name:>7}" for name in _HEADINGS), file=out)
    for group, found in sorted(rows.items(), key=lambda row: (row[0] == "all", row[0])):
        saved, most, whole, fewer, tokens, theirs = map(sum, zip(*found, strict=True))
        shares = saved / whole, most / whole, saved / (most or 1), fewer / tokens, theirs / whole, saved / (theirs or 1)
        print(f"{group:22} {len(found):5}" + "".join(f" {each:7.1%}" for each in shares[: 6 if given else 4]), file=out)


def _figures(
    session: Session, level: str, lengths: tuple[float, float], given: dict[str, dict[str, float]]
) -> Iterator[float]:
    """Characters saved, those that could be, and all; tokens saved, and all; characters that others say could be."""
    whole = size(session.conversation)
    yield session.saved
    yield find_limits(session.conversation, *lengths)[level].touchable
    yield whole
    yield session.fewer
    yield session.tokens
    yield whole * given.get(session.name, {}).get(_GIVEN[level], 0)
