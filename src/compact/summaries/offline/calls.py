"""Describes the calls of an exchange and their results: one part of an account line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from compact.facts import strings_in
from compact.history.actions import CHANGES, Action, describe, subject, written_by
from compact.history.marks import unmarked
from compact.history.outcomes.outcome import Verdict
from compact.history.outcomes.signs import plain
from compact.history.quoting import in_quotes, quote, shorten
from compact.summaries.offline.outlines import outline
from compact.summaries.offline.records import Mentions, Record, fields_in, scalars_in

if TYPE_CHECKING:
    from compact.summaries.offline.lines import Room, Told

QUESTIONS = ("pattern", "query", "regex", "url")
"""Arguments of a call that looks for something."""
TELLS_MORE = 2
"""A line has this many times more characters for what a script prints, and for one or two records."""
_LONGEST_CALL = 200
_OF_SCRIPT = 4
"""A line has this many times fewer characters for a script than for a file: its output says more than its code."""
_JOIN, _CUT = " / ", " / … / "
_SAYING, _TAG = re.compile(r"[^\W_]"), re.compile(r"</?\w{1,20}>(?:-?\d{1,5}</\w{1,20}>)?")
_FIELD = re.compile(r"\s*[\"'][\w -]{1,40}[\"']\s*:")


def distinct(actions: Sequence[Action]) -> list[Action]:
    """One of those that do the same to the same: the last."""
    last = {(action.kind, action.subject or id(action)): action for action in actions}
    return list(last.values())


def describe_call(action: Action, room: Room, told: Told) -> str:
    """What was done, with what came of it; nothing of a plan that a later one replaced."""
    what = subject(action)
    did = f"{action.kind} `{what}`" if action.is_command else f"{action.kind} {what}".removeprefix("called ")
    fed = action.is_command and action.run is not None and bool(action.run.script)
    if fed and action.purpose:
        did = f"{did} for {in_quotes(action.purpose)}"
    elif fed and (script := _script(action, room.written // _OF_SCRIPT)):
        did = f"{did} with {in_quotes(script, code=True)}"
    looks = _looks_up(action) if action.kind == "read" and not action.is_command else ""
    did = looks or did
    if found := told.found(action, room):
        return f"{did}: {in_quotes(found)}"
    if action.outcome.failed or action.outcome.kind is Verdict.REFUSED:
        return f"{did}: {_went_wrong(action, room)}"
    if plan := told.lists.get(id(action)):
        tasks = quote(plan.tell(), max(room.words, room.rules))
        return f"planned: {in_quotes(tasks)}" if tasks else ""
    shown = ""
    if action.kind in CHANGES:
        shown = _written(action, room.written, told.taken_up)
        did = f"{did}, new text" if shown and action.kind == "edited" else did
    elif action.kind != "read" or looks:
        scripted = fed or told.wrote(action)
        times = TELLS_MORE if scripted or told.looked_up(action) else 1
        shown = _answer(action, times * room.answer, told, scripted=scripted)
    elif room.reads and (record := told.records.get(id(action))):
        shown = fields_in(record, room.reads)
    if shown:
        return f"{did}: {in_quotes(shown, code=action.kind in CHANGES)}"
    if action.kind == "ran" and action.outcome.kind is Verdict.OK:
        return f"{did}: ok"
    silent = action.is_command and action.answer is not None and not action.result.strip()
    return f"{did}: no output" if silent else did


def _script(action: Action, longest: int) -> str:
    """What a script says of itself that a program was fed with: its comments, and what it defines."""
    text = written_by(action) if longest else ""
    return quote(outline(text, {}, longest, rest=False), longest, code=True) if text else ""


def _written(action: Action, longest: int, taken_up: Mapping[str, int]) -> str:
    """What was put into a file: all of it, or what the next words took up; of records the first, with their fields."""
    text = written_by(action) if longest else ""
    lines = quote(text.replace("\n", " / "), 2 * longest, code=True)
    if len(lines) <= longest or _FIELD.match(text):
        return shorten(lines, longest)
    return quote(outline(text, taken_up, longest), longest, code=True) or shorten(lines, longest)


def _answer(action: Action, longest: int, told: Told, *, scripted: bool) -> str:
    """The result of a call: how a command ended, or the fields of a record; and what the next words took up.

    The output of a script is quoted from its beginning, because the script was written to print it.
    """
    end = action.outcome.shorten(longest)
    ran, decided = action.kind == "ran", action.outcome.kind is not Verdict.UNKNOWN
    record = told.records.get(id(action))
    if record is not None and not decided:
        return describe_record(action, record, longest) or end
    scripted = scripted and not decided
    if scripted and len(whole := _JOIN.join(_printed(action.result[: 2 * longest]))) <= longest:
        return quote(whole, longest)
    if not scripted and len(action.result) <= len(end) + longest:
        return end
    first = action.outcome.shorten(longest // 2) if ran else scalars_in(action.result, longest // 2)
    left = longest - len(first) - len(_CUT)
    more = _head(action.result, left) if scripted else _mentions(action, told).pick(left)
    if first and (more := quote(more, left)) and more not in first:
        # A command's last words stand last.
        return f"{more.removesuffix(f'{_JOIN}…')}{_CUT}{first}" if ran else f"{first}{_JOIN}{more}"
    return first or more or end


def _mentions(action: Action, told: Told) -> Mentions:
    """What the words that were said next take up of the result; found once for lines of any length."""
    if id(action) not in told.mentions:
        told.mentions[id(action)] = Mentions(action.result, told.taken_up)
    return told.mentions[id(action)]


def describe_record(action: Action, record: Record, longest: int) -> str:
    """The fields of a record that a call returned, without those that the call was given."""
    given = [text for _, text in strings_in(action.call.arguments)]
    return quote(fields_in(record, longest, given), longest)


def _printed(result: str) -> Iterator[str]:
    """The lines of an output that say something, without marks of ours and the tags that an agent puts around it."""
    lines = plain(unmarked(result)).split("\n")
    return (line.strip() for line in lines if _SAYING.search(_TAG.sub("", line)))


def _head(result: str, longest: int) -> str:
    """The first lines of an output, as many as fit."""
    told: list[str] = []
    for line in _printed(result[: 2 * longest]):
        if sum(map(len, told)) + len(_JOIN) * len(told) + len(line) > longest:
            break
        told.append(line)
    return _JOIN.join(told)


def _went_wrong(action: Action, room: Room) -> str:
    """How an action failed, or with which words the user refused it."""
    refused = action.outcome.kind is Verdict.REFUSED
    words = action.outcome.shorten(room.words if refused else room.answer)
    by = "as its result says" if action.outcome.claimed else "by the user"
    told = f"refused{',' * action.outcome.claimed} {by}" if refused else "failed"
    told = f"{told}: {in_quotes(words)}" if words else told
    if action.mended_by is not None:
        return f"{told}; ok later"
    if action.rerun is not None:
        again = f"{told}; was run again later"
        return f"{again}: {in_quotes(action.rerun)}" if action.rerun else again
    return told


def _looks_up(action: Action) -> str:
    """A call that asks for something other than a file, such as a search or a record."""
    given = action.call.arguments
    asks = isinstance(given, dict) and any(key in given for key in QUESTIONS)
    return describe(action, _LONGEST_CALL) if asks or not action.subject else ""
