"""The assistant's own list of tasks: which calls keep it."""

from __future__ import annotations

import re

from compact.messages import Json
from compact.summaries.actions import Action

_IDS = ("taskId", "task_id", "id")
_TITLES = ("subject", "title")
# Tools that keep the assistant's own list, in whatever spelling; others have tasks and plans of their own.
_KNOWN = """
todo todos todowrite todoread todolist writetodo writetodos updatetodo updatetodos addtodo managetodolist
taskcreate taskupdate tasklist taskget plan updateplan createplan writeplan setplan
"""
_known = frozenset(_KNOWN.split())
_LISTING = re.compile(r"todo|task|plan", re.IGNORECASE)
_STATUS = re.compile(
    r"pending|open|to_?do|not[ _-]?started|in[ _-]?progress|active|blocked|completed?|done|finished|cancel\w*|deleted",
    re.IGNORECASE,
)
_SPELLING = re.compile(r"\Afunctions\.|[_-]")


def plans(action: Action) -> bool:
    """Whether a call only keeps the list of tasks."""
    name, arguments = action.call.name, action.call.arguments
    if action.is_command or not isinstance(arguments, dict) or not _LISTING.search(name):
        return False
    if any(isinstance(value, list) and value and all(map(_is_task, value)) for value in arguments.values()):
        return True
    if _SPELLING.sub("", name).lower() not in _known:
        return False
    if _names(arguments, _IDS) and isinstance(arguments.get("status"), str):
        return True
    return _names(arguments, _TITLES) and "prompt" not in arguments


def _is_task(entry: Json) -> bool:
    return isinstance(entry, dict) and _STATUS.fullmatch(str(entry.get("status", ""))) is not None


def _names(values: dict[str, Json], keys: tuple[str, ...]) -> bool:
    """Whether the first of the keys that has a value names something."""
    return next((str(values[key]) != "" for key in keys if isinstance(values.get(key), str | int)), False)
