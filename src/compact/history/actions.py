"""What a call did, and to what: a file changed, a command run, something else called."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from compact.facts import commands_of, core_command, only_reads, only_shows, strings_in
from compact.history.marks import is_cut, unmarked
from compact.history.outcomes.commands import Run, understand
from compact.history.outcomes.outcome import NOTHING, Outcome
from compact.history.quoting import enclose, quote
from compact.history.shell import read_shell
from compact.messages import ToolCall, ToolResult, script_in

CHANGES = ("edited", "wrote", "deleted", "moved")

_EDITING = re.compile(
    r"edit|write|patch|replace|create|insert|update|save|notebook|append|delete|remove|unlink|move|rename",
    re.IGNORECASE,
)
_WRITING = re.compile(r"write|create|save|add", re.IGNORECASE)
_A_FILE = r"(?:[_-]?(?:files?|paths?|directory|dir|folder))?\Z"
_DELETING = re.compile(r"(?:delete|remove|unlink)" + _A_FILE, re.IGNORECASE)
_MOVING = re.compile(r"(?:move|rename)" + _A_FILE, re.IGNORECASE)
_FOLDERS = re.compile(r"(?:create|make|mk)[_-]?(?:director(?:y|ies)|dir|folder)s?\Z", re.IGNORECASE)
# One tool for several things is told by a word what to do.
_ORDERS = ("command", "action", "operation", "mode")
_ORDER = re.compile(r"[A-Za-z_-]{2,30}")
_VIEWING = re.compile(r"(?:^|[_-])(?:view|read|show|list|get|find|search|open|cat|stat|info)", re.IGNORECASE)
_FILES = ("file_path", "filePath", "path", "filename", "file", "notebook_path", "target_file", "absolute_path")
_LISTS = ("paths", "file_paths", "files")
_SOURCES = ("source", "source_path", "src", "from", "old_path", "oldPath", "old_name")
_DESTINATIONS = (
    "destination",
    "destination_path",
    "dest",
    "to",
    "new_path",
    "newPath",
    "target_path",
    "target",
    "new_name",
)
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.{1,300})$|^\+\+\+ (?:b/)?(\S{1,300})", re.MULTILINE)
_PATCH = ("*** Begin Patch", "--- ", "diff --git ")
_SHOWN = re.compile(r"^(\+(?!\+\+ )| |@@ (?:-[\d,]+ \+[\d,]+ @@ )?)(.*)$", re.MULTILINE)
"""A line of a patch that is in the file afterwards, or that says where the next ones are."""
_PLACE = re.compile(
    r"(?:(?:export|default|async|public|private|protected|static|abstract|pub) )*"
    r"(?:(?:def|class|func|function|fn|interface|struct|impl|trait|enum)\b|(?:t\.Run|it|test|describe)\()"
)
"""A line that begins a function, a class or a test."""
_WRITTEN = ("content", "contents", "file_text", "new_string", "newString", "new_str", "insert_text", "code_edit")
_REPLACED = ("old_string", "oldString", "old_str")
_SAYING = re.compile(r"\w{3}")
_USING = re.compile(
    r"(?:import|from|use|using|#include|package|export \{)\b[^(=]{0,200}\Z|(?:const|let|var) .{1,80}= require\("
)
"""Lines that only say what a file makes use of."""
_LONGEST_WRITTEN = 12_000
_BY_PATCH = {"Add": "wrote", "Delete": "deleted"}
_LONGEST_PATH = 300
_UNTOLD = "…"
"""What stands for the arguments of a call where none can be told."""
_LONGEST_SUBJECT = 160
_PURPOSE, _LONGEST_PURPOSE = "description", 120
_ARGUMENTS = 8
_USUAL = 3
"""How often a tool must have been called for that."""


@dataclass(slots=True)
class Action:
    """A call: what kind of thing it did, to what, and what came of it.

    `kind` is edited, wrote, deleted, moved, ran, read or called; `subject` is a file, or a command where `is_command`
    says so. One of several that a call was to do has the number of its `part`. `answer` is what the call got, and
    `result` what was printed about this. `superseded` says that a later action does the same again;
    `mended_by` is the index of the message by which a failed one came right; `rerun` is
    what it printed when it was done again and nothing says how that went, in the message at `rerun_by`. `usual` are the
    arguments that this tool is always called with.
    """

    index: int
    message_id: str
    kind: str
    subject: str
    call: ToolCall
    is_command: bool = False
    run: Run | None = None
    outcome: Outcome = NOTHING
    part: int = 0
    answer: ToolResult | None = None
    result: str = ""
    superseded: bool = False
    mended_by: int | None = None
    rerun: str | None = None
    rerun_by: int | None = None
    usual: frozenset[str] = frozenset()

    @property
    def decided_by(self) -> int | None:
        """The index of the later message that a line about its failure speaks of, if there is one."""
        return self.rerun_by if self.mended_by is None else self.mended_by

    @property
    def purpose(self) -> str:
        """What the caller said a command is for, where the tool asks for that."""
        given = self.call.arguments
        said = given.get(_PURPOSE) if self.is_command and isinstance(given, dict) else None
        return quote(unmarked(said), _LONGEST_PURPOSE) if isinstance(said, str) and not is_cut(said) else ""


def actions_of(call: ToolCall, index: int, message_id: str) -> Iterator[Action]:
    """One action a call, but one a file where it touches several, and one for what a command runs beside that."""
    commands = commands_of(call)
    for part, command in enumerate(map(unmarked, commands)):
        for action in _by_command(command, call, index, message_id):
            action.part = part
            yield action
    patches = script_in(call).patches
    touched = chain.from_iterable(map(_patched, patches)) if commands or patches else _changed(call)
    changed = [(kind, path) for kind, path in touched if path]
    for kind, path in changed:
        yield Action(index, message_id, kind, path, call, part=max(len(commands) - 1, 0))
    if changed or commands:
        return
    edits = _EDITING.search(call.name) is not None
    paths = [_named(call, _FILES)] if edits else _listed(call) or [_named(call, _FILES)]
    for part, path in enumerate(paths):
        reads = _VIEWING.search(_order(call)) if edits else path or only_reads(call)
        yield Action(index, message_id, "read" if reads else "called", path if reads else "", call, part=part)


def _by_command(command: str, call: ToolCall, index: int, message_id: str) -> Iterator[Action]:
    """The files that a command writes, and what else it does."""
    if not command.strip():
        yield Action(index, message_id, "called", "", call)
        return
    shell = read_shell(command)
    run = understand(shell)
    for path in shell.written:
        kind = "wrote" if path in shell.anew else "edited"
        yield Action(index, message_id, kind, quote(path, _LONGEST_PATH), call, run=run)
    if shell.rest or not shell.written:
        kind = "read" if only_shows(command) and not shell.written else "ran"
        rest = shell.rest if shell.written else command
        yield Action(index, message_id, kind, rest, call, is_command=True, run=run)


def note_usual(actions: Sequence[Action]) -> None:
    """Notes which arguments a tool is called with every time: they say nothing about one call."""
    calls: Counter[str] = Counter()
    given: Counter[tuple[str, str, str]] = Counter()
    for action in actions:
        if not action.is_command and isinstance(action.call.arguments, dict):
            calls[action.call.name] += 1
            given.update(
                (action.call.name, key, value) for key, value in action.call.arguments.items() if isinstance(value, str)
            )
    always: defaultdict[str, set[str]] = defaultdict(set)
    for (name, key, _), count in given.items():
        if count == calls[name] >= _USUAL:
            always[name].add(key)
    for action in actions:
        action.usual = frozenset(always.get(action.call.name, ()))


def describe(action: Action, longest: int) -> str:
    """A call with its first arguments, on one line; without usual ones, those that were cut, and patches."""
    call = action.call
    given = [(key, text) for key, text in strings_in(call.arguments) if key not in action.usual]
    told = [(key, text) for key, text in given if not is_cut(text) and not text.startswith(_PATCH)]
    shown = [f"{_argument(key)}={_argument(text)}" if key else _argument(text) for key, text in told[:_ARGUMENTS]]
    line = quote(f"{_argument(call.name)}({', '.join(shown) if shown or not given else _UNTOLD})", longest, code=True)
    return line + "`" * (line.count("`") % 2)


def _argument(text: str) -> str:
    return enclose(quote(text, 60, code=True))


def subject(action: Action) -> str:
    """What the action was done to: the same file, or the same command, however it is spelled."""
    if action.is_command:
        # Without where it runs and what is done with its output.
        command = core_command(action.subject, reads=action.kind == "read")
        return quote(command.replace("`", "'"), _LONGEST_SUBJECT, code=True)
    if action.kind == "moved":
        return " to ".join(map(_plain_path, action.subject.split(" to ")))
    return _plain_path(action.subject) if action.subject else describe(action, _LONGEST_SUBJECT)


def written_by(action: Action) -> str:
    """The lines that a change put into a file, without those that were there or say nothing; of a patch, what it adds.

    A line that was there stays where it names the function or class that is changed below it. Of a program that was fed
    with a script, the lines of that. Nothing where the file was written anew later.
    """
    replaced = action.kind == "wrote" and action.superseded
    if action.is_command and action.run is not None and action.run.script:
        lines = (line.strip() for line in unmarked(action.run.script[:_LONGEST_WRITTEN]).split("\n"))
        return "\n".join(line for line in lines if _SAYING.search(line) and not _USING.match(line))
    if action.is_command or action.kind not in ("edited", "wrote") or replaced:
        return ""
    given = list(strings_in(action.call.raw if action.call.arguments is None else action.call.arguments))
    texts = [text for key, text in given if key in _WRITTEN]
    if texts:
        replaced_texts = (text for key, text in given if key in _REPLACED)
        before = {line.strip() for text in replaced_texts for line in text[:_LONGEST_WRITTEN].split("\n")}
        written = [line.strip() for text in texts for line in unmarked(text[:_LONGEST_WRITTEN]).split("\n")]
        shown = [(line not in before, line) for line in written]
    else:
        patches = (_part(text, action.subject)[:_LONGEST_WRITTEN] for _, text in given if text.startswith(_PATCH))
        found = (each for patch in patches for each in _SHOWN.findall(unmarked(patch)))
        shown = [(sign == "+", line.strip()) for sign, line in found]
    return "\n".join(_new_lines(shown))


def _new_lines(lines: Iterable[tuple[bool, str]]) -> Iterator[str]:
    """The lines that are new and say something, each group behind the unchanged declaration above it."""
    declared = ""
    for new, line in lines:
        if not _SAYING.search(line) or _USING.match(line):
            continue
        if new:
            yield from (declared, line) if declared else (line,)
            declared = ""
        elif _PLACE.match(line):
            declared = line


def _part(patch: str, path: str) -> str:
    """The part of a patch that is about the file."""
    start = patch.find(path)
    found = _PATCHED.search(patch, start + len(path)) if start >= 0 else None
    return patch[max(start, 0) : found.start() if found else None]


def _plain_path(path: str) -> str:
    return enclose(path.removeprefix("./") if len(path) > 2 else path)


def _listed(call: ToolCall) -> list[str]:
    """The files that a call names in a list."""
    arguments = call.arguments
    given = (arguments.get(key) for key in _LISTS) if isinstance(arguments, dict) else ()
    listed = next((value for value in given if isinstance(value, list)), [])
    paths = [entry.get("path") if isinstance(entry, dict) else entry for entry in listed]
    return [quote(path, _LONGEST_PATH) for path in paths if isinstance(path, str) and not is_cut(path)]


def _changed(call: ToolCall) -> Iterator[tuple[str, str]]:
    """The files that a tool changes, and how."""
    order = _order(call)
    if not _EDITING.search(call.name) or _FOLDERS.search(call.name) or _VIEWING.search(order):
        return
    does = order if _EDITING.search(order) else call.name
    path = _named(call, _FILES)
    if _MOVING.search(does):
        source, destination = path or _named(call, _SOURCES), _named(call, _DESTINATIONS)
        yield "moved", f"{source} to {destination}" if source and destination else source
    elif path:
        kind = "wrote" if _WRITING.search(does) else "edited"
        yield ("deleted" if _DELETING.search(does) else kind), path
    else:
        for _, text in strings_in(call.raw if call.arguments is None else call.arguments):
            yield from _patched(text)


def _order(call: ToolCall) -> str:
    arguments = call.arguments
    values = (arguments.get(key) for key in _ORDERS) if isinstance(arguments, dict) else ()
    return next((value for value in values if isinstance(value, str) and _ORDER.fullmatch(value)), "")


def _named(call: ToolCall, keys: tuple[str, ...]) -> str:
    arguments = call.arguments
    if isinstance(arguments, dict):
        for key in keys:
            value = arguments.get(key)
            if isinstance(value, str) and len(value) <= _LONGEST_PATH and not is_cut(value):
                if path := quote(value, _LONGEST_PATH):
                    return path
    return ""


def _patched(text: str) -> Iterator[tuple[str, str]]:
    """The files that a patch changes, and how."""
    for match in _PATCHED.finditer(unmarked(text)):
        path = quote(match[2] or match[3], _LONGEST_PATH)
        if not is_cut(path) and not path.startswith("/dev/"):
            yield _BY_PATCH.get(match[1], "edited"), path
