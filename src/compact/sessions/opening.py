"""Opening a database: what a URL names, how connections are set up, and tables that are up to date."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DisconnectionError

from compact.disk import UNWRITABLE, Disk, close_folder, make_path
from compact.errors import InvalidConfiguration, StorageError
from compact.sessions.database import Database
from compact.sessions.locks import AdvisoryLocks, FileLocks, Locks, ThreadLocks
from compact.sessions.migrating import NEWEST, migrate

MEMORY = ":memory:"
PATIENCE = 30.0
"""Seconds that a writer waits for others before it fails."""
_REMEDY = "Give a path, sqlite:///path, or postgresql://user:password@host:port/name."
_ESCAPE = "In user and password write @ as %40, : as %3A and / as %2F."
# Somebody may have turned durability down for the whole server. And who stops in the middle of a transaction must not
# stop others for good.
_SETTINGS = f"""
SELECT CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END,
set_config('lock_timeout', '{PATIENCE:.0f}s', false), set_config('idle_in_transaction_session_timeout', '60s', false)
"""


def open_database(url: str | Path, version: str = NEWEST) -> Database:
    """The database with its tables as of that version; what is wrong with it is told, never the password."""
    named = _named(url)
    return _open_sqlite(named, version) if isinstance(named, str) else _open_postgresql(named, version)


def file_of(url: str | Path) -> Path | None:
    """The file of SQLite that is meant; None where it is a server, or memory."""
    named = _named(url)
    return _path(named) if isinstance(named, str) and named != MEMORY else None


def _named(url: str | Path) -> str | URL:
    """The name of a file of SQLite, or the URL of a PostgreSQL server."""
    if isinstance(url, Path) or "://" not in url:
        return str(url)
    parsed = _parsed(url)
    if parsed.drivername in ("sqlite", "sqlite+pysqlite"):
        if parsed.host or parsed.query:
            raise _wrong("a SQLite URL is sqlite:/// and a path, nothing else")
        return parsed.database or MEMORY
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    raise _wrong(f"{parsed.drivername} is no database that Compact knows")


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # its message may hold a piece of the password
        raise _wrong("cannot be read as the URL of a database", f"{_REMEDY} {_ESCAPE}") from None
    if "@" in f"{parsed.host}{parsed.database}":  # so might any message that names host or database
        raise _wrong("has more than one @", _ESCAPE)
    return parsed


def _wrong(problem: str, remedy: str = _REMEDY) -> InvalidConfiguration:
    return InvalidConfiguration(problem, field="url", remedy=remedy)


def _open_sqlite(name: str, version: str) -> Database:
    if name == MEMORY:
        # One connection, and whoever needs it waits: another connection would be another database.
        pool = {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0, "pool_timeout": PATIENCE}
        return _prepared(_sqlite_engine(MEMORY, **pool), "database in memory", ThreadLocks(), version)
    path = _path(name)
    try:
        locks = FileLocks(_private(path))
    except OSError as error:
        if error.errno in UNWRITABLE and os.access(path, os.R_OK):
            return _prepared(_sqlite_reader(path), str(path), ThreadLocks(), version)
        problem = f"{path}: {error.strerror or error}"
        raise StorageError(f"{problem}. Name a file in a folder that you may write to.") from error
    with ExitStack() as opening:
        # Making the file a WAL database is nothing that SQLite lets two processes do at once.
        if not opening.enter_context(locks.hold("opening", 2 * PATIENCE)):
            raise StorageError(f"{path}: another process is still making or changing its tables. Try again later.")
        return _prepared(_sqlite_engine(str(path)), str(path), locks, version)


def _path(name: str) -> Path:
    if not name or "\0" in name:
        raise _wrong("names no file")
    return Path(os.path.realpath(Path(name).expanduser()))


def _private(path: Path) -> Path:
    """Make the file and the folder of its locks, for their owner only; SQLite's own files beside it follow suit."""
    disk, folder = Disk(), path.with_name(f"{path.name}.locks")
    close_folder(disk, make_path(disk, str(path.parent)))
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _sqlite_engine(name: str, **pool: Any) -> Engine:
    url = URL.create("sqlite", database=name)
    # Threads take turns with a connection; sqlite3 itself must not begin transactions, it would do so too late.
    arguments = {"check_same_thread": False, "timeout": PATIENCE, "isolation_level": None}
    engine = create_engine(url, connect_args=arguments, hide_parameters=True, **pool)

    _begin_by_ourselves(engine)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    return engine


def _sqlite_reader(path: Path) -> Engine:
    """An engine for a file that cannot be written, such as one of a mounted backup."""

    def connect() -> sqlite3.Connection:
        log, index = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
        # Where neither is there, all is in the file; SQLite would make them otherwise.
        whole = not index.exists() and not (log.exists() and log.stat().st_size)
        address = f"{path.as_uri()}?mode=ro{'&immutable=1' * whole}"
        return sqlite3.connect(address, uri=True, check_same_thread=False, timeout=PATIENCE, isolation_level=None)

    # Each transaction looks anew, as others may write the file.
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    _begin_by_ourselves(engine)
    return engine


def _begin_by_ourselves(engine: Engine) -> None:
    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A writer that begins as a reader would find the database changed under it, and fail.
        writing = connection.get_execution_options().get("writing")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


def _open_postgresql(url: URL, version: str) -> Database:
    try:
        make = partial(create_engine, url, connect_args={"connect_timeout": 10}, hide_parameters=True)
        engine = make(pool_timeout=PATIENCE)
    except ModuleNotFoundError:
        remedy = "Install it: pip install 'compact-context[postgres]'."
        raise _wrong("PostgreSQL needs the package psycopg", remedy) from None

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.execute(_SETTINGS)
        connection.commit()

    @event.listens_for(engine, "checkout")
    def require_open(connection: Any, *_: object) -> None:
        # A server that was restarted has hung up, which can be seen here; a ping would take three trips to it.
        with DefaultSelector() as selector:
            selector.register(connection, EVENT_READ)
            if selector.select(0):
                raise DisconnectionError

    place = f"postgresql://{url.host or ''}{f':{url.port}' if url.port else ''}/{url.database or ''}"
    # Not of the pool: those who compact hold theirs for minutes, and need another one to finish.
    locks = AdvisoryLocks(make(poolclass=NullPool, isolation_level="AUTOCOMMIT"), place)
    return _prepared(engine, place, locks, version)


def _prepared(engine: Engine, place: str, locks: Locks, version: str) -> Database:
    database = Database(engine, place, locks)
    with ExitStack() as failing:
        failing.callback(database.close)
        migrate(database, version)
        failing.pop_all()
    return database
