"""Excerpts: as much of a long text as there is room for, in whole lines, with a marker for each gap.

Which lines stay is a matter of worth: errors, what is mentioned again later, the beginning and the end. Lines that are
very long are taken apart at the ends of sentences and records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
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
"""What the first and the last line are worth, but of code; and the first fields of records, which say what they are."""
_ERROR = 8.0
_FOUND, _SOUGHT, _RULE = 1.0, 2.5, 8.0
_DIAGNOSTIC = re.compile(r"(?:\[[\w:. -]{1,30}\] )?(?:[\w./\\-]{1,200}:)?\d{1,6}:(?:\d{1,5}:)? ?\S")
"""A line of a compiler, a linter or a search that says what was found at a place."""
_EMPTY = re.compile(r"\s*+(?:\d{1,6}(?:→|\t|:|\|)\s*+)?(?:[\])}>;,]*+|</?[\w-]{1,40}>|[/#*-]{1,3})\s*+")
"""A line that says nothing by itself: a bracket, a tag, a blank, an empty comment."""
_UNSET = re.compile(r'\s*+"[^"\n]{1,60}":\s*+(?:null|""|\[\]|\{\})\s*+[,}\]]*+\s*+')
"""A field of a record without a value."""
_NUMBER, _REPEATED = re.compile(r"\s*+(?:Line )?(\d{1,6})(?:→|\t|:|\|)"), 0.3
"""The number before a line, and the share of its worth that a line has which stood above already."""
_FEWEST, _RISING, _INDENTED, _SAMPLE = 3, 0.8, 0.4, 24
"""So many lines have numbers at least, so many of those are above the last; and so many lines of code are indented."""
_FOLLOWING, _BLOCK = 5, 3
"""Lines of code that are shown behind one that is mentioned, and how many at least: one alone says little."""
_COMMENT = re.compile(r"\s*+(?:\d{1,6}(?:→|\t|:|\|)\s*+)?(?://|#(?!#)|--|\*)\s")
_SAID, _FENCED = 2.0, 0.3
"""What a line of something that was said is worth, and the share of its worth that one between fences has."""
_STATE = re.compile(r'\s*+"[^"\n]{1,40}":\s*+(?:"[^\W\d_](?:[^\W\d_]|[ (),-]){1,40}"|true|false)\s*+[,}]?\s*+')
_STATED = 4.0
"""A field of a record that says in plain words how things stand, such as a status, and what it is worth."""
_FOUND_IN = re.compile(r"((?:[\w.@-]{0,60}/)?[\w./@ -]{2,300}):(?:\d{1,6}[:-]|$)")
"""The file that a line of a search stands in, or that the lines below it do."""
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
_REMINDER = re.compile(r"<(system-reminder|reminder)>.*?(?:</\1>|\Z)", re.DOTALL)
"""What a program adds to a result for the model; a part of it would be taken for an order."""
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
    `outcome` is what came of the command that printed it. `said` says that a person or the assistant said it.
    """

    asked: AbstractSet[str] = frozenset()
    names: AbstractSet[str] = frozenset()
    words: Mapping[str, int] = field(default_factory=dict)
    sought: AbstractSet[str] = frozenset()
    rules: bool = False
    outcome: Outcome = NOTHING
    said: bool = False


class _Kind(Enum):
    """What a text is made of."""

    LINES = "lines"
    CODE = "code"
    RECORDS = "records"


