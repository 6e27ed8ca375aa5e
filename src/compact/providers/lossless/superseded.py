"""Answers that a later answer replaced: the same call made again, a file read or written again after it changed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from compact.facts import failures_in
from compact.messages import (
    Conversation,
    EditKind,
    Json,
    Replace,
    Text,
    ToolCall,
    ToolResult,
    Where,
    has_mark,
    pairs,
    untouchable,
    with_handle,
)
from compact.messages.paths import can_splice
from compact.providers.lossless.calls import name_call
from compact.providers.lossless.commands import UNCUT, Cut, Shell
from compact.providers.lossless.formatting import simplify
from compact.providers.lossless.reads import (
    Lines,
    canonical,
    essential,
    lines_printed,
    lines_read,
    lines_written,
    shell_command,
)

_SHORTEST = 120
_MARKER = "⟨ Superseded: "
_LATEST = 40
"""How many later readings of one file an earlier one is held against."""
_ID = re.compile(r"(?:^|[_-])p?id$|[a-z]I[dD]$")
# Such a tool gives the next piece each time, whatever it is called with.
_STEPS = re.compile(r"(?i)next|more|scroll|poll|wait|output|continue|press|click|stdin|input")
_STUB = re.compile(
    r"(?i)\bunchanged since\b|\b(?:not|no) (?:been )?(?:changed?|changes|modified) since\b|\bstill current\b"
    r"|\balready (?:read|shown|in (?:the )?context)\b|\brefer to (?:that|the (?:earlier|previous))\b"
    r"|^\s*[\[<(⟨][^\n]{0,200}\b(?:cleared|omitted|elided|removed|superseded)\b"
)
_LOOK = 600
_SUCCESS = re.compile(r"(?i)\b(?:exit|return)[ _-]?(?:code|status)\W{1,4}0\b")
_HEADER = 160


@dataclass(frozen=True, slots=True)
class Answered:
    """A call and its answer.

    `key` is what was run and `cut` how much of its output is shown; `lines` is what is shown of a file, be it in the
    answer or, where something was `written`, in the call.
    """

    where: Where
    call: ToolCall
    result: ToolResult
    key: str
    cut: Cut
    lines: Lines | None
    shown: str
    written: Where | None = None

    @property
    def is_stub(self) -> bool:
        """Whether it says nothing itself: it is blank, stands for something else or points back to it."""
        shown = self.shown
        if not shown.strip() or shown.startswith(_MARKER):
            return True
        return not self.written and len(shown) < _LOOK and _STUB.search(shown) is not None


@dataclass(frozen=True, slots=True)
class _Marking:
    """Puts markers in the place of texts, where that is shorter."""

    count: Callable[[str], int]
    handles: bool

    def replace(self, where: Where, text: str, marker: str) -> Iterator[Replace]:
        if len(text) < _SHORTEST or has_mark(text) or text.startswith(_MARKER):
            return
        if self.handles:
            marker = with_handle(marker, text)
        if self.count(marker) < self.count(text):
            yield Replace(where, marker, EditKind.SUPERSEDED)


class _Later:
    """The answers further down that could stand for an earlier one."""

    def __init__(self) -> None:
        self._runs: defaultdict[str, list[Answered]] = defaultdict(list)
        self._files: defaultdict[str, list[Answered]] = defaultdict(list)
        self._failing: dict[Where, bool] = {}
        self._plain: dict[Where, str] = {}

    def add(self, answered: Answered) -> None:
        for known, key in ((self._runs, answered.key), (self._files, answered.lines and answered.lines.file)):
            if key and len(known[key]) < _LATEST:
                known[key].append(answered)

    def of(self, answered: Answered) -> tuple[Answered, str] | None:
        """The latest that stands for it, and in words how; what the latest repeats is left to the references."""
        if len(answered.shown) < _SHORTEST:
            return None
        for other, how in self._candidates(answered):
            # Where the later one holds references already, it may be the same.
            if other.shown == answered.shown or has_mark(other.shown):
                return None
            if not other.is_stub and self._reaches(other, answered) and self._tells(other, answered):
                return other, how
        return None

    def _candidates(self, answered: Answered) -> Iterator[tuple[Answered, str]]:
        for other in self._runs.get(answered.key, ()):
            if other.cut.covers(answered.cut) or other.cut.seen_in(self._simplified(other)).covers(answered.cut):
                yield other, "was run again below"
        lines = answered.lines
        for other in self._files.get(lines.file, ()) if lines else ():
            if lines and other.lines and other.lines.cover(lines):
                yield other, "writes this file anew below" if other.written else "shows these lines anew below"

    def _reaches(self, later: Answered, earlier: Answered) -> bool:
        """Whether a reading, which may end early, shows at least half as much as an earlier one, and got that far."""
        if later.lines is None or earlier.lines is None or later.written:
            return True
        ahead = earlier.lines.first - later.lines.first
        return _is_enough(later.shown, earlier.shown, ahead) or _is_enough(
            self._simplified(later), self._simplified(earlier), ahead
        )

    def _tells(self, later: Answered, earlier: Answered) -> bool:
        """Whether an answer is no failure; a command's may be one, if it has about as much to say as before."""
        if not self._fails(later):
            return True
        return later.lines is None and len(self._simplified(later)) * 2 >= len(self._simplified(earlier))

    def _fails(self, answered: Answered) -> bool:
        """Whether an answer reports a failure; a file may well speak of some, so there only the beginning counts."""
        if answered.where not in self._failing:
            text = answered.result.text
            if "\x1b" in text or text.lstrip()[:1] in ("{", "["):
                text = simplify(text)  # what is judged as a failure here must be one after its layout went, too
            found = failures_in(text if answered.lines is None else text[:_LOOK])
            self._failing[answered.where] = not _succeeded(answered) and next(found, None) is not None
        return self._failing[answered.where]

    def _simplified(self, answered: Answered) -> str:
        """What is shown without its layout, so that it is judged alike before and after that goes."""
        if answered.where not in self._plain:
            self._plain[answered.where] = simplify(answered.shown, answered.call)
        return self._plain[answered.where]


