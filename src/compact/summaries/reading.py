"""One walk over the messages: who said what, what was done, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from compact.facts import Source, command_of, failures_in, only_reads, strings_in, written_by
from compact.messages import Message, Text, ToolCall, ToolResult, pairs
from compact.summaries.quoting import users_own

_EDITING = re.compile(r"edit|write|patch|replace|create|insert|update|save|notebook|append|delete|remove|move|rename", re.I)
_WRITING = re.compile(r"write|create|save|add", re.I)
_FILE_KEYS: Final = ("file_path", "filePath", "path", "filename", "file", "notebook_path", "target_file", "absolute_path")
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.{1,300})$|^\+\+\+ (?:b/)?(\S{1,300})", re.MULTILINE)
# Shell commands that write files: a redirection, tee, an edit in place.
_REDIRECTED = re.compile(r"(?:^|[\s;&|])(?:cat|echo|printf|tee)\b[^|;&\n]{0,200}?>{1,2}\s*([\w./~-]{1,200})")
_IN_PLACE = re.compile(r"\bsed\s+(?:-\w+\s+)*-i\b.{0,400}?\s([\w./~-]{1,200}\.\w{1,8})(?=\s|$)", re.DOTALL)
_EXIT = re.compile(r"(?:exit(?:ed with)? (?:code|status)|return ?code)>?[ :=]{0,3}(-?\d{1,5})\b", re.IGNORECASE)
_REFUSAL = re.compile(r"\s*(?:<[\w-]{1,40}>\s*)?(?:(?:Tool )?[Ee]rror\b|ERROR\b|[Ff]ailed\b|Exception\b|Traceback\b|Unable to\b)")
_GENERIC = re.compile(r"Traceback \(|exit (?:code|status)|returncode|exited with code|^FAIL$|^error: script|^</?output>", re.I)
_LONGEST_ERROR = 240
_LONGEST_SPEECH = 40_000


@dataclass(slots=True)
class Action:
    """A call: what kind of thing it did, to what, and how that went.

    `kind` is edited, wrote, ran, read or called. `failed` is None as long as no result is known.
    """

    index: int
    message_id: str
    kind: str
    subject: str
    call: ToolCall
    failed: bool | None = None
    errors: tuple[str, ...] = ()
    result: str = ""
    result_id: str = ""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text of a user or of the assistant; `closing` when no call follows it in its message."""

    index: int
    message_id: str
    source: Source
    text: str
    closing: bool


@dataclass(slots=True)
class Reading:
    """What the messages say and do, in their order."""

    utterances: list[Utterance] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    length: int = 0


def read(messages: Sequence[Message]) -> Reading:
    """Walks the messages once; what a system prompt says is not retold."""
    reading = Reading(length=len(messages))
    answers = pairs(messages)
    by_place: dict[tuple[int, int], list[Action]] = {}
    for index, message in enumerate(messages):
        source = written_by(message)
        for position, block in enumerate(message.blocks):
            if isinstance(block, Text) and source in (Source.USER, Source.ASSISTANT):
                text = _ends(users_own(block.text) if source is Source.USER else block.text)
                if text.strip():
                    reading.utterances.append(Utterance(index, message.id, source, text, not message.calls))
            elif isinstance(block, ToolCall):
                done = list(_actions(index, message.id, block))
                by_place[index, position] = done
                reading.actions += done
            elif isinstance(block, ToolResult) and (index, position) in answers:
                for action in by_place[answers[index, position]]:
                    _conclude(action, message.id, block)
    return reading


def _ends(text: str) -> str:
    """The text, or of a very long one, which nobody wrote by hand, its beginning and its end."""
    return text if len(text) <= _LONGEST_SPEECH else f"{text[: _LONGEST_SPEECH * 3 // 4]}\n{text[-_LONGEST_SPEECH // 4 :]}"


def _actions(index: int, message_id: str, call: ToolCall) -> Iterator[Action]:
    """One action a call, but one a file for a patch that touches several."""
    command = command_of(call)
    if command is not None:
        written = _REDIRECTED.search(command[:2000]) or _IN_PLACE.search(command[:2000])
        if written:
            yield Action(index, message_id, "edited", written[1], call)
        else:
            yield Action(index, message_id, "read" if only_reads(call) else "ran", command, call)
        return
    path = file_of(call)
    if _EDITING.search(call.name):
        patched = list(_patched(call)) if path is None else []
        if path or patched:
            for kind, file in patched or [("wrote" if _WRITING.search(call.name) else "edited", path or "")]:
                yield Action(index, message_id, kind, file, call)
            return
    elif path is not None or only_reads(call):
        yield Action(index, message_id, "read", path or "", call)
        return
    yield Action(index, message_id, "called", "", call)


def file_of(call: ToolCall) -> str | None:
    """The file that a call names, if it names one."""
    arguments = call.arguments
    if isinstance(arguments, dict):
        for key in _FILE_KEYS:
            if isinstance(value := arguments.get(key), str) and 0 < len(value) < 300 and "\n" not in value:
                return value
    return None


def _patched(call: ToolCall) -> Iterator[tuple[str, str]]:
    for _, text in strings_in(call.arguments if call.arguments is not None else call.raw):
        for match in _PATCHED.finditer(text):
            yield ("wrote" if match[1] == "Add" else "edited"), (match[2] or match[3]).strip()


def _conclude(action: Action, message_id: str, result: ToolResult) -> None:
    """Notes how a call went; what merely shows files fails only if the tool says so."""
    text = result.text
    action.result, action.result_id = text, message_id
    if action.kind == "read":
        action.failed = result.error
        return
    if action.kind != "ran":
        # Editors show the file, other tools tell of anything: they fail where they say so at once.
        action.failed = result.error or _REFUSAL.match(text) is not None
        action.errors = (text[:_LONGEST_ERROR],) if action.failed else ()
        return
    status = _EXIT.search(text[:300]) or _EXIT.search(text[-300:])
    errors = tuple(dict.fromkeys(failure.text for failure in failures_in(text)))
    action.failed = result.error or bool(errors) or (status is not None and int(status[1]) != 0)
    if action.failed:
        telling = [line for line in errors if not _GENERIC.search(line)]
        lines = [line for line in text[-2000:].split("\n") if line.strip() and not _GENERIC.search(line)]
        action.errors = tuple(telling[:2] or lines[-2:])
