"""The assistant's own list of tasks: which calls keep it, and how it stands at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from compact.facts import Source
from compact.history.actions import Action
from compact.history.outcomes.outcome import Verdict
from compact.history.quoting import quote
from compact.messages import Json

_IDS = ("taskId", "task_id", "id")
_TITLES = ("subject", "title")
_DESCRIPTION = "description"
_TEXTS = ("content", "step", "title", "subject", "task", _DESCRIPTION, "text", "name", "label")
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
_DONE = re.compile(r"complete|done|finish|x", re.IGNORECASE)
_DOING = re.compile(r"in[ _-]?progress|active", re.IGNORECASE)
_DROPPED = re.compile(r"cancel|delete", re.IGNORECASE)
_SPELLING = re.compile(r"\Afunctions\.|[_-]")
_NUMBERED = re.compile(r"#(\w{1,12})\b")
_LISTED = re.compile(r"#(\w{1,12}) \[([\w -]{1,20})\]")
_CHECKED = re.compile(r"^[ \t]{0,12}(?:[-*+]|\d{1,3}[.)])[ ]\[([ xX~/-])\][ ]+(\S[^\n]{0,400})$", re.MULTILINE)
_LONGEST = 200
_FEWEST_CHECKED = 2


class State(StrEnum):
    """How a task stands."""

    OPEN = "open"
    DOING = "in progress"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Step:
    """A task of a list, and how it stands."""

    text: str
    state: State


@dataclass(frozen=True, slots=True)
class Plan:
    """A list of tasks as a message left it; `index` is that message."""

    index: int
    steps: tuple[Step, ...]

    def tell(self) -> str:
        """What is left to do, in order, then what is done."""
        states = (State.DOING, State.OPEN, State.DONE)
        lists = {state: [step.text for step in self.steps if step.state is state] for state in states}
        return ". ".join(f"{state}: {'; '.join(texts)}" for state, texts in lists.items() if texts)


def plans(action: Action) -> bool:
    """Whether a call only keeps the list of tasks."""
    name, arguments = action.call.name, action.call.arguments
    if action.is_command or not isinstance(arguments, dict) or not _LISTING.search(name):
        return False
    if _listed(arguments) is not None:
        return True
    if _SPELLING.sub("", name).lower() not in _known:
        return False
    if _first(arguments, _IDS) and isinstance(arguments.get("status"), str):
        return True
    return bool(_first(arguments, _TITLES)) and "prompt" not in arguments


def planned_by(action: Action) -> Plan | None:
    """The whole list that a call writes; None where it writes none, or a single task."""
    arguments = action.call.arguments
    if not plans(action) or not isinstance(arguments, dict) or (entries := _listed(arguments)) is None:
        return None
    return Plan(action.index, tuple(_step(entry) for entry in entries))


def tasks_of(actions: Iterable[Action]) -> Iterator[tuple[Action, Plan]]:
    """The calls that keep a single task, each with that task as it stands after it, by number and name."""
    kept: dict[str, Step] = {}
    for action in filter(plans, actions):
        if succeeded(action) and (key := _keep(kept, action)) and kept[key].text:
            yield action, Plan(action.index, (Step(f"#{key} {kept[key].text}", kept[key].state),))


def key_of(action: Action) -> str:
    """What of the list a call changes: all of it, or one task."""
    arguments = action.call.arguments
    if not isinstance(arguments, dict) or _listed(arguments) is not None:
        return ""
    return _first(arguments, _IDS) or _first(arguments, _TITLES)


def newest_plan(actions: Sequence[Action], spoken: Iterable[tuple[int, Source, str]] = ()) -> Plan | None:
    """The list of tasks as it stands at the end, by calls or by a check list that the assistant wrote.

    `spoken` are the index, the speaker and the text of what was said.
    """
    kept: dict[str, Step] = {}
    at = -1
    for action in actions:
        if plans(action) and succeeded(action):
            _keep(kept, action)
            at = action.index
        elif kept and _SPELLING.sub("", action.call.name).lower() == "tasklist":
            for listed in _LISTED.finditer(action.outcome.text):
                if listed[1] in kept:
                    kept[listed[1]] = Step(kept[listed[1]].text, _state(listed[2]))
    for index, source, text in spoken:
        if source is Source.ASSISTANT and index >= at and (checked := checked_in(index, text)):
            kept, at = {str(number): step for number, step in enumerate(checked.steps)}, index
    steps = tuple(step for step in kept.values() if step.text)
    return Plan(at, steps) if steps else None


def checked_in(index: int, text: str) -> Plan | None:
    """The check list that a text of the message at that index has."""
    found = list(_CHECKED.finditer(text)) if "[" in text else []
    steps = tuple(Step(_plain(each[2]), _state(each[1])) for each in found)
    return Plan(index, steps) if len(steps) >= _FEWEST_CHECKED else None


def retell_checks(text: str, plan: Plan) -> str:
    """The text without its check list, and the plan behind it: what follows a list is not about its last task."""
    words = _CHECKED.sub("", text).strip()
    if not (tasks := plan.tell()):
        return words
    return f"{words}{'.' * words[-1:].isalnum()}\n{tasks}.".strip()


def drop_repeated(lists: Iterable[tuple[int, Plan]]) -> dict[int, Plan]:
    """The lists of tasks, in order, by key; each without the tasks that a later one has."""
    found: dict[int, Plan] = {}
    later: set[str] = set()
    for key, plan in reversed(list(lists)):
        found[key] = Plan(plan.index, tuple(step for step in plan.steps if step.text not in later))
        later.update(step.text for step in plan.steps)
    return found


def succeeded(action: Action) -> bool:
    """Whether nothing says that a call failed or was refused."""
    return action.outcome.kind not in (Verdict.FAILED, Verdict.REFUSED)


def _keep(kept: dict[str, Step], action: Action) -> str:
    """Brings the list up to date with a call; returns the key of the task where the call keeps a single one."""
    arguments = action.call.arguments
    entries = _listed(arguments)
    if entries is not None:
        if arguments.get("merge") is not True:
            kept.clear()
        for number, entry in enumerate(entries):
            _put(kept, _first(entry, _IDS) or f"-{number}", entry)
        return ""
    numbered = _NUMBERED.search(action.outcome.text)
    key = _first(arguments, _IDS) or (numbered[1] if numbered else str(len(kept) + 1))
    _put(kept, key, arguments)
    return key


def _put(kept: dict[str, Step], key: str, entry: dict[str, Json]) -> None:
    before, new = kept.get(key), _step(entry)
    if before is not None:
        renamed = any(entry.get(each) for each in _TEXTS if each != _DESCRIPTION)
        text = new.text if renamed or not before.text else before.text
        new = Step(text, new.state if "status" in entry else before.state)
    kept[key] = new


def _step(entry: dict[str, Json]) -> Step:
    text = next((entry[key] for key in _TEXTS if isinstance(entry.get(key), str) and entry[key]), "")
    return Step(_plain(text), _state(str(entry.get("status", ""))))


def _state(status: str) -> State:
    if _DROPPED.match(status):
        return State.DROPPED
    if _DOING.match(status) or status in ("~", "/"):
        return State.DOING
    return State.DONE if _DONE.match(status) else State.OPEN


def _plain(text: str) -> str:
    return quote(text, _LONGEST)


def _listed(arguments: dict[str, Json]) -> list[dict[str, Json]] | None:
    """The tasks that the arguments list."""
    for value in arguments.values():
        if isinstance(value, list) and value and all(map(_is_task, value)):
            return value
    return None


def _is_task(entry: Json) -> bool:
    return isinstance(entry, dict) and _STATUS.fullmatch(str(entry.get("status", ""))) is not None


def _first(values: dict[str, Json], keys: Sequence[str]) -> str:
    """The first of the keys that has a value, as text."""
    found: Iterator[str] = (str(values[key]) for key in keys if isinstance(values.get(key), str | int))
    return next(found, "")
