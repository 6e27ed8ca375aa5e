"""Reading and replacing values inside JSON, without touching the rest.

`with_value` and `without` copy only the containers on the way and share everything else. `splice` does the same inside
a JSON *string* (tool-call arguments as OpenAI sends them), where the text around the value must stay byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from compact.errors import EditError
from compact.messages.blocks import Json, Path, ToolCall

_decoder = json.JSONDecoder()
_ENCODERS = tuple(json.JSONEncoder(ensure_ascii=ascii_only).encode for ascii_only in (False, True))
_WHITESPACE = " \t\n\r"


def value_at(value: Json, path: Path) -> Json:
    """The value that `path` leads to; EditError where it leads nowhere."""
    for step in path:
        known: Container[object] = value if isinstance(value, dict) else ()
        if isinstance(value, list):
            known = range(len(value))
        if step not in known:
            raise EditError(f"nothing stands at {describe(path)}")
        value = value[step]
    return value


def with_value(value: Json, path: Path, new: Json) -> Json:
    """A copy of `value` with `new` at `path`."""
    if not path:
        return new
    value_at(value, path)
    return _copy_along(value, path, new)


def without(value: Json, path: Path) -> Json:
    """A copy of `value` with the item or key at `path` removed."""
    *way, last = path
    container = value_at(value, tuple(way))
    value_at(container, (last,))
    if isinstance(container, list):
        shorter: Json = [item for index, item in enumerate(container) if index != last]
    else:
        shorter = {key: item for key, item in container.items() if key != last}
    return with_value(value, tuple(way), shorter)


def splice(literal: str, path: Path, new: Json) -> str:
    """The JSON text `literal` with the value at `path` replaced, every other character kept.

    Refused (EditError) where re-encoding the old value does not give the text that stands there: what was written in
    a way of its own could not be written again from the value alone.
    """
    start, end, value = _find(literal, path)
    old = literal[start:end]
    for encode in _ENCODERS:
        if encode(value) == old:
            return literal[:start] + encode(new) + literal[end:]
    raise EditError(f"the value at {describe(path)} is written in a way that cannot be reproduced")


def locate(literal: str, path: Path) -> tuple[int, int]:
    """Where in the JSON text the value at `path` begins and ends."""
    start, end, _ = _find(literal, path)
    return start, end


def can_splice(call: ToolCall, path: Path) -> bool:
    """Whether the string at `path` may be replaced: in encoded arguments, only one written as we would write it."""
    if call.regular:
        return True
    try:
        splice(call.raw, path, "")
    except EditError:
        return False
    return True


def describe(path: Path) -> str:
    """A path as people write it: `content[0].text`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "the value itself"


def _find(literal: str, path: Path) -> tuple[int, int, Json]:
    """Where the value at `path` begins and ends, and the value."""
    try:
        at = _skip(literal, 0)
        for step in path:
            at = _enter(literal, at, step)
        value, end = _decoder.raw_decode(literal, at)
    except (ValueError, IndexError, KeyError, RecursionError):
        raise EditError(f"nothing stands at {describe(path)} of the encoded arguments") from None
    return at, end, value


def _copy_along(value: Any, path: Path, new: Json) -> Json:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = _copy_along(value[path[0]], path[1:], new)
    return copy


def _enter(literal: str, at: int, step: str | int) -> int:
    """Where the member `step` of the object or array that begins at `at` begins."""
    opening = "[" if isinstance(step, int) else "{"
    if literal[at] != opening:
        raise ValueError(step)
    at = _skip(literal, at + 1)
    found = -1
    position = 0
    while literal[at] not in "]}":
        key: str | int = position
        if opening == "{":
            key, at = _decoder.raw_decode(literal, at)
            at = _skip(literal, _skip(literal, at) + 1)
        if key == step:
            found = at  # with duplicate keys the last one counts, as in json.loads
            if opening == "[":
                return found
        _, at = _decoder.raw_decode(literal, at)
        at = _skip(literal, at)
        if literal[at] == ",":
            at = _skip(literal, at + 1)
        position += 1
    if found < 0:
        raise KeyError(step)
    return found


def _skip(literal: str, at: int) -> int:
    while at < len(literal) and literal[at] in _WHITESPACE:
        at += 1
    return at
