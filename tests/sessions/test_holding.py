"""What is held by one at a time and given back whole; and what is said where a database fails."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError

from compact.errors import StorageError
from compact.ports import StoredSession
from compact.sessions import open_store
from compact.sessions.failures import told
from compact.sessions.holding import hold_file, until
from compact.sessions.locks import ThreadLocks


def _next_descriptor() -> int:
    """The lowest number that is free: it stays the same where everything that was opened was closed."""
    file = os.open(os.devnull, os.O_RDONLY)
    os.close(file)
    return file


def test_a_file_is_held_by_one_at_a_time_and_closed_and_removed_afterwards(tmp_path: Path) -> None:
    path, before = tmp_path / "held", _next_descriptor()
    for _ in range(3):
        with hold_file(path) as held, hold_file(path) as again:
            assert (held, again) == (True, False)
        assert not path.exists()
    assert _next_descriptor() == before


def test_whoever_waits_has_it_when_it_is_free_or_is_told_in_time(tmp_path: Path) -> None:
    path, began = tmp_path / "held", monotonic()
    with hold_file(path):
        with hold_file(path, 0.05) as again:
            assert again is False
        assert 0.05 <= monotonic() - began < 5
        assert path.exists()
    with hold_file(path, 5) as held:
        assert held is True


def test_an_attempt_is_made_at_least_once_and_its_first_result_is_given() -> None:
    given = iter([None, None, 3, 4])
    assert until(lambda: next(given), 5) == 3
    assert until(lambda: None, 0) is None
    assert until(lambda: next(given), -1) == 4


def test_a_folder_that_is_not_there_and_a_link_are_told(tmp_path: Path) -> None:
    gone = f"{tmp_path / 'gone'}: No such file or directory. The folder of locks must be there"
    with pytest.raises(StorageError, match=re.escape(gone)), hold_file(tmp_path / "gone" / "held"):
        pass
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="The folder of locks must be there"), hold_file(tmp_path / "link"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_threads_that_share_memory_hold_a_name_one_at_a_time() -> None:
    locks = ThreadLocks()
    with locks.hold("a", 0) as first, locks.hold("a", 0.01) as second, locks.hold("b", 0) as other:
        assert (first, second, other) == (True, False, True)
        with locks.hold("a", 0) as third:  # who was refused has freed nothing
            assert not third
    with locks.hold("a", 0) as again:
        assert again


def test_sessions_in_memory_are_compacted_by_one_at_a_time() -> None:
    with open_store(":memory:") as store:
        store.create(StoredSession("s", "m", "openai-chat"))
        with store.compacting("s", 0) as alone, store.compacting("s", 0) as together:
            assert (alone, together) == (True, False)
        with store.compacting("s", 0) as alone:
            assert alone


@pytest.mark.parametrize(
    ("reason", "remedy"),
    [
        ("database is LOCKED", "Another process has been writing for long"),
        ("no space left", "Make room on the drive"),
        ("database or disk is full", "Make room on the drive"),
        ("attempt to write a readonly database", "the right to write the file"),
        ("unable to open database file", "the right to read and write the file"),
        ("file is not a database", "Name another file"),
        ("disk image is malformed", "Restore the file from a backup"),
        ("permission denied for schema", "Grant the user of the URL"),
        ("password authentication failed", "Correct user and password"),
        ('database "x" does not exist', "Create the database"),
        ("table jobs already exists", "belong to something else"),
        ("sorry, too many clients already", "Let the server take more connections"),
        ("the server has gone", "Check that the database can be reached"),
    ],
)
def test_what_a_database_answers_is_told_with_what_helps(reason: str, remedy: str) -> None:
    engine = create_engine("sqlite://")
    with pytest.raises(StorageError) as caught, told("here", engine):
        raise OperationalError("SELECT 1", {}, sqlite3.OperationalError(f"\n{reason}\nand more"))
    assert str(caught.value).startswith(f"here: {reason}. ")
    assert remedy in str(caught.value)
    assert "and more" not in str(caught.value)
