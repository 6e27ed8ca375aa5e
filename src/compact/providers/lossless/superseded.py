"""Answers that a later answer replaced: a file read or written again after it changed, the same call made again.

What goes is a claim: whoever reads on must neither be misled nor miss what no later message has. So a part of a file
goes only if what is read later holds both of its ends, a search only if the later one found all that it found, and what
was done goes for nothing: of two bookings, both stand. What failed neither goes nor stands for anything.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
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
    names_of,
    pairs,
    segments,
    untouchable,
    with_handle,
)
from compact.providers.lossless.commands import UNCUT, Cut, Shell
from compact.providers.lossless.failures import Failures, failures_of
from compact.providers.lossless.formatting import NUMBERED, simplify
from compact.providers.lossless.reads import (
    Lines,
    canonical,
    essential,
    lines_printed,
    lines_read,
    lines_written,
    shell_command,
)
from compact.providers.lossless.repeatable import can_repeat, is_search

_SHORTEST = 120
_MARKERS = ("[Outdated: see ", "[Consolidated ", "⟨ Superseded: ")
"""How what stands for such an answer begins; the last was written by earlier versions."""
_LATEST = 40
"""How many later readings of one file an earlier one is held against."""
_ID = re.compile(r"(?:^|[_-])p?id$|[a-z]I[dD]$")
# Such a tool gives the next piece each time, whatever it is called with.
_STEPS = re.compile(r"(?i)next|more|scroll|poll|wait|output|continue|press|click|stdin|input")
_STUB = re.compile(
    r"(?i)\bunchanged since\b|\b(?:not|no) (?:been )?(?:changed?|changes|modified) since\b|\bstill current\b"
    r"|\balready (?:read|shown|in (?:the )?context)\b|\brefer to (?:that|the (?:earlier|previous))\b"
    r"|^\s*[\[<(⟨][^\n]{0,200}\b(?:cleared|omitted|elided|removed|superseded|outdated)\b"
)
_LOOK = 600
_SUCCESS = re.compile(r"(?i)\b(?:exit|return)[ _-]?(?:code|status)\W{1,4}0\b")
_HEADER = 160
_ENDS = 3
"""How many lines at each end of a part of a file must be found again."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How what stands for an answer is written, and when that pays.

    With `handles` it says how the answer can be recalled. With `pointed`, an answer that is given again as it was
    stays, and the later one becomes a reference to it.
    """

    handles: bool = False
    pointed: bool = True


USUAL = Manner()


@dataclass(frozen=True, slots=True)
class Answered:
    """A call and its answer.

    `key` is what was run and `cut` how much of its output is shown; `lines` is what is shown of a file, be it in the
    answer or, where that is `written`, in the call.
    """

    where: Where
    call: ToolCall
    result: ToolResult
    key: str
    cut: Cut
    lines: Lines | None
    shown: str
    written: bool = False

    @property
    def is_stub(self) -> bool:
        """Whether it says nothing itself: it is blank, stands for something else or points back to it."""
        shown = self.shown
        if not shown.strip() or shown.startswith(_MARKERS):
            return True
        return not self.written and len(shown) < _LOOK and _STUB.search(shown) is not None


class _Later:
    """The answers further down that could stand for an earlier one."""

    def __init__(self, failures: Failures, *, pointed: bool) -> None:
        self._answers: defaultdict[str, list[Answered]] = defaultdict(list)
        self._failures = failures
        self._pointed = pointed
        self._failing: dict[Where, bool] = {}
        self._plain: dict[Where, str] = {}

    def add(self, answered: Answered) -> None:
        known = self._answers[_subject(answered)]
        if len(known) < _LATEST:
            known.append(answered)

    def of(self, answered: Answered) -> Answered | None:
        """The latest that stands for it; what the latest repeats is left to the references."""
        if answered.written or len(answered.shown) < _SHORTEST or not _subject(answered):
            return None
        for other in self._candidates(answered):
            # Where the later one holds references already, it may be the same.
            if has_mark(other.shown) or (self._pointed and other.shown == answered.shown):
                return None
            if not other.is_stub and not self._fails(other) and self._replaces(other, answered):
                may_go = answered.lines or can_repeat(answered.call)
                return other if may_go and not self._failures.at(*answered.where[:2]) else None
        return None

    def _candidates(self, answered: Answered) -> Iterator[Answered]:
        """Those that ask for no less, the latest first."""
        for other in self._answers.get(_subject(answered), ()):
            if answered.lines and other.lines:
                covers = other.lines.cover(answered.lines)
            else:
                cut = other.cut
                covers = cut.covers(answered.cut) or cut.seen_in(self._simplified(other)).covers(answered.cut)
            if covers:
                yield other

    def _replaces(self, later: Answered, earlier: Answered) -> bool:
        """Whether all that still holds of an answer stands in a later one."""
        old, new = self._simplified(earlier), self._simplified(later)
        if earlier.lines:
            return later.written or _shows_again(earlier.lines, old, new)
        return not is_search(earlier.call) or _lines_of(old) <= _lines_of(new)

    def _fails(self, answered: Answered) -> bool:
        """Whether an answer may report a failure; a file can speak of some, so there only the beginning counts."""
        if answered.where not in self._failing:
            text = answered.result.text
            if "\x1b" in text or text.lstrip()[:1] in ("{", "["):
                text = simplify(text)  # what is judged as a failure here must be one after its layout went, too
            found = failures_in(text if answered.lines is None else text[:_LOOK])
            doubtful = not _succeeded(answered) and next(found, None) is not None
            self._failing[answered.where] = doubtful or self._failures.at(*answered.where[:2])
        return self._failing[answered.where]

    def _simplified(self, answered: Answered) -> str:
        """What is shown without its layout, so that it is judged alike before and after that goes."""
        if answered.where not in self._plain:
            self._plain[answered.where] = simplify(answered.shown, answered.call)
        return self._plain[answered.where]


def find_superseded(
    conversation: Conversation, count: Callable[[str], int], manner: Manner = USUAL
) -> tuple[Replace, ...]:
    """The edits that replace what was shown of files, where a later call shows or writes that anew."""
    edits: list[Replace] = []
    for earlier, later in _replaced(conversation, pointed=manner.pointed, files=True):
        below = names_of(conversation).later(later.where, "call" if later.written else "result")
        does = "writes the whole file anew" if later.written else "shows these lines anew"
        edits += _replace(earlier, later, f"[Outdated: see {below} below, which {does}]", count, manner)
    return tuple(edits)


def find_consolidated(
    conversation: Conversation, count: Callable[[str], int], manner: Manner = USUAL
) -> tuple[Replace, ...]:
    """The edits that replace the answers to a call which was made again, so that the latest one counts."""
    edits: list[Replace] = []
    found = list(_replaced(conversation, pointed=manner.pointed, files=False))
    runs = Counter(later.where for _, later in found)
    for earlier, later in found:
        below = names_of(conversation).later(later.where, "result")
        told = f"{runs[later.where] + 1} operations: the same was run again; see {below} below"
        edits += _replace(earlier, later, f"[Consolidated {told}]", count, manner)
    return tuple(edits)


def _replaced(conversation: Conversation, *, pointed: bool, files: bool) -> list[tuple[Answered, Answered]]:
    """The answers that may go, in order, each with the one that stands for it."""
    fixed = untouchable(conversation)
    later = _Later(failures_of(conversation), pointed=pointed)
    found = []
    for answered in reversed(list(_answered(conversation))):
        if (answered.lines is not None) != files:
            continue
        other = later.of(answered)
        if other is None:
            later.add(answered)
        elif answered.where.message not in fixed:
            found.append((answered, other))
    return found[::-1]


def _answered(conversation: Conversation) -> Iterator[Answered]:
    shells: defaultdict[str, Shell] = defaultdict(Shell)
    messages = conversation.messages
    for (at, position), (call_at, block) in pairs(messages).items():
        result, call = messages[at].blocks[position], messages[call_at].blocks[block]
        if isinstance(result, ToolResult) and isinstance(call, ToolCall) and isinstance(call.arguments, dict):
            where = Where(messages[at].id, position)
            if lines := lines_written(call):
                yield Answered(where, call, result, "", UNCUT, lines, call.arguments["content"], written=True)
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


def _subject(answered: Answered) -> str:
    """What an answer is about: a file, or what was run."""
    return answered.lines.file if answered.lines else answered.key


def _succeeded(answered: Answered) -> bool:
    """Whether the answer says that its command succeeded; of a pipe only the last part would say so."""
    return _SUCCESS.search(answered.result.text[:_HEADER]) is not None and "|" not in str(answered.call.arguments)


def _shows_again(lines: Lines, earlier: str, later: str) -> bool:
    """Whether a reading shows what an earlier one did, as it is then.

    Lines move when a file is edited: of a part, both ends must be found again. A whole file may have changed anywhere,
    but what is not half as long was cut.
    """
    if lines.is_whole:
        return len(later) * 2 >= len(earlier)
    old, new = _bare(earlier), _bare(later)
    text = "\n".join(["", *new, ""])
    first = text.find("\n".join(["", *old[:_ENDS], ""]))
    return bool(old) and 0 <= first <= text.rfind("\n".join(["", *old[-_ENDS:], ""]))


def _bare(text: str) -> list[str]:
    """The lines of a file as they are shown, without numbers and blanks; only the numbered ones, if any are."""
    parts = list(segments(text))
    numbered = [part for part in parts if part.numbering is not None]
    return [line for part in numbered or parts for line in part.lines if line.strip() and not line.startswith(NUMBERED)]


def _lines_of(text: str) -> set[str]:
    return {line.strip() for line in text.split("\n")}


def _replace(
    answered: Answered, later: Answered, marker: str, count: Callable[[str], int], manner: Manner
) -> Iterator[Replace]:
    """The marker in the place of each text of an answer, where that is shorter than the text."""
    for position, part in enumerate(answered.result.parts):
        text = part.text if isinstance(part, Text) else ""
        if len(text) < _SHORTEST or has_mark(text) or text.startswith(_MARKERS):
            continue
        told = with_handle(marker, text) if manner.handles else marker
        if count(told) < count(text):
            where = Where(answered.where.message, answered.where.block, (position,))
            yield Replace(where, told, EditKind.SUPERSEDED, (later.where.message,))
