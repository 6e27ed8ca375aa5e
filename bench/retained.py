"""What coding sessions go on to use and a condensation took out of context: by the product itself, and simpler ways."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TextIO, TypeAlias

import compact
from bench.offline import (
    CUTS,
    Case,
    coding_sessions,
    cut_alike,
    last_messages,
    missing,
)
from compact.app.transcripts import read_transcript
from compact.engine import RetainFacts
from compact.facts import Fact
from compact.lab.retention import strings_of, text_of, used_again
from compact.messages import Conversation
from compact.tokens import CountCache, load_encoding
from scripts.fit_relevance import is_held_out

SHARES = (0.25, 0.10)
MODEL = "gpt-4.1"  # reads a million tokens: every session is summarized in one piece
LARGEST_SUMMARY, SMALLEST_SUMMARY = 64_000, 64
Retain: TypeAlias = Literal["facts"] | None


@dataclass(frozen=True, slots=True)
class Cut:
    """A session as far as it had come, and the facts it had seen by then and uses in what follows."""

    held_out: bool
    before: Conversation
    needed: frozenset[Fact]
    reached: dict[int, tuple[int, int]] = field(default_factory=dict, compare=False)


def cuts(session: Conversation, *, held_out: bool) -> Iterator[Cut]:
    """The session cut at each place; a fact is used where the assistant writes it, not where a tool shows it."""
    for share in CUTS:
        at = int(len(session) * share)
        before = session.with_messages(session.messages[:at])
        if needed := used_again(before.messages, session.messages[at:]):
            yield Cut(held_out, before, needed)


def reachable(before: Conversation, target: int) -> tuple[int, int]:
    """The target, or what stays beside a summary and half of it, if that is more; and what then is left for one."""
    kept = _summarized(before, SMALLEST_SUMMARY, target).report.tokens_after - SMALLEST_SUMMARY
    return max(target, kept + target // 2), max(target - kept, target // 2)


def _summarized(before: Conversation, tokens: int, target: int, retain: Retain = None) -> compact.Result:
    config = {"max_summary_tokens": min(max(tokens, SMALLEST_SUMMARY), LARGEST_SUMMARY)}
    return compact.condense(before, provider="native", config=config, model=MODEL, target=target, retain=retain)


def summarized(cut: Cut, target: int, retain: Retain = None) -> compact.Result:
    """An offline summary that takes what the target leaves beside the messages that stay."""
    if (reached := cut.reached.get(target)) is None:
        reached = cut.reached[target] = reachable(cut.before, target)
    target, size = reached
    return _summarized(cut.before, size - (RetainFacts().room(target) if retain else 0), target, retain)


def shortened(cut: Cut, target: int, retain: Retain = None) -> compact.Result:
    """Old tool output cut, which is what `condense` does when nothing else is said."""
    return compact.condense(cut.before, model=MODEL, target=target, retain=retain)


PRODUCT: dict[str, Callable[[Cut, int], compact.Result]] = {
    "(c) offline summary": summarized,
    "(d) … and facts": lambda cut, target: summarized(cut, target, "facts"),
    "    output cut (v2)": shortened,
    "    … and facts": lambda cut, target: shortened(cut, target, "facts"),
}
SIMPLE = ("(a) last messages", "(b) all cut alike")


def measure(sessions: Sequence[Path], out: TextIO) -> None:
    count = CountCache(load_encoding("o200k_base").count).count
    lost: defaultdict[tuple[str, float], list[tuple[bool, int, int]]] = defaultdict(list)
    unrecoverable = raised = 0
    found = [cut for path in sessions for cut in cuts(read_transcript(path.read_bytes()), held_out=is_held_out(path))]
    for cut in found:
        old = cut.before.messages
        whole = Case("", old, [text_of(message) for message in old], cut.needed)
        strings = Case("", old, [text for message in old for text in strings_of(message)], cut.needed)
        tokens = sum(map(count, whole.texts))
        for share in SHARES:
            target = int(tokens * share)
            largest = target
            for name, way in PRODUCT.items():
                result = way(cut, target)
                text = "\n".join(map(text_of, result.conversation.messages))
                lost[name, share].append((cut.held_out, len(missing(whole, text)), len(cut.needed)))
                if "facts" in name:
                    unrecoverable += result.receipt().total.lost
                if name.startswith("("):
                    raised += name == "(d) … and facts" and (result.report.target or 0) > target
                    largest = max(largest, result.report.tokens_after)
            for name, text in (
                ("(a) last messages", last_messages(whole, largest, count)),
                ("(b) all cut alike", cut_alike(strings, largest, count)),
            ):
                lost[name, share].append((cut.held_out, len(missing(whole, text)), len(cut.needed)))
    print(f"{len(found)} cuts of {len(sessions)} coding sessions; missing of what is used again:", file=out)
    print(f"{'tokens':>7}  {'':20} {'mean of cuts':>12} {'all facts':>10} {'held out':>9}", file=out)
    for share in SHARES:
        for name in (*SIMPLE, *PRODUCT):
            rows = lost[name, share]
            held_out = [row for row in rows if row[0]]
            mean = sum(gone / of for _, gone, of in rows) / len(rows)
            print(f"{share:7.0%}  {name:20} {mean:12.1%} {_pooled(rows):10.1%} {_pooled(held_out):9.1%}", file=out)
    print("held out: the sessions of sources to which no weight was fitted", file=out)
    print(f"(a) and (b) get as many tokens as (d) took; {raised} of the targets were raised, because", file=out)
    print("what must stay takes more than half of them", file=out)
    print(f"facts that cannot be recovered: {unrecoverable}", file=out)


def _pooled(rows: Sequence[tuple[bool, int, int]]) -> float:
    return sum(gone for _, gone, _ in rows) / max(sum(of for _, _, of in rows), 1)


def run(out: TextIO) -> None:
    if sessions := coding_sessions(out):
        measure(sessions, out)


if __name__ == "__main__":
    run(sys.stdout)
