"""Opening a database: what is made, brought up to date, or refused."""

from __future__ import annotations

import re
import socket
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, create_engine, text

from compact.errors import CompactError, InvalidConfiguration, StorageError
from compact.sessions import open_store
from compact.sessions.migrating import NEWEST, VERSION_TABLE, steps
from compact.sessions.opening import open_database
from compact.sessions.store import DatabaseStore
from compact.sessions.tables import metadata, postgresql_metadata
from tests.sessions.processes import ROOT, finished, spawn
from tests.sessions.test_store import new, said

SECRET = "s3cr3t"
_OLD_SESSION = """
INSERT INTO sessions (id, workspace, title, model, format, blocked, acknowledged, "messageCount", revision, "createdAt",
"updatedAt") VALUES ('s', '', '', 'gpt-4o', 'openai-chat', '', false, 0, 1, '2026-01-01', '2026-01-01')
"""


@pytest.mark.parametrize("place", ["{}/a/b.db", "sqlite:///{}/a/b.db"])
def test_files_and_folders_are_private(tmp_path: Path, place: str) -> None:
    with open_store(place.format(tmp_path)) as store:
        new(store)
        with store.compacting("s", 0):
            made = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*"))
            modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*") if path.is_file()}
        assert made[:3] == ["a", "a/b.db", "a/b.db-shm"]
        assert modes == {0o600}
        folders = [path for path in tmp_path.rglob("*") if path.is_dir()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
    with open_store(tmp_path / "a" / "b.db") as again:
        assert again.session("s").id == "s"


def test_sqlite_is_set_up_to_lose_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.db") as store, store.database.reading() as connection:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        assert [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas] == ["wal", 2, 1, 30_000]


def test_postgres_is_set_up_to_lose_nothing(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off".encode())
    with open_store(postgres_url) as store, store.database.writing() as reading:
        shown = [reading.exec_driver_sql(f"SHOW {name}").scalar() for name in ("synchronous_commit", "lock_timeout")]
        assert shown == ["on", "30s"]


def test_a_database_in_memory_is_one_for_all_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with open_store(":memory:") as store, open_store("sqlite://") as other:
        new(store)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: store.append("s", [said()]), range(20)))
        assert [one.position for one in store.history("s")] == list(range(20))
        assert other.sessions() == []


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("mysql://u:s3cr3t@h/d", "mysql is no database that Compact knows"),
        ("sqlite://host/x.db", "a SQLite URL is sqlite:/// and a path"),
        ("sqlite:///x.db?mode=ro", "a SQLite URL is sqlite:/// and a path"),
        ("postgresql://u:s3cr3t:x/y@h:port/d", "cannot be read as the URL of a database"),
        ("://", "cannot be read as the URL of a database"),
        ("postgresql://u:p@s3cr3t@h/d", "has more than one @"),
        ("postgresql://u/x:s3cr3t@h/d", "has more than one @"),
        ("", "names no file"),
        ("a\0b", "names no file"),
    ],
)
def test_a_wrong_url_is_told_without_its_password(url: str, problem: str) -> None:
    with pytest.raises(InvalidConfiguration, match=f"^url: {problem}") as caught:
        open_store(url)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.remedy


def test_an_unreachable_server_is_told_without_its_password() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]  # bound, so that nobody else answers there; and it never listens
        with pytest.raises(StorageError, match=f"^postgresql://127.0.0.1:{port}/d: .*refused.*try again") as caught:
            open_store(f"postgresql://u:{SECRET}@127.0.0.1:{port}/d?application_name={SECRET}")
    assert SECRET not in f"{caught.value} {caught.value.__cause__}"


def test_a_database_that_is_not_there_is_told(postgres_url: str) -> None:
    with pytest.raises(StorageError, match=r'"nowhere" does not exist\. Create the database'):
        open_store(postgres_url.replace(postgres_url.split("/")[3].split("?", maxsplit=1)[0], "nowhere", 1))


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"this is some text, not a database at all" * 100)
    with pytest.raises(StorageError, match=r"x: file is not a database\. Name another file"):
        open_store(tmp_path / "x")
    with pytest.raises(StorageError, match=r"Name a file in a folder that you may write to"):
        open_store(tmp_path / "x" / "y.db")
    with pytest.raises(StorageError, match=r"Is a directory"):
        open_store(tmp_path)


