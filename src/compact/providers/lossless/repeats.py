"""Repeated runs of lines: shown once, pointed at afterwards.

Every text of the conversation is looked at once, in order. A run of lines that was shown before becomes a reference;
line numbers, and the signs of a diff, are left out of account. Only what is still shown literally can be pointed at, so
no reference leads to another. The arguments of calls are pointed at, but never edited: a model repeats what it sees.
What tells of a failure stays as it is, too.

A run pays if it has at least `SHORTEST` characters, so it is enough to remember, for every line, the shortest run of
that length that begins there. What is remembered is hashes in flat arrays: some thirty bytes a line, whatever the text.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from compact.messages import (
    Conversation,
    EditKind,
    Numbering,
    Reference,
    Replace,
    Segment,
    ToolCall,
    Where,
    checksum,
    fingerprint,
    has_mark,
    is_signed,
    is_summary,
    message_texts,
    names_of,
    segments,
    untouchable,
)
from compact.providers.lossless.failures import failures_of

SHORTEST = 80
"""A repeated run of fewer characters is left alone: a reference to it would hardly be shorter."""
LEAST = 40
"""How many tokens a reference must save: one that saves less costs the reader more than it is worth."""
_SIGNS = ("+", "-", " ")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a stretch of remembered lines comes from: its first line's position in its text, and the text."""

    first: int
    text: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of a text as hashes, with the runs that begin there, and the spans that become references."""

    source: Source
    hashes: tuple[int, ...]
    runs: list[int]
    hidden: list[tuple[int, int]]


class Memory:
    """The lines shown so far, as hashes. A line that is not shown literally, or that ends a stretch, is a gap.

    Runs are found by open addressing, in a table that has room for as many lines as there will be.
    """

    def __init__(self, lines: int) -> None:
        self.lines = array("q")
        self.shown = bytearray()
        """For every line: 0 where it is a gap, 1 in a text that stays as it is, 2 in one that is edited."""
        self.later: dict[int, int] = {}
        """Where runs first found in an edited text stand in one that stays as it is."""
        self.sources: list[Source] = []
        self._starts: list[int] = []
        self._runs = array("q")
        self._table = array("i", [-1]) * (1 << (2 * lines + 16).bit_length())

    def find(self, run: int) -> int:
        """Where the first run of this hash begins, or -1."""
        table, mask = self._table, len(self._table) - 1
        slot = run & mask
        while (at := table[slot]) >= 0:
            if self._runs[at] == run:
                return at
            slot = (slot + 1) & mask
        return -1

    def perhaps_known(self, runs: Sequence[int]) -> list[int]:
        """The positions of the runs whose place in the table is taken; no others can be found."""
        table, mask = self._table, len(self._table) - 1
        return [at for at, run in enumerate(runs) if table[run & mask] >= 0]

    def extent(self, at: int, hashes: Sequence[int], begin: int) -> int:
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

    def add(self, stretch: Stretch, *, edited: bool) -> None:
        """Remember a stretch of lines; those in the `hidden` spans are not shown."""
        start, runs = len(self.lines), stretch.runs
        self._starts.append(start)
        self.sources.append(stretch.source)
        self.lines.extend(stretch.hashes)
        self.lines.append(0)
        shown = bytearray(b"\2" if edited else b"\1") * len(stretch.hashes)
        for first, last in stretch.hidden:
            shown[first:last] = bytes(last - first)
        self.shown += shown
        self.shown.append(0)
        self._runs.extend(runs)
        self._runs.extend([0] * (len(stretch.hashes) + 1 - len(runs)))
        table, known, mask = self._table, self._runs, len(self._table) - 1
        for at, run in enumerate(runs):
            if shown[at]:
                slot = run & mask
                while (other := table[slot]) >= 0 and known[other] != run:
                    slot = (slot + 1) & mask
                if other < 0:
                    table[slot] = start + at
                elif not edited and self.shown[other] == 2:
                    self.later.setdefault(run, start + at)


@dataclass(frozen=True, slots=True)
class Repeats:
    """Edits that replace repeated runs; `final` where another search, after they are made, would find no more."""

    edits: tuple[Replace, ...]
    final: bool


def find_repeats(conversation: Conversation, count: Callable[[str], int]) -> Repeats:
    """The edits that replace every repeated run by a reference, where that saves tokens."""
    finder = _Finder(conversation, count)
    if conversation.system is not None:
        for where, text in message_texts(conversation.system):
            finder.look(where, text, editable=False)
    fixed = untouchable(conversation)
    for message in conversation.messages:
        # A summary is known by what it says; and what the vendor binds to its unedited form stays that way.
        editable = message.id not in fixed and not is_summary(message)
        editable = editable and conversation.dialect.edited(message.wire) is message.wire
        for where, text in message_texts(message):
            block = message.blocks[where.block]
            finder.look(where, text, editable=editable and not isinstance(block, ToolCall) and not is_signed(block))
    return Repeats(tuple(finder.edits), finder.final)


class _Finder:
    def __init__(self, conversation: Conversation, count: Callable[[str], int]) -> None:
        self.edits: list[Replace] = []
        self.final = True
        self._memory = Memory(_count_lines(conversation))
        self._texts: list[tuple[Where, str]] = []
        self._names = names_of(conversation)
        self._failures = failures_of(conversation)
        self._count = count
        self._lines: dict[int, list[str]] = {}
        self._prints: dict[int, str] = {}
        self._doubtful = False

    def look(self, where: Where, text: str, *, editable: bool) -> None:
        """Take in one text; where it may be edited, replace what was shown before."""
        if len(text) < SHORTEST or has_mark(text):
            return
        number = len(self._texts)
        self._texts.append((where, text))
        raw, diff = text.split("\n") if editable else [], _is_diff(text)
        self._doubtful = False
        stretches = []  # remembered when the text is done: a text cannot point into itself
        edits: list[Replace] = []
        for segment in segments(text):
            hashes = tuple(map(hash, segment.lines))
            runs = _runs(segment.lines, hashes)
            hidden: list[tuple[int, int]] = []
            if editable and runs:
                matches = self._matches(segment, hashes, runs, raw)
                for start, end, reference in self._with_signed(matches, segment, raw) if diff else matches:
                    if self._failures.at(where.message, where.block):
                        editable = self._doubtful = False
                        break
                    place = where._replace(lines=(segment.first + start, segment.first + end))
                    edits.append(Replace(place, reference, EditKind.SHOWN_BEFORE))
                    hidden.append((start, end))
            stretches.append(Stretch(Source(segment.first, number), hashes, runs, hidden))
        for stretch in stretches:
            self._memory.add(stretch, edited=bool(edits))
        self.edits += edits
        if not edits and self._doubtful:
            self.final = False

    def _matches(
        self, segment: Segment, hashes: Sequence[int], runs: Sequence[int], raw: list[str]
    ) -> Iterator[tuple[int, int, str]]:
        memory, end = self._memory, 0
        for at in memory.perhaps_known(runs):
            found = memory.find(runs[at]) if at >= end else -1
            if found < 0:
                continue
            length, reference = self._weigh(segment, hashes, at, found, raw)
            if reference:
                yield at, at + length, reference
                end = at + length
            elif not self._doubtful:
                # The source of a run not worth a reference may be edited; what is found instead may be worth one.
                found = memory.later.get(runs[at], -1) if memory.shown[found] == 2 else found
                self._doubtful = found >= 0 and bool(self._weigh(segment, hashes, at, found, raw)[1])

    def _with_signed(
        self, matches: Iterator[tuple[int, int, str]], segment: Segment, raw: list[str]
    ) -> Iterator[tuple[int, int, str]]:
        """The matches, and between them those of a diff's lines that were shown without their signs."""
        done = 0
        for match in chain(matches, [(len(segment.lines), 0, "")]):
            for part in _signed(segment, done, match[0]):
                hashes = tuple(map(hash, part.lines))
                ahead = part.first - segment.first
                for start, end, reference in self._matches(part, hashes, _runs(part.lines, hashes), raw):
                    yield ahead + start, ahead + end, reference
            if match[2]:
                yield match
            done = match[1]

    def _weigh(self, segment: Segment, hashes: Sequence[int], at: int, found: int, raw: list[str]) -> tuple[int, str]:
        """How many lines were shown before, and the reference to them; nothing if it does not pay."""
        length = self._memory.extent(found, hashes, at)
        shown = raw[segment.first + at : segment.first + at + length]
        reference = self._refer(segment, at, found, shown) if shown else ""
        if reference and self._pays(reference, "\n".join(shown)) and self._same(segment, at, found, length):
            return length, reference
        return length, ""

    def _pays(self, reference: str, shown: str) -> bool:
        return len(reference) < len(shown) and self._count(reference) + LEAST <= self._count(shown)

    def _same(self, segment: Segment, at: int, found: int, length: int) -> bool:
        """Whether the lines found really are the same: hashes can lie."""
        source, first = self._memory.source(found)
        return self._bare(source.text)[first : first + length] == segment.lines[at : at + length]

    def _refer(self, segment: Segment, at: int, found: int, shown: list[str]) -> str:
        source, first = self._memory.source(found)
        where, text = self._texts[source.text]
        numbering = segment.numbering and segment.numbering.ahead(at)
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


