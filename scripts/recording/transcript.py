"""The recorded events, and the requests they become in each vendor's format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from compact.formats import convert, parse, request_body
from scripts.recording.workspace import HOME, Arguments

Body: TypeAlias = dict[str, Any]

SYSTEM = f"""\
You are a coding assistant, at work in the checkout {HOME}/compact: a Python library and command line that keeps \
conversations within their model's context window.

Work with the tools. Paths are relative to the checkout. Read a file before you change it, and again when you are not \
sure what it looks like now. Use several tools at once when the calls do not depend on each other. After a change, run \
the tests and the linter, and say what they showed. Keep changes small, follow the conventions of the code around \
them, and heed what the user has asked for earlier.

Answer briefly: what you did, what it showed, what is open."""


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a tool; `fails` where the story wants its answer to be an error."""

    tool: str
    arguments: Arguments
    fails: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered."""

    text: str
    error: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """What the user wrote."""

    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """What the agent wrote, the tools it used at once, and their answers."""

    text: str
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()


Event: TypeAlias = Request | Step


def _tool(name: str, description: str, required: Arguments, optional: Arguments | None = None) -> Body:
    properties = {
        key: {"type": "integer" if key in ("start", "end") else "string", "description": text}
        for key, text in (dict(required) | dict(optional or {})).items()
    }
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "input_schema": schema}


TOOLS = [
    _tool(
        "read_file",
        "Read a text file, with line numbers. Long files are shown in parts.",
        {"path": "The file."},
        {"start": "The first line to show.", "end": "The last line to show."},
    ),
    _tool("list_files", "List all files below a folder, with their sizes.", {"path": "The folder."}),
    _tool(
        "search",
        "Search the lines of all files below a folder for a regular expression.",
        {"pattern": "The regular expression, in Python's syntax.", "path": "The folder or file."},
    ),
    _tool(
        "edit_file",
        "Replace a piece of a file by another, and show the place.",
        {"path": "The file.", "old": "The text to replace; it must occur exactly once.", "new": "What to put there."},
    ),
    _tool("write_file", "Write a whole file.", {"path": "The file.", "content": "All of its text."}),
    _tool(
        "run",
        "Run python -m pytest, python -m ruff or python -c in the checkout, in a terminal with colours.",
        {"command": "The command with its arguments; no shell reads it."},
    ),
]

_ANTHROPIC: Body = {"model": "claude-sonnet-4-5", "max_tokens": 8192}
_OTHERS: dict[str, Body] = {
    "openai-chat": {"model": "gpt-4o"},
    "openai-responses": {"model": "gpt-4o", "store": False},
    "google-gemini": {},  # the model's name is part of the address
}


def anthropic_body(events: Sequence[Event], ids: str = "toolu_") -> Body:
    """The conversation as a request for Anthropic's Messages API."""
    messages: list[Body] = []
    for number, event in enumerate(events):
        if isinstance(event, Request):
            messages.append({"role": "user", "content": event.text})
        elif not event.calls:
            messages.append({"role": "assistant", "content": event.text})
        else:
            names = [f"{ids}{_digest(number, position)}" for position in range(len(event.calls))]
            said = [{"type": "text", "text": event.text}] if event.text else []
            used = list(map(_use, names, event.calls))
            messages.append({"role": "assistant", "content": [*said, *used]})
            messages.append({"role": "user", "content": list(map(_answer, names, event.results))})
    return _ANTHROPIC | {"system": SYSTEM, "tools": TOOLS, "messages": messages}


def _use(id: str, call: Call) -> Body:
    return {"type": "tool_use", "id": id, "name": call.tool, "input": dict(call.arguments)}


def _answer(id: str, result: Result) -> Body:
    flag = {"is_error": True} if result.error else {}
    return {"type": "tool_result", "tool_use_id": id, "content": result.text} | flag


def bodies(events: Sequence[Event]) -> dict[str, Body]:
    """The conversation as a request in every format, by the format's name."""
    source = parse(anthropic_body(events, ids="call_"))
    made = {name: request_body(convert(source, name)) | options for name, options in _OTHERS.items()}
    del made["google-gemini"]["model"]
    for tool in made["openai-responses"]["tools"]:
        tool["strict"] = False  # else every optional parameter would be required
    return {"anthropic-messages": anthropic_body(events)} | made


def files(events: Sequence[Event]) -> dict[str, str]:
    """What is written: each file's text, by its name."""
    return {
        f"session.{name}.json": json.dumps(body, ensure_ascii=False, indent=1) + "\n"
        for name, body in bodies(events).items()
    }


def _digest(number: int, position: int) -> str:
    return hashlib.sha256(f"{number}.{position}".encode()).hexdigest()[:24]
