"""Where a text speaks of a truth, and which part of the line belongs to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from compact.testing.worlds.lexicon import Lexicon
from compact.testing.worlds.passages import Line
from compact.testing.worlds.truth import Truth

_SEPARATORS = (
    re.compile(r"(?<=[.!?])(?<!\.\.)[\"”»')\]]*\s|[。！？؟]|\n"),  # noqa: RUF001 - the marks themselves
    re.compile(r"[;；؛]|\s[—–|/]\s|\s-\s(?=\[[ x]\])"),  # noqa: RUF001
    re.compile(r"[,，、،]\s?"),  # noqa: RUF001
)
_LABEL = re.compile(r"(?:^|[.;,。；，、|—–(\[])\s*([^.;,。；，、|—–(\[:：]{1,60}?)(?:[:：](?=\s|$|[^\x00-\x7f]))")  # noqa: RUF001
_QUOTED_LABEL = re.compile(_LABEL.pattern.replace("(?:^|[", '(?:^|["“«「„'))
"""The same, or at the beginning of a quotation."""
_NOTE = re.compile(r"(?<=[\"”])\s*[—–(][^\"“”]*$")
_LETTER = re.compile(r"[^\W\d_]")
_QUOTE = re.compile(r"[\"“”«»「」„]")
_SHORT = 4
"""A label of so few words holds for all sentences behind it."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name of a truth in a line, all places relative to it."""

    truth: Truth
    start: int
    end: int
    first: int
    """Where the part of the line begins that belongs to it."""
    last: int
    """Where that part ends."""


class Names:
    """Finds the names of all truths of a world."""

    def __init__(self, truths: Iterable[Truth]) -> None:
        self._names: list[tuple[str, Truth]] = []
        for truth in truths:
            lowered = {name.lower() for name in truth.names}
            # The shortest names occur wherever the longer ones do.
            core = [name for name in lowered if not any(other != name and other in name for other in lowered)]
            self._names += [(name, truth) for name in core]

    def find(self, text: str) -> list[tuple[int, int, Truth]]:
        """Every place where a truth is named; the text is in lower case."""
        found = []
        for name, truth in self._names:
            at = text.find(name)
            while at >= 0:
                end = at + len(name)
                if not (name[-1].isdigit() and text[end : end + 1].isdigit()) and not (
                    name[0].isdigit() and text[at - 1 : at].isdigit()
                ):
                    found.append((at, end, truth))
                at = text.find(name, end)
        found.sort(key=lambda place: (place[0], place[1]))
        return found


def share(line: Line, text: str, places: list[tuple[int, int, Truth]], lexicon: Lexicon) -> list[Mention]:
    """Divides the line among the truths it names: at the strongest separator between two names."""
    runs: list[tuple[int, int, Truth]] = []
    for found, until, truth in places:
        start, end = found - line.start, until - line.start
        if runs and runs[-1][2] is truth:
            runs[-1] = (runs[-1][0], end, truth)
        else:
            runs.append((start, end, truth))
    borders = [0]
    for (_, end, _), (start, _, _) in pairwise(runs):
        borders.append(_border(text, end, start, lexicon))
    borders.append(len(text))
    return [
        Mention(truth, start, end, first, last)
        for (start, end, truth), first, last in zip(runs, borders, borders[1:], strict=False)
    ]


def note_behind(text: str, line: Line, places: list[tuple[int, int, Truth]]) -> str:
    """What the end of the line notes about all of it, where nothing else on it is named: `"a" → b: "yes" — done`."""
    end = text.find("\n", line.end)
    end = end if end >= 0 else len(text)
    noted = _NOTE.search(text, line.end, end)
    return noted[0] if noted and not any(line.end <= start < end for start, _, _ in places) else ""


def _border(text: str, end: int, start: int, lexicon: Lexicon) -> int:
    between = text[end:start]
    for separator in _SEPARATORS:
        if places := list(separator.finditer(between)):
            return end + places[-1].end()
    words = lexicon.join.find(between)
    return end + words[-1].start if words else start


def label_before(text: str, place: int) -> str:
    """The label that the place stands behind: `done: a, b; open: c`."""
    return next(_labels(_LABEL, text, place), "")


def labels_before(text: str, place: int) -> Iterator[str]:
    """All labels that the place stands behind, the nearest first; a name is none: `done: a(): less memory; b`."""
    return (label for label in _labels(_QUOTED_LABEL, text, place) if "¤" not in label and _LETTER.search(label))


def _labels(pattern: re.Pattern[str], text: str, place: int) -> Iterator[str]:
    begins = sentence_start(text, place)
    for found in reversed([match for match in pattern.finditer(text) if match.end() <= place]):
        label: str = found[1]
        if found.end() > begins:
            yield label
            continue
        # What is said inside a quotation ends with its sentence.
        quoted = _QUOTE.search(text, sentence_start(text, found.start(1)), found.end())
        inside = len(_QUOTE.findall(text, 0, found.end())) % 2
        if len(label.split()) <= _SHORT and not quoted and not inside:
            yield label


def sentence_start(text: str, place: int) -> int:
    """Where the sentence around the place begins."""
    return max((match.end() for match in _SEPARATORS[0].finditer(text, 0, place)), default=0)


def same_segment(text: str, first: int, second: int) -> bool:
    """Whether no end of a sentence and no semicolon stands between the places."""
    between = text[min(first, second) : max(first, second)]
    return not any(separator.search(between) for separator in _SEPARATORS[:2])


def quoted_around(text: str, place: int) -> str:
    """The part of a quotation around the place that has no gap; nothing where none is."""
    opened = max((match.end() for match in _QUOTE.finditer(text, 0, place)), default=-1)
    closed = _QUOTE.search(text, place)
    if opened < 0 or closed is None:
        return "\0"
    gap = text.rfind("…", opened, place) + 1
    end = text.find("…", place, closed.start())
    return text[max(opened, gap) : end if end >= 0 else closed.start()]
