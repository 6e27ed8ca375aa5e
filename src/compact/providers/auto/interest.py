"""What the lines of a text are worth in an excerpt: errors, what is mentioned again later, the first and the last."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from compact.facts import failures_in
from compact.history.items import begins_item
from compact.history.outcomes.outcome import NOTHING, Outcome, Verdict
from compact.history.outcomes.verdicts import tells_status
from compact.history.reading import binds
from compact.summaries.offline.outlines import declares
from compact.summaries.offline.records import Piece, count_names, count_words, find_wanted, is_json, pieces_of

_EDGE, _TITLE = 4.0, 0.5
"""What the first and the last line are worth, but of code; and the first fields of records, which say what they are."""
_ERROR = 8.0
_FOUND, _SOUGHT, _RULE = 1.0, 2.5, 8.0
_DIAGNOSTIC = re.compile(r"(?:\[[\w:. -]{1,30}\] )?(?:[\w./\\-]{1,200}:)?\d{1,6}:(?:\d{1,5}:)? ?\S")
"""A line of a compiler, a linter or a search that says what was found at a place."""
_EMPTY = re.compile(r"\s*+(?:\d{1,6}(?:→|\t|:|\|)\s*+)?(?:[\])}>;,]*+|</?[\w-]{1,40}>|[/#*-]{1,3}|```\w{0,12})\s*+")
"""A line that says nothing by itself: a bracket, a tag, a fence, a blank, an empty comment."""
_WRAPPED = re.compile(r"<(path|type)>[^<\n]{1,500}</\1>\s*")
"""The name of a file that its reading was called with, and that it is one."""
_UNSET = re.compile(r'\s*+"[^"\n]{1,60}":\s*+(?:null|""|\[\]|\{\})\s*+[,}\]]*+\s*+')
"""A field of a record without a value."""
_NUMBER, _REPEATED = re.compile(r"\s*+(?:Line )?(\d{1,6})(?:→|\t|:|\|)"), 0.3
"""The number before a line, and how much a repeated line counts."""
_FEWEST, _RISING, _INDENTED, _SAMPLE = 3, 0.8, 0.4, 24
"""So many lines have numbers at least, so many of those are above the last; and so many lines of code are indented."""
_COMMENT = re.compile(r"\s*+(?:\d{1,6}(?:→|\t|:|\|)\s*+)?(?://|#(?!#)|--|\*)\s")
_SAID, _FENCED = 2.0, 0.3
"""What a line of spoken text is worth, and how much mentions count in the code between its fences."""
_STATE = re.compile(r'\s*+"[^"\n]{1,40}":\s*+(?:"[^\W\d_](?:[^\W\d_]|[ (),-]){1,40}"|true|false)\s*+[,}]?\s*+')
_STATED = 4.0
"""A field of a record that says in plain words how things stand, such as a status, and what it is worth."""
_FOUND_IN = re.compile(r"((?:[\w.@-]{0,60}/)?[\w./@ -]{2,300}):(?:\d{1,6}[:-]|$)")
"""The file that a line of a search stands in, or that the lines below it do."""
_FENCES, _TITLED = 2, re.compile(r"^#{1,4} \S", re.MULTILINE)
_DECLARED, _OUTLINED, _IMPORTED = 0.8, 1.0, 0.4
"""What a line is worth that says what stands below it: of a file of code the declarations are the best outline.

