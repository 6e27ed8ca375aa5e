"""A model that follows a script: at every step it calls one of the tools that the client offers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final

from compact.messages import Json
from compact.testing.vendors import Received, Reply
from scripts.lab import project

Calls = list[tuple[str, dict[str, Json]]]

_SHELLS: Final = (
    *("exec_command", "shell", "shell_command", "Bash", "bash", "run_shell_command", "execute_command"),
    *("run_commands", "run_terminal_cmd"),
)
_READERS: Final = ("Read", "read", "read_file", "read_files", "view")
_WRITERS: Final = ("Write", "write", "write_file", "write_to_file")
_LISTS: Final = ("TodoWrite", "todowrite", "todo_write", "update_plan")
_PATHS: Final = ("file_path", "filePath", "absolute_path", "path", "file", "paths", "files")
_TEXTS: Final = ("content", "contents", "file_text", "text")
_SCHEMAS: Final = ("input_schema", "parameters", "parametersJsonSchema")
_FILLED: Final[dict[str, Json]] = {"string": "step", "boolean": False, "number": 60_000, "integer": 60_000, "array": []}
SUBMIT: Final = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""The command by which mini-swe-agent ends."""


@dataclass(slots=True)
class ScriptedModel:
    """Answers a client's requests so that its agent makes `steps` steps in the project.

    Requests without tools are for titles and the like, unless the client works in `prose`: then every answer is a text
    with an edit in it, as aider takes it.
    """

    project: Path
    steps: int
    prose: bool = False
    done: int = 0
    """How many steps were asked for."""
    _lock: Lock = field(default_factory=Lock)

    @property
    def finished(self) -> bool:
        """Whether the agent went all the way."""
        return self.done >= self.steps + (not self.prose)

    def __call__(self, request: Received) -> Reply:
        body: Mapping[str, Any] = request.body if isinstance(request.body, dict) else {}
        tools = dict(_tools(body.get("tools") or []))
        if not self.is_turn(body):
            return Reply('{"title": "Survey", "isNewTopic": true}')
        with self._lock:
            self.done += 1
            step = self.done
        if self.prose:
            return Reply(_edit(step))
        if step > self.steps:
            return self._ending(tools, step)
        text = f"Step {step} of {self.steps}: I look at part {_part(step)}."
        return Reply(text, self._calls(step, tools), reasoning=_reasoning(body, step))

    def is_turn(self, body: Json) -> bool:
        """Whether a request is a turn of the work, and not for a title or the like."""
        if not isinstance(body, dict):
            return False
        if self.prose:
            said = json.dumps(body)
            return "SEARCH" in said and "TURN-" in said
        return any(name in (*_SHELLS, *_READERS) for name, _ in _tools(body.get("tools") or []))

    def _ending(self, tools: Mapping[str, Json], step: int) -> Reply:
        if len(tools) == 1 and "bash" in tools:
            return Reply("Done.", [("bash", {"command": SUBMIT})])
        return Reply(f"All done after {step - 1} steps.")

    def _calls(self, step: int, tools: Mapping[str, Json]) -> Calls:
        number, kind = _part(step), step % 6
        if kind == 0 and step % 12 == 0 and (called := self._plan(step, tools)):
            return called
        if kind == 4:
            return [*self._read(number, tools), *self._check(number, tools)]
        if kind == 5 and (called := self._write(number, tools)):
            return called
        if kind == 3:
            return self._show(number, tools)
        first, second = (self._read, self._check) if kind % 2 else (self._check, self._read)
        return first(number, tools) or second(number, tools)

    def _read(self, number: int, tools: Mapping[str, Json]) -> Calls:
        name = _first(tools, _READERS)
        path = str(self.project / "src" / f"part_{number:04d}.py")
        if not name:
            return self._run(f"cat {path}", tools)
        return [(name, _arguments(tools[name], _PATHS, path))]

    def _write(self, number: int, tools: Mapping[str, Json]) -> Calls:
        name = _first(tools, _WRITERS)
        if not name:
            return []
        given = _arguments(tools[name], _PATHS, str(self.project / "notes" / f"part_{number:04d}.md"))
        key = next(key for key in _TEXTS if key in _properties(tools[name]))
        return [(name, {**given, key: project.note(number)})]

    def _check(self, number: int, tools: Mapping[str, Json]) -> Calls:
        return self._run(f"sh {self.project}/check.sh {number}", tools)

    def _show(self, number: int, tools: Mapping[str, Json]) -> Calls:
        path = f"{self.project}/src/part_{number:04d}.py"
        return self._run(f"sed -n 1,40p {path}", tools) or self._read(number, tools)

    def _run(self, command: str, tools: Mapping[str, Json]) -> Calls:
        name = _first(tools, _SHELLS)
        if not name:
            return []
        kinds = _properties(tools[name])
        if "commands" in kinds:
            return [(name, _filled(tools[name], {"commands": [command]}))]
        key = "cmd" if "cmd" in kinds else "command"
        listed = _kind(kinds.get(key)) == "array"
        return [(name, _filled(tools[name], {key: ["bash", "-lc", command] if listed else command}))]

    def _plan(self, step: int, tools: Mapping[str, Json]) -> Calls:
        name = _first(tools, _LISTS)
        if not name:
            return []
        key = "plan" if "plan" in _properties(tools[name]) else "todos"
        entries = _properties(tools[name])[key].get("items") or {}
        wanted = entries.get("required") or list(_properties(entries)) or ["content", "status"]
        known = {"status": "in_progress", "priority": "high", "id": "1"}
        return [(name, {key: [{one: known.get(one, f"Survey the parts up to {step}") for one in wanted}]})]