def find_superseded(
    conversation: Conversation, count: Callable[[str], int], *, handles: bool = False
) -> tuple[Replace, ...]:
    """The edits that replace answers which a later call made obsolete. Errors are always kept.

    With `handles`, what stands for them says how they can be recalled.
    """
    marking = _Marking(count, handles)
    fixed = untouchable(conversation)
    later = _Later()
    edits: list[Replace] = []
    for answered in reversed(list(_answered(conversation))):
        if answered.result.error:
            continue
        found = later.of(answered)
        if found is None:
            later.add(answered)
        else:
            edits += (edit for edit in _replace(answered, *found, marking) if edit.where.message not in fixed)
    return tuple(reversed(edits))


def _answered(conversation: Conversation) -> Iterator[Answered]:
    shells: defaultdict[str, Shell] = defaultdict(Shell)
    messages = conversation.messages
    for (at, position), (call_at, block) in pairs(messages).items():
        result, call = messages[at].blocks[position], messages[call_at].blocks[block]
        if isinstance(result, ToolResult) and isinstance(call, ToolCall) and isinstance(call.arguments, dict):
            where = Where(messages[at].id, position)
            if lines := lines_written(call):
                written = Where(messages[call_at].id, block, ("content",))
                yield Answered(where, call, result, "", UNCUT, lines, call.arguments["content"], written)
            else:
                text = result.text
                yield Answered(where, call, result, *_asked(call, text, shells), text)


def _asked(call: ToolCall, answer: str, shells: dict[str, Shell]) -> tuple[str, Cut, Lines | None]:
    """What a call runs, how much of the output it shows, and what it reads; nothing where that differs each time."""
    arguments = essential(call.arguments)
    name, typed = shell_command(arguments)
    if not name:
        if call.name in shells:
            shells[call.name].lose()
        return ("", UNCUT, None) if _steps(call.name) else (_key(call, arguments), UNCUT, lines_read(call, arguments))
    command = shells[call.name].take(typed, answer)
    # In the background only a number is given, and what is typed into a running program runs nothing.
    apart = arguments.get("run_in_background") or arguments.get("is_input") in (True, "true")
    if apart or not command.run or _steps(call.name):
        return "", UNCUT, None
    others = canonical({key: value for key, value in arguments.items() if key != name}) if len(arguments) > 1 else "{}"
    key = f"{call.name} {others} {command.folder} {command.run}" if others else ""
    return key, command.cut, lines_printed(call, arguments, command)


@lru_cache(maxsize=500)
def _steps(name: str) -> bool:
    return _STEPS.search(name) is not None


def _key(call: ToolCall, arguments: dict[str, Json]) -> str:
    """What was asked for; nothing where no more than an id or a number is given, which may ask for the next piece."""
    told = (value for key, value in arguments.items() if isinstance(value, str | list | dict) and not _ID.search(key))
    said = canonical(arguments) if any(told) else ""
    return f"{call.name} {said}" if said else ""


def _succeeded(answered: Answered) -> bool:
    """Whether the answer says that its command succeeded; of a pipe only the last part would say so."""
    return _SUCCESS.search(answered.result.text[:_HEADER]) is not None and "|" not in str(answered.call.arguments)


def _is_enough(later: str, earlier: str, ahead: float) -> bool:
    """Whether a text is not far shorter than an earlier one, which begins some lines ahead in the same file."""
    return len(later) * 2 >= len(earlier) and ahead + earlier.count("\n") / 2 <= later.count("\n")


def _replace(answered: Answered, later: Answered, how: str, marking: _Marking) -> Iterator[Replace]:
    """What stands for the obsolete answer, or for what was written."""
    marker = f"{_MARKER}{name_call(later.call)} {how} ⟩"
    if answered.written:
        if can_splice(answered.call, ("content",)):
            yield from marking.replace(answered.written, answered.shown, marker)
        return
    where = answered.where
    for position, part in enumerate(answered.result.parts):
        if isinstance(part, Text):
            yield from marking.replace(Where(where.message, where.block, (position,)), part.text, marker)
