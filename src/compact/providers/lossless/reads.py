"""Which lines of which file a call reads or writes, and what else it was called with."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from compact.facts import command_in
from compact.messages import Json, ToolCall
from compact.providers.lossless.commands import Command, is_absolute

_COMMANDS = ("command", "cmd")
_READS = re.compile(r"(?i)(?:^|[_.-])(?:read|view|open|cat|get)(?:[_.-]?(?:file|text))?$|^(?:read|view)")
_WRITES = re.compile(r"(?i)(?:^|[_.-])(?:write|create)(?:[_.-]?file)?$")
_EDITS = re.compile(r"^(?:edit|create|goto|scroll_up|scroll_down)$")
_VIEW = "view"
_encode = json.JSONEncoder(sort_keys=True).encode
# Names of arguments, as they are in small letters without underscores.
_PATHS = frozenset(("filepath", "path", "filename", "file", "targetfile", "absolutepath", "notebookpath"))
_STARTS = frozenset(("offset", "startline", "start", "viewstart", "linestart", "fromline", "firstline"))
_LENGTHS = frozenset(("limit", "lines", "count", "numlines", "linecount", "maxlines", "length"))
_ENDS = frozenset(("endline", "end", "viewend", "lineend", "toline", "lastline"))
_SPANS = frozenset(("viewrange", "linerange", "range", "lines"))
_PAGES = frozenset(("pages", "page"))
_RANGES = _STARTS | _LENGTHS | _ENDS | _SPANS | _PAGES | {"head", "tail"}
_REMARKS = frozenset(("description", "explanation", "reason", "thought", "timeout", "timeoutms"))
_TELLING = _PATHS | {"command", "cmd", "pattern", "query", "url", "prompt"}
_ADDS = re.compile(r"(?i)append|prepend|insert|^(?:a|at|ab)\+?$")
_PAGED = re.compile(r"(\d{1,9})(?:\s?-\s?(\d{1,9}))?")
_ERASED = re.compile(r"\s*2>\s?/dev/null$")
_FILE = r"[^\s|;&<>$*?`'\"-][^\s|;&<>$*?`'\"]*"
_WHOLE = re.compile(rf"(?:cat(?: -n)?|nl(?: -ba| -b a)?) (?P<path>{_FILE})")
_HEAD = re.compile(rf"head (?:(?:-n ?|-)(?P<last>\d{{1,9}}) )?(?P<path>{_FILE})")
_PRINTED = re.compile(
    rf"(?:(?:cat(?: -n)?|nl(?: -ba| -b a)?) (?P<piped>{_FILE})\s*\|\s*)?"
    rf"sed -n ['\"]?(?P<first>\d{{1,9}}),(?P<last>\d{{1,9}})p['\"]?(?: (?P<path>{_FILE}))?"
)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines (or pages) of a file, inclusive; `file` also says all else that was asked for, if that can be said."""

    file: str
    first: float = 0
    last: float = inf

    @property
    def is_whole(self) -> bool:
        return self.first <= 1 and self.last == inf

    def cover(self, other: Lines) -> bool:
        """Whether no line of the other is missing."""
        return self.first <= other.first and other.last <= self.last


def essential(arguments: dict[str, Json]) -> dict[str, Json]:
    """The arguments without those that only remark on the call; all of them where nothing else tells what it does."""
    names = {key: _plain(key) for key in arguments}
    if _REMARKS.isdisjoint(names.values()) or _TELLING.isdisjoint(names.values()):
        return arguments
    return {key: value for key, value in arguments.items() if names[key] not in _REMARKS}


def canonical(arguments: Json) -> str:
    """The arguments as one text; nothing where they cannot be written."""
    try:
        return _encode(arguments)
    except (ValueError, TypeError, RecursionError):
        return ""


def shell_command(arguments: dict[str, Json]) -> tuple[str, str]:
    """Under which name a shell command is given, and the command; twice nothing where there is none."""
    name = next((name for name in _COMMANDS if name in arguments), "")
    typed = command_in(arguments.get(name))
    # An editor calls what it does a command, too.
    return ("", "") if typed is None or "path" in arguments else (name, typed)


def shows_file(call: ToolCall) -> bool:
    """Whether a call is answered with the numbered lines of a file; some editors show them, too."""
    arguments = call.arguments if isinstance(call.arguments, dict) else {}
    return _EDITS.match(call.name) is not None or (_reads(call.name, arguments) and _path_in(arguments) is not None)


