"""Which names a session may have: those that are a plain file name on every system."""

from __future__ import annotations

import re

from compact.errors import InvalidInput

_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_REMEDY = "Use 1 to 128 letters, digits, dots, hyphens and underscores, the first of them a letter or digit."


def check_session_id(session: object) -> str:
    """The id itself; InvalidInput where it is none that could be the name of a folder."""
    if not isinstance(session, str) or not _VALID.fullmatch(session):
        raise InvalidInput(f"{_shown(session)} is no session id", field="session_id", remedy=_REMEDY)
    if _DEVICE.fullmatch(session) or session.endswith("."):
        problem = f"{session!r} means something else on Windows"
        raise InvalidInput(problem, field="session_id", remedy="Choose another one.")
    return session


def _shown(value: object) -> str:
    if not isinstance(value, str):
        return f"a value of type {type(value).__name__}"
    return ascii(value) if len(value) <= 80 else f"{value[:77]!a}..."
