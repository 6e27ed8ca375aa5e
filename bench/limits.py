"""How much smaller conversations could become without losing anything.

This is computed apart from the provider, and uses nothing of it. Texts are read in order. A suffix automaton of all
lines shown so far, whatever numbers or signs of a diff stand before them, tells for every line the longest run that
ends there and was shown before; the shortest way to write the text with references follows from that. It is more than
anybody can reach: references may lead to lines that are references themselves, and results that failed are rewritten
like all others.

What may not be changed is only pointed at: the arguments of calls, and the messages that no compaction may touch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, groupby, repeat

from compact.messages import Conversation, Message, Text, ToolCall, ToolResult, message_texts, pairs, untouchable

LEVELS = ("verbatim", "formatting", "superseded")
_NUMBER = re.compile(r"[ 0]*(\d{1,9})(?:→|\t|: ?|\| ?)")
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_HUNK = re.compile(r"^(?:@@|\*\*\* Begin Patch$)", re.MULTILINE)
_PATHS = ("file_path", "path", "filePath", "filename", "file", "target_file")
_WHOLE = re.compile(r"(?i)read|view|open|cat|write|create")
_PART = re.compile(r"(?i)offset|limit|line|range|start|end|head|tail|page")
_MARKER = 80
"""Characters of the line that stands for an answer which a later one replaced."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The characters that could go at one level, and those of them in messages that a compaction may touch."""

    all: int
    touchable: int


class Automaton:
    """Finds the longest run of lines that was shown before, in linear time: a suffix automaton."""

    def __init__(self) -> None:
        self._next: list[dict[int, int]] = [{}]
        self._link = [-1]
        self._length = [0]
        self._last = 0
        self._ends = 0

    def runs(self, lines: Sequence[int]) -> list[int]:
        """For each line, how many lines up to it were shown before in one run."""
        state = length = 0
        found = []
        for line in lines:
            while state and line not in self._next[state]:
                state = self._link[state]
                length = self._length[state]
            if line in self._next[state]:
                state = self._next[state][line]
                length += 1
            found.append(length)
        return found

    def show(self, lines: Sequence[int]) -> None:
        """Take the lines of a text as shown; no run goes on into the next text."""
        self._ends -= 1
        for line in (*lines, self._ends):
            self._extend(line)

    def _extend(self, line: int) -> None:
        new, state = self._add({}, 0, self._length[self._last] + 1), self._last
        while state >= 0 and line not in self._next[state]:
            self._next[state][line] = new
            state = self._link[state]
        if state >= 0:
            self._link[new] = self._split(state, line)
        self._last = new

    def _split(self, state: int, line: int) -> int:
        target = self._next[state][line]
        if self._length[state] + 1 == self._length[target]:
            return target
        clone = self._add(dict(self._next[target]), self._link[target], self._length[state] + 1)
        while state >= 0 and self._next[state].get(line) == target:
            self._next[state][line] = clone
            state = self._link[state]
        self._link[target] = clone
        return clone

    def _add(self, edges: dict[int, int], link: int, length: int) -> int:
        self._next.append(edges)
        self._link.append(link)
        self._length.append(length)
        return len(self._next) - 1


def find_limits(conversation: Conversation, reference: float, least: float) -> dict[str, Limit]:
    """What could go at each level, if a reference takes so many characters and must save at least so many."""
    return {level: _find(conversation, level, reference, least) for level in LEVELS}


