"""The walk over JSON: strings below sensitive names, and strings that are JSON themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compact.messages import Json
from compact.redaction.keys import SECRET
from compact.redaction.scan import MARK

DEPTH = 8
"""How many times JSON within a JSON string is walked."""

_NESTING = 100  # deeper values do not occur by nature
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_SAMPLES = frozenset({"default", "const", "example", "examples", "enum"})
_MANIFEST, _VALUES, _NONE = frozenset({"data", "stringData"}), frozenset({"value", "Value"}), frozenset[str]()
_TELLING = frozenset({"kind", "value", "Value"})  # without one of these names no field is told by what is beside it
_SHORTEST_NAME = 20  # a shorter one holds no secret itself
_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_ENDS = {"{": "}", "[": "]", '"': '"'}
_STARTS = frozenset(_ENDS)
_NESTED = (dict, list, tuple)
_SHORTEST_TOKEN = 20
_SHORTEST_DOUBTFUL, _LONGEST_DOUBTFUL = 4, 512


@dataclass(frozen=True, slots=True)
class Walk:
    """Redacts JSON values by the names of their fields, and every other string as text."""

    judge: Callable[[object], int]
    """How sure a name is that a secret follows: SECRET, DOUBTFUL or 0."""
    redact: Callable[[str], str]
    replace: Callable[[str], str] = lambda _: MARK
    """What stands in place of a string below a sensitive name."""
    words: bool = True
    """Whether single words are looked at too. Most strings of a message are words such as "tool_use"."""

    def value(self, value: Json, depth: int = DEPTH) -> Json:
        """A redacted copy, or the value itself if it holds no secret."""
        return self._value(value, depth, _NESTING, below=False)

    def string(self, text: str, depth: int = DEPTH) -> str:
        """A string, walked if it is JSON itself, else redacted as text."""
        if not self.words and len(text) < _SHORTEST_TOKEN and text.isidentifier() and text.isascii():
            return text
        first = text[:1]
        if not depth or (first not in _STARTS and not first.isspace()):
            return self.redact(text)
        inner = text.strip()
        if not inner or _ENDS.get(inner[0]) != inner[-1]:
            return self.redact(text)
        try:
            value = json.loads(inner, object_pairs_hook=_every_field)
        except (ValueError, RecursionError):
            return self.redact(text)
        redacted = self.value(value, depth - 1)
        return text if redacted is value else _spliced(text, value, redacted)

    def _value(self, value: Json, depth: int, nesting: int, *, below: bool) -> Json:
        if isinstance(value, str):
            if below:
                return self.replace(value) if value.strip() and value != MARK else value
            return self.string(value, depth)
        if not isinstance(value, _NESTED):
            return value
        if not nesting:
            return MARK
        if isinstance(value, dict):
            return self._object(value, depth, nesting - 1, below=below)
        return self._array(value, depth, nesting - 1, below=below)

    def _object(self, value: dict[Json, Json], depth: int, nesting: int, *, below: bool) -> dict[Json, Json]:
        secrets = self._secret_fields(value) if not _TELLING.isdisjoint(value) else _NONE
        if below and _is_schema(value):
            below, secrets = False, _SAMPLES
        judge, string = self.judge, self.string
        changes: dict[Json, Json] = {}
        names: dict[Json, str] = {}
        for key, item in value.items():
            sure = judge(key)
            secret = below or sure == SECRET or key in secrets
            if type(item) is str and not secret:  # by far the most usual
                new: Json = string(item, depth)
                if sure and new is item and self._is_secret(key, item):
                    new = self.replace(item)
            else:
                new = self._value(item, depth, nesting, below=secret)
            if new is not item:
                changes[key] = new
            if type(key) is str and len(key) >= _SHORTEST_NAME and (name := self.redact(key)) is not key:
                names[key] = name
        if names:
            return _renamed({**value, **changes}, names)
        return {**value, **changes} if changes else value

    def _is_secret(self, name: Json, value: str) -> bool:
        """True if a string is a secret where it stands behind the name in a text."""
        if not _SHORTEST_DOUBTFUL <= len(value) <= _LONGEST_DOUBTFUL or MARK in value:
            return False
        field = f'"{name}": {json.dumps(value, ensure_ascii=False)}'
        return self.redact(field) is not field

    def _array(self, value: list[Json] | tuple[Json, ...], depth: int, nesting: int, *, below: bool) -> Json:
        copy, secret, changed = [], below, False
        for item in value:
            new = self._value(item, depth, nesting, below=secret)
            copy.append(new)
            changed = changed or new is not item
            # A command as a list: ["mysql", "--password", "…"].
            secret = below or (type(item) is str and _OPTION.fullmatch(item) is not None and self.judge(item) == SECRET)
        if not changed:
            return value
        return copy if isinstance(value, list) else tuple(copy)

    def _secret_fields(self, value: dict[Json, Json]) -> frozenset[str]:
        """The fields that are sensitive by what stands beside them."""
        if value.get("kind") == "Secret":
            return _MANIFEST
        if "value" in value or "Value" in value:
            names = (value.get(key) for key in ("name", "key", "Name", "Key"))
            if any(isinstance(name, str) and self.judge(name) == SECRET for name in names):
                return _VALUES
        return _NONE


class _Again(str):
    """A name that an object has already; equal to no other."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def _every_field(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """The object of these fields, all of them where a name occurs twice."""
    value = dict(pairs)
    if len(value) < len(pairs):
        value.clear()
        for name, item in pairs:
            value[_Again(name) if name in value else name] = item
    return value


def _renamed(value: dict[Json, Json], names: dict[Json, str]) -> dict[Json, Json]:
    """The same object with other names, each still different from the rest."""
    copy: dict[Json, Json] = {}
    for key, item in value.items():
        if key not in names:
            copy[key] = item
            continue
        name = names[key]
        while name in copy or name in value:
            name += "+"
        copy[name] = item
    return copy


def _is_schema(value: dict[Json, Json]) -> bool:
    """A JSON Schema's description of a secret, as tools' definitions hold it, is none itself."""
    kind = value.get("type")
    return (isinstance(kind, str) and kind in _TYPES) or "anyOf" in value or "$ref" in value


def _spliced(text: str, value: Json, redacted: Json) -> str:
    """The JSON text with only the changed strings written anew, so that all else keeps its bytes."""
    literals = list(_LITERAL.finditer(text))
    old, new = list(_strings(value)), list(_strings(redacted))
    pieces, end = [], 0
    for literal, before, after in zip(literals, old, new, strict=True):
        if after is not before:
            pieces += [text[end : literal.start()], json.dumps(after, ensure_ascii=literal[0].isascii())]
            end = literal.end()
    return "".join([*pieces, text[end:]])


def _strings(value: Json) -> Iterator[str]:
    """Every string of a value, names too, in the order of its text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
