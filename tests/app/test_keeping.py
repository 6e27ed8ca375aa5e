"""What a manager keeps of a compaction: in which order, and what is redacted."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from compact import CompactManager
from compact.originals import FileOriginals
from compact.ports import Event
from tests.app.test_manager import LAYERS, Bench, make, summaries, talk

__all__ = ["make"]

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_the_archive_comes_before_the_record_and_both_before_the_new_view(make: Bench) -> None:
    kept = FileOriginals(make.folder / "originals")
    seen: list[tuple[bool, int]] = []

    def observe(event: Event) -> None:
        if event.name == "compact.archival":
            seen.append((Path(event.properties["file_path"]).exists(), len(kept.records("s"))))

    with CompactManager(make().config, observe=observe) as manager:
        assert summaries(manager.preflight("s", talk(20)))
        assert len(kept.records("s")) == 1
    assert seen == [(True, 0), (True, 0)]


def test_no_file_of_the_archive_and_no_trace_holds_a_secret(make: Bench) -> None:
    trace = make.folder / "spans.jsonl"
    said = {"role": "user", "content": f"Never push with the token {TOKEN}."}
    messages = [*talk(1), said, *talk(20, 1)]
    before = copy.deepcopy(messages)
    manager = make(policy=LAYERS, tracing={"jsonl": str(trace)})
    (account,) = summaries(manager.preflight("s", messages))
    manager.close()
    assert TOKEN in account  # the summary, which the archive and an event hold too
    files = {path.name: path.read_text() for path in (trace, *(make.folder / "archive" / "s").iterdir())}
    assert [name for name, text in files.items() if TOKEN in text] == []
    assert [name for name, text in files.items() if "<REDACTED>" in text] == [
        "spans.jsonl", *(name for name in files if name.startswith(("events", "summary", "transcript")))
    ]  # fmt: skip
    assert messages == before


def test_redacted_originals_give_redacted_messages_back_after_a_restart(make: Bench) -> None:
    messages = [*talk(1), {"role": "user", "content": f"Never push with the token {TOKEN}."}, *talk(20, 1)]
    sent = make(originals="redact", policy=LAYERS).preflight("s", messages)
    assert TOKEN in summaries(sent)[0]
    assert not any(TOKEN.encode() in path.read_bytes() for path in (make.folder / "originals").iterdir())
    redacted = json.loads(json.dumps(messages).replace(TOKEN, "<REDACTED>"))
    assert make(originals="redact", policy=LAYERS).undo("s") == redacted


@pytest.mark.parametrize(("originals", "compactions"), [("keep", 1), ("redact", 2)])
def test_messages_with_secrets_are_not_recognised_by_redacted_originals(
    make: Bench, originals: str, compactions: int
) -> None:
    messages = [*talk(1), {"role": "user", "content": f"Never push with the token {TOKEN}."}, *talk(20, 1)]
    sent = make(originals=originals, policy=LAYERS).preflight("s", messages)
    assert make(originals=originals, policy=LAYERS).preflight("s", messages) == sent
    assert len(make.watcher.named("condensed")) == compactions