def _find(conversation: Conversation, level: str, reference: float, least: float) -> Limit:
    automaton, ids = Automaton(), dict[str, int]()
    replaced = set(_replaced(conversation)) if level == "superseded" else set[tuple[int, int]]()
    fixed = untouchable(conversation)
    whole = touchable = 0.0
    for at, message in enumerate(_everything(conversation)):
        for where, text in message_texts(message):
            block = message.blocks[where.block]
            shown = text
            if level != "verbatim" and isinstance(block, ToolResult):
                shown = min(text, _plain(text), key=len)
            if (at, where.block) in replaced and len(text) > _MARKER:
                saved = float(len(text) - _MARKER)
            else:
                lines = shown.split("\n")
                bare = [ids.setdefault(_NUMBER.sub("", line, count=1), len(ids)) for line in lines]
                unsigned = [ids.setdefault(line[1:], len(ids)) for line in lines] if _HUNK.search(shown) else []
                runs = list(map(max, automaton.runs(bare), _signed_runs(automaton, lines, unsigned) or repeat(0)))
                saved = 0.0 if isinstance(block, ToolCall) else len(text) - _shortest(lines, runs, reference, least)
                automaton.show(bare)
                automaton.show(unsigned)
            if message is not conversation.system:
                whole += saved
                touchable += saved * (message.id not in fixed)
    return Limit(round(whole), round(touchable))


def _everything(conversation: Conversation) -> Iterable[Message]:
    # With the system prompt at the end of the positions, those of messages stay what they are.
    return conversation.messages if conversation.system is None else (conversation.system, *conversation.messages)


def _signed_runs(automaton: Automaton, lines: Sequence[str], unsigned: Sequence[int]) -> list[int]:
    """For each line of a diff, how many lines up to it, all with the same sign, were shown without their signs."""
    found: list[int] = []
    for _, run in groupby(range(len(unsigned)), lambda at: lines[at][:1]):
        found += automaton.runs([unsigned[at] for at in run])
    return found


def _shortest(lines: Sequence[str], runs: Sequence[int], reference: float, least: float) -> float:
    """The fewest characters in which the lines can be written."""
    ends = [0, *accumulate(len(line) + 1 for line in lines)]
    best = [0.0]
    for at, run in enumerate(runs, 1):
        shortest = best[-1] + ends[at] - ends[at - 1]
        if run and ends[at] - ends[at - run] >= reference + 1 + least:
            shortest = min(shortest, best[at - run] + reference + 1)
        best.append(shortest)
    return max(best[-1] - 1, 0)


def _plain(text: str) -> str:
    """The text without colours, blanks at line ends and between the tokens of JSON, and numbers that only count."""
    text = _ESCAPES.sub("", text)
    if text.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False)
    lines = text.split("\n")
    numbers = [int(found[1]) if (found := _NUMBER.match(line)) else -2 for line in lines]
    beside = zip([-2, *numbers], numbers, [*numbers[1:], -2], strict=False)
    counted = [now >= 0 and (now == before + 1 or now + 1 == behind) for before, now, behind in beside]
    plain = (_NUMBER.sub("", line, count=1) if counts else line for line, counts in zip(lines, counted, strict=True))
    return "\n".join(line.rstrip() for line in plain)


def _replaced(conversation: Conversation) -> Iterator[tuple[int, int]]:
    """The results of calls that were made again, and what was shown of files that were later read or written whole."""
    messages = conversation.messages
    made: set[tuple[str, str]] = set()
    files: set[str] = set()
    for (at, position), (call_at, block) in reversed(list(pairs(messages).items())):
        call = messages[call_at].blocks[block]
        if not isinstance(call, ToolCall) or not isinstance(call.arguments, dict):
            continue
        key = call.name, json.dumps(call.arguments, sort_keys=True)
        path = next((value for name in _PATHS if isinstance(value := call.arguments.get(name), str)), None)
        if key in made or path in files:
            yield at + (conversation.system is not None), position
        made.add(key)
        if path is not None and _WHOLE.search(call.name) and not any(map(_PART.search, call.arguments)):
            files.add(path)


def size(conversation: Conversation) -> int:
    """The characters of everything said, called and answered."""
    total = 0
    for message in conversation.messages:
        for block in message.blocks:
            if isinstance(block, ToolCall):
                total += len(block.raw if isinstance(block.raw, str) else json.dumps(block.raw, ensure_ascii=False))
            elif isinstance(block, Text | ToolResult):
                total += len(block.text)
    return total
