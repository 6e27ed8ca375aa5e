"""The form of a message in which two are the same.

Clients move cache marks along to their newest message, and write a text as a string or as a list of one block. Neither
changes what the model reads. Messages are only compared in this form; what is sent keeps the client's own.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from hashlib import sha256
from typing import Final

from compact.messages import Json

_CACHE_MARK: Final = "cache_control"
_LONE_TEXT: Final = frozenset({"type", "text"})
_VERSION: Final = b"k1"
"""Keys of another form of messages begin differently, so that they never meet these."""
_KEY_BYTES: Final = 16


def identify_blocks(wire: Json) -> Json:
    """The message without cache marks, with a text that is alone in a list as a string.

    For formats whose messages have a `content` of blocks. The input of a tool is never looked into.
    """
    return join_lone_text(without_cache_marks(wire))


def without_cache_marks(wire: Json) -> Json:
    """The message without cache marks on itself, its blocks, and the blocks of results; itself where it has none."""
    if not isinstance(wire, dict):
        return wire
    plain = _unmarked(wire)
    content = plain.get("content")
    if not isinstance(content, list):
        return plain
    blocks = [_unmarked_block(block) for block in content]
    return {**plain, "content": blocks} if _changed(blocks, content) else plain


def with_cache_marks(wire: Json, marked: Json) -> Json:
    """The message with the cache marks of another one, in the same places as far as it has them."""
    if not (isinstance(wire, dict) and isinstance(marked, dict)):
        return wire
    changes = {_CACHE_MARK: marked[_CACHE_MARK]} if _CACHE_MARK in marked else {}
    blocks, others = wire.get("content"), marked.get("content")
    if isinstance(blocks, list) and isinstance(others, list) and len(blocks) == len(others):
        again = [with_cache_marks(block, other) for block, other in zip(blocks, others, strict=True)]
        changes |= {"content": again} if _changed(again, blocks) else {}
    return {**wire, **changes} if changes else wire


def join_lone_text(wire: Json, key: str = "content", kinds: Collection[str] = ("text",)) -> Json:
    """The message with a content that is one block of text, and no more, as a string; so with the results in it."""
    if not isinstance(wire, dict) or not isinstance(content := wire.get(key), list):
        return wire
    joined = [join_lone_text(block) if _is_result(block) else block for block in content]
    only = joined[0] if len(joined) == 1 else None
    if isinstance(only, dict) and only.keys() == _LONE_TEXT and only["type"] in kinds and isinstance(only["text"], str):
        return {**wire, key: only["text"]}
    return {**wire, key: joined} if _changed(joined, content) else wire


def key_of(identity: Json) -> bytes:
    """A short name of a message, by its identity: the same on every machine, whatever the order of its keys."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return sha256(_VERSION + text.encode()).digest()[:_KEY_BYTES]


def _unmarked_block(block: Json) -> Json:
    if not isinstance(block, dict):
        return block
    # Only results hold blocks of their own: what stands in the input of a call is said by the model.
    return without_cache_marks(block) if _is_result(block) else _unmarked(block)


def _unmarked(value: dict[str, Json]) -> dict[str, Json]:
    if _CACHE_MARK not in value:
        return value
    return {key: item for key, item in value.items() if key != _CACHE_MARK}


def _is_result(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _changed(after: list[Json], before: list[Json]) -> bool:
    return any(new is not old for new, old in zip(after, before, strict=True))
