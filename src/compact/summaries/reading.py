"""One walk over the messages: who said what, what was done, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compact.facts import Source, command_of, failures_in, only_reads, strings_in, written_by
from compact.messages import Message, Place, Text, ToolCall, ToolResult, pairs
from compact.summaries.items import Section, heading
from compact.summaries.quoting import quote, users_own

_EDITING = re.compile(
    r"edit|write|patch|replace|create|insert|update|save|notebook|append|delete|remove|move|rename", re.IGNORECASE
)
_WRITING = re.compile(r"write|create|save|add", re.IGNORECASE)
_FILE_KEYS = ("file_path", "filePath", "path", "filename", "file", "notebook_path", "target_file", "absolute_path")
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.{1,300})$|^\+\+\+ (?:b/)?(\S{1,300})", re.MULTILINE)
# Shell commands that write files: a redirection, an edit in place.
_REDIRECTED = re.compile(r"(?:^|[\s;&|])(?:cat|echo|printf|tee)\b[^|;&\n]{0,200}?>{1,2}\s*([\w./~-]{1,200})")
_IN_PLACE = re.compile(r"\bsed\s+(?:-\w+\s+)*-i\b.{0,400}?\s([\w./~-]{1,200}\.\w{1,8})(?=\s|$)", re.DOTALL)
_EXIT = re.compile(r"(?:exit(?:ed with)? (?:code|status)|return ?code)>?[ :=]{0,3}(-?\d{1,5})\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\s{0,9}(?:<[\w-]{1,40}>\s{0,9})?(?:(?:Tool )?[Ee]rror|ERROR|[Ff]ailed|Exception|Traceback|Unable to)\b"
)
_GENERIC = re.compile(
    r"Traceback \(|exit (?:code|status)|returncode|exited with code|^FAIL$|^error: script|^</?output>", re.IGNORECASE
)
_SUMMARY = heading(Section.DIRECTIVES)
_LONGEST_PATH = 300
_LONGEST_COMMAND = 2000
_LONGEST_ERROR = 240
_LONGEST_SPEECH = 40_000
_ERRORS = 2
_ARGUMENTS = 8


@dataclass(slots=True)
class Action:
    """A call: what kind of thing it did, to what, and how that went.

    `kind` is edited, wrote, ran, read or called; `subject` is a file, or a command where `is_command` says so.
    `failed` is None as long as no result is known.
    """

    index: int
    message_id: str
    kind: str
    subject: str
    call: ToolCall
    is_command: bool = False
    failed: bool | None = None
    errors: tuple[str, ...] = ()
    result: str = ""
    result_id: str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text of a user or of the assistant; `closing` when no call stands in its message."""

    index: int
    message_id: str
    source: Source
    text: str
    closing: bool


@dataclass(slots=True)
class Reading:
    """What the messages say and do, in their order; `by_place` finds the actions of a call and of its result."""

    length: int = 0
    utterances: list[Utterance] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    by_place: dict[Place, list[Action]] = field(default_factory=dict)


def read(messages: Sequence[Message]) -> Reading:
    """Walks the messages once; what a system prompt says is not retold."""
    reading = Reading(len(messages))
    answers = pairs(messages)
    for index, message in enumerate(messages):
        source = written_by(message)
        for position, block in enumerate(message.blocks):
            if isinstance(block, Text) and source in (Source.USER, Source.ASSISTANT):
                text = _spoken(users_own(block.text) if source is Source.USER else block.text)
                if text.strip():
                    reading.utterances.append(Utterance(index, message.id, source, text, not message.calls))
            elif isinstance(block, ToolCall):
                done = list(_actions(index, message.id, block))
                reading.by_place[index, position] = done
                reading.actions += done
            elif isinstance(block, ToolResult) and (call := answers.get((index, position))):
                reading.by_place[index, position] = reading.by_place[call]
                for action in reading.by_place[call]:
                    _conclude(action, message.id, block)
    return reading


def describe(call: ToolCall, longest: int) -> str:
    """A call with its first arguments, on one line."""
    shown = (f"{key}={quote(text, 60)}" if key else quote(text, 60) for key, text in strings_in(call.arguments))
    return quote(f"{call.name}({', '.join(text for text, _ in zip(shown, range(_ARGUMENTS), strict=False))})", longest)


def _spoken(text: str) -> str:
    """What a text says itself: of a very long one, which nobody wrote by hand, its beginning and its end.

    A summary of ours that it quotes is not the speaker's: words of tools in it would pass for the user's.
    """
    text = text.partition(_SUMMARY)[0]
    if len(text) <= _LONGEST_SPEECH:
        return text
    return f"{text[: _LONGEST_SPEECH * 3 // 4]}\n{text[-_LONGEST_SPEECH // 4 :]}"


def _actions(index: int, message_id: str, call: ToolCall) -> Iterator[Action]:
    """One action a call, but one a file for a patch that touches several."""
    command = command_of(call)
    if command is not None:
        head = command[:_LONGEST_COMMAND]
        if written := _REDIRECTED.search(head) or _IN_PLACE.search(head):
            yield Action(index, message_id, "edited", written[1], call)
        else:
            yield Action(index, message_id, "read" if only_reads(call) else "ran", command, call, is_command=True)
        return
    path = _file_of(call)
    if _EDITING.search(call.name):
        kind = "wrote" if _WRITING.search(call.name) else "edited"
        touched = [(kind, path)] if path else list(_patched(call))
        for kind, file in touched:
            yield Action(index, message_id, kind, file, call)
        if touched:
            return
    elif path or only_reads(call):
        yield Action(index, message_id, "read", path, call)
        return
    yield Action(index, message_id, "called", "", call)


def _file_of(call: ToolCall) -> str:
    arguments = call.arguments
    if isinstance(arguments, dict):
        for key in _FILE_KEYS:
            value = arguments.get(key)
            if isinstance(value, str) and len(value) <= _LONGEST_PATH and (path := quote(value, _LONGEST_PATH)):
                return path
    return ""


def _patched(call: ToolCall) -> Iterator[tuple[str, str]]:
    for _, text in strings_in(call.raw if call.arguments is None else call.arguments):
        for match in _PATCHED.finditer(text):
            yield ("wrote" if match[1] == "Add" else "edited"), quote(match[2] or match[3], _LONGEST_PATH)


def _conclude(action: Action, message_id: str, result: ToolResult) -> None:
    """Notes how a call went."""
    text = result.text
    action.result, action.result_id = text, message_id
    if action.kind == "read":
        action.failed = result.error
    elif action.kind != "ran":
        # Editors show the file, other tools tell of anything: they fail where they say so at once.
        action.failed = result.error or _REFUSAL.match(text) is not None
        action.errors = (text[:_LONGEST_ERROR],) if action.failed else ()
    else:
        status = _EXIT.search(text[:300]) or _EXIT.search(text[-300:])
        errors = dict.fromkeys(failure.text for failure in failures_in(text))
        action.failed = result.error or bool(errors) or (status is not None and int(status[1]) != 0)
        if action.failed:
            telling = [line for line in errors if not _GENERIC.search(line)]
            last = [line for line in text[-2000:].split("\n") if line.strip() and not _GENERIC.search(line)]
            action.errors = tuple(telling[:_ERRORS] or last[-_ERRORS:])
