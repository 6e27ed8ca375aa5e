"""What a session may be called, and how the folder is called that holds what is kept of it."""

from __future__ import annotations

import re
from hashlib import sha256
from unicodedata import category

from compact.errors import InvalidInput

LONGEST_ID = 256
_REMEDY = f"Use 1 to {LONGEST_ID} characters, none of them a control character or the end of a line."
_UNWRITABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Kinds of characters that an id has none of: control characters, halves of characters, ends of lines."""

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_ESCAPE = re.compile(rb"%([0-9A-F]{2})")
_LONGEST_NAME, _BEGINNING, _DIGEST = 200, 150, 40
_CUT = re.compile(rf".{{1,{_BEGINNING}}}%-[0-9a-f]{{{_DIGEST}}}")


def check_session_id(session: object) -> str:
    """The id itself; InvalidInput where it is none."""
    if (
        not isinstance(session, str)
        or not 0 < len(session) <= LONGEST_ID
        or not _UNWRITABLE.isdisjoint(_kinds(session))
    ):
        raise InvalidInput(f"{_shown(session)} is no session id", field="session_id", remedy=_REMEDY)
    return session


def is_plain(session: str) -> bool:
    """Whether the id can be the name of a file on every system as it is."""
    return bool(_PLAIN.fullmatch(session)) and not _DEVICE.fullmatch(session) and not session.endswith(".")


def file_name(session: str) -> str:
    """The name of what is kept of the session: the id where that is plain, else escaped as in an address.

    No two ids have the same name. One that would be too long is cut, and ends in a digest of the id.
    """
    if is_plain(session):
        return session
    name = "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in session.encode())
    if name[0] in "._-" or _DEVICE.fullmatch(name):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name.endswith("."):
        name = f"{name[:-1]}%2E"
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:_BEGINNING]}%-{sha256(session.encode()).hexdigest()[:_DIGEST]}"


def session_of(name: str) -> str | None:
    """The id whose file name that is; the name itself where the id was cut; None where it is no session's."""
    if _CUT.fullmatch(name):
        return name
    raw = _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()), name.encode("utf-8", "replace"))
    session = raw.decode(errors="replace")
    try:
        return session if file_name(check_session_id(session)) == name else None
    except InvalidInput:
        return None


def _kinds(text: str) -> set[str]:
    return set(map(category, text))


def _shown(value: object) -> str:
    if not isinstance(value, str):
        return f"a value of type {type(value).__name__}"
    return ascii(value) if len(value) <= 80 else f"{value[:77]!a}..."
