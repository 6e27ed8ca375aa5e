"""Answers that a later answer replaced: the same call made again, a file read again after it changed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compact.messages import (
    MARK,
    SUPERSEDED,
    Conversation,
    Json,
    Replace,
    Text,
    ToolCall,
    ToolResult,
    Where,
    pairs,
    untouchable,
    with_handle,
)
from compact.messages.paths import can_splice
from compact.providers.lossless.calls import name_call

_READS = re.compile(r"(?i)(?:^|[_.-])(?:read|view|open|cat|get)(?:[_.-]?(?:file|text))?$|^(?:read|view)")
_WRITES = re.compile(r"(?i)(?:^|[_.-])(?:write|create)(?:[_.-]?file)?$")
_PATHS = ("file_path", "path", "filePath", "filename", "file", "target_file")
_STARTS = ("offset", "start_line", "start", "view_start")
_LENGTHS = ("limit", "lines", "count")
_ENDS = ("end_line", "end", "view_end")
_REMARKS = frozenset({"description", "explanation", "reason", "thought", "timeout", "timeout_ms", "run_in_background"})
_COMMANDS = ("command", "cmd")
_TRIMMINGS = re.compile(r"^\s*cd\s+\S+\s*&&\s*|\s*2>&1|\s*\|\s*(?:head|tail|cat)\b[^|;&]*$")
_WHOLE = re.compile(r"(?:cat|nl|bat)(?:\s+-\S+)*\s+(?P<path>[^\s|;&<>-][^\s|;&<>]*)")
_PRINTED = re.compile(
    r"(?:(?:cat|nl)(?:\s+-\S+)*\s+(?P<piped>[^\s|;&<>]+)\s*\|\s*)?"
    r"sed\s+-n\s+['\"]?(?P<first>\d{1,9}),(?P<last>\d{1,9})p['\"]?(?:\s+(?P<path>[^\s|;&<>]+))?"
)
_SHORTEST = 120
_MARKER = "⟨ Superseded: "


@dataclass(frozen=True, slots=True)
class Answered:
    """A call and its answer; `lines` is what it read of `path`, if it read a file."""

    where: Where
    result: ToolResult
    call: ToolCall
    key: str
    path: str
    lines: tuple[float, float]


@dataclass(frozen=True, slots=True)
class _Marking:
    """Puts markers in the place of texts, where that is shorter."""

    count: Callable[[str], int]
    handles: bool

    def replace(self, where: Where, text: str, marker: str) -> Iterator[Replace]:
        if len(text) < _SHORTEST or MARK in text or text.startswith(_MARKER):
            return
        if self.handles:
            marker = with_handle(marker, text)
        if self.count(marker) < self.count(text):
            yield Replace(where, marker, SUPERSEDED)


def find_superseded(
    conversation: Conversation, count: Callable[[str], int], *, handles: bool = False
) -> tuple[Replace, ...]:
    """The edits that replace answers which a later call made obsolete. Errors are always kept.

    With `handles`, what stands for them says how they can be recalled.
    """
    marking = _Marking(count, handles)
    fixed = untouchable(conversation)
    newest: dict[str, Answered] = {}
    reads: dict[str, list[Answered]] = {}
    edits: list[Replace] = []
    for answered in reversed(list(_answered(conversation))):
        if answered.result.error:
            continue
        later = newest.get(answered.key) or _covering(answered, reads.get(answered.path, []))
        if later is not None and answered.where.message not in fixed:
            edits += _replace(answered, later, marking)
        newest.setdefault(answered.key, answered)
        if answered.path:
            reads.setdefault(answered.path, []).append(answered)
    return (*_rewritten(conversation, fixed, marking), *reversed(edits))


def _rewritten(conversation: Conversation, fixed: frozenset[str], marking: _Marking) -> Iterator[Replace]:
    """What was written to a file that was later written anew."""
    seen: set[str] = set()
    for message in reversed(conversation.messages):
        for position, call in reversed(list(enumerate(message.blocks))):
            arguments = call.arguments if isinstance(call, ToolCall) and _WRITES.search(call.name) else None
            if not isinstance(call, ToolCall) or not isinstance(arguments, dict):
                continue
            path = next((arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)), "")
            if path in seen and message.id not in fixed and can_splice(call, ("content",)):
                marker = f"{_MARKER}{name_call(call)} was written anew below ⟩"
                content = arguments.get("content")
                if isinstance(content, str):
                    yield from marking.replace(Where(message.id, position, ("content",)), content, marker)
            if path:
                seen.add(path)


def _answered(conversation: Conversation) -> Iterator[Answered]:
    for (at, position), (call_at, block) in pairs(conversation.messages).items():
        result, call = conversation.messages[at].blocks[position], conversation.messages[call_at].blocks[block]
        if isinstance(result, ToolResult) and isinstance(call, ToolCall):
            arguments = _trimmed(call.arguments)
            key = f"{call.name} {_canonical(arguments) or id(call)}"
            path, lines = _reading(call.name, arguments)
            yield Answered(Where(conversation.messages[at].id, position), result, call, key, path, lines)


def _trimmed(arguments: Json) -> Json:
    """The arguments with their commands cut down to what is run."""
    if not isinstance(arguments, dict):
        return arguments
    commands = {key: arguments[key] for key in _COMMANDS if isinstance(arguments.get(key), str)}
    return {**arguments, **{key: _trim(command) for key, command in commands.items()}} if commands else arguments


def _trim(command: str) -> str:
    if "2>&1" in command or "|" in command or command.lstrip().startswith("cd"):
        command = _TRIMMINGS.sub("", command)
    return command.strip()


def _canonical(arguments: Json) -> str:
    """The arguments as one text, without those that only remark on the call; nothing where they cannot be written."""
    if isinstance(arguments, dict):
        arguments = {key: value for key, value in arguments.items() if key not in _REMARKS}
    try:
        return json.dumps(arguments, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return ""


def _reading(name: str, arguments: Json) -> tuple[str, tuple[float, float]]:
    """The file a call reads and from which line to which; no file where it is no reading call."""
    if not isinstance(arguments, dict):
        return "", (0, 0)
    if command := next((arguments[key] for key in _COMMANDS if isinstance(arguments.get(key), str)), ""):
        return _printing(command)
    if not _READS.search(name):
        return "", (0, 0)
    path = next((arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)), "")
    start = _number(arguments, _STARTS)
    end = _number(arguments, _ENDS)
    length = _number(arguments, _LENGTHS)
    first = start or 0.0
    if end is None:
        end = float("inf") if length is None else first + length
    return path, (first, end)


def _printing(command: str) -> tuple[str, tuple[float, float]]:
    """The file a shell command prints, and which lines of it."""
    if found := _PRINTED.fullmatch(command):
        return found["path"] or found["piped"] or "", (float(found["first"]), float(found["last"]))
    found = _WHOLE.fullmatch(command)
    return (found["path"], (0, float("inf"))) if found else ("", (0, 0))


def _number(arguments: dict[str, Json], keys: tuple[str, ...]) -> float | None:
    found = (arguments[key] for key in keys if isinstance(arguments.get(key), int | float))
    return next((float(value) for value in found), None)


def _covering(answered: Answered, later: list[Answered]) -> Answered | None:
    first, last = answered.lines
    return next((other for other in later if other.lines[0] <= first and last <= other.lines[1]), None)


def _replace(answered: Answered, later: Answered, marking: _Marking) -> Iterator[Replace]:
    """What stands for the obsolete answer; one that says the same as the later one is left to the references.

    Where the later one holds references already, it may be the same.
    """
    if answered.result.text == later.result.text or MARK in later.result.text:
        return
    marker = f"{_MARKER}{name_call(later.call)} was run again below ⟩"
    where = answered.where
    for position, part in enumerate(answered.result.parts):
        if isinstance(part, Text):
            yield from marking.replace(Where(where.message, where.block, (position,)), part.text, marker)
