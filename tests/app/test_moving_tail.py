"""A client's last messages that move on with every request, such as files and a reminder, cost no compactions."""

from __future__ import annotations

from pathlib import Path

from compact import CompactConfig, CompactManager
from compact.messages import Json
from compact.policies.compaction import StorageSettings
from tests.providers.conversations import measured


def test_what_always_stands_last_costs_no_compaction_beside_long_answers(tmp_path: Path) -> None:
    """Lines that quote answers at length do not take the room of the last ones, and of what stands behind these."""
    chosen = CompactConfig(
        model="gpt-4o", max_context_tokens=12_000, profile="offline", storage=StorageSettings(path=str(tmp_path))
    )
    messages: list[Json] = [{"role": "user", "content": "Port the parser."}]
    with CompactManager(chosen) as one:
        compactions = 0
        for number in range(40):
            messages.append({"role": "assistant", "content": measured(number)})
            tail = [
                {"role": "user", "content": f"The files of this chat: {list(range(number))}"},
                {"role": "assistant", "content": "Ok."},
                {"role": "user", "content": f"Go on with part {number}."},
            ]
            compactions += one.prepare("s", [*messages, *tail], max_tokens=1_000).compacted
            messages.append(tail[-1])
    assert 0 < compactions <= 8
