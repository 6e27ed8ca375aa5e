"""Facts of a conversation: which of its texts are read, and as whose words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from compact.facts.fact import Fact, Kind, Origin, Source
from compact.facts.scan import extract, normal_command
from compact.messages import Json, Message, Speaker, Text, ToolCall, ToolResult, script_in, spoken

_SHELL = re.compile(r"bash|shell|terminal|command|console|powershell|exec|(?:^|_)(?:run|sh|cmd)(?:_|$)", re.IGNORECASE)
_SEVERAL = "commands"
_COMMAND_KEYS = ("command", "cmd", "script", "code", _SEVERAL)
_OPTIONS = (["-c"], ["-lc"])
_PATH_KEYS = "path file_path filePath filepath file filename file_name notebook_path target_file absolute_path abs_path"
_POSITIONS = frozenset(("offset", "limit", "line", "line_number", "start_line", "end_line", "timeout", "head_limit"))
_path_keys = frozenset(_PATH_KEYS.split())
# A tool that reads shows what others wrote: an error in it is not the tool's own.
_READER = re.compile(r"read|view|open|cat|grep|search|glob|find|list|(?:^|_)ls|fetch|get", re.IGNORECASE)
_READING = re.compile(
    r"(?:cd [^&;|]{1,200}(?:&&|;)\s*)?"
    r"(?:cat|sed -n|head|tail|grep|egrep|rg|ag|find|ls|tree|less|nl|wc|awk|git (?:diff|show|log|blame|grep))\b"
)


class Mention(NamedTuple):
    """A fact where it is mentioned: the position of the message, and as whose words."""

    position: int
    source: Source
    fact: Fact


def facts_of(messages: Iterable[Message]) -> Iterator[Fact]:
    """The facts that the messages mention, each once a message; a model's reasoning is not read."""
    for _, group in groupby(mentions_of(messages), key=lambda mention: mention.position):
        yield from dict.fromkeys(mention.fact for mention in group)


def mentions_of(messages: Iterable[Message]) -> Iterator[Mention]:
    """Every mention of a fact, in order, each once a block; in the user's role, once for a person and each program."""
    messages = list(messages)
    reading: dict[str, bool] = {}
    heard = spoken(messages)
    for index, message in enumerate(messages):
        for passage in heard[index]:
            source = Source.USER if passage.speaker is Speaker.PERSON else Source.TOOL
            for fact in extract(passage.text, origin=Origin(message.id, source)):
                yield Mention(index, source, fact)
        for block in message.blocks:
            if isinstance(block, Text) and not heard[index]:
                source = written_by(message)
                facts = extract(block.text, origin=Origin(message.id, source))
            elif isinstance(block, ToolCall):
                reading[block.id] = only_reads(block)
                source = Source.CALL
                facts = _facts_in_call(block, Origin(message.id, source))
            elif isinstance(block, ToolResult):
                shows = reading.get(block.call_id, False) and not block.error
                source = Source.SHOWN if shows else Source.TOOL
                facts = extract(block.text, origin=Origin(message.id, source))
            else:
                continue
            for fact in facts:
                yield Mention(index, source, fact)


def only_reads(call: ToolCall) -> bool:
    """Whether a call shows files or finds things, rather than running or changing something."""
    commands = commands_of(call)
    return all(map(only_shows, commands)) if commands else _READER.search(call.name) is not None


def only_shows(command: str) -> bool:
    """Whether a command shows files or finds things, rather than running or changing something."""
    return _READING.match(command.lstrip()) is not None


def written_by(message: Message) -> Source:
    """Whose words the text of a message is."""
    if message.role == "user":
        return Source.USER
    if message.role == "assistant":
        return Source.ASSISTANT
    return Source.SYSTEM if message.role in ("system", "developer") else Source.TOOL


def commands_of(call: ToolCall) -> tuple[str, ...]:
    """The shell commands that a call runs, as they were written; none where it runs none."""
    if scripted := script_in(call).commands:
        return scripted
    arguments = call.arguments
    if not _SHELL.search(call.name) or not isinstance(arguments, dict):
        return ()
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        commands = [command_in(value)]
        if key == _SEVERAL and isinstance(value, list) and value[1:2] not in _OPTIONS:
            commands = value
        if given := tuple(command for command in commands if isinstance(command, str) and command.strip()):
            return given
    return ()


def command_in(value: Json) -> str | None:
    """A command as one text, be it given as that or word by word; None where it is neither."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value[-1] if len(value) == 3 and value[1:2] in _OPTIONS else " ".join(value)
    return value if isinstance(value, str) else None


def strings_in(value: Json) -> Iterator[tuple[str, str]]:
    """Every string in a JSON value, with the key it stands under, in order."""
    waiting: list[tuple[str, Json]] = [("", value)]
    while waiting:
        key, item = waiting.pop()
        if isinstance(item, str):
            yield key, item
        elif isinstance(item, dict):
            waiting.extend((str(name), item[name]) for name in reversed(item))
        elif isinstance(item, list | tuple):
            waiting.extend((key, entry) for entry in reversed(item))
        elif isinstance(item, int | float) and not isinstance(item, bool) and key not in _POSITIONS:
            yield key, repr(item) if abs(item) < 1e15 else ""


def _facts_in_call(call: ToolCall, origin: Origin) -> Iterator[Fact]:
    for command in commands_of(call):
        yield Fact(Kind.COMMAND, normal_command(command), origin.message_id)
    arguments = call.arguments
    for key, text in strings_in(call.raw if arguments is None else arguments):
        if key in _path_keys and 0 < len(text) < 200 and "\n" not in text:
            yield Fact(Kind.PATH, text.removeprefix("./").rstrip("/") or "/", origin.message_id)
        else:
            yield from extract(text, origin=origin)
