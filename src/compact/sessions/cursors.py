"""Where a page of sessions ended, so that the next one goes on there whatever happens to the sessions meanwhile."""

from __future__ import annotations

import re

from compact.ports.sessions import StoredSession

_BETWEEN = "|"
_CURSOR = re.compile(r"(\d{4}-\d\d-\d\dT[^|]*)\|(.+)", re.DOTALL)


def cursor_of(session: StoredSession) -> str:
    """What to pass as `after` for the sessions below this one, as the list stood when it was read.

    The session may be changed, which moves it to the top, or deleted: the place stays.
    """
    return f"{session.updated}{_BETWEEN}{session.id}"


def place_of(cursor: str) -> tuple[str, str] | None:
    """When the session at that place had been changed, and its id; None where the text is not of `cursor_of`."""
    found = _CURSOR.fullmatch(cursor)
    return (found[1], found[2]) if found else None
