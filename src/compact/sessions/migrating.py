"""Bringing the tables of a database up to date, once, however many processes open it at that moment."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from sqlalchemy import column, inspect, select, table, text

from compact.errors import StorageError
from compact.sessions.database import Database

if TYPE_CHECKING:
    from sqlalchemy import Connection

NEWEST = "0003"
VERSION_TABLE = "compactVersion"
_FOLDER = Path(__file__).with_name("migrations")
_one_at_a_time = Lock()  # Alembic keeps the migration that runs in a global


def migrate(database: Database, target: str) -> None:
    """Take the steps that are missing, all or none; StorageError where a newer Compact has been there."""
    with database.reading() as connection:
        if _version(connection) == target:
            return
    with _one_at_a_time, database.writing() as connection:
        if database.is_postgresql:
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended('compact migration', 0))"))
        version = _version(connection)
        if version == target:
            return
        if version is not None and version not in steps():
            problem = f"{database.place}: its tables are of version {version}, and this Compact knows only {NEWEST}"
            raise StorageError(f"{problem}. Install the newer version of compact-context that made them.")
        _upgrade(connection, target)


def steps() -> list[str]:
    """The versions that there are, from first to last."""
    return sorted(path.name[1:5] for path in (_FOLDER / "versions").glob("v[0-9]*_*.py"))


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    version = connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))
    return None if version is None else str(version)


def _upgrade(connection: Connection, target: str) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, target)
