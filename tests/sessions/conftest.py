"""Every test that asks for `url` or `store` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from compact.sessions import open_store
from compact.sessions.store import DatabaseStore
from tests.sessions.postgres import Server, postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

_EMPTIED = b'TRUNCATE sessions, "chatMessages", "sessionSnapshots", settings, "modelConfigs", jobs CASCADE'


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with all tables, which others are copied from."""
    path = tmp_path_factory.mktemp("template") / "sessions.db"
    open_store(path).close()
    return path


@pytest.fixture(scope="session")
def postgres_database(request: pytest.FixtureRequest) -> str:
    """The URL of a database with all tables, which every test finds empty; making one takes half a second."""
    server: Server = request.getfixturevalue("postgres_server")
    url = server.url(server.create())
    open_store(url).close()
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/sessions.db"
    found: str = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database with all tables, and nothing in them."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_file"), tmp_path / "sessions.db")
        yield f"sqlite:///{tmp_path}/sessions.db"
        return
    found: str = request.getfixturevalue("postgres_database")
    yield found
    with psycopg.connect(found, autocommit=True) as connection:
        connection.execute(_EMPTIED)


@pytest.fixture
def store(url: str) -> Iterator[DatabaseStore]:
    with open_store(url) as opened:
        yield opened
