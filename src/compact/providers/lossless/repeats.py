"""Repeated runs of lines: shown once, pointed at afterwards.

Every text of the conversation is looked at once, in order. A run of lines that was shown before becomes a reference;
line numbers, and the signs of a diff, are left out of account. Only what is still shown literally can be pointed at, so
no reference leads to another. The arguments of calls are pointed at, but never edited: a model repeats what it sees.

A run pays if it has at least `SHORTEST` characters, so it is enough to remember, for every line, the shortest run of
that length that begins there.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

from compact.messages import (
    Codes,
    Conversation,
    EditKind,
    Message,
    Names,
    Replace,
    Source,
    ToolCall,
    Where,
    followed,
    has_mark,
    is_signed,
    is_summary,
    printed,
    segments,
    untouchable,
)
from compact.providers.lossless.failures import failures_of

SHORTEST = 80
"""A repeated run of fewer characters is left alone: a reference to it would hardly be shorter."""
LEAST = 8
"""How many tokens a reference must save: one that saves less costs the reader more than it is worth."""
_LONG = 5_000
"""From so many characters on a reference always pays: no token has more than 128 of them."""
_SIGNS = ("+", "-", " ")
_DIFF = re.compile(r"^(?:@@|\*\*\* Begin Patch$)", re.MULTILINE)


class Lines:
    """The lines of a text, as hashes: with their numbers and without; a segment of them is numbered alike, or not."""

    __slots__ = ("bare", "begins", "is_diff", "raw", "runs", "shown", "source")

    def __init__(self, text: str) -> None:
        parts = list(segments(text))
        self.source = Source(text, parts)
        bare = parts[0].lines if len(parts) == 1 else [line for part in parts for line in part.lines]
        self.bare = self.shown = tuple(map(hash, bare))
        self.raw = bare
        if any(part.numbering for part in parts):
            self.raw = text.split("\n")
            self.shown = tuple(map(hash, self.raw))
        self.begins = bytearray(len(bare))
        for part in parts:
            self.begins[part.first] = 1
        self.runs = _runs(bare, self.bare)
        self.is_diff = ("@@" in text or "*** B" in text) and _DIFF.search(text) is not None
        """Whether the text holds a hunk of a diff, or a patch."""

    def signed(self, first: int, last: int) -> Iterator[tuple[int, Lines]]:
        """The lines of a diff from one to another, taken apart by their signs, without these; others are left out."""
        for sign, run in groupby(range(first, last), lambda at: self.raw[at][:1]):
            if sign in _SIGNS:
                at = list(run)
                part = Lines("\n".join(self.raw[each][1:] for each in at))
                part.raw, part.shown = [self.raw[each] for each in at], (0,) * len(at)
                yield at[0], part


class Memory:
    """The lines shown so far, as hashes, and where runs of them begin: for each run the first place and the last.

    A line that is not shown literally is a gap.
    """

    def __init__(self) -> None:
        self._bare, self._shown = array("q"), array("q")
        self._begins, self._literal = bytearray(), bytearray()
        self._starts: list[int] = []
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def find(self, runs: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The runs that were shown: which of these, and where."""
        first, last = self._first, self._last
        for at, run in enumerate(runs):
            if run in first:
                yield at, (first[run], last[run]) if run in last else (first[run],)

    def extent(self, at: int, lines: Lines, begin: int) -> int:
        """How many lines from `begin` on are those from `at` on: as they are shown, or one segment of them without."""
        length, most = 0, min(len(lines.bare) - begin, len(self._bare) - at)
        literal = self._literal
        if self._shown[at] == lines.shown[begin]:
            known, hashes = self._shown, lines.shown
            while length < most and literal[at + length] and known[at + length] == hashes[begin + length]:
                length += 1
            return length
        known, hashes, starts, begins = self._bare, lines.bare, self._begins, lines.begins
        while length < most and literal[at + length] and known[at + length] == hashes[begin + length]:
            length += 1
            if length < most and (starts[at + length] or begins[begin + length]):
                break
        return length

    def place(self, at: int) -> tuple[int, int]:
        """The number of the text that a line is in, and its position there."""
        text = bisect_right(self._starts, at) - 1
        return text, at - self._starts[text]

    def add(self, lines: Lines, hidden: Sequence[tuple[int, int]]) -> None:
        """Remember the lines of the next text; those in the hidden spans are not shown."""
        start = len(self._bare)
        self._starts.append(start)
        for known, more in ((self._bare, lines.bare), (self._shown, lines.shown)):
            known.extend(more)
            known.append(0)
        literal = bytearray(b"\1") * len(lines.bare)
        for begin, end in hidden:
            literal[begin:end] = bytes(end - begin)
        self._begins += lines.begins + b"\0"
        self._literal += literal + b"\0"
        first, last = self._first, self._last
        for at, run in enumerate(lines.runs, start):
            if not hidden or literal[at - start]:
                (last if run in first else first)[run] = at


