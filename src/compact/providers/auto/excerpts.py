"""Excerpts: as much of a long text as there is room for, in whole lines, with a marker for each gap.

Which lines stay is a matter of worth: errors, what is mentioned again later, the beginning and the end. Lines that are
very long are taken apart at the ends of sentences and records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise

from compact.facts import failures_in
from compact.history.outcomes.outcome import NOTHING, Outcome, Verdict
from compact.history.outcomes.verdicts import tells_status
from compact.history.reading import binds
from compact.providers.truncation.cutting import omitted
from compact.summaries.offline.outlines import declares
from compact.summaries.offline.records import Piece, count_names, count_words, find_wanted, is_json, pieces_of

_MARKER = 9
"""Tokens that a marker takes, roughly."""
_EDGE, _TITLE = 4.0, 0.5
"""What the first and the last line are worth; and the first fields of records, which say what they are."""
_ERROR = 8.0
_FOUND, _SOUGHT, _RULE = 1.0, 2.5, 8.0
_DIAGNOSTIC = re.compile(r"(?:\[[\w:. -]{1,30}\] )?(?:[\w./\\-]{1,200}:)?\d{1,6}:(?:\d{1,5}:)? ?\S")
"""A line of a compiler, a linter or a search that says what was found at a place."""
_EMPTY = re.compile(r"\s*+(?:\d{1,6}(?:→|\t|:|\|)\s*+)?(?:[\])}>;,]*+|</?[\w-]{1,40}>|[/#*-]{1,3})\s*+")
"""A line that says nothing by itself: a bracket, a tag, a blank, an empty comment."""
_NUMBER, _REPEATED = re.compile(r"\s*\d{1,6}(?:→|\t|:|\|)"), 0.3
"""The number before a line, and the share of its worth that a line has which stood above already."""
_COMMENT = re.compile(r"\s*+(?:\d{1,6}(?:→|\t|:|\|)\s*+)?(?://|#(?!#)|--|\*)\s")
_DECLARED = 0.8
"""What a line is worth that says what stands below it: of a long file the declarations are the best outline."""
_CHANGED, _PATCH = 1.5, re.compile(r"^(?:diff --git |@@ -\d)", re.MULTILINE)
"""What a line of a patch is worth that adds or removes something."""
_ASKED = 4.0
_MENTIONED = 1.2
_TAKEN_UP = 0.8
_MOST_MENTIONS = 3
_MOST_DECISIVE = 3
_SUM = 12
"""Characters of a line with a number that can be a part of how a run ended."""
_REASON = (4.0, 2.0)
"""What the lines below an error are worth for it: they often say what was wrong."""
_FAILING = re.compile(r"[×✗✘✕✖] |(?:--- )?FAIL(?:ED)?\b|E {2,4}\S")
"""How the line of a test that failed begins."""
_FRAME = re.compile(r"\x1b\[\d{0,4}[A-HJK].*\x1b\[\d{0,4}[A-HJK]", re.DOTALL)
"""A line that a terminal overwrites, such as the steps of a progress bar."""
_OPENING, _BODY = ("{", "(", "[", ":"), 5
"""How a line ends that opens a block, and how many lines of the block are worth more for it."""
_BESIDE = {1: 0.5, 2: 0.25}
"""What lines beside one that is mentioned are worth for it, by how far they are from it."""
_BRIDGED = 2
"""A gap of so few lines is not worth a marker."""
_ATTEMPTS, _FILLED, _TELLING = 5, 0.75, 6.0
"""How often an excerpt is tried, which share of its room is to be filled, and what a line that is added is worth."""
OMITTED = re.compile(r"\[… [\d,]+ (?:lines?|characters?) omitted …\]")


def is_excerpt(text: str) -> bool:
    """Whether the text has a gap that a marker of ours stands for."""
    return "[… " in text and OMITTED.search(text) is not None


@dataclass(frozen=True, slots=True)
class Interest:
    """What makes a line worth showing: names in the latest request or said anywhere, words of what was said next.

    `sought` are the words that a search looked for, whose result this is; `rules` says that this is a file of rules;
    `outcome` is what came of the command that printed it.
    """

    asked: AbstractSet[str] = frozenset()
    names: AbstractSet[str] = frozenset()
    words: Mapping[str, int] = field(default_factory=dict)
    sought: AbstractSet[str] = frozenset()
    rules: bool = False
    outcome: Outcome = NOTHING


class Excerpts:
    """A text, with what each of its lines is worth; excerpts of any size are made of it."""

    def __init__(self, text: str, tokens: int, interest: Interest) -> None:
        self.text = text
        self._rate = tokens / max(len(text), 1)
        self._pieces = pieces_of(text)
        self._records = is_json(text)
        self._worth = _worth(text, self._pieces, interest, records=self._records)

    def within(self, room: int, count: Callable[[str], int]) -> str:
        """The best excerpt of at most so many tokens; where not even a marker fits, only that.

        It leaves out something in any case: the whole text is no excerpt.
        """
        low, wanted, best, kept = 0, room, "", set[int]()
        for _ in range(_ATTEMPTS):
            chosen = [at for at in self._chosen(wanted) if not best or at in kept or self._worth[at] >= _TELLING]
            if len(chosen) == len(self._pieces):
                chosen.pop()
            text = self._written(chosen)
            size = count(text)
            if size > room and chosen:
                wanted = (low + wanted) // 2 if best else wanted - (size - room + 2)
            elif size > _FILLED * room or not chosen or text == best or self._records:
                return text
            else:  # the lines that were chosen have fewer tokens than others as long
                low, wanted, best = wanted, min(2 * wanted, wanted * room // max(size, 1)), text
                kept.update(chosen)
        return best or self._written(())

    def _chosen(self, room: int) -> list[int]:
        """The pieces that fit, best first come, in order."""
        order = sorted(range(len(self._pieces)), key=lambda at: (-self._worth[at], at))
        left: float = room - _MARKER
        taken: set[int] = set()
        for at in order:
            if not self._worth[at]:
                break
            piece = self._pieces[at]
            price = (piece.end - piece.start) * self._rate
            # A piece that stands alone brings a gap of its own.
            price += 0 if at - 1 in taken or at + 1 in taken or at in (0, len(self._pieces) - 1) else _MARKER
            if price > left:
                if left < _MARKER:
                    break
                continue
            left -= price
            taken.add(at)
        return _bridged(sorted(taken), self._pieces, left / self._rate if self._rate else 0)

    def _written(self, chosen: Sequence[int]) -> str:
        out: list[str] = []
        done = 0
        for at in chosen:
            piece = self._pieces[at]
            if piece.start > done:
                out.append(self._gap(done, piece.start))
            out.append(self.text[piece.start : piece.end])
            done = piece.end
        if done < len(self.text):
            out.append(self._gap(done, len(self.text)))
        return "".join(out)

    def _gap(self, start: int, end: int) -> str:
        text = self.text
        lines = (not start or text[start - 1] == "\n") and (end == len(text) or text[end - 1] == "\n")
        if not lines:
            return f" {omitted(end - start, 'character')} "
        count = text.count("\n", start, end) + (text[end - 1] != "\n")
        return omitted(count, "line") + ("\n" if text[end - 1] == "\n" else "")


def _worth(text: str, pieces: Sequence[Piece], interest: Interest, *, records: bool) -> list[float]:
    """What each piece is worth: near an edge, an error, mentioned elsewhere, taken up by what was said next.

    A line gains by what stands beside it. A record does not: it says nothing about the next one.
    """
    size = len(pieces)
    # What went well may print errors that were expected.
    errors = {failure.start for failure in failures_in(text)} if interest.outcome.kind is not Verdict.OK else set()
    decisive, patch, moves = _decisive(interest.outcome), _PATCH.search(text) is not None, "\x1b[" in text
    lowered = text.lower() if interest.asked else ""
    wanted = {word for word in interest.asked if word in lowered}
    asked = find_wanted([text[piece.start : piece.end] for piece in pieces], wanted) if wanted else ()
    sought = re.compile("|".join(map(re.escape, sorted(interest.sought))), re.IGNORECASE) if interest.sought else None
    counts = (
        (_ASKED, [len(found) for found in asked]),
        (_MENTIONED, count_names(text, pieces, interest.names)),
        (_TAKEN_UP, count_words(text, pieces, interest.words)),
    )
    worth, mentions, empty = [0.0] * size, [0.0] * size, []
    for weight, found in counts:
        for at, count in enumerate(found):
            if count:
                mentions[at] += weight * min(count, _MOST_MENTIONS)
    for at, piece in enumerate(pieces):
        line = text[piece.start : piece.end].strip()
        overwritten = moves and _FRAME.search(line) is not None
        if overwritten or _EMPTY.fullmatch(text, piece.start, piece.end):
            empty.append(at)
            continue
        value = _TITLE / (1 + at) ** 2 if records else _EDGE / (1 + at) + _EDGE / (size - at)
        wrong = piece.start in errors or (interest.outcome.failed and _FAILING.match(line) is not None)
        decides = _decides(line, decisive)
        value += _ERROR * (wrong or decides)
        for below, more in enumerate(_REASON[: size - at - 1] if wrong and not decides else (), start=at + 1):
            worth[below] += more
        value += _ERROR * (at in (0, size - 1) and tells_status(line))
        value += _RULE * (interest.rules and binds(line))
        value += _SOUGHT * bool(sought and sought.search(text, piece.start, piece.end))
        value += _DECLARED * declares(text, piece)
        value += _CHANGED * (patch and text[piece.start] in "+-")
        value += _FOUND * (_DIAGNOSTIC.match(text, piece.start, piece.end) is not None)
        mentioned = mentions[at]
        worth[at] += value + mentioned
        for near in (at - 2, at - 1, at + 1, at + 2):  # what stands beside it says what it is part of
            if mentioned and 0 <= near < size and not records:
                worth[near] += mentioned * _BESIDE[abs(near - at)]
        if mentioned and line.endswith(_OPENING):
            for below in range(at + 1, min(at + 1 + _BODY, size)):  # what stands in it says what it is
                worth[below] += mentioned / 2
    return _adjusted(text, pieces, worth, empty, records=records)


def _adjusted(
    text: str, pieces: Sequence[Piece], worth: list[float], empty: Sequence[int], *, records: bool
) -> list[float]:
    """The line below a comment is worth as much as the comment, an empty line nothing, a repeated one little."""
    for at, (piece, following) in enumerate(pairwise(pieces)):
        less = worth[at] > worth[at + 1]
        if less and _COMMENT.match(text, piece.start) and not _EMPTY.fullmatch(text, following.start, following.end):
            worth[at + 1] = worth[at]
    for at in empty:
        worth[at] = 0.0
    numbered = _NUMBER.match(text) is not None
    seen: set[str] = set()
    for at, piece in enumerate(() if records else pieces):
        number = _NUMBER.match(text, piece.start, piece.end) if numbered else None
        line = text[number.end() if number else piece.start : piece.end].strip()
        if line in seen:
            worth[at] *= _REPEATED
        seen.add(line)
    return worth


def _decisive(outcome: Outcome) -> set[str]:
    """The lines that tell how a command went: of a failure the first say most, of a success the last."""
    lines = [line.strip() for line in outcome.text.split("\n") if line.strip()]
    return set(lines[:_MOST_DECISIVE] if outcome.failed else lines[-_MOST_DECISIVE:])


def _decides(line: str, decisive: AbstractSet[str]) -> bool:
    """Whether it is one of those lines, or a part of one that was put together from several, such as a sum of tests."""
    if not decisive:
        return False
    line = " ".join(line.split())
    if line in decisive:
        return True
    part = line[:1].isdigit() or len(line) >= _SUM
    return part and any(line in one for one in decisive) and any(map(str.isdigit, line))


def _bridged(chosen: list[int], pieces: Sequence[Piece], room: float) -> list[int]:
    """The same with gaps closed that are no longer than a marker for them."""
    out: list[int] = []
    for at in chosen:
        gap = range(out[-1] + 1, at) if out else range(at)
        if gap and len(gap) <= _BRIDGED:
            price = pieces[gap[-1]].end - pieces[gap[0]].start
            if price <= room + 4 * _MARKER:
                room -= max(0, price - 4 * _MARKER)
                out += gap
        out.append(at)
    return out
