"""Reading and replacing values inside JSON, without touching the rest.

`with_value` and `without` copy only the containers on the way and share everything else. `splice` does the same inside
a JSON *string* (tool-call arguments as OpenAI sends them), where the text around the value must stay byte for byte.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping

from compact.errors import EditError
from compact.messages.blocks import Json, Path, ToolCall

_decoder = json.JSONDecoder()
_ENCODERS = tuple(json.JSONEncoder(ensure_ascii=ascii_only).encode for ascii_only in (False, True))
_WHITESPACE = " \t\n\r"


def value_at(value: Json, path: Path) -> Json:
    """The value that `path` leads to; EditError where it leads nowhere."""
    for step in path:
        if step not in _steps(value):
            raise EditError(f"nothing stands at {describe(path)}")
        value = value[step]
    return value


def with_value(value: Json, path: Path, new: Json) -> Json:
    """A copy of `value` with `new` at `path`."""
    if not path:
        return new
    outermost: list[Json] = [value]
    container: Json = outermost
    last: str | int = 0
    for step in path:
        if step not in _steps(value):
            raise EditError(f"nothing stands at {describe(path)}")
        copy = container[last] = value.copy()
        container, last, value = copy, step, value[step]
    container[last] = new
    return outermost[0]


def with_values(value: Json, news: Mapping[Path, Json]) -> Json:
    """The same for several values that stand there, none of which holds another."""
    if () in news:
        return news[()]
    inner: defaultdict[str | int, dict[Path, Json]] = defaultdict(dict)
    for path, new in news.items():
        inner[path[0]][path[1:]] = new
    copy = value.copy()
    for step, rest in inner.items():
        copy[step] = with_values(value[step], rest)
    return copy


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
    return splice_all(literal, {path: new})


def splice_all(literal: str, news: Mapping[Path, Json]) -> str:
    """The same for several values, none of which holds another; the text is read once for all of them."""
    pieces: list[str] = []
    done = 0
    for start, path in sorted((start, path) for path, start in _starts(literal, news).items()):
        value, end = _value(literal, start, path)
        pieces += (literal[done:start], _encoder(value, literal[start:end], path)(news[path]))
        done = end
    return "".join((*pieces, literal[done:]))


def _encoder(value: Json, written: str, path: Path) -> Callable[[Json], str]:
    """What writes the value the way it is written."""
    for encode in _ENCODERS:
        if encode(value) == written:
            return encode
    raise EditError(f"the value at {describe(path)} is written in a way that cannot be reproduced")


def spell(call: ToolCall, news: Mapping[Path, Json]) -> str:
    """The encoded arguments of a call with values replaced, as `splice_all` gives them.

    What is written plainly is written again: that is faster than looking for the places.
    """
    encode = call.plainly
    return splice_all(call.raw, news) if encode is None else encode(with_values(call.arguments, news))


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


def _starts(literal: str, paths: Iterable[Path]) -> dict[Path, int]:
    """Where the values at these paths begin; each container on the way is read once."""
    starts: dict[Path, int] = {(): _skip(literal, 0)}
    members: dict[Path, dict[str | int, int]] = {}
    for path in paths:
        for depth, step in enumerate(path):
            way = path[:depth]
            try:
                if way not in members:
                    members[way] = _members(literal, starts[way], step)
                starts[path[: depth + 1]] = members[way][step]
            except (ValueError, IndexError, KeyError, RecursionError):
                raise _nothing(path) from None
    return {path: starts[path] for path in paths}


def _value(literal: str, start: int, path: Path) -> tuple[Json, int]:
    """The value that begins there, and where it ends."""
    try:
        return _decoder.raw_decode(literal, start)
    except (ValueError, RecursionError):
        raise _nothing(path) from None


def _nothing(path: Path) -> EditError:
    return EditError(f"nothing stands at {describe(path)} of the encoded arguments")


def _steps(value: Json) -> Container[object]:
    """The steps that lead from a value to those in it."""
    if isinstance(value, dict):
        return value
    return range(len(value)) if isinstance(value, list) else ()


def _members(literal: str, at: int, step: str | int) -> dict[str | int, int]:
    """Where the members of the object or array that begins at `at` begin; `step` says which of the two it should be."""
    opening = "[" if isinstance(step, int) else "{"
    if literal[at] != opening:
        raise ValueError(step)
    at = _skip(literal, at + 1)
    found: dict[str | int, int] = {}
    while literal[at] not in "]}":
        key: str | int = len(found)
        if opening == "{":
            key, at = _decoder.raw_decode(literal, at)
            at = _skip(literal, _skip(literal, at) + 1)
        found[key] = at  # with duplicate keys the last one counts, as in json.loads
        _, at = _decoder.raw_decode(literal, at)
        at = _skip(literal, at)
        if literal[at] == ",":
            at = _skip(literal, at + 1)
    return found


def _skip(literal: str, at: int) -> int:
    while at < len(literal) and literal[at] in _WHITESPACE:
        at += 1
    return at
