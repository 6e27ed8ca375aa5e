"""Long texts in few characters: stretches of the made-up project by their name, other people's prose by its length.

A text is a string, or a list of pieces. A piece is a string, a stretch of one of the project's documents, or neutral
prose that takes the place of a client's own prompt.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final, Self

from compact.messages import Json
from scripts.lab.project import RULE_FILES, documents

_LEAST_LINES: Final = 3
_NUMBERED: Final = re.compile(r"^( *\d+)([:|\t→] ?| \| ?)")
_FILES: Final = "|".join(map(re.escape, RULE_FILES))
_KEPT: Final = re.compile(rf"survey this project|^TURN-|/home/dev/project|^(#+ |--- )[^.]*\b({_FILES})|^({_FILES})$")
_TAG: Final = re.compile(r"^\s*</?[\w-]+[^>]{0,40}>\s*$|^```\w*$|^-+$|^Path: ")
_LONGEST_KEPT: Final = 200
_SUBJECTS: Final = (
    *("The kettle", "The garden", "A small boat", "The old bridge"),
    *("One window", "The lamp", "A long table", "The orchard"),
)
_VERBS: Final = ["holds", "shows", "carries", "borders", "faces", "follows", "covers", "meets"]
_OBJECTS: Final = [
    "seven stones",
    "a quiet road",
    "the northern field",
    "two painted doors",
    "an even row of trees",
    "warm bread",
]

Escape = Callable[[str], str]


def _json(line: str) -> str:
    return json.dumps(line)[1:-1]


def _html(line: str) -> str:
    return re.sub("[<>&']", lambda found: f"\\u{ord(found[0]):04x}", _json(line))


_ESCAPES: Final[dict[str, tuple[str, Escape]]] = {"": ("\n", str), "json": ("\\n", _json), "html": ("\\n", _html)}


@lru_cache(1)
def _documents() -> dict[str, list[str]]:
    return {name: text.split("\n") for name, text in documents().items()}


@lru_cache(4)
def _places(escape: str) -> Mapping[str, list[tuple[str, int]]]:
    """Where each line of the documents stands."""
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for name, lines in _documents().items():
        for at, line in enumerate(lines):
            found[_ESCAPES[escape][1](line)].append((name, at))
    return found


class Text(str):
    """A text that knows its pieces."""

    __slots__ = ("pieces",)
    pieces: list[Json]

    def __new__(cls, pieces: list[Json]) -> Self:
        """The text of the pieces."""
        made = super().__new__(cls, expand(pieces))
        made.pieces = pieces
        return made


def neutral(seed: int, length: int) -> str:
    """Prose about nothing, exactly that long."""
    rng = random.Random(seed)
    sentences: list[str] = []
    size = 0
    while size < length:
        sentence = f"{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)}."
        sentences.append(sentence + ("\n" if rng.random() < 0.3 else " "))
        size += len(sentences[-1])
    return "".join(sentences)[:length]


def expand(text: Json) -> str:
    """The text of a string or a list of pieces."""
    return text if isinstance(text, str) else "".join(map(_expanded, text))


def _expanded(piece: Json) -> str:
    if isinstance(piece, str):
        return piece
    if "neutral" in piece:
        return neutral(*piece["neutral"])
    newline, escaped = _ESCAPES[piece.get("in", "")]
    first, last = piece["lines"]
    number = piece.get("from", first + 1)
    form = piece.get("as", "")
    lines = _documents()[piece["of"]][first:last]
    return newline.join(form.format(number + at) + escaped(line) for at, line in enumerate(lines))


def encode(text: str) -> Json:
    """The text as it is kept: whole where no piece of it is known, else its pieces."""
    pieces = text.pieces if isinstance(text, Text) else list(_pieces(text))
    return pieces[0] if len(pieces) == 1 and isinstance(pieces[0], str) else pieces


def without_prose(text: str, least: int = 0) -> Text:
    """The text with neutral prose of the same length in place of others' lines that are at least that long."""
    pieces: list[Json] = []
    for piece in _pieces(text):
        pieces += _neutralized(piece, least) if isinstance(piece, str) else [piece]
    return Text(pieces)


def prose(length: int) -> Text:
    """Neutral prose of that length."""
    return Text([{"neutral": [length, length]}])


def _pieces(text: str) -> Iterator[Json]:
    """The text's stretches of documents, and what is between them."""
    best: list[Json] = [text]
    for escape, (newline, _) in _ESCAPES.items():
        if newline in text:
            found = list(_stretches(text, escape, newline))
            if _literal(found) < _literal(best):
                best = found
    yield from best


def _literal(pieces: list[Json]) -> int:
    return sum(len(piece) for piece in pieces if isinstance(piece, str))


def _stretches(text: str, escape: str, newline: str) -> Iterator[Json]:
    lines, at, kept = text.split(newline), 0, 0
    pending = ""
    while at < len(lines):
        piece, count = _stretch(lines, at, escape)
        if not piece:
            at += 1
            continue
        before = "".join(line + newline for line in lines[kept:at])
        if pending + before:
            yield pending + before
        yield piece
        at += count
        kept, pending = at, newline if at < len(lines) else ""
    rest = pending + newline.join(lines[kept:])
    if rest:
        yield rest


def _stretch(lines: list[str], at: int, escape: str) -> tuple[Json, int]:
    """The longest stretch of a document that begins at a line, and its number of lines."""
    best: tuple[Json, int] = (None, 0)
    numbered = _NUMBERED.match(lines[at])
    readings = [("", lines[at])]
    if numbered:
        readings.append((_form(numbered), lines[at][numbered.end() :]))
    for form, line in readings:
        for name, first in _places(escape).get(line, [])[:20]:
            count = _run(lines, at, (name, first), escape, form)
            if count > max(best[1], _LEAST_LINES - 1):
                piece: dict[str, Json] = {"of": name, "lines": [first, first + count]}
                piece |= {"in": escape} if escape else {}
                piece |= {"as": form} if form else {}
                if form and numbered and int(numbered[1]) != first + 1:
                    piece["from"] = int(numbered[1])
                best = (piece, count)
    return best


def _form(numbered: re.Match[str]) -> str:
    """How lines are numbered, as a format."""
    digits, sign = numbered[1], numbered[2]
    if digits.startswith("0"):
        return f"{{:0{len(digits)}}}{sign}"
    return f"{{:>{len(digits)}}}{sign}" if digits.startswith(" ") else f"{{}}{sign}"


def _run(lines: list[str], at: int, place: tuple[str, int], escape: str, form: str) -> int:
    """How many lines agree with a document from a place on."""
    name, first = place
    escaped, document = _ESCAPES[escape][1], _documents()[name]
    number = int(found[1]) if form and (found := _NUMBERED.match(lines[at])) else 0
    count = 0
    while at + count < len(lines) and first + count < len(document):
        expected = (form.format(number + count) if form else "") + escaped(document[first + count])
        if lines[at + count] != expected:
            break
        count += 1
    return count


def _neutralized(text: str, least: int = 0) -> Iterator[Json]:
    """The text with neutral prose of the same length for lines from a length on, save markup and the project's own."""
    foreign, kept = 0, ""
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\n")
        own = len(bare) < least or (len(bare) <= _LONGEST_KEPT and (_KEPT.search(bare) or _TAG.match(bare)))
        if own or (not bare and not foreign):
            if foreign:
                yield from ({"neutral": [foreign, foreign - 1]}, "\n")
                foreign = 0
            kept += line
            continue
        if kept:
            yield kept
            kept = ""
        foreign += len(line)
    if kept:
        yield kept
    if foreign:
        yield {"neutral": [foreign, foreign]}
