"""References: what was shown before is pointed at, not shown again.

A reference stands on a line of its own. It says in words which text it stands for and which lines of that; the digits
are for us:

    [same as Read app.py:12-40 above #481207]

They are made from the fingerprint of the text that the lines are in, so a reference resolves only where that very text
stands above it. Lines are counted as they are shown: by the numbers before them, else from 1. Lines of a file are named
only by numbers that were shown: `app.py result:12-40` counts those of the result. A reference to a whole text names no
lines.

The lines are meant as they are shown there, numbers included. Where they have other numbers here, the first of these
stands before the bracket, as it would before the line: `   120→[same as Read app.py:12-40 above #481207]`; likewise
the sign of a diff whose lines were shown without it. `[same text as` means the lines without the numbers before them
there or, of lines that have none, without the signs of a diff.

Earlier versions wrote `[same as lines 12-40 of the result of Read app.py above #3f9a2c:7be1]` and
`⟨=lines 12-40 of Read app.py #3f9a2c:7be1⟩`, with the beginning of the fingerprint, a checksum of the lines, and
always how they are numbered (`@120→6`: an arrow behind, six wide; `@+`, and `@=` for a blank). Their lines are counted
from 1. They are read as well.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, count, islice

_MARK = "[same "
_EARLIER_MARKS = ("[same as lines ", "⟨=")
_ANY_MARK = re.compile("|".join(map(re.escape, (_MARK, _EARLIER_MARKS[1]))))
_BEFORE = r"(?:[-+ ]|[ 0]*\d{1,9}(?:→|\t|: |:|\| |\|))?"
"""The sign or the number before a reference."""
SHORT = 6
"""How much of a code or a fingerprint every reference gives."""
_LONG = 12
"""Digits of the code where two texts of a conversation have the same first ones."""
_SIGNS = ("+", "-", " ")
_CODE = rf"(?:\d{{{SHORT}}}|\d{{{_LONG}}})"
_NUMBERED = re.compile(r"(?P<pad>[ 0]*)(?P<number>\d{1,9})(?P<mark>→|\t|: |:|\| |\|)")
_FURTHER_NUMBER = re.compile(r"\n[ 0]*\d{1,9}[→\t:|]")
"""A number behind a line feed, which is found three times as fast as one at the start of a line."""
REFERENCE_LINE = rf"^{_BEFORE}\[same (?:text )?as .* above #{_CODE}\]$"
_LINE = re.compile(REFERENCE_LINE, re.MULTILINE)
_LINES = r":(?P<first>\d{1,9})(?:-(?P<last>\d{1,9}))?"
_WITH_LINES = re.compile(rf".*{_LINES}", re.DOTALL)
_REFERENCE = re.compile(
    rf"(?P<before>{_BEFORE})\[same (?P<bare>text )?as (?P<what>[^\n]*?)(?:{_LINES})? above #(?P<source>{_CODE})\]"
)
_EARLIER = re.compile(
    r"(?:⟨=|\[same as )lines (?P<first>\d{1,9})-(?P<last>\d{1,9}) of (?P<what>[^\n⟨⟩]*) #(?P<source>[0-9a-f]{6,64}):"
    r"(?P<check>[0-9a-f]{4})(?:@(?:(?P<start>\d{1,9})(?P<mark>[→tcspb])(?P<width>0?\d{1,2})|(?P<sign>[-+=])))?[⟩\]]"
)
_EARLIER_PLACE = re.compile(r" above(?:, (?:numbered from \d{1,9}|each with [^\n]{1,20} before it))?\Z")
_EARLIER_SIGNS = {"→": "→", "t": "\t", "c": ":", "s": ": ", "p": "| ", "b": "|", "+": "+", "-": "-", "=": " "}


def may_have_mark(text: str) -> bool:
    """Whether any mark stands in the text, wherever that is."""
    # Two characters at once are looked for fifty times as long as one.
    short = _EARLIER_MARKS[1]
    return _MARK in text or (short[0] in text and short in text)


def has_mark(text: str) -> bool:
    """Whether the text may hold a reference."""
    long, short = _EARLIER_MARKS
    if short[0] in text and short in text:
        return True
    return _MARK in text and (long in text or any(_LINE.match(text, start) for start, _ in marked_lines(text)))


def marked_lines(text: str) -> Iterator[tuple[int, int]]:
    """Where lines with a mark begin and end."""
    end = 0
    while found := _ANY_MARK.search(text, end):
        start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
        end = len(text) if end < 0 else end
        yield start, end


def without_marks(text: str) -> str:
    """The text with references made unfit to be followed: where it goes, they would have no source."""
    long, short = _EARLIER_MARKS
    text = text.replace(short, "⟨ =").replace(long, "[same as the lines ")
    return _LINE.sub(lambda found: found[0].replace(_MARK, "[the same ", 1), text) if _MARK in text else text


@dataclass(frozen=True, slots=True)
class Numbering:
    """How lines are numbered: the first number, how wide it is made and with what, and what follows it.

    A width of nothing is no number: the mark is the sign of a diff.
    """

    start: int
    mark: str
    width: int
    zeros: bool

    def prefix(self, offset: int) -> str:
        if not self.width:
            return self.mark
        number = str(self.start + offset)
        return (number.zfill(self.width) if self.zeros else number.rjust(self.width)) + self.mark

    def put_before(self, lines: Iterable[str]) -> list[str]:
        """The lines, each with its number or sign."""
        return [self.prefix(at) + line for at, line in enumerate(lines)]


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring lines that are numbered alike, or not at all; `first` is the position of the first one."""

    first: int
    lines: list[str]
    """The lines without their numbers."""
    numbering: Numbering | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A run of lines shown earlier: of which text, from where to where (inclusive; 0 is all of it), and how.

    `source` is the code of the text. The lines are as they are shown there, or `bare`, or with the numbers or the sign
    of `numbering`. `check` is the checksum of the lines in references of earlier versions.
    """

    what: str
    source: str
    first: int
    last: int
    bare: bool = False
    numbering: Numbering | None = None
    check: str = ""

    @property
    def key(self) -> str:
        """What its source is looked up by."""
        return self.source[:SHORT]

    def names(self, digest: str) -> bool:
        """Whether it leads to the text of this fingerprint."""
        return (digest if self.check else code_of(digest)).startswith(self.source)

    def render(self) -> str:
        lines = f":{self.first}{f'-{self.last}' if self.last > self.first else ''}" if self.last else ""
        before = self.numbering.prefix(0) if self.numbering else ""
        return f"{before}[same {'text ' * self.bare}as {self.what}{lines} above #{self.source}]"


def parse_reference(line: str) -> Reference | None:
    """The reference that the line is, if it is one."""
    if _MARK in line:
        return _parse(line)
    return _parse_earlier(line) if line.startswith(_EARLIER_MARKS) else None


@lru_cache(maxsize=1_000)
def _parse(line: str) -> Reference | None:
    found = _REFERENCE.fullmatch(line)
    if found is None:
        return _parse_earlier(line)
    first, last = int(found["first"] or 0), found["last"]
    numbering = _parse_numbering(found["before"])
    reference = Reference(found["what"], found["source"], first, int(last or first), bool(found["bare"]), numbering)
    return reference if reference.render() == line else None


def _parse_earlier(line: str) -> Reference | None:
    found = _EARLIER.fullmatch(line)
    if found is None:
        return None
    numbering = None
    if found["sign"]:
        numbering = Numbering(0, _EARLIER_SIGNS[found["sign"]], 0, zeros=False)
    elif found["start"]:
        zeros = len(found["width"]) > 1 and found["width"].startswith("0")
        numbering = Numbering(int(found["start"]), _EARLIER_SIGNS[found["mark"]], int(found["width"]), zeros)
    what = _EARLIER_PLACE.sub("", found["what"])
    first, last = int(found["first"]), int(found["last"])
    return Reference(what, found["source"], first, last, bare=True, numbering=numbering, check=found["check"])


class Source:
    """A text that references lead to: its lines with and without their numbers, and what each is called."""

    def __init__(self, text: str, parts: Iterable[Segment] | None = None, *, earlier: bool = False) -> None:
        """Read the text, whose segments may be known; for references of `earlier` versions as those saw it."""
        self._text = text
        if parts is None:
            parts = segments(text, earlier=earlier) if _FURTHER_NUMBER.search(text) else ()
        self._numbered = [
            (part.first, part.first + len(part.lines), part.numbering) for part in parts if part.numbering
        ]

    @cached_property
    def _ends(self) -> array[int]:
        return array("I", accumulate(map(len, self._text.split("\n"))))

    def follow(self, reference: Reference) -> list[str] | None:
        """The lines that the reference to this text stands for; None where it does not have them."""
        place = self._place(reference)
        if place is None:
            return None
        if reference.check:
            lines = self.bare(*place)
        else:
            lines = self._shown(place, bare=reference.bare, numbered=reference.numbering is not None)
        if reference.numbering:
            lines = reference.numbering.put_before(lines)
        return lines if not reference.check or checksum(lines) == reference.check else None

    def refer(self, at: int, lines: list[str], what: str, code: str) -> Reference | None:
        """The reference to the text from position `at` on that stands for the lines; None where there is none."""
        place = at, at + len(lines)
        whole = place == (0, len(self._ends)) and not _WITH_LINES.fullmatch(what)
        plain = Reference(what, code, *((0, 0) if whole else self._called(*place)))
        if self._place(plain) != place:
            return None
        if lines == self._lines(*place):
            return plain
        for bare, numbered in ((True, False), (False, True), (True, True)):
            shown = self._shown(place, bare=bare, numbered=numbered)
            numbering = _parse_numbering(lines[0].removesuffix(shown[0])) if numbered else None
            if lines == (numbering.put_before(shown) if numbering else shown):
                return replace(plain, bare=bare, numbering=numbering)
        return None

    def prints(self, reference: Reference) -> bool:
        """True if the text has the numbers of the lines that the reference names, if it names any."""
        if not reference.last:
            return True
        place = self._place(reference)
        return place is not None and any(start <= place[0] and place[1] <= end for start, end, _ in self._counted)

    def _shown(self, place: tuple[int, int], *, bare: bool, numbered: bool) -> list[str]:
        """The lines as a reference means them."""
        if not bare and not numbered:
            return self._lines(*place)
        if bare and not any(start < place[1] and place[0] < end for start, end, _ in self._numbered):
            return [line[1:] for line in self._lines(*place)]
        return self.bare(*place)

    def bare(self, first: int, last: int) -> list[str]:
        """The lines without their numbers."""
        lines = self._lines(first, last)
        for start, end, numbering in self._numbered:
            for at in range(max(start, first), min(end, last)):
                lines[at - first] = lines[at - first][len(numbering.prefix(at - start)) :]
        return lines

    def _lines(self, first: int, last: int) -> list[str]:
        start = self._ends[first - 1] + first if first else 0
        return self._text[start : self._ends[last - 1] + last - 1].split("\n")

    def _place(self, reference: Reference) -> tuple[int, int] | None:
        """The positions of the lines that it names."""
        first, last = reference.first, reference.last
        if not last:
            return 0, len(self._ends)
        for start, end, number in () if reference.check else self._counted:
            at = start + first - number
            if start <= at <= at + last - first < end:
                return at, at + last - first + 1
        return (first - 1, last) if 0 < first <= last <= len(self._ends) else None

    def _called(self, at: int, end: int) -> tuple[int, int]:
        """The numbers of the first and the last line, as they are shown or else counted from 1."""
        for start, stop, number in self._counted:
            if start <= at < end <= stop:
                return number + at - start, number + end - 1 - start
        return at + 1, end

    @cached_property
    def _counted(self) -> list[tuple[int, int, int]]:
        """Where lines are numbered without a break, and the first number."""
        found: list[tuple[int, int, int]] = []
        for start, end, numbering in self._numbered:
            first, stop, number = found[-1] if found else (0, 0, 0)
            if found and start == stop and numbering.start == number + start - first:
                found[-1] = first, end, number
            else:
                found.append((start, end, numbering.start))
        return found


def segments(text: str, *, earlier: bool = False) -> Iterator[Segment]:
    """The lines of a text, taken apart where their numbering begins, ends or changes.

    `earlier` versions took a number with a colon and a blank, and one with a colon only, for two kinds.
    """
    raw = text.split("\n")
    if _FURTHER_NUMBER.search(text) is None:  # one line alone is not numbered
        yield Segment(0, raw, None)
        return
    first = at = 0
    match = _NUMBERED.match
    while at < len(raw):
        found = match(raw[at])
        counted = None if found is None else _numbered_run(raw, at, _numbering_of(found), earlier=earlier)
        if counted is None:
            at += 1
            continue
        if first < at:
            yield Segment(first, raw[first:at], None)
        numbering, lines = counted
        yield Segment(at, lines, numbering)
        at += len(lines)
        first = at
    if first < at:
        yield Segment(first, raw[first:at], None)


def _numbered_run(
    raw: list[str], at: int, numbering: Numbering, *, earlier: bool
) -> tuple[Numbering, list[str]] | None:
    """The numbering that begins at a line and the lines it counts, without it; at least two, or it is no numbering."""
    template = f"%{'0' * numbering.zeros}{numbering.width}d{numbering.mark}"  # what `prefix` gives, faster
    lines: list[str] = []
    for line, prefix in zip(islice(raw, at, None), map(template.__mod__, count(numbering.start)), strict=False):
        if not line.startswith(prefix):
            # An empty line may lack the blank behind its number: then that is part of the lines.
            if line == prefix[:-1] and len(numbering.mark) > 1 and not earlier:
                return _numbered_run(raw, at, replace(numbering, mark=numbering.mark[0]), earlier=earlier)
            break
        lines.append(line[len(prefix) :])
    return (numbering, lines) if len(lines) > 1 else None


def _parse_numbering(before: str) -> Numbering | None:
    """The number or sign that stands before a line, if it is one."""
    found = _NUMBERED.fullmatch(before)
    if found is None:
        return Numbering(0, before, 0, zeros=False) if before in _SIGNS else None
    return _numbering_of(found)


def _numbering_of(found: re.Match[str]) -> Numbering:
    pad, number, mark = found.groups()
    return Numbering(int(number), mark, len(pad) + len(number) if pad else 1, pad.startswith("0"))


class Codes:
    """The codes of the texts shown so far, by their fingerprints."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def add(self, digest: str) -> None:
        """Take the text as shown."""
        self._known.setdefault(code_of(digest)[:SHORT], digest)

    def of(self, digest: str) -> str:
        """The code that leads to the text, and to no other of them."""
        code = code_of(digest)
        return code[:SHORT] if self._known.get(code[:SHORT], digest) == digest else code


@lru_cache(maxsize=10_000)
def code_of(digest: str) -> str:
    """The fingerprint in decimal digits: a tokenizer needs one token for three of them."""
    return f"{int(digest[:16], 16) % 10**_LONG:0{_LONG}}"


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def checksum(lines: Iterable[str]) -> str:
    return fingerprint("\n".join(lines))[:4]
