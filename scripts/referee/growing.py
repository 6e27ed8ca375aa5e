"""A session that grows: before each turn of the model a client's request is prepared by a manager."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from scripts.referee.adapter import Manager
from scripts.referee.canonical import Aspects

_ID = "growing"


def play(session: Mapping[str, Any], folder: Path) -> Aspects:
    """What a manager makes of the session: step by step, compacted by hand, undone, and after a restart."""
    body, key = session["body"], session["key"]
    log, before = body[key], 0
    notes = _Notes()
    with closing(Manager(session["config"], folder, asks=session["asks"])) as manager:
        for length in session["lengths"]:
            hands_back = session["hands_back"] and notes.sent
            given = [*notes.sent, *log[before:length]] if hands_back else log[:length]
            notes.add(f"request of {length}", manager.prepare(_ID, {**body, key: given}))
            before = length
        last = {**body, key: log[:before]}
        notes.add("compact", manager.compact(_ID, last, "Keep every amount."))
        found = manager.find(_ID, session["word"])
        undone = manager.undo(_ID)
        notes.add("after undo", manager.prepare(_ID, last))
    with closing(Manager(session["config"], folder, asks=session["asks"])) as manager:
        notes.add("after restart", manager.prepare(_ID, last))
    return {**notes.aspects, "found": found, "undone": undone}


class _Notes:
    """What each step gave; of the messages that are sent, those that were not sent before."""

    def __init__(self) -> None:
        self.aspects: defaultdict[str, list[Any]] = defaultdict(list)
        self.sent: list[Any] = []

    def add(self, step: str, done: Mapping[str, Any]) -> None:
        sent = done.get("messages", [])
        pairs = zip(sent, self.sent, strict=False)
        same = next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(sent), len(self.sent)))
        self.aspects["messages"].append({"step": step, "as before": same, "new": sent[same:]})
        self.sent = sent or self.sent
        for name, value in done.items():
            if name != "messages" and value:
                self.aspects[name].append({"step": step, name: value})