@pytest.mark.parametrize(
    ("package", "url", "extra"),
    [("sqlalchemy", ":memory:", "sessions"), ("psycopg", "postgresql://h/d", "postgres")],
)
def test_a_missing_extra_is_named(package: str, url: str, extra: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None\nfrom compact.sessions import open_store\nopen_store({url!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert f"needs the package {package}" in done.stderr
    assert f"pip install 'compact-context[{extra}]'" in done.stderr
    assert "InvalidConfiguration" in done.stderr


def test_tables_of_a_newer_version_are_left_alone(empty_url: str) -> None:
    with open_store(empty_url) as store, store.database.writing() as connection:
        connection.execute(text(f"UPDATE \"{VERSION_TABLE}\" SET version_num = '9999'"))
    with pytest.raises(StorageError, match=r"of version 9999, and this Compact knows only .* Install the newer"):
        open_store(empty_url)


def test_tables_of_somebody_else_are_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE TABLE jobs (mine TEXT)")
    connection.close()
    with pytest.raises(StorageError, match=r"jobs already exists\. Tables of the same names belong to something else"):
        open_store(tmp_path / "x.db")
    with sqlite3.connect(tmp_path / "x.db") as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("jobs",)]
    connection.close()


def test_an_old_database_is_brought_up_to_date_with_what_is_in_it(empty_url: str) -> None:
    assert steps()[-1] == NEWEST
    old = DatabaseStore(open_database(empty_url, "0001"))
    with old.database.writing() as connection:
        connection.execute(text(_OLD_SESSION))
    kept = old.append("s", [said("needle")])
    with pytest.raises(StorageError), old.database.reading() as connection:
        connection.execute(text("SELECT * FROM jobs"))
    with pytest.raises(StorageError):
        old.change("s", {"automatic": False})
    old.close()
    with open_store(empty_url) as store:
        assert store.history("s") == kept
        assert [found.message for found in store.search("needle")] == [kept[0].id]
        assert store.session("s").automatic is None
        assert store.change("s", {"automatic": False}).automatic is False
        with store.database.reading() as connection:
            assert connection.scalar(text("SELECT count(*) FROM jobs")) == 0


def test_many_processes_open_a_new_database_at_once(empty_url: str) -> None:
    opening = [spawn("open_and_close", empty_url) for _ in range(4)]
    assert [finished(process) for process in opening] == [[]] * 4
    with open_store(empty_url) as store:
        assert store.sessions() == []


def test_the_migrations_come_to_the_tables_of_the_code(empty_url: str) -> None:
    with open_store(empty_url) as store, store.database.reading() as connection:
        others = (VERSION_TABLE, "sqlite_", "chatMessageWords" if connection.dialect.name == "sqlite" else "-")

        def ours(name: str | None, kind: str, _: object) -> bool:
            return kind != "table" or not (name or "").startswith(others)

        options = {"include_name": ours, "compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, _whole(connection)) == []


def test_the_migrations_come_to_the_very_same_statements(empty_url: str, tmp_path: Path) -> None:
    """Alembic compares neither conditions of indexes nor collations."""
    with open_store(empty_url) as store:
        with store.database.reading() as connection:
            migrated = _catalogue(connection)
        engine = store.database.engine
        fresh = engine if store.database.is_postgresql else create_engine(f"sqlite:///{tmp_path}/fresh.db")
        with fresh.begin() as connection:
            if store.database.is_postgresql:
                connection.execute(text("CREATE SCHEMA fresh"))
                connection.execute(text("SET LOCAL search_path = fresh"))
            _whole(connection).create_all(connection)
            made = _catalogue(connection)
        fresh.dispose()
    assert made == migrated


def _whole(connection: Connection) -> MetaData:
    """All tables that the database should have, as the code knows them."""
    whole = MetaData(naming_convention=metadata.naming_convention)
    also = postgresql_metadata.sorted_tables if connection.dialect.name == "postgresql" else []
    for table in (*metadata.sorted_tables, *also):
        table.to_metadata(whole)
    return whole


def _catalogue(connection: Connection) -> list[list[str]]:
    """What the database itself says about its tables, however their parts were ordered."""
    if connection.dialect.name == "sqlite":
        rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index')"))
        others = ("sqlite_", "chatMessageWords", VERSION_TABLE)
        texts = [row.sql for row in rows if row.sql and not row.name.startswith(others)]
        # A column that was added later stands on the line of the one before it.
        return sorted(sorted(part.strip() for part in re.split(r",\s|,$|\n", sql) if part.strip()) for sql in texts)
    schema = str(connection.scalar(text("SELECT current_schema()")))
    columns = "table_name, column_name, data_type, is_nullable, column_default, collation_name, is_identity"
    asked = [
        f"SELECT {columns} FROM information_schema.columns WHERE table_schema = '{schema}'",
        f"SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = '{schema}'",
        f"SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = '{schema}'::regnamespace",
    ]
    found = ([str(tuple(row)).replace(f"{schema}.", "") for row in connection.execute(text(one))] for one in asked)
    return [sorted(row for row in rows if VERSION_TABLE not in row) for rows in found]


def test_a_broken_connection_is_a_storage_error_and_the_next_call_works(store: DatabaseStore) -> None:
    new(store)
    if not store.database.is_postgresql:
        blocker = sqlite3.connect(store.database.place, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        with store.database.engine.connect() as held:
            held.exec_driver_sql("PRAGMA busy_timeout = 50")
        with pytest.raises(StorageError, match=r"database is locked\. Another process has been writing"):
            store.append("s", [said()])
        blocker.close()
    else:
        with pytest.raises(StorageError, match="try again"), store.database.writing() as connection:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    assert store.append("s", [said()])[0].position == 0


def test_a_connection_that_the_server_has_ended_is_made_anew(postgres_url: str) -> None:
    others = b"FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with open_store(postgres_url) as store:
        new(store)
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            assert connection.execute(b"SELECT count(pg_terminate_backend(pid, 10000)) " + others).fetchone() == (1,)
        assert store.session("s").id == "s"
        assert store.append("s", [said()])[0].position == 0


def test_every_error_of_the_database_is_one_of_ours(store: DatabaseStore) -> None:
    with pytest.raises(CompactError, match="nowhere"), store.database.reading() as connection:
        connection.execute(text("SELECT * FROM nowhere"))
