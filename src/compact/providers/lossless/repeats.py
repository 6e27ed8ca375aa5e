"""Repeated runs of lines: shown once, pointed at afterwards.

Every text of the conversation is looked at once, in order. A run of lines that was shown before, line numbers left out
of account, becomes a reference. Only what is still shown literally can be pointed at, so no reference leads to another.

A run pays if it has at least `SHORTEST` characters, so it is enough to remember, for every line, the shortest run of
that length that begins there. What is remembered is hashes in flat arrays: some thirty bytes a line, whatever the text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from compact.messages import (
    MARK,
    Conversation,
    Message,
    Reference,
    Replace,
    Segment,
    ToolCall,
    Where,
    checksum,
    fingerprint,
    message_texts,
    segments,
    untouchable,
)
from compact.providers.lossless.calls import Names, can_edit

SHORTEST = 80
"""A repeated run of fewer characters is left alone: a reference to it would hardly be shorter."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a stretch of remembered lines comes from: its first line's position in its text, and the text."""

    first: int
    text: int


class Memory:
    """The lines shown so far, as hashes. A line that is not shown literally, or that ends a stretch, is a gap."""

    def __init__(self) -> None:
        self.lines = array("q")
        self.shown = bytearray()
        self.sources: list[Source] = []
        self._starts: list[int] = []
        self._runs = array("q")
        self._table = array("q", [-1]) * 1024
        self._used = 0

    def find(self, run: int) -> int:
        """Where the first run of this hash begins, or -1."""
        table, mask = self._table, len(self._table) - 1
        slot = run & mask
        while (at := table[slot]) >= 0:
            if self._runs[at] == run:
                return at
            slot = (slot + 1) & mask
        return -1

    def extent(self, at: int, hashes: list[int], begin: int) -> int:
        """How many lines from `begin` are those from `at` on."""
        lines, shown = self.lines, self.shown
        length, most = 0, min(len(hashes) - begin, len(lines) - at)
        while length < most and shown[at + length] and lines[at + length] == hashes[begin + length]:
            length += 1
        return length

    def source(self, at: int) -> tuple[Source, int]:
        """The stretch a line belongs to, and the line's position in its text."""
        which = bisect_right(self._starts, at) - 1
        source = self.sources[which]
        return source, source.first + at - self._starts[which]

    def add(self, source: Source, hashes: list[int], runs: list[int], hidden: list[tuple[int, int]]) -> None:
        """Remember a stretch of lines; those in the `hidden` spans are not shown."""
        start = len(self.lines)
        self._starts.append(start)
        self.sources.append(source)
        self.lines.extend(hashes)
        self.lines.append(0)
        shown = bytearray(b"\1") * len(hashes)
        for first, last in hidden:
            shown[first:last] = bytes(last - first)
        self.shown += shown
        self.shown.append(0)
        self._runs.extend(runs)
        self._runs.extend([0] * (len(hashes) + 1 - len(runs)))
        for at, run in enumerate(runs):
            if shown[at]:
                self._insert(run, start + at)

    def _insert(self, run: int, at: int) -> None:
        if self._used * 3 > len(self._table) * 2:
            self._grow()
        table, mask, runs = self._table, len(self._table) - 1, self._runs
        slot = run & mask
        while (known := table[slot]) >= 0:
            if runs[known] == run:
                return
            slot = (slot + 1) & mask
        table[slot] = at
        self._used += 1

    def _grow(self) -> None:
        old = self._table
        self._table = array("q", [-1]) * (len(old) * 2)
        mask = len(self._table) - 1
        for at in old:
            if at >= 0:
                slot = self._runs[at] & mask
                while self._table[slot] >= 0:
                    slot = (slot + 1) & mask
                self._table[slot] = at


def find_repeats(conversation: Conversation, count: Callable[[str], int]) -> tuple[Replace, ...]:
    """The edits that replace every repeated run by a reference, where that saves tokens."""
    finder = _Finder(conversation, count)
    if conversation.system is not None:
        for where, text in message_texts(conversation.system):
            finder.look(where, text, None)
    fixed = untouchable(conversation)
    for message in conversation.messages:
        editable = message.id not in fixed and conversation.dialect.edited(message.wire) is message.wire
        for where, text in message_texts(message):
            finder.look(where, text, message if editable else None)
    return tuple(finder.edits)


