"""What is said where the database fails: its own reason, and the remedy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from compact.errors import StorageError

if TYPE_CHECKING:
    from sqlalchemy import Engine

_REMEDIES = {
    "locked": "Another process has been writing for long; try again.",
    "no space": "Make room on the drive; nothing of this call was stored.",
    "disk is full": "Make room on the drive; nothing of this call was stored.",
    "readonly": "Give the owner of this process the right to write the file and its folder.",
    "unable to open": "Give the owner of this process the right to read and write the file and its folder.",
    "not a database": "Name another file; this one was made by something else, or is damaged.",
    "malformed": "Restore the file from a backup.",
    "permission denied": "Grant the user of the URL the right to use, and at first to make, the tables.",
    "authentication": "Correct user and password in the URL.",
    "does not exist": "Create the database and the user that the URL names.",
    "already exists": "Tables of the same names belong to something else: use a database or a schema of its own.",
    "too many": "Let the server take more connections, or use fewer processes.",
}
_ELSE = "Check that the database can be reached and try again; what was stored before is safe."


@contextmanager
def told(place: str, engine: Engine) -> Iterator[None]:
    """Whatever the database answers instead is a StorageError that names the place and the remedy."""
    try:
        yield
    except (DBAPIError, PoolTimeout) as error:
        reason = str(error.orig if isinstance(error, DBAPIError) else error).strip().partition("\n")[0]
        password = engine.url.password
        if password:
            reason = reason.replace(str(password), "***")
        remedy = next((text for sign, text in _REMEDIES.items() if sign in reason.lower()), _ELSE)
        raise StorageError(f"{place}: {reason}. {remedy}") from error