Mentions count for less where a line only imports what is mentioned.
"""
_STATEMENT = re.compile(
    r"\s*+(?:((?://|#|--|/\*|\*)\s++\w++\W++\w|(?:throw|raise|panic|reject)\b)"
    r"|(?:\}? ?else if|if|elif|switch|case|match|when|return|yield|assert|expect)\b)"
)
_REMARKED, _DECIDED = 0.4, 0.2
"""A line of code that remarks on something, fails or decides, and what the first two and the last are worth."""
_EXPORTED, _EXPORT = 0.15, re.compile(r"\s*+(?:export|pub|public|class)\b")
"""What a declaration is worth more that others can use."""
_IMPORT = re.compile(r"\s*+(?:import|from|use|using|require|#include|export \{|\} from)\b")
_CHANGED, _FILE, _PATCH = 1.5, 6.0, re.compile(r"^(?:diff --git |@@ -\d)", re.MULTILINE)
"""What a line of a patch is worth that adds or removes something, and one that names the file which others change."""
_PATCH_HEAD = re.compile(r"(?:index [0-9a-f]{4,40}\.\.|--- (?:a/|/dev/null)|\+\+\+ (?:b/|/dev/null)|new file mode )")
"""Lines at the head of a patch that repeat what its first line says."""
_ASKED, _ITEM = 4.0, 30.0
_MENTIONED = 1.2
_TAKEN_UP = 0.8
_MOST_MENTIONS = 3
_MOST_DECISIVE = 3
_SUM = 12
"""Characters of a line with a number that can be a part of how a run ended."""
_REASON = (4.0, 2.0)
"""What the lines below an error are worth for it: they often say what was wrong."""
_TASK = re.compile(r"\A\[[\w:. -]{1,30}\] ")
"""The name of a task that a runner puts before what it prints."""
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


@dataclass(frozen=True, slots=True)
class Interest:
    """What makes a line worth showing: names in the latest request or said anywhere, words of what was said next.

    `sought` are the words that a search looked for, whose result this is; `rules` says that this is a file of rules;
    `outcome` is the result of the command that printed it. `said` says that a person or the assistant said it. `items`
    are the numbers of the items of a list that the latest request names.
    """

    asked: AbstractSet[str] = frozenset()
    names: AbstractSet[str] = frozenset()
    words: Mapping[str, int] = field(default_factory=dict)
    sought: AbstractSet[str] = frozenset()
    rules: bool = False
    outcome: Outcome = NOTHING
    said: bool = False
    items: frozenset[str] = frozenset()


class Kind(Enum):
    """What a text is made of."""

    LINES = "lines"
    CODE = "code"
    RECORDS = "records"


class Weighed:
    """A text in pieces, with what each is worth, and how much of that is for being mentioned.

    `bodies` are the pieces without the numbers before lines, and `declared` those that say what stands below them.
    """

    def __init__(self, text: str, interest: Interest) -> None:
        self.text = text
        self.pieces = pieces_of(text)
        self.bodies = _bodies(text, self.pieces)
        report = _is_report(text)
        self.kind = Kind.LINES if report else _kind(text, self.bodies)
        self._interest = interest
        self._fenced = set(_fenced(text, self.pieces)) if interest.said or report else set()
        self.declared: set[int] = set()
        self.mentions = self._mentioned()
        self.worth = self._weigh()

    def _mentioned(self) -> list[float]:
        """What each piece is worth for the names and words in it."""
        text, interest = self.text, self._interest
        lowered = text.lower() if interest.asked else ""
        wanted = {word for word in interest.asked if word in lowered}
        asked = find_wanted([text[body.start : body.end] for body in self.bodies], wanted) if wanted else ()
        counts = (
            (_ASKED, [len(found) for found in asked]),
            (_MENTIONED, count_names(text, self.bodies, interest.names)),
            (_TAKEN_UP, count_words(text, self.bodies, interest.words)),
        )
        mentions = [0.0] * len(self.pieces)
        for weight, found in counts:
            for at, count in enumerate(found):
                if count:
                    mentions[at] += weight * min(count, _MOST_MENTIONS)
        for at in self._fenced:
            mentions[at] *= _FENCED
        for at, body in enumerate(self.bodies if self.kind is Kind.CODE else ()):
            if mentions[at] and _IMPORT.match(text, body.start, body.end):
                mentions[at] *= _IMPORTED
        return mentions

    def _weigh(self) -> list[float]:
        """What each piece is worth.

        A line gains by what stands beside it. A record does not, as it says nothing about the next one, nor does a line
        of code, which is shown with its block.
        """
        text, interest, size = self.text, self._interest, len(self.pieces)
        # What went well may print errors that were expected.
        errors = {failure.start for failure in failures_in(text)} if interest.outcome.kind is not Verdict.OK else set()
        decisive = _decisive(interest.outcome)
        silent = set(self._silent())
        worth = list(self._own())
        for at, piece in enumerate(self.pieces):
            if at in silent:
                continue
            line = text[piece.start : piece.end].strip()
            wrong = piece.start in errors or (interest.outcome.failed and _FAILING.match(line) is not None)
            decides = bool(decisive) and _decides(line, decisive)
            worth[at] += _ERROR * (wrong or decides) + _ERROR * (at in (0, size - 1) and tells_status(line))
            for below, more in enumerate(_REASON[: size - at - 1] if wrong and not decides else (), start=at + 1):
                worth[below] += more
            if self.kind is Kind.LINES and self.mentions[at] and at not in self._fenced:
                self._spread(worth, at, opens=line.endswith(_OPENING))
        return self._adjusted(worth, silent)

    def _own(self) -> Iterator[float]:
        """What each piece is worth by itself."""
        text, interest, size = self.text, self._interest, len(self.pieces)
        lines, records, code = (self.kind is kind for kind in (Kind.LINES, Kind.RECORDS, Kind.CODE))
        words, item = sorted(interest.sought), 0
        sought = re.compile("|".join(map(re.escape, words)), re.IGNORECASE) if words else None
        files = _first_found(text, self.pieces) if sought else set()
        patch = _PATCH.search(text) is not None
        for at, (piece, body) in enumerate(zip(self.pieces, self.bodies, strict=True)):
            value = _EDGE / (1 + at) + _EDGE / (size - at) if lines else _TITLE / (1 + at) ** 2
            if interest.rules:
                value += _RULE * binds(text[piece.start : piece.end].strip())
            if sought:
                value += _SOUGHT * (sought.search(text, piece.start, piece.end) is not None) + 2 * _SOUGHT * (
                    at in files
                )
            if interest.said:
                value += _SAID * (at not in self._fenced)
            if interest.items:
                named = begins_item(text[piece.start : piece.end])
                item = _BODY + 1 if named in interest.items else 0 if named else item - 1
                value += _ITEM * (item > 0)
            if records:
                value += _STATED * (_STATE.fullmatch(text, piece.start, piece.end) is not None)
            if patch:
                value += _CHANGED * (text[piece.start] in "+-") + _FILE * text.startswith("diff --git ", piece.start)
            if declares(text, body):
                self.declared.add(at)
                value += (_OUTLINED if code else _DECLARED) + _EXPORTED * (_EXPORT.match(text, body.start) is not None)
            elif code and (found := _STATEMENT.match(text, body.start, body.end)):
                value += _REMARKED if found[1] else _DECIDED
            value += _FOUND * (_DIAGNOSTIC.match(text, body.start, piece.end) is not None)
            yield value + self.mentions[at]

    def _silent(self) -> Iterator[int]:
        """The pieces that say nothing."""
        text, moves = self.text, "\x1b[" in self.text
        nothing = _UNSET if self.kind is Kind.RECORDS else _EMPTY
        reminders = deque(found.span() for found in _REMINDER.finditer(text)) if "reminder>" in text else deque()
        head = _WRAPPED if self.bodies is not self.pieces else _PATCH_HEAD if "diff --git " in text else None
        for at, (start, end) in enumerate(self.pieces):
            if head and text[start] in "<-+in" and head.match(text, start, end):
                yield at
                continue
            while reminders and reminders[0][1] <= start:
                reminders.popleft()
            reminds = reminders and reminders[0][0] < end
            if reminds or nothing.fullmatch(text, start, end) or (moves and _FRAME.search(text, start, end)):
                yield at

    def _spread(self, worth: list[float], at: int, *, opens: bool) -> None:
        """Raises what stands beside a line that is mentioned, and, where it `opens` a block, what stands in that."""
        size, mentioned = len(worth), self.mentions[at]
        for near in (at - 2, at - 1, at + 1, at + 2):
            if 0 <= near < size:
                worth[near] += mentioned * _BESIDE[abs(near - at)]
        for below in range(at + 1, min(at + 1 + _BODY, size)) if opens else ():
            worth[below] += mentioned / 2

    def _adjusted(self, worth: list[float], silent: AbstractSet[int]) -> list[float]:
        """The line below a comment is worth as much as the comment, an empty line nothing, a repeated one little."""
        text = self.text
        for at, (body, following) in enumerate(pairwise(self.bodies)):
            less = worth[at] > worth[at + 1]
            if less and _COMMENT.match(text, body.start) and not _EMPTY.fullmatch(text, following.start, following.end):
                worth[at + 1] = worth[at]
        for at in silent:
            worth[at] = 0.0
        seen: set[str] = set()
        for at, body in enumerate(self.bodies if self.kind is not Kind.RECORDS else ()):
            line = text[body.start : body.end].strip()
            if line in seen:
                worth[at] *= _REPEATED
            seen.add(line)
        return worth


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


def _kind(text: str, bodies: Sequence[Piece]) -> Kind:
    if is_json(text):
        return Kind.RECORDS
    indented = sum(text[body.start : body.start + 2].isspace() for body in bodies)
    return Kind.CODE if len(bodies) >= _FEWEST and indented >= _INDENTED * len(bodies) else Kind.LINES


def _is_report(text: str) -> bool:
    """Whether it is a document with headings and code between fences, such as what another agent found out."""
    return text.count("\n```") >= _FENCES and _TITLED.search(text) is not None


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


def _decisive(outcome: Outcome) -> set[str]:
    """The lines that tell how a command went: of a failure the first say most, of a success the last."""
    lines = [line.strip() for line in outcome.text.split("\n") if line.strip()]
    return set(lines[:_MOST_DECISIVE] if outcome.failed else lines[-_MOST_DECISIVE:])


def _decides(line: str, decisive: AbstractSet[str]) -> bool:
    """Whether it is one of those lines, with or without the name of a task before it.

    Or a part of one that was put together from several, such as a sum of tests.
    """
    line = " ".join(line.split())
    if line in decisive or _TASK.sub("", line, count=1) in decisive:
        return True
    part = line[:1].isdigit() or len(line) >= _SUM
    return part and any(line in one for one in decisive) and any(map(str.isdigit, line))
