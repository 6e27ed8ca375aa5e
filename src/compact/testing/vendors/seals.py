"""Opaque strings that only the vendor can read: signatures and encrypted reasoning.

They carry their contents with them, so a fake vendor recognises its own without remembering them, even after a restart.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from hashlib import blake2b
from typing import Final

from compact.messages import Json

DIGEST: Final = 12
# Known to everyone who reads this: it tells what was edited by mistake, not what was forged.
_KEY: Final = b"the fake vendors' seal"


def digest(*parts: bytes) -> bytes:
    """A short hash of the parts, told apart."""
    found = blake2b(digest_size=DIGEST)
    for part in parts:
        found.update(len(part).to_bytes(8, "big") + part)
    return found.digest()


def seal(*digests: bytes) -> str:
    """The digests in a string that cannot be edited unnoticed."""
    content = b"".join(digests)
    return b64encode(_mac(content) + content).decode()


def unseal(text: Json) -> tuple[bytes, ...] | None:
    """The digests of a seal; None where it is none, or was edited."""
    try:
        data = b64decode(text, validate=True) if isinstance(text, str) else b""
    except (Error, ValueError):
        return None
    mac, content = data[:DIGEST], data[DIGEST:]
    if len(mac) < DIGEST or len(content) % DIGEST or mac != _mac(content):
        return None
    return tuple(content[start : start + DIGEST] for start in range(0, len(content), DIGEST))


def _mac(content: bytes) -> bytes:
    return blake2b(content, digest_size=DIGEST, key=_KEY).digest()
