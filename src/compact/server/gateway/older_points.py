"""Points by which earlier versions named the beginning of a conversation, as they stand in files that were kept.

A point is named after how many messages there are, a digest of the first and the last two, and a checksum of them all.
"""

from __future__ import annotations

import marshal
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Final
from zlib import crc32

from compact.messages import Json

_NO_REFERENCES: Final = 2  # the version of marshal's format that has none between its objects
_HEADER: Final = 5  # bytes that tell of a list, and of its length
_MARK: Final = "cache_control"
_ALONE: Final = {"type", "text", _MARK}


def length_of(point: str) -> int:
    """How many messages a point is about."""
    count, _, digest = point.partition(":")
    return int(count) if digest else 0


def older_points(scope: str, messages: Sequence[Json], lengths: Collection[int]) -> Iterator[tuple[int, str]]:
    """The points of so many of the first messages, the longest first, each with its length."""
    plain = [_plain(message) for message in messages]
    ends = sorted(length for length in lengths if 0 < length <= len(plain))
    checksum, sums = 0, []
    for start, end in pairwise((0, *ends)):
        checksum = crc32(_written(plain[start:end]), checksum)
        sums.append((end, checksum))
    opening = sha256(scope.encode("utf-8", "surrogatepass") + _written(plain[:1]))
    for length, checksum in reversed(sums):
        hasher = opening.copy()
        hasher.update(_written(plain[max(1, length - 2) : length]))
        yield length, f"{length}:{checksum:08x}{hasher.hexdigest()}"


def _plain(message: Json) -> Json:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list) and len(content) == 1 and isinstance(block := content[0], dict):
        text = block.get("text")
        if isinstance(text, str) and block.get("type") == "text" and block.keys() <= _ALONE:
            message = {**message, "content": text}
    return _unmarked(message)


def _unmarked(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key != _MARK}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _written(messages: list[Json]) -> bytes:
    return marshal.dumps(messages, _NO_REFERENCES)[_HEADER:]
