"""The database of stored sessions: SQLite in a file, or PostgreSQL for more than one machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from compact.errors import InvalidConfiguration

if TYPE_CHECKING:
    from compact.sessions.store import DatabaseStore

__all__ = ["open_store"]


def open_store(url: str | Path) -> DatabaseStore:
    """The database at a path, at sqlite:///path or at postgresql://user:password@host/name, its tables up to date.

    A file is made where there is none, private to its owner. `:memory:` is a database that ends with the store.
    InvalidConfiguration where that is no such place, StorageError where it cannot be reached or read.
    """
    try:
        from compact.sessions.opening import open_database
        from compact.sessions.store import DatabaseStore
    except ModuleNotFoundError as error:
        problem, remedy = f"needs the package {error.name}", "Install it: pip install 'compact-context[sessions]'."
        raise InvalidConfiguration(problem, field="url", remedy=remedy) from None
    return DatabaseStore(open_database(url))
