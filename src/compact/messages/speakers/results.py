"""What a tool printed, without what the program that ran it put around that: a view, for reading only.

The forms are in the data file beside this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from compact.messages.blocks import Json, ToolCall
from compact.messages.speakers.known import load

FAILED = 255
"""Stands for an exit code of which only is known that it is not 0."""
_FLAGS = re.VERBOSE | re.DOTALL
_NEAR_END = 3_000
_DEEPEST = 4
_LONGEST_JSON = 400_000
_NO_VALUE = ("", "(none)", "(empty)")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\n|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


@dataclass(frozen=True, slots=True)
class Printed:
    """What was printed, and the exit code if one is given; what is `running` goes on in the background.

    `query` is what a wrapper says that it answers.
    """

    text: str
    status: int | None = None
    running: bool = False
    query: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """What a script that calls tools has in it: the commands that it runs, and the patches that it applies."""

    commands: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Frame:
    """What a program writes before and behind an output; `status` is the exit code where that names none."""

    starts: tuple[str, ...]
    ends: tuple[str, ...]
    before: re.Pattern[str] | None
    after: re.Pattern[str] | None
    status: int | None

    def unwrap(self, text: str) -> Printed | None:
        """What stands within the frame; None where the text has none."""
        near_end = max(len(text) - _NEAR_END, 0)
        if not text.startswith(self.starts) and not any(end in text[near_end:] for end in self.ends):
            return None
        first = self.before.match(text) if self.before else None
        begin = first.end() if first else 0
        last = self.after.search(text, max(begin, near_end)) if self.after else None
        if (self.before and not first) or (self.after and not last):
            return None
        said = {key: value for found in (first, last) if found for key, value in found.groupdict().items()}
        told = {key: value for key, value in said.items() if value and value not in _NO_VALUE}
        inside = text[begin : last.start() if last else None]
        status = told.get("status") or told.get("ended")
        failed = FAILED if "failed" in told or "error" in told else self.status
        texts = [inside, told.get("more", ""), told.get("error", "")]
        shown = "\n".join(each for each in texts if each.strip() not in _NO_VALUE)
        return Printed(shown, int(status) if status else failed, "running" in told)


@dataclass(frozen=True, slots=True)
class _Object:
    """The fields of JSON that wraps an output."""

    list: bool
    needs: frozenset[str]
    any: tuple[str, ...]
    output: tuple[str, ...]
    status: tuple[str, ...]
    success: str
    error: str
    query: str

    def unwrap(self, value: Json) -> Iterator[Printed]:
        """What the objects hold; nothing where one of them has other fields."""
        entries = value if self.list and isinstance(value, list) else [value]
        if isinstance(value, list) is self.list and all(map(self._fits, entries)):
            yield from map(self._read, entries)

    def _fits(self, entry: Json) -> bool:
        if not isinstance(entry, dict) or not self.needs <= entry.keys():
            return False
        coded = not self.any or self._status(entry) is not None
        return coded and any(_is_text(entry[key]) for key in self.output if key in entry)

    def _status(self, entry: dict[str, Any]) -> int | None:
        places = [entry, *(inner for inner in entry.values() if isinstance(inner, dict))]
        codes = (place.get(key) for place in places for key in self.status)
        return next((code for code in codes if isinstance(code, int) and not isinstance(code, bool)), None)

    def _read(self, entry: dict[str, Any]) -> Printed:
        texts = [_text_of(entry[key]) for key in (*self.output, self.error) if key and key in entry]
        status = self._status(entry)
        if status is None and isinstance(done := entry.get(self.success), bool):
            status = 0 if done else FAILED
        return Printed("\n".join(filter(None, texts)), status, query=str(entry.get(self.query, "")))


@dataclass(frozen=True, slots=True)
class _Wrappers:
    frames: tuple[_Frame, ...]
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    objects: tuple[_Object, ...]
    keys: tuple[str, ...]
    """One of these stands in any JSON that is a wrapper."""
    scripts: dict[str, re.Pattern[str]]


@cache
def _known() -> _Wrappers:
    data = load("results.toml")
    frames = tuple(map(_frame, data["frame"]))
    objects = tuple(map(_object, data["object"]))
    return _Wrappers(
        frames,
        tuple(start for frame in frames for start in frame.starts),
        tuple(end for frame in frames for end in frame.ends),
        objects,
        tuple(f'"{key}"' for each in objects for key in (*each.needs, *each.any)),
        {entry["tool"]: re.compile(entry["calls"], _FLAGS) for entry in data["script"]},
    )


def _frame(entry: dict[str, Any]) -> _Frame:
    before, after = (re.compile(entry[key], _FLAGS) if key in entry else None for key in ("before", "after"))
    return _Frame(tuple(entry.get("starts", ())), tuple(entry.get("ends", ())), before, after, entry.get("status"))


def _object(entry: dict[str, Any]) -> _Object:
    needs, any_, output, status = (tuple(entry.get(key, ())) for key in ("needs", "any", "output", "status"))
    success, error, query = (entry.get(key, "") for key in ("success", "error", "query"))
    return _Object(entry.get("list", False), frozenset(needs), any_, output, status, success, error, query)


def unwrap(text: str) -> tuple[Printed, ...]:
    """What a tool's result says without its wrappers: one entry, or as many as the wrapper says it answers."""
    return tuple(_opened(Printed(text), _DEEPEST))


