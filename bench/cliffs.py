"""Whether `auto` keeps what a smaller target kept when the target grows, on real sessions; and whether it accounts.

A message that stands whole at one target must stand whole at the next larger one. A result that met its target and
removed messages must have an account of them.
"""

from __future__ import annotations

import sys
from typing import TextIO

from bench.fill import MODEL, sessions
from compact.app import Condensation, Result, resolve_recipe
from compact.messages import Conversation, is_pruned, is_summary

FIRST, LAST = 5, 90
"""Targets in percent, in steps of one."""
SESSIONS = 20


def whole(before: Conversation, after: Conversation) -> frozenset[str]:
    """The ids of the messages that are shown as they were."""
    wires = {message.id: message.wire for message in before.messages}
    return frozenset(message.id for message in after.messages if wires.get(message.id) == message.wire)


def unaccounted(before: Conversation, result: Result) -> bool:
    """Whether messages were removed towards a target that was met, and nothing tells of them."""
    left = {message.id for message in result.conversation.messages}
    removed = any(message.id not in left for message in before.messages)
    return result.target_met and removed and not any(map(is_summary, result.conversation.messages))


def run(out: TextIO, count: int = SESSIONS) -> None:
    found = list(sessions())
    if not found:
        print("real sessions not found: set COMPACT_TRANSCRIPTS", file=out)
        return
    chosen = [found[at * len(found) // count] for at in range(min(count, len(found)))]
    steps = lost = violated = silent = marked = runs = 0
    for name, session in chosen:
        last: frozenset[str] | None = None
        for percent in range(FIRST, LAST + 1):
            result = Condensation(session, MODEL, percent / 100).run(resolve_recipe("auto"))
            now = whole(session, result.conversation)
            runs += 1
            if unaccounted(session, result):
                silent += 1
                marked += any(map(is_pruned, result.conversation.messages))
            if last is not None:
                steps += 1
                gone = last - now
                lost += len(gone)
                violated += bool(gone)
                if gone:
                    ids = ", ".join(sorted(gone, key=lambda id: (len(id), id))[:8])
                    print(
                        f"{name}: {len(gone)} whole at {percent - 1}%, not at {percent}%: {ids}", file=out, flush=True
                    )
            last = now
    print(
        f"{len(chosen)} sessions, targets of {FIRST}% to {LAST}%: {violated} of {steps} steps lose messages", file=out
    )
    print(f"that stood whole at the smaller target, {lost} messages together", file=out)
    print(f"{silent} of {runs} results met the target, removed messages and have no account; ", end="", file=out)
    print(f"{marked} of them have markers that say how many were removed", file=out)


if __name__ == "__main__":
    run(sys.stdout, *map(int, sys.argv[1:2]))