def _part(step: int) -> int:
    return (step - 1) % project.PARTS + 1


def _edit(step: int) -> str:
    """An answer at length that edits the one file of the chat, or makes it."""
    fence = "```"
    before = f"value = {step - 1}\n" if step > 1 else ""
    made = f"<<<<<<< SEARCH\n{before}=======\nvalue = {step}\n>>>>>>> REPLACE"
    return f"{project.answer(_part(step))}\ncurrent.py\n{fence}python\n{made}\n{fence}\n"


def _reasoning(body: Mapping[str, Any], step: int) -> str:
    """What the model thinks, where the client asked for it."""
    thinking, include = body.get("thinking"), body.get("include")
    asked = isinstance(thinking, dict) and thinking.get("type") in ("enabled", "adaptive")
    sealed = isinstance(include, list) and "reasoning.encrypted_content" in include
    text = f"Part {_part(step)} is next, because the survey of the parts is not complete before step {step}."
    return text if asked or sealed else ""


def _tools(given: Sequence[Json]) -> Iterator[tuple[str, Json]]:
    """The schemas of the functions that a client offers, by their names."""
    for tool in given:
        for function in tool.get("functionDeclarations") or [tool.get("function") or tool]:
            schema = next((function[key] for key in _SCHEMAS if function.get(key)), None)
            if schema and function.get("name"):
                yield function["name"], schema


def _first(tools: Mapping[str, Json], names: Sequence[str]) -> str:
    return next((name for name in names if name in tools), "")


def _properties(schema: Json) -> Mapping[str, Json]:
    return schema.get("properties") or {} if isinstance(schema, dict) else {}


def _kind(schema: Json) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind if isinstance(kind, str) else "string"


def _arguments(schema: Json, keys: Sequence[str], value: str) -> dict[str, Json]:
    """Arguments whose first known key has the value."""
    kinds = _properties(schema)
    key = next((key for key in keys if key in kinds), keys[0])
    return _filled(schema, {key: [value] if _kind(kinds.get(key)) == "array" else value})


def _filled(schema: Json, given: dict[str, Json]) -> dict[str, Json]:
    """The arguments with something in every place that the tool requires."""
    kinds = _properties(schema)
    required = schema.get("required") or []
    return {name: _FILLED.get(_kind(kinds.get(name)), "step") for name in required if name not in given} | given