def together(parts: Sequence[Printed]) -> Printed:
    """Several as one: its exit code is the worst of theirs, where each has one."""
    if len(parts) == 1:
        return parts[0]
    codes = [part.status for part in parts if part.status is not None]
    status = max(codes, key=abs) if len(codes) == len(parts) else None
    return Printed("\n".join(part.text for part in parts), status, any(part.running for part in parts))


def _opened(printed: Printed, depth: int) -> Iterator[Printed]:
    inside = list(_within(printed.text)) if depth else []
    if not inside:
        yield printed
    for each in inside:
        status = printed.status if each.status is None else each.status
        running, query = printed.running or each.running, printed.query or each.query
        yield from _opened(replace(each, status=status, running=running, query=query), depth - 1)


def _within(text: str) -> Iterator[Printed]:
    known = _known()
    bare = text.lstrip() if text[:1].isspace() else text
    if bare.startswith(("{", "[{")) and bare.rstrip().endswith(("}", "}]")):
        yield from _in_json(bare, known)
    elif bare.startswith(known.starts) or any(end in text[-_NEAR_END:] for end in known.ends):
        found = (frame.unwrap(bare) for frame in known.frames)
        yield from (each for each in [next(filter(None, found), None)] if each is not None)


def _in_json(text: str, known: _Wrappers) -> Iterator[Printed]:
    if len(text) > _LONGEST_JSON or not any(key in text for key in known.keys):
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    yield from next(filter(None, (list(each.unwrap(value)) for each in known.objects)), [])


def _is_text(value: Json) -> bool:
    return isinstance(value, str | list)


def _text_of(value: Json) -> str:
    """A text, or those of a list of parts."""
    if isinstance(value, list):
        return "\n".join(part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str))
    return value if isinstance(value, str) else ""


def script_in(call: ToolCall) -> Script:
    """The commands and patches in a script that calls tools; none where the call is anything else."""
    pattern = _known().scripts.get(call.name)
    if pattern is None or not isinstance(call.raw, str | dict):
        return Script()
    source = call.raw if isinstance(call.raw, str) else next(iter(call.raw.values()), "")
    found = list(pattern.finditer(source)) if isinstance(source, str) else []
    commands = (_unquoted(each["command"]) for each in found if each["command"])
    return Script(tuple(commands), tuple(_unquoted(each["patch"]) for each in found if each["patch"]))


def _unquoted(literal: str) -> str:
    """The text that a string in a script stands for."""
    return _ESCAPE.sub(_unescaped, literal[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    sign = found[1]
    return chr(int(sign[1:], 16)) if len(sign) > 1 else _ESCAPES.get(sign, sign)
