"""Spans made to fit where there is a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from heapq import nlargest
from typing import Any, Final

from compact.messages import Json
from compact.ports.spans import Span

KEPT: Final = 256
"""Characters that even the longest text keeps."""
_ROUNDS: Final = 4
_MARK: Final = "… [{} characters cut]"


def write_within(limit: int, span: Span, write: Callable[[Span], bytes]) -> bytes:
    """The span in at most so many bytes, its longest texts cut for that; where that cannot be, with only a note."""
    written = write(span)
    if len(written) <= limit:
        return written
    data = deepcopy(dict(span.data))
    for _ in range(_ROUNDS):
        _cut(data, len(written) - limit)
        written = write(replace(span, data=data))
        if len(written) <= limit:
            return written
    return write(replace(span, data={"truncated": "the data was too large to be sent"}))


def _cut(data: dict[str, Json], over: int) -> None:
    """Take at least so many characters out of the longest texts, as far as they have them."""
    places = [place for place in _texts(data) if len(place[0][place[1]]) > KEPT]
    for container, key in nlargest(len(places), places, key=lambda place: len(place[0][place[1]])):
        text: str = container[key]
        keep = max(KEPT, len(text) - over - len(_MARK) - 8)
        container[key] = text[:keep] + _MARK.format(len(text) - keep)
        over -= len(text) - len(container[key])
        if over <= 0:
            return


def _texts(value: Json) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        if isinstance(item, str):
            yield value, key
        else:
            yield from _texts(item)
