"""How much of what coding sessions go on to use survives an offline summary, beside two simpler ways to save room."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TextIO

from compact.app.transcripts import read_transcript
from compact.facts import Fact, Kind
from compact.lab.retention import KINDS, text_of, used_again
from compact.lab.retention import missing as missing_facts
from compact.messages import Message, Text, frame_account
from compact.summaries.offline.summarize import summarize_offline
from compact.tokens import CountCache, load_encoding

CUTS = (0.5, 0.75)
BUDGETS = (0.03, 0.10, 0.25)
KEPT = 5
ROUNDS = 10
WAYS = ("offline summary", "in ten rounds", "last messages", "all cut alike")


@dataclass(frozen=True, slots=True)
class Case:
    """A session cut in two: what stays, what is to be condensed, and the facts of the latter that come up again."""

    kept: str
    old: Sequence[Message]
    texts: Sequence[str]
    needed: frozenset[Fact]


def cases(messages: Sequence[Message]) -> Iterator[Case]:
    """The session cut at each place; a fact counts as used where the assistant writes it, not where a tool shows it."""
    first = next((index for index, message in enumerate(messages) if message.from_user), 0)
    for share in CUTS:
        cut = int(len(messages) * share)
        old = [message for index, message in enumerate(messages[: cut - KEPT]) if index != first]
        stay = [messages[first], *messages[max(cut - KEPT, first + 1) : cut]]
        needed = used_again(old, messages[cut:])
        if len(old) >= KEPT and needed:
            yield Case("\n".join(map(text_of, stay)), old, [text_of(message) for message in old], needed)


def in_rounds(case: Case, budget: int, count: Callable[[str], int]) -> str:
    """A summary of a summary of a summary: each round adds a tenth of the messages to the one before."""
    summary, size = "", len(case.old)
    for number in range(ROUNDS):
        part = case.old[size * number // ROUNDS : size * (number + 1) // ROUNDS]
        before = [Message("fold-0", "assistant", (Text(frame_account(summary, 1), ()),), None)] if summary else []
        summary = summarize_offline([*before, *part], budget=budget, count=count)
    return summary


def last_messages(case: Case, budget: int, count: Callable[[str], int]) -> str:
    """The youngest messages that fit, whole."""
    chosen: list[str] = []
    for text in reversed(case.texts):
        budget -= count(text)
        if budget < 0:
            break
        chosen.append(text)
    return "\n".join(reversed(chosen))


def cut_alike(case: Case, budget: int, count: Callable[[str], int]) -> str:
    """The beginning of every message, all cut at the length at which they fit together."""
    low, high = 0, max(map(len, case.texts))
    while low < high:
        middle = (low + high + 1) // 2
        if sum(count(text[:middle]) for text in case.texts) <= budget:
            low = middle
        else:
            high = middle - 1
    return "\n".join(text[:low] for text in case.texts)


def missing(case: Case, text: str) -> set[Fact]:
    """The needed facts that neither what stays nor the text holds."""
    return missing_facts(case.needed, f"{case.kept}\n{text}")


def measure(sessions: Sequence[Path], out: TextIO) -> None:
    count = CountCache(load_encoding("o200k_base").count).count
    lost: defaultdict[tuple[str, float], list[float]] = defaultdict(list)
    by_kind: defaultdict[tuple[str, float, Kind], list[int]] = defaultdict(lambda: [0, 0])
    seconds, tokens, number = 0.0, 0, 0
    for path in sessions:
        for case in cases(read_transcript(path.read_bytes()).messages):
            number += 1
            total = sum(map(count, case.texts))
            for share in BUDGETS:
                budget = int(total * share)
                began = perf_counter()
                summary = summarize_offline(case.old, budget=budget, count=load_encoding("o200k_base").count)
                seconds, tokens = seconds + perf_counter() - began, tokens + total
                if count(summary) > budget:
                    raise AssertionError(f"{path.name}: {count(summary)} tokens, budget {budget}")
                texts = (summary, *(way(case, budget, count) for way in (in_rounds, last_messages, cut_alike)))
                for way, text in zip(WAYS, texts, strict=True):
                    gone = missing(case, text)
                    lost[way, share].append(len(gone) / len(case.needed))
                    for fact in case.needed:
                        by_kind[way, share, fact.kind][0] += fact in gone
                        by_kind[way, share, fact.kind][1] += 1
    print(f"{number} cuts of {len(sessions)} coding sessions; missing of what is used again:", file=out)
    print(
        f"{'budget':>7}  {'':16} {'mean of cuts':>12} {'all facts':>10} {'paths':>7} {'names':>7} {'numbers':>8}",
        file=out,
    )
    for share in BUDGETS:
        for way in WAYS:
            counts = [by_kind[way, share, kind] for kind in KINDS]
            shares = [sum(lost[way, share]) / number, sum(one[0] for one in counts) / sum(one[1] for one in counts)]
            shares += [gone / max(of, 1) for gone, of in counts]
            print(
                f"{share:7.0%}  {way:16} {shares[0]:12.1%} {shares[1]:10.1%}",
                *(f"{x:7.1%}" for x in shares[2:]),
                file=out,
            )
    print(f"{seconds / tokens * 1e8:.0f} ms for 100,000 tokens, counting included", file=out)


def coding_sessions(out: TextIO) -> list[Path]:
    """The real sessions there are; where there are none, that is told."""
    folder = Path(os.environ.get("COMPACT_TRANSCRIPTS", ""), "coding")
    found = sorted(folder.glob("*.json")) if os.environ.get("COMPACT_TRANSCRIPTS") else []
    if not found:
        print("no sessions found: set COMPACT_TRANSCRIPTS to a folder that has coding/", file=out)
    return found


def run(out: TextIO) -> None:
    if sessions := coding_sessions(out):
        measure(sessions, out)


if __name__ == "__main__":
    run(sys.stdout)