def find_repeats(conversation: Conversation, count: Callable[[str], int]) -> tuple[Replace, ...]:
    """The edits that replace every repeated run by a reference, where that saves tokens."""
    finder = _Finder(conversation, count)
    fixed = untouchable(conversation)
    if conversation.system is not None:
        finder.read(conversation.system, editable=False)
    for message in conversation.messages:
        # A summary is known by what it says; and what the vendor binds to its unedited form stays that way.
        editable = message.id not in fixed and not is_summary(message)
        editable = editable and conversation.dialect.edited(message.wire) is message.wire
        finder.read(message, editable=editable)
    return tuple(finder.edits)


class _Finder:
    def __init__(self, conversation: Conversation, count: Callable[[str], int]) -> None:
        self.edits: list[Replace] = []
        self._memory = Memory()
        self._texts: list[tuple[Where, Source, str]] = []
        self._sources: dict[Where, Source] = {}
        self._names = Names(conversation)
        self._codes = Codes()
        self._named: dict[int, tuple[str, str]] = {}
        self._followed = followed(conversation)
        self._failures = failures_of(conversation)
        self._count = count

    def read(self, message: Message, *, editable: bool) -> None:
        """Take in one message; where it may be edited, replace what was shown before."""
        self._names.add(message)
        for where, text, digest in printed(message):
            known = self._followed.get(where)
            self._codes.add(known.digest if known else digest)
            if known:
                # What still may be a reference is left alone.
                if not has_mark(known.meaning):
                    hidden = [(link.first, link.last) for link in known.links]
                    self._remember(where, known.digest, Lines(known.meaning), hidden)
            elif len(text) >= SHORTEST:
                block = message.blocks[where.block]
                may = editable and not isinstance(block, ToolCall) and not is_signed(block)
                lines = Lines(text)
                found = self._replace(where, lines) if may else []
                self.edits += found
                self._remember(where, digest, lines, [edit.where.lines or (0, 0) for edit in found])
            self._names.show(where)
            self._named.clear()

    def _remember(self, where: Where, digest: str, lines: Lines, hidden: Sequence[tuple[int, int]]) -> None:
        self._texts.append((where, lines.source, digest))
        self._sources[where] = lines.source
        self._memory.add(lines, hidden)
        if lines.is_diff:
            # What a diff adds, and what it leaves, is often read afterwards.
            others = [(at, at + 1) for at, line in enumerate(lines.raw) if line[:1] not in ("+", " ", "")]
            self._texts.append((where, lines.source, digest))
            self._memory.add(Lines("\n".join(line[1:] for line in lines.raw)), [*hidden, *others])

    def _replace(self, where: Where, lines: Lines) -> list[Replace]:
        """The edits of one text; it cannot point into itself."""
        matches = self._matches(where, lines)
        return [
            Replace(where._replace(lines=(start, end)), reference, EditKind.SHOWN_BEFORE)
            for start, end, reference in (self._with_signed(where, matches, lines) if lines.is_diff else matches)
        ]

    def _matches(self, where: Where, lines: Lines) -> Iterator[tuple[int, int, str]]:
        """The spans of lines that were shown before, with the references that stand for them."""
        memory, end = self._memory, 0
        for at, found in memory.find(lines.runs):
            if at < end:
                continue
            for length, source in sorted(((memory.extent(each, lines, at), each) for each in found), reverse=True):
                shown = lines.raw[at : at + length]
                reference = self._refer(source, shown)
                if not reference:
                    break
                # What was shown before without a failure does not tell of this one; everything else stays.
                if not self._failed_at(source) or not self._failures.at(where.message, where.block):
                    end = at + length
                    yield at, end, reference
                    break

    def _failed_at(self, found: int) -> bool:
        where, _, _ = self._texts[self._memory.place(found)[0]]
        return self._failures.at(where.message, where.block)

    def _with_signed(
        self, where: Where, matches: Iterator[tuple[int, int, str]], lines: Lines
    ) -> Iterator[tuple[int, int, str]]:
        """The matches, and between them those of a diff's lines that were shown without their signs."""
        done = 0
        for match in chain(matches, [(len(lines.raw), 0, "")]):
            for first, part in lines.signed(done, match[0]):
                for start, end, reference in self._matches(where, part):
                    yield first + start, first + end, reference
            if match[2]:
                yield match
            done = match[1]

    def _refer(self, found: int, lines: list[str]) -> str:
        """The reference to lines that were found; nothing where it does not pay, or they are others: hashes can lie."""
        shown = "\n".join(lines)
        if len(shown) < SHORTEST:
            return ""
        number, at = self._memory.place(found)
        where, source, digest = self._texts[number]
        if number not in self._named:
            self._named[number] = self._names.of(where), self._codes.of(digest)
        reference = source.refer(at, lines, *self._named[number])
        if reference is None:
            return ""
        # Where the latest of the name shows the same lines, whether as they are or as references, it may be meant.
        latest = self._names.latest(where)
        if latest != where and latest in self._sources and self._sources[latest].follow(reference) == lines:
            where, source = latest, self._sources[latest]
            reference = replace(reference, what=self._names.of(where))
        if not source.prints(reference):
            reference = replace(reference, what=self._names.of_lines(where))
        written = reference.render()
        return written if len(shown) > _LONG or self._count(written) + LEAST <= self._count(shown) else ""


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
