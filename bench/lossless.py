"""How much smaller Lossless makes real coding sessions, beside the limits measured for them; and how fast it is.

The limits were measured in characters, whole files, with references of 60 characters; so is this, real references
included. Tokens stand beside.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from importlib.resources import files
from pathlib import Path
from statistics import mean, median, quantiles
from time import perf_counter
from typing import TextIO

import compact
from bench.recount import forget
from compact.app import counter_for, read_transcript
from compact.engine import Gauge, Judge, Outcome
from compact.engine import run as drive
from compact.formats import reject, render, tools_of
from compact.messages import Conversation, Reasoning, Text, ToolCall, ToolResult, restore
from compact.providers import Task
from compact.providers.lossless import LosslessProvider, LosslessSettings

LEVELS = {"verbatim": "L1", "formatting": "L2", "superseded": "L3"}


def run(out: TextIO) -> None:
    _speed(out)
    folder = os.environ.get("COMPACT_TRANSCRIPTS")
    if not folder:
        print("real sessions not found: set COMPACT_TRANSCRIPTS", file=out)
        return
    measured = Path(folder, "limits.json")
    if not measured.is_file():
        print("limits not found: set COMPACT_TRANSCRIPTS to a folder that has limits.json and coding/", file=out)
        return
    limits = json.loads(measured.read_text(encoding="utf-8"))
    names = ("median", "p90", "mean", "limit", "of it", "tokens")
    print(f"\n{'source':22} {'level':11} files" + "".join(f" {name:>7}" for name in names), file=out)
    for level, limit in LEVELS.items():
        rows: defaultdict[str, list[tuple[float, float, float]]] = defaultdict(list)
        for path in sorted(Path(folder, "coding").glob("*.json")):
            conversation = read_transcript(path.read_bytes())
            outcome, gauge = condense(conversation, level)
            if restore(outcome.conversation, outcome.plan) != conversation:
                raise AssertionError(f"{path.name} is not restored")
            smaller = 1 - size(outcome.conversation) / size(conversation)
            fewer = 1 - gauge.conversation(outcome.conversation) / gauge.conversation(conversation)
            for group in (path.name.split("__")[0], "all"):
                rows[group].append((smaller, fewer, limits[path.name][limit]))
        for group, found in sorted(rows.items()):
            chars, tokens, most = ([row[at] for row in found] for at in range(3))
            top = quantiles(chars, n=10)[-1] if len(chars) > 1 else chars[0]
            share = mean(chars) / (mean(most) or 1)
            figures = [median(chars), top, mean(chars), mean(most), share, mean(tokens)]
            print(f"{group:22} {level:11} {len(found):5}" + "".join(f" {each:7.1%}" for each in figures), file=out)


def condense(conversation: Conversation, level: str) -> tuple[Outcome, Gauge]:
    gauge = Gauge(counter_for("gpt-4o"), tools_of(conversation))
    judge = Judge(conversation, gauge, reject)
    task = Task(conversation, judge.tokens, None, 128_000, gauge)
    settings = LosslessSettings.model_validate({"level": level})
    return drive(LosslessProvider().condense(task, settings), judge, lambda _: ()), gauge


def size(conversation: Conversation) -> int:
    """The characters of everything said, called and answered."""
    total = 0
    for message in conversation.messages:
        for block in message.blocks:
            if isinstance(block, ToolCall):
                total += len(block.raw if isinstance(block.raw, str) else json.dumps(block.raw, ensure_ascii=False))
            elif isinstance(block, Text | Reasoning | ToolResult):
                total += len(block.text)
    return total


def _speed(out: TextIO) -> None:
    session = files("compact.cli") / "transcripts" / "session.openai-chat.json"
    conversation = read_transcript(session.read_bytes())
    messages = render(conversation)
    cold = min(_timed(lambda: compact.count_tokens(messages), forget) for _ in range(5))
    print(f"the bundled session: counted cold in {cold * 1000:.1f} ms", file=out)
    for level in LEVELS:
        condense(conversation, level)  # counts the texts once: counting is not what is measured
        seconds = min(_timed(lambda: condense(conversation, level)) for _ in range(5))  # noqa: B023 - called at once
        print(f"{level:11} {seconds * 1000:7.1f} ms  {seconds / cold:5.1f} times that", file=out)


def _timed(work: object, before: object = None) -> float:
    if callable(before):
        before()
    began = perf_counter()
    if callable(work):
        work()
    return perf_counter() - began
