"""Tools with which a model itself looks up what was removed, in the form each vendor wants them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from compact.engine.recalling import PAGE
from compact.engine.searching import Hits
from compact.errors import InvalidInput, StorageError, StoredPlanMismatch, UnknownFormat
from compact.messages import RECALL_TOOL, Json

if TYPE_CHECKING:
    from compact.app.manager import CompactManager

RECALL, SEARCH = RECALL_TOOL, "compact_search"
_SHARE = 20
"""What is recalled at a time takes at most one part in so many of the window, at four characters a token."""
_LEAST_PAGE = 400
_HITS = 10
_MOST_HITS = 50

_TOOLS: dict[str, tuple[str, dict[str, Json], list[str]]] = {
    RECALL: (
        (
            "Gets back what was removed from this conversation to save room. Markers name its handle: "
            "sum-…, fold-…, cut-…, or #… in a reference. Long texts come in pages."
        ),
        {
            "handle": {"type": "string", "description": "The handle in the marker, such as cut-3f9a2c1d."},
            "start": {"type": "integer", "minimum": 0, "description": "Where to go on in a long text; 0 at first."},
        },
        ["handle"],
    ),
    SEARCH: (
        (
            "Searches what was removed from this conversation to save room: every word must occur, in any case. Each "
            f"hit names a handle for {RECALL}."
        ),
        {
            "text": {"type": "string", "description": "Words, names or paths to look for."},
            "limit": {"type": "integer", "minimum": 1, "maximum": _MOST_HITS, "description": "How many hits at most."},
        },
        ["text"],
    ),
}


def recall_tools(format: str) -> list[Json]:
    """The definitions of `compact_recall` and `compact_search` for the tools of a request in that format."""
    specs = [
        (name, told, {"type": "object", "properties": dict(properties), "required": list(required)})
        for name, (told, properties, required) in _TOOLS.items()
    ]
    match format:
        case "openai-chat":
            return [
                {"type": "function", "function": {"name": name, "description": told, "parameters": schema}}
                for name, told, schema in specs
            ]
        case "openai-responses":
            return [
                {"type": "function", "name": name, "description": told, "parameters": schema, "strict": False}
                for name, told, schema in specs
            ]
        case "anthropic-messages":
            return [{"name": name, "description": told, "input_schema": schema} for name, told, schema in specs]
        case "google-gemini":
            functions = [{"name": name, "description": told, "parameters": schema} for name, told, schema in specs]
            return [{"functionDeclarations": functions}]
    known = "openai-chat, openai-responses, anthropic-messages, google-gemini"
    raise UnknownFormat(f"{format!r} is unknown", field="format", remedy=f"Known formats: {known}.")


def handle_tool_call(manager: CompactManager, session_id: str, name: str, arguments: Mapping[str, Json] | str) -> str:
    """What to answer to a call of one of the tools; the model sees this session alone.

    A mistake of the model is an error that the model reads, and so is what cannot be read.
    InvalidInput where the tool is none of ours.
    """
    if name not in _TOOLS:
        raise InvalidInput(f"{name!r} is none of {', '.join(_TOOLS)}", field="name", remedy="Run the tool yourself.")
    try:
        given = _read(name, arguments)
        if name == RECALL:
            size = min(PAGE, max(_LEAST_PAGE, 4 * manager.window // _SHARE))
            return manager.recall(given["handle"], session_id).page(given.get("start", 0), size)
        limit = min(max(given.get("limit", _HITS), 1), _MOST_HITS)
        return told_hits(manager.search(given["text"], session_id, limit), given["text"])
    except InvalidInput as error:
        return f"Error: {error}"
    except (StorageError, StoredPlanMismatch) as error:
        return f"Error: what was removed cannot be read. {error}"


def told_hits(hits: Hits, text: str, *, sessions: bool = False) -> str:
    """What was found, and what could not be searched, as the answer of a tool."""
    if not hits:
        return f"Nothing that was removed contains all the words of {text!r}."
    lines = [f"{f'[{hit.session}] ' if sessions else ''}{hit}" for hit in hits]
    return "\n".join([*lines, *(f"Not searched: {error}" for error in hits.unread)])


def _read(name: str, arguments: Mapping[str, Json] | str) -> Mapping[str, Json]:
    """The arguments, each of the type that the definition says; models send anything."""
    try:
        given = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, Mapping):
        raise InvalidInput("must be a JSON object", field="arguments", remedy=f"Give {', '.join(_TOOLS[name][2])}.")
    _, properties, required = _TOOLS[name]
    for key, schema in properties.items():
        if key in required and given.get(key) is None:
            raise InvalidInput("is missing", field=key, remedy=str(schema["description"]))
        kind = str if schema["type"] == "string" else int
        if given.get(key) is not None and (not isinstance(given[key], kind) or isinstance(given[key], bool)):
            raise InvalidInput(f"must be of type {schema['type']}", field=key, remedy=str(schema["description"]))
    return {key: value for key, value in given.items() if value is not None}