def _count_lines(conversation: Conversation) -> int:
    """No fewer lines than there are in all texts worth looking at."""
    system = conversation.system
    everything = conversation.messages if system is None else (system, *conversation.messages)
    found = (text for message in everything for _, text in message_texts(message))
    return sum(text.count("\n") + 1 for text in found if len(text) >= SHORTEST)


def _runs(lines: list[str], hashes: tuple[int, ...]) -> list[int]:
    """For every line but the last few, the hash of the shortest run from there that is worth a reference."""
    sizes = [length + 1 for length in map(len, lines)]
    runs: list[int] = []
    end = size = 0
    count = len(lines)
    for at, length in enumerate(sizes):
        while size < SHORTEST:
            if end == count:
                return runs
            size += sizes[end]
            end += 1
        runs.append(hash(hashes[at:end]))
        size -= length
    return runs


def _is_diff(text: str) -> bool:
    """Whether the text holds a hunk of a diff."""
    return text.startswith("@@") or "\n@@" in text


def _signed(segment: Segment, first: int, last: int) -> Iterator[Segment]:
    """The lines of a diff from one to another, taken apart by their signs; those that have none are left out."""
    if segment.numbering is not None:
        return
    lines = segment.lines
    for sign, run in groupby(range(first, last), lambda at: lines[at][:1]):
        if sign in _SIGNS:
            at = list(run)
            yield Segment(segment.first + at[0], [lines[each][1:] for each in at], Numbering(0, sign, 0, False))
