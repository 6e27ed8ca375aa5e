"""What condensations cost, kept line by line in `spending.jsonl` under Compact's home.

Only sizes, names of models and money; nothing of what was said.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from compact.models.spending import Spending
from compact.settings.documents import unwritable
from compact.settings.home import home

_RECENT = 1 << 19
"""Bytes at the end of the file that are read: some thousand condensations."""


def spending_path() -> Path:
    return home() / "spending.jsonl"


def add_spending(record: Spending) -> Path:
    """Append the record: one write, so that records of several processes do not mix."""
    path = spending_path()
    line = json.dumps(record.to_json(), separators=(",", ":")) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise unwritable(path, error) from None
    return path


def load_spending() -> tuple[Spending, ...]:
    """The latest records, the oldest first; a line that a crash cut short is passed over."""
    try:
        with spending_path().open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _RECENT))
            lines = file.read().split(b"\n")
    except OSError:
        return ()
    found = []
    for line in lines:
        try:
            data = json.loads(line)
            if isinstance(data, dict):
                found.append(Spending.from_json(data))
        except (ValueError, RecursionError):
            continue
    return tuple(found)
