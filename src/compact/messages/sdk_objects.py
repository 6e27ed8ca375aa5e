"""Messages as clients' libraries give them: objects with `model_dump`, such as `response.choices[0].message`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compact.errors import InvalidConversation

_DEEPEST = 16
"""Levels of lists and objects that are looked through: content in a result in a message in a request has less."""
_LEAVES = frozenset((str, int, float, bool, type(None)))


def dump_objects(value: Any, depth: int = _DEEPEST) -> Any:
    """The value with each object dumped as its library sends it; the very value where there are none.

    Fields that were not set are left out, so that nothing is sent back that the vendor never gave.
    """
    kind = type(value)
    if kind in _LEAVES or not depth:
        return value
    if kind is dict:
        changed = {}
        for key, item in value.items():
            if type(item) not in _LEAVES and (dumped := dump_objects(item, depth - 1)) is not item:
                changed[key] = dumped
        return {**value, **changed} if changed else value
    if kind is list:
        items = [item if type(item) in _LEAVES else dump_objects(item, depth - 1) for item in value]
        return value if all(map(_same, items, value)) else items
    if callable(getattr(value, "model_dump", None)):
        return _dump(value)
    if isinstance(value, Mapping):
        return {key: dump_objects(item, depth - 1) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [dump_objects(item, depth - 1) for item in value]
    return value


def _same(one: object, other: object) -> bool:
    return one is other


def _dump(value: Any) -> Any:
    try:
        # As OpenAI's and Anthropic's libraries do it; Google's writes its names in camel case, which are aliases.
        return value.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude=getattr(value, "__api_exclude__", None)
        )
    except Exception as error:
        raise InvalidConversation(
            f"a {type(value).__name__} cannot be dumped: {error}",
            field="messages",
            remedy="Pass the message as a dict, as it is sent.",
        ) from error