class Excerpts:
    """A text, with what each of its lines is worth; excerpts of any size are made of it."""

    def __init__(self, text: str, tokens: int, interest: Interest) -> None:
        self.text = text
        self._rate = tokens / max(len(text), 1)
        self._pieces = pieces_of(text)
        self._bodies = _bodies(text, self._pieces)
        self._kind = _kind(text, self._bodies)
        self._worth, self._mentions = worth, _ = _worth(text, self._pieces, self._bodies, interest, self._kind)
        self._order = sorted((at for at in range(len(worth)) if worth[at]), key=lambda at: (-worth[at], at))

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
            elif size > _FILLED * room or not chosen or text == best or self._kind is _Kind.RECORDS:
                return text
            else:  # the lines that were chosen have fewer tokens than others as long
                low, wanted, best = wanted, min(2 * wanted, wanted * room // max(size, 1)), text
                kept.update(chosen)
        return best or self._written(())

    def _chosen(self, room: int) -> list[int]:
        """The pieces that fit, best first come, in order."""
        left: float = room - _MARKER
        taken: set[int] = set()
        for at in self._order:
            if left < _MARKER:
                break
            if at in taken:
                continue
            block = [place for place in self._block(at) if place not in taken]
            price = self._price(block, taken)
            while price > left and len(block) > (_BLOCK if taken else 1):
                price -= self._size(block.pop())
            if price <= left:
                left -= price
                taken.update(block)
        return self._bridged(sorted(taken), left / self._rate if self._rate else 0)

    def _bridged(self, chosen: list[int], room: float) -> list[int]:
        """The same with gaps closed that are no longer than a marker; of records, not those that say nothing."""
        out: list[int] = []
        for at in (*chosen, len(self._pieces)):
            gap = range(out[-1] + 1, at) if out else range(at)
            says = self._kind is not _Kind.RECORDS or any(self._worth[one] for one in gap)
            if gap and says and len(gap) <= _BRIDGED:
                price = self._pieces[gap[-1]].end - self._pieces[gap[0]].start
                if price <= room + 4 * _MARKER:
                    room -= max(0, price - 4 * _MARKER)
                    out += gap
            out.append(at)
        return out[:-1]

    def _price(self, block: Sequence[int], taken: AbstractSet[int]) -> float:
        """What pieces cost that stand together; a block that stands alone brings a gap of its own."""
        first, last = block[0], block[-1]
        beside = first - 1 in taken or last + 1 in taken or first == 0 or last == len(self._pieces) - 1
        return sum(map(self._size, block)) + (0 if beside else _MARKER)

    def _size(self, at: int) -> float:
        """The tokens of a piece, about."""
        return (self._pieces[at].end - self._pieces[at].start) * self._rate

    def _block(self, at: int) -> range:
        """The piece with what is shown along with it: the next lines of code, up to a blank one or a declaration."""
        if self._kind is not _Kind.CODE or not self._mentions[at]:
            return range(at, at + 1)
        end = at + 1
        while end < min(len(self._pieces), at + 1 + _FOLLOWING):
            body = self._bodies[end]
            if self.text[body.start : body.end].isspace() or declares(self.text, body):
                break
            end += 1
        return range(at, end)

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


def _bodies(text: str, pieces: Sequence[Piece]) -> Sequence[Piece]:
    """The pieces without the numbers before them, where they are numbered lines."""
    first = [_NUMBER.match(text, piece.start, piece.end) for piece in pieces[:_SAMPLE]]
    if 2 * sum(number is not None for number in first) < len(first):
        return pieces
    numbers = [*first, *(_NUMBER.match(text, piece.start, piece.end) for piece in pieces[_SAMPLE:])]
    values = [int(number[1]) for number in numbers if number]
    rising = sum(one < other for one, other in pairwise(values))
    if len(values) < max(_FEWEST, len(pieces) // 2) or rising < _RISING * (len(values) - 1):
        return pieces
    return [
        Piece(number.end() if number else piece.start, piece.end) for number, piece in zip(numbers, pieces, strict=True)
    ]


def _kind(text: str, bodies: Sequence[Piece]) -> _Kind:
    if is_json(text):
        return _Kind.RECORDS
    indented = sum(text[body.start : body.start + 2].isspace() for body in bodies)
    return _Kind.CODE if len(bodies) >= _FEWEST and indented >= _INDENTED * len(bodies) else _Kind.LINES


def _worth(
    text: str, pieces: Sequence[Piece], bodies: Sequence[Piece], interest: Interest, kind: _Kind
) -> tuple[list[float], list[float]]:
    """What each piece is worth: near an edge, an error, mentioned elsewhere, taken up by what was said next.

    And how much of that is for being mentioned. A line gains by what stands beside it. A record does not, as it says
    nothing about the next one, nor does a line of code, which is shown with its block.
    """
    size, lines = len(pieces), kind is _Kind.LINES
    # What went well may print errors that were expected.
    errors = {failure.start for failure in failures_in(text)} if interest.outcome.kind is not Verdict.OK else set()
    decisive, patch, moves = _decisive(interest.outcome), _PATCH.search(text) is not None, "\x1b[" in text
    lowered = text.lower() if interest.asked else ""
    wanted = {word for word in interest.asked if word in lowered}
    asked = find_wanted([text[piece.start : piece.end] for piece in bodies], wanted) if wanted else ()
    sought = re.compile("|".join(map(re.escape, sorted(interest.sought))), re.IGNORECASE) if interest.sought else None
    counts = (
        (_ASKED, [len(found) for found in asked]),
        (_MENTIONED, count_names(text, bodies, interest.names)),
        (_TAKEN_UP, count_words(text, bodies, interest.words)),
    )
    worth, mentions, empty = [0.0] * size, [0.0] * size, []
    files = _first_found(text, pieces) if sought else set()
    for weight, found in counts:
        for at, count in enumerate(found):
            if count:
                mentions[at] += weight * min(count, _MOST_MENTIONS)
    reminders = [found.span() for found in _REMINDER.finditer(text)] if "reminder>" in text else []
    for at, piece in enumerate(pieces):
        line = text[piece.start : piece.end].strip()
        if reminders and any(start < piece.end and piece.start < end for start, end in reminders):
            empty.append(at)
            continue
        overwritten = moves and _FRAME.search(line) is not None
        says_nothing = _UNSET if kind is _Kind.RECORDS else _EMPTY
        if overwritten or says_nothing.fullmatch(text, piece.start, piece.end):
            empty.append(at)
            continue
        value = _EDGE / (1 + at) + _EDGE / (size - at) if lines else _TITLE / (1 + at) ** 2
        wrong = piece.start in errors or (interest.outcome.failed and _FAILING.match(line) is not None)
        decides = _decides(line, decisive)
        value += _ERROR * (wrong or decides)
        for below, more in enumerate(_REASON[: size - at - 1] if wrong and not decides else (), start=at + 1):
            worth[below] += more
        value += _ERROR * (at in (0, size - 1) and tells_status(line))
        value += _RULE * (interest.rules and binds(line))
        value += _SOUGHT * bool(sought and sought.search(text, piece.start, piece.end))
        value += 2 * _SOUGHT * (at in files) + _SAID * interest.said
        value += _STATED * (kind is _Kind.RECORDS and _STATE.fullmatch(text, piece.start, piece.end) is not None)
        value += _DECLARED * declares(text, bodies[at])
        value += _CHANGED * (patch and text[piece.start] in "+-")
        value += _FOUND * (_DIAGNOSTIC.match(text, bodies[at].start, piece.end) is not None)
        mentioned = mentions[at]
        worth[at] += value + mentioned
        for near in (at - 2, at - 1, at + 1, at + 2):  # what stands beside it says what it is part of
            if mentioned and 0 <= near < size and lines:
                worth[near] += mentioned * _BESIDE[abs(near - at)]
        if mentioned and lines and line.endswith(_OPENING):
            for below in range(at + 1, min(at + 1 + _BODY, size)):  # what stands in it says what it is
                worth[below] += mentioned / 2
    for at in _fenced(text, pieces) if interest.said else ():
        worth[at] *= _FENCED
    return _adjusted(text, bodies, worth, empty, repeats=kind is not _Kind.RECORDS), mentions


def _fenced(text: str, pieces: Sequence[Piece]) -> Iterator[int]:
    """The lines between fences, with these."""
    fenced = False
    for at, piece in enumerate(pieces):
        fence = text.startswith("```", piece.start)
        if fenced or fence:
            yield at
        fenced ^= fence


def _first_found(text: str, pieces: Sequence[Piece]) -> set[int]:
    """The lines of a search that are the first to name their file."""
    named: dict[str, int] = {}
    for at, piece in enumerate(pieces):
        if (found := _FOUND_IN.match(text, piece.start, piece.end)) and not found[1].isdigit():
            named.setdefault(found[1], at)
    return set(named.values())


def _adjusted(
    text: str, bodies: Sequence[Piece], worth: list[float], empty: Sequence[int], *, repeats: bool
) -> list[float]:
    """The line below a comment is worth as much as the comment, an empty line nothing, a repeated one little."""
    for at, (body, following) in enumerate(pairwise(bodies)):
        less = worth[at] > worth[at + 1]
        if less and _COMMENT.match(text, body.start) and not _EMPTY.fullmatch(text, following.start, following.end):
            worth[at + 1] = worth[at]
    for at in empty:
        worth[at] = 0.0
    seen: set[str] = set()
    for at, body in enumerate(bodies if repeats else ()):
        line = text[body.start : body.end].strip()
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