def lines_read(call: ToolCall, arguments: dict[str, Json]) -> Lines | None:
    """What a call to a tool reads of a file, by its essential arguments; None where that cannot be told."""
    path = _path_in(arguments) if _reads(call.name, arguments) else None
    if path is None:
        return None
    ranges: dict[str, Json] = {}
    rest: dict[str, Json] = {}
    for key, value in arguments.items():
        if (name := _plain(key)) not in _RANGES:
            rest[key] = value
        elif value is not None:
            ranges[name] = value
    file = rest.pop(path)
    found = _range(ranges) if ranges else ("", 0, inf)
    return found and Lines(_file(call.name, rest, found[0] + file), found[1], found[2])


def lines_printed(call: ToolCall, arguments: dict[str, Json], command: Command) -> Lines | None:
    """What a shell command, given with these arguments, prints of a file; None where it does something else."""
    run = _ERASED.sub("", command.run) if command.run.endswith("null") else command.run
    found = _PRINTED.fullmatch(run) or _WHOLE.fullmatch(run) or _HEAD.fullmatch(run)
    if found is None or command.cut.side == "tail":
        return None
    groups = found.groupdict()
    path = (groups["path"] or groups.get("piped") or "").removeprefix("./")
    if not path or (groups.get("piped") and groups["path"]):
        return None
    first = float(groups.get("first") or 0)
    last = float(groups.get("last") or (10 if found.re is _HEAD else inf))
    if command.cut.side:
        last = min(last, max(first, 1) + command.cut.count - 1)
    rest = {key: value for key, value in arguments.items() if key not in _COMMANDS}
    if not is_absolute(path):
        path = f"{command.folder}/{path}" if command.folder else path
    return Lines(_file(call.name, rest, path), first, last)


def lines_written(call: ToolCall) -> Lines | None:
    """The file that a call writes in full; None where it only adds to one, or writes none."""
    arguments = call.arguments
    if not _is_writer(call.name) or not isinstance(arguments, dict) or not isinstance(arguments.get("content"), str):
        return None
    rest = {key: value for key, value in essential(arguments).items() if key != "content"}
    path = _path_in(rest)
    if path is None:
        return None
    file = rest.pop(path)
    return None if any(_adds(key, value) for key, value in rest.items()) else Lines(_file(call.name, rest, file))


def _adds(key: str, value: Json) -> bool:
    """Whether an argument says that something is added to what is there."""
    told = isinstance(value, str) and _ADDS.search(value)
    return bool(told or (value and (_ADDS.search(key) or _plain(key) in _RANGES)))


def _reads(name: str, arguments: dict[str, Json]) -> bool:
    return arguments.get("command") == _VIEW or _is_reader(name)


@lru_cache(maxsize=500)
def _is_reader(name: str) -> bool:
    return _READS.search(name) is not None


@lru_cache(maxsize=500)
def _is_writer(name: str) -> bool:
    return _WRITES.search(name) is not None


@lru_cache(maxsize=500)
def _plain(key: str) -> str:
    """The name of an argument, however it is written."""
    return key.replace("_", "").replace("-", "").lower()


def _path_in(arguments: dict[str, Json]) -> str | None:
    """Under which name a file is given."""
    return next(
        (key for key, value in arguments.items() if _plain(key) in _PATHS and value and isinstance(value, str)), None
    )


def _file(name: str, rest: dict[str, Json], path: str) -> str:
    """A file as it was asked for; tools on the same machine meet at one that is named in full."""
    if not rest and is_absolute(path) and "__" not in name and "." not in name:
        return path
    said = canonical(rest) if rest else "{}"
    return f"{name} {said} {path}" if said else ""


def _range(ranges: dict[str, Json]) -> tuple[str, float, float] | None:
    """In what is counted, from which to which; None where the arguments cannot be understood."""
    kinds = {name for name in ranges if name in _PAGES or name in ("head", "tail")}
    if kinds:
        kind, *others = ranges
        value = ranges[kind]
        if others:
            return None
        if kind in _PAGES:
            found = _PAGED.fullmatch(str(value))
            return ("pages ", float(found[1]), float(found[2] or found[1])) if found else None
        count = _number(value)
        return None if count is None else ("tail " if kind == "tail" else "", 0, count)
    return _span(ranges)


def _span(ranges: dict[str, Json]) -> tuple[str, float, float] | None:
    first, last, length = 0.0, inf, inf
    for name, value in ranges.items():
        if isinstance(value, list) and name in _SPANS and len(value) == 2:
            start, end = _number(value[0]), _number(value[1], end=True)
            if start is None or end is None:
                return None
            first, last = start, end
            continue
        number = _number(value, end=name in _ENDS)
        if number is None:
            return None
        if name in _STARTS:
            first = number
        elif name in _ENDS:
            last = number
        elif name in _LENGTHS:
            length = number
        else:
            return None
    return "", first, min(last, first + length - 1)


def _number(value: Json, *, end: bool = False) -> float | None:
    """A line's number; as an end, -1 is the end of the file."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if end and value == -1:
        return inf
    return float(value) if value >= 0 else None