class _Finder:
    def __init__(self, conversation: Conversation, count: Callable[[str], int]) -> None:
        self.edits: list[Replace] = []
        self._memory = Memory()
        self._texts: list[tuple[Where, str]] = []
        self._names = Names(conversation)
        self._count = count
        self._lines: dict[int, list[str]] = {}
        self._prints: dict[int, str] = {}

    def look(self, where: Where, text: str, message: Message | None) -> None:
        """Take in one text; where it may be edited, replace what was shown before."""
        if len(text) < SHORTEST or MARK in text:
            return
        number = len(self._texts)
        self._texts.append((where, text))
        raw = text.split("\n") if message is not None else []
        editable = message is not None
        stretches = []  # remembered when the text is done: a text cannot point into itself
        for segment in segments(text):
            hashes = list(map(hash, segment.lines))
            runs = _runs(segment.lines, hashes)
            hidden: list[tuple[int, int]] = []
            if editable and runs:
                for start, end, reference in self._matches(segment, hashes, runs, raw):
                    if message is not None and not _editable(message, where):
                        editable = False
                        break
                    place = replace(where, lines=(segment.first + start, segment.first + end))
                    self.edits.append(Replace(place, reference, "shown before"))
                    hidden.append((start, end))
            stretches.append((Source(segment.first, number), hashes, runs, hidden))
        for stretch in stretches:
            self._memory.add(*stretch)

    def _matches(
        self, segment: Segment, hashes: list[int], runs: list[int], raw: list[str]
    ) -> Iterator[tuple[int, int, str]]:
        at = 0
        find = self._memory.find
        while at < len(runs):
            found = find(runs[at])
            if found < 0:
                at += 1
                continue
            length = self._memory.extent(found, hashes, at)
            shown = raw[segment.first + at : segment.first + at + length]
            reference = self._refer(segment, at, found, shown) if shown else ""
            if reference and self._pays(reference, "\n".join(shown)) and self._same(segment, at, found, length):
                yield at, at + length, reference
                at += length
            else:
                at += 1

    def _pays(self, reference: str, shown: str) -> bool:
        return len(reference) < len(shown) and self._count(reference) < self._count(shown)

    def _same(self, segment: Segment, at: int, found: int, length: int) -> bool:
        """Whether the lines found really are the same: hashes can lie."""
        source, first = self._memory.source(found)
        return self._bare(source.text)[first : first + length] == segment.lines[at : at + length]

    def _refer(self, segment: Segment, at: int, found: int, shown: list[str]) -> str:
        source, first = self._memory.source(found)
        where, text = self._texts[source.text]
        numbering = segment.numbering and replace(segment.numbering, start=segment.numbering.start + at)
        what, last = self._names.of(where), first + len(shown)
        if source.text not in self._prints:
            self._prints[source.text] = fingerprint(text)[:6]
        return Reference(what, self._prints[source.text], first + 1, last, checksum(shown), numbering).render()

    def _bare(self, number: int) -> list[str]:
        """The lines of a text without numbers; the last few asked for are kept."""
        if number not in self._lines:
            if len(self._lines) >= 8:
                self._lines.clear()
            self._lines[number] = [line for segment in segments(self._texts[number][1]) for line in segment.lines]
        return self._lines[number]


def _runs(lines: list[str], hashes: list[int]) -> list[int]:
    """For every line but the last few, the hash of the shortest run from there that is worth a reference."""
    runs: list[int] = []
    end = size = 0
    count = len(lines)
    for at, line in enumerate(lines):
        while size < SHORTEST:
            if end == count:
                return runs
            size += len(lines[end]) + 1
            end += 1
        runs.append(hash(tuple(hashes[at:end])))
        size -= len(line) + 1
    return runs


def _editable(message: Message, where: Where) -> bool:
    block = message.blocks[where.block]
    return not isinstance(block, ToolCall) or can_edit(block, where.path)
