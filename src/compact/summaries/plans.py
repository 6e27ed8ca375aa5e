"""The assistant's own list of tasks: what of it is done, and what is open."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from compact.messages import Json
from compact.summaries.actions import Action
from compact.summaries.items import Item, Section
from compact.summaries.quoting import quote

_TEXTS = ("content", "step", "subject", "title", "task", "text", "description")
_IDS = ("taskId", "task_id", "id")
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
_DONE = re.compile(r"complete|done|finished|cancel|deleted", re.IGNORECASE)
_LINE = re.compile(r"plan: (\d+) of \d+ done(?:; open: (.*))?")
_OPEN = re.compile(r"(\S{1,40}) \"(.*?)\"(?=, \S{1,40} \"|\Z)")
_LONGEST = 100


@dataclass(slots=True)
class Plan:
    """Tasks that are open, by id, and how many are not any more."""

    done: int = 0
    open: dict[str, str] = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    last: float = 0

    @property
    def text(self) -> str:
        tasks = ", ".join(f'{id} "{task}"' for id, task in self.open.items())
        return f"plan: {self.done} of {self.done + len(self.open)} done" + (f"; open: {tasks}" if tasks else "")

    def items(self) -> Iterable[Item]:
        if self.done or self.open:
            yield Item(Section.STATE, self.text, tuple(self.ids), self.last, 20 if self.open else 4)


def read_plan(line: str, ids: tuple[str, ...]) -> Plan | None:
    """The plan that a line of an earlier summary tells; None where it tells something else."""
    match = _LINE.fullmatch(line)
    return Plan(int(match[1]), dict(_OPEN.findall(match[2] or "")), list(ids)) if match else None


def follow(plan: Plan, actions: Iterable[Action]) -> None:
    """Brings the plan up to date with the calls that make and change it."""
    for action in actions:
        arguments = action.call.arguments
        if not action.is_command and _follow(plan, action.call.name, arguments):
            plan.ids.append(action.message_id)
            plan.last = action.index


def plans(action: Action) -> bool:
    """Whether a call only keeps the list of tasks."""
    return not action.is_command and _follow(Plan(), action.call.name, action.call.arguments)


def _follow(plan: Plan, name: str, arguments: Json) -> bool:
    if not isinstance(arguments, dict) or not _LISTING.search(name):
        return False
    for value in arguments.values():
        if isinstance(value, list) and value and all(map(_is_task, value)):
            _replace(plan, value)
            return True
    if _SPELLING.sub("", name).lower() not in _known:
        return False
    task, status = _first(arguments, _IDS), arguments.get("status")
    if task and isinstance(status, str):
        if _DONE.search(status) and plan.open.pop(task, None):
            plan.done += 1
        return True
    text = _first(arguments, ("subject", "title"))
    if text and "prompt" not in arguments:
        plan.open[str(plan.done + len(plan.open) + 1)] = quote(text.replace('"', "'"), _LONGEST)
        return True
    return False


def _is_task(entry: Json) -> bool:
    return isinstance(entry, dict) and _STATUS.fullmatch(str(entry.get("status", ""))) is not None


def _replace(plan: Plan, entries: list[dict[str, Json]]) -> None:
    plan.open.clear()
    plan.done = 0
    for number, entry in enumerate(entries, 1):
        if _DONE.search(str(entry["status"])):
            plan.done += 1
        elif text := _first(entry, _TEXTS):
            plan.open[str(number)] = quote(text.replace('"', "'"), _LONGEST)


def _first(values: dict[str, Json], keys: tuple[str, ...]) -> str:
    return next((str(values[key]) for key in keys if isinstance(values.get(key), str | int)), "")
