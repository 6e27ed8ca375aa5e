"""Stores that cannot be written, such as a mounted backup: search, recall and verify work, and what writes says why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from compact import CompactConfig, CompactManager
from compact.app.stored import StoredSessions
from compact.errors import StorageError
from compact.originals import FileOriginals
from compact.policies import StorageSettings
from compact.ports import StoredSession
from compact.sessions.opening import open_database
from tests.app.tables import conversation
from tests.cli.conftest import Run, run
from tests.read_only import Forbid, each_way, folder

__all__ = ["folder", "run"]


def manager(folder: Path) -> CompactManager:
    storage = StorageSettings(path=str(folder))
    config = CompactConfig(model="gpt-4o", max_context_tokens=8_000, profile="offline", storage=storage)
    return CompactManager(config)


def compacted(folder: Path) -> int:
    """Keep a session there; gives how many of its messages say `Table 3`."""
    with manager(folder) as writing:
        writing.prepare("s", conversation())
        return len(writing.search("Table 3 is moved"))


@each_way
def test_what_was_removed_is_found_where_nothing_can_be_written(folder: Path, forbid: Forbid) -> None:
    hits = compacted(folder)
    assert hits
    with forbid(folder), manager(folder) as reading:
        found = reading.search("Table 3 is moved")
        assert (len(found), found.unread) == (hits, ())
        assert "Table 3 is moved" in reading.recall(found[0].handle).text
        assert reading.prepare("s", conversation()).tokens_after < 8_000
        with pytest.raises(StorageError, match=r"see to storage\.path"):
            reading.undo("s")
        with pytest.raises(StorageError, match=r"see to storage\.path"):
            reading.prepare("other", conversation())
    with manager(folder) as writing:
        assert writing.undo("s") == conversation()


@each_way
def test_originals_and_archive_are_verified_where_nothing_can_be_written(
    run: Run, folder: Path, forbid: Forbid
) -> None:
    compacted(folder)
    with forbid(folder):
        assert FileOriginals(folder / "originals").verify("s") == ()
        for command in (("originals", "verify", "--storage", folder), ("archive", "verify", "--path", folder)):
            told = run(*command)
            assert (told.status, told.err) == (0, "")
        with pytest.raises(OSError, match=r"Read-only file system|Permission denied"):
            FileOriginals(folder / "originals").retract("s", 1)
    (file,) = (folder / "originals").glob("*.log")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with forbid(folder):
        assert run("originals", "verify", "--storage", folder).status == 1


@each_way
def test_stored_sessions_are_read_where_nothing_can_be_written(run: Run, folder: Path, forbid: Forbid) -> None:
    path = folder / "sessions.db"
    with StoredSessions(path) as writing:
        writing.create(StoredSession("s", "gpt-4o", format="openai-chat"))
        writing.append("s", conversation())
        writing.compress("s")
    with forbid(folder), StoredSessions(path) as reading:
        assert json.loads(run("sessions", "search", "Table 3", "--database", path, "--json").out)
        assert [session.id for session in reading.sessions()] == ["s"]
        assert reading.search("Table 3")[0].session == "s"
        assert reading.context("s").summary is not None
        assert len(reading.history("s", limit=500)) == len(conversation())
        with pytest.raises(StorageError, match="Give the owner of this process the right to write the file"):
            reading.append("s", [{"role": "user", "content": "Go on."}])
        with pytest.raises(StorageError, match="Give the owner of this process the right to write the file"):
            reading.compress("s")
    with StoredSessions(path) as writing:
        assert len(writing.append("s", [{"role": "user", "content": "Go on."}])) == 1


@each_way
@pytest.mark.parametrize("endings", [("", "-wal", "-shm"), ("", "-wal"), ("",)])
def test_a_copy_of_a_database_at_work_is_read_with_its_log_or_refused(
    folder: Path, tmp_path: Path, forbid: Forbid, endings: tuple[str, ...]
) -> None:
    with StoredSessions(tmp_path / "at-work.db") as writing:
        writing.create(StoredSession("s", "gpt-4o", format="openai-chat"))
        writing.store.database.engine.dispose()  # type: ignore[attr-defined]  # what is there is whole by then
        writing.append("s", conversation())
        for end in endings:
            shutil.copy(tmp_path / f"at-work.db{end}", folder / f"sessions.db{end}")
    with forbid(folder):
        if endings[-1] == "-wal":
            with pytest.raises(StorageError, match=r"unable to open .* read and write the file and its folder"):
                StoredSessions(folder / "sessions.db")
            return
        with StoredSessions(folder / "sessions.db") as reading:
            assert reading.session("s").messages == (len(conversation()) if len(endings) > 1 else 0)


@each_way
def test_tables_of_an_earlier_version_are_refused_where_nothing_can_be_written(folder: Path, forbid: Forbid) -> None:
    path = folder / "sessions.db"
    open_database(path, "0001").close()
    with forbid(folder), pytest.raises(StorageError, match="Give the owner of this process the right to write"):
        StoredSessions(path)
