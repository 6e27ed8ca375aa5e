"""Processes that compact one session at the same moment: each has its archive and its record."""

from __future__ import annotations

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

from compact.app.manager import CompactManager
from compact.archive import FileArchive, export, verify
from compact.messages import Json
from compact.originals import FileOriginals
from compact.policies import CompactConfig

SESSIONS = ("a", "b", "c")
WHO = ("one", "two")


def said(who: str) -> list[Json]:
    return [
        {"role": role, "content": f"{who} {number}: " + "word " * 100}
        for number in range(20)
        for role in ("user", "assistant")
    ]


def compact(folder: str, who: str, start: Barrier) -> None:
    """Compact every session as soon as everybody is ready to."""
    config = {"model": "gpt-4o", "max_context_tokens": 3500, "storage": {"path": folder}, "profile": "offline"}
    with CompactManager(CompactConfig.model_validate(config)) as manager:
        for session in SESSIONS:
            start.wait(60)
            manager.preflight(session, said(who))


def test_processes_that_compact_a_session_at_once_keep_it_under_different_numbers(tmp_path: Path) -> None:
    spawning = multiprocessing.get_context("spawn")
    start = spawning.Barrier(len(WHO))
    processes = [spawning.Process(target=compact, args=(str(tmp_path), who, start)) for who in WHO]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0, 0]
    archive, originals = FileArchive(tmp_path), FileOriginals(tmp_path / "originals")
    assert list(verify(archive)) == []
    for session in SESSIONS:
        steps = export(archive, session)["steps"]
        assert isinstance(steps, list)
        assert [step["step"] for step in steps] == [1, 2]
        transcripts = [step["transcript"] for step in steps]
        assert sorted(transcripts, key=str) == sorted(map(said, WHO), key=str)
        records = originals.records(session)
        assert [record.number for record in records] == [1, 2]
        assert [step["summary"]["step"] for step in steps] == [1, 2]
        kept = [originals.get(session, record.log) for record in records]
        assert kept == transcripts
