"""References: what was shown before is pointed at, not shown again.

A reference stands on a line of its own and says in words where its text is, for the model, and by hashes, for us:

    [same as lines 12-40 of the result of Read src/app.py above #3f9a2c:7be1]

It names lines of one earlier text by that text's hash, and carries a checksum of what it stands for: it resolves only
if the checksum agrees. Lines are compared without their line numbers, where a run of them counts up regularly; a
reference then says how to number the lines anew (`, numbered from 120`, and for us `@120→6`: an arrow behind, six
wide). Likewise the lines of a diff that were shown without their sign (`@+`; `@=` stands for the blank of lines that
stay). Earlier versions wrote `⟨=lines 12-40 of Read src/app.py #3f9a2c:7be1⟩`; that is read as well.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

_MARK = "[same as lines "
_EARLIER_MARK = "⟨="
MARKS = (_MARK, _EARLIER_MARK)
"""What every reference begins with; texts that already contain it are left alone."""


def has_mark(text: str) -> bool:
    """Whether the text may hold a reference."""
    # Two characters at once are looked for fifty times as long as one.
    return _MARK in text or (_EARLIER_MARK[0] in text and _EARLIER_MARK in text)


def without_marks(text: str) -> str:
    """The text with references made unfit to be followed: where it goes, they would have no source."""
    return text.replace(_EARLIER_MARK, "⟨ =").replace(_MARK, "[same as the lines ")


_REFERENCE = re.compile(
    r"(?:⟨=|\[same as )lines (?P<first>\d{1,9})-(?P<last>\d{1,9}) of (?P<what>[^\n⟨⟩]*) #(?P<source>[0-9a-f]{6,64}):"
    r"(?P<check>[0-9a-f]{4})(?:@(?:(?P<start>\d{1,9})(?P<sign>[→tcspb])(?P<width>0?\d{1,2})|(?P<diff>[-+=])))?[⟩\]]"
)
_PLACE = re.compile(r" above(?:, (?:numbered from \d{1,9}|each with [^\n]{1,20} before it))?\Z")
_BEFORE = {"+": "a plus", "-": "a minus", " ": "a blank"}
_NUMBERED = re.compile(r"(?P<pad>[ 0]*)(?P<number>\d{1,9})(?P<mark>→|\t|: |:|\| |\|)")
_NUMBERED_LINE = re.compile(r"^[ 0]*\d{1,9}[→\t:|]", re.MULTILINE)
_SIGNS = {"→": "→", "\t": "t", ":": "c", ": ": "s", "| ": "p", "|": "b", "+": "+", "-": "-", " ": "="}
_MARKS = {sign: mark for mark, sign in _SIGNS.items()}


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

    def ahead(self, offset: int) -> Numbering:
        """The numbering as it goes on some lines below."""
        return replace(self, start=self.start + offset) if self.width else self

    def render(self) -> str:
        number, width = (self.start, self.width) if self.width else ("", "")
        return f"@{number}{_SIGNS[self.mark]}{'0' if self.zeros else ''}{width}"


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring lines that are numbered alike, or not at all; `first` is the position of the first one."""

    first: int
    lines: list[str]
    """The lines without their numbers."""
    numbering: Numbering | None


@dataclass(frozen=True, slots=True)
class Reference:
    """A run of lines shown earlier: which text's, from where to where (inclusive, from 1), numbered how."""

    what: str
    source: str
    first: int
    last: int
    check: str
    numbering: Numbering | None = None

    def numbered(self, lines: list[str]) -> list[str]:
        """The bare lines with the numbers that the reference gives them."""
        numbering = self.numbering
        return lines if numbering is None else [numbering.prefix(at) + line for at, line in enumerate(lines)]

    def stripped(self, lines: list[str]) -> list[str]:
        """The bare lines behind its numbers."""
        numbering = self.numbering
        return lines if numbering is None else [line[len(numbering.prefix(at)) :] for at, line in enumerate(lines)]

    def bare(self, lines: list[str]) -> list[str]:
        """The lines as another reference finds them where they are shown: without numbers, but signs are no numbers."""
        return self.stripped(lines) if self.numbering and self.numbering.width else lines

    def like(self, other: Reference, lines: list[str]) -> Reference:
        """A reference to the same place that stands for `lines`, numbered as the other is."""
        return replace(self, check=checksum(lines), numbering=other.numbering)

    def render(self) -> str:
        code = told = ""
        if numbering := self.numbering:
            code = numbering.render()
            before = f"each with {_BEFORE.get(numbering.mark)} before it"
            told = f", numbered from {numbering.start}" if numbering.width else f", {before}"
        return f"{_MARK}{self.first}-{self.last} of {self.what} above{told} #{self.source}:{self.check}{code}]"


def parse_reference(line: str) -> Reference | None:
    """The reference that the line is, if it is one."""
    found = _REFERENCE.fullmatch(line) if line.startswith(MARKS) else None
    if found is None:
        return None
    numbering = None
    if found["diff"]:
        numbering = Numbering(0, _MARKS[found["diff"]], 0, False)
    elif found["start"]:
        zeros = len(found["width"]) > 1 and found["width"].startswith("0")
        numbering = Numbering(int(found["start"]), _MARKS[found["sign"]], int(found["width"]), zeros)
    what = _PLACE.sub("", found["what"])
    return Reference(what, found["source"], int(found["first"]), int(found["last"]), found["check"], numbering)


def segments(text: str) -> Iterator[Segment]:
    """The lines of a text, taken apart where their numbering begins, ends or changes."""
    raw = text.split("\n")
    if _NUMBERED_LINE.search(text) is None:
        yield Segment(0, raw, None)
        return
    first = at = 0
    match = _NUMBERED.match
    while at < len(raw):
        found = match(raw[at])
        counted = None if found is None else _numbered_run(raw, at, found)
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


def _numbered_run(raw: list[str], at: int, found: re.Match[str]) -> tuple[Numbering, list[str]] | None:
    """The numbering that begins at a line and the lines it counts, without it; at least two, or it is no numbering."""
    pad, number, mark = found.groups()
    zeros = pad.startswith("0")
    width = len(pad) + len(number) if pad else 1
    numbering = Numbering(int(number), mark, width, zeros)
    template = f"%{'0' * zeros}{width}d{mark}"  # what `prefix` gives, faster
    lines: list[str] = []
    for index in range(at, len(raw)):
        prefix = template % (numbering.start + index - at)
        if not raw[index].startswith(prefix):
            break
        lines.append(raw[index][len(prefix) :])
    return (numbering, lines) if len(lines) > 1 else None


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def checksum(lines: Iterable[str]) -> str:
    return fingerprint("\n".join(lines))[:4]
