"""Plans as plain JSON, and messages as bytes, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TypeVar

from compact.messages.blocks import Json
from compact.messages.edits import NEWEST, AccountItem, Drop, Edit, EditKind, Fold, Pass, Plan, Replace, Where

_Kind = TypeVar("_Kind")


def message_bytes(wire: Json) -> bytes:
    """A message as bytes from which an equal one can be read, order of keys and odd characters included."""
    return json.dumps(wire, separators=(",", ":")).encode()


def digest_of(wire: Json) -> str:
    """What a message is kept under: the SHA-256 of its bytes."""
    return hashlib.sha256(message_bytes(wire)).hexdigest()


def plan_to_json(plan: Plan) -> Json:
    """The passes, without the messages they replaced."""
    return [_pass_data(step) for step in plan]


def plan_from_json(data: Json) -> Plan:
    """The passes that were written; KeyError, TypeError or ValueError where it is something else."""
    return tuple(_read_pass(step) for step in _is(list, data))


def _pass_data(step: Pass) -> Json:
    return {
        "name": step.name,
        "notes": list(step.notes),
        "edits": [_edit_data(edit) for edit in step.edits],
        "added": list(step.added),
        **({"merges": True} if step.merges else {}),
    }


def _edit_data(edit: Edit) -> Json:
    if isinstance(edit, Fold):
        more: dict[str, Json] = {"count": edit.count} if edit.count else {}
        if edit.items:
            more["items"] = [[item.text, *item.sources] for item in edit.items]
        if edit.first:
            more["first"] = True
        if edit.behind:
            more["behind"] = edit.behind
        more |= _references(edit)
        return {"fold": list(edit.messages), "into": edit.into, "role": edit.role, "why": edit.kind.value, **more}
    where = [edit.where.message, edit.where.block, list(edit.where.path), edit.where.lines]
    if isinstance(edit, Drop):
        return {"drop": where, "why": edit.kind.value}
    return {"replace": where, "with": edit.with_, "why": edit.kind.value, **_references(edit)}


def _references(edit: Replace | Fold) -> dict[str, Json]:
    return {"refers": list(edit.refers_to)} if edit.refers_to else {}


def _read_pass(data: Json) -> Pass:
    # Earlier versions only said that a pass was chosen in view of later messages, not of which.
    ahead = (NEWEST,) if _is(bool, data.get("ahead", False)) else ()
    return Pass(
        name=_is(str, data["name"]),
        edits=tuple(_read_edit(edit, ahead) for edit in _is(list, data["edits"])),
        notes=tuple(_texts(data["notes"])),
        added=tuple(_texts(data["added"])),
        merges=_is(bool, data.get("merges", False)),
    )


def _read_edit(data: Json, ahead: tuple[str, ...]) -> Edit:
    kind, refers = EditKind(_is(str, data["why"])), tuple(_texts(data.get("refers", []))) or ahead
    if "fold" in data:
        into = None if data["into"] is None else _is(str, data["into"])
        items = tuple(_read_item(item) for item in _is(list, data.get("items", [])))
        role, count = _is(str, data["role"]), _is(int, data.get("count", 0))
        first, behind = _is(bool, data.get("first", False)), _is(str, data.get("behind", ""))
        return Fold(tuple(_texts(data["fold"])), into, kind, role, count, items, first, behind, refers)
    message, block, path, lines = data["drop"] if "drop" in data else data["replace"]
    where = Where(_is(str, message), _is(int, block), tuple(path), None if lines is None else (lines[0], lines[1]))
    return Drop(where, kind) if "drop" in data else Replace(where, _is(str, data["with"]), kind, refers)


def _read_item(data: Json) -> AccountItem:
    text, *sources = _texts(data)
    return AccountItem(text, tuple(sources))


def _texts(values: Json) -> Iterator[str]:
    return (_is(str, value) for value in _is(list, values))


def _is(kind: type[_Kind], value: Json) -> _Kind:
    if not isinstance(value, kind):
        raise TypeError(f"{kind.__name__} expected, not {type(value).__name__}")
    return value
