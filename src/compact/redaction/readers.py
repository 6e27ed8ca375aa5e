"""Secrets of several lines: private keys, and columns of tables."""

# ruff: noqa: RUF001  # quotes and signs of eight languages

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TypeAlias

from compact.redaction.made_up import is_made_up

Span: TypeAlias = tuple[int, int]
Reader: TypeAlias = Callable[[re.Match[str]], Iterable[Span]]
"""The places of the secrets that a match of a rule's pattern leads to."""

_LONGEST_KEY = 20_000
_RUN = re.compile(r"(?:[A-Za-z0-9+/=]|\\{1,7}(?:/|u00[0-9A-Fa-f]{2})){16,}")
_WIDE = 32  # so long a run of base64 is a line of a key wherever in a line of text it stands
_LAST = re.compile(r"\W{0,40}((?:[0-9]{1,6}\W{1,4})?[A-Za-z0-9+/=]{1,76})\W*\Z")
_PIECE = re.compile(
    r"((?=[+/=]*[A-Za-z0-9])(?:[A-Za-z0-9+/=]*(?:[a-z][A-Z0-9+/]|[A-Z0-9][a-z])[A-Za-z0-9+/=]*|[A-Za-z0-9+/=]{1,3}))"
    r"[\\\s,\"'+]*\Z"
)
_LETTER = re.compile(r"[A-Za-z0-9]")
_BETWEEN = re.compile(r"\W*\d*\W*\Z")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_CODE = re.compile(r"[A-Za-z_]+")
_LONGEST_TABLE = 200
_LONGEST_ROW = 2000
_HEADINGS = re.compile(r"(?:[\w .*`\"'/\\-]{0,60}[|\t;,]){1,60}[\w .*`\"'/\\-]{0,60}(?=\v?\r?\n)")
_RULE = re.compile(r"[\s|+:=─┼│-]*\Z")
_VALUES = re.compile(r"\s{0,20}values\s{0,20}(?=\()", re.IGNORECASE)
_TUPLE = re.compile(r"\s{0,20},?\s{0,20}\(((?:[^()'\"]|'[^'\n]{0,500}'|\"[^\"\n]{0,500}\"){1,2000})\)")
_CELL = re.compile(r"\s*((?:'[^'\n]*'|\"[^\"\n]*\"|[^,'\"])*),?")
_LONGEST_MANIFEST = 20_000
_DATA = re.compile(
    r"(?m)^(?P<i>[ \t]{0,20})(?:data|stringData):[ \t]{0,8}\v?\r?\n"
    r"(?P<b>(?:(?P=i)[ \t]{1,20}[^\n]{1,8192}(?:\n|\Z)){1,200})"
)
_ENTRY = re.compile(r"(?m)^[ \t]{1,40}[\w.-]{1,253}:[ \t]{1,8}(?P<v>[^\s|>#][^\v\r\n]{0,8191})")
_HEX = 32
_NEAR_PHRASE = 500
_WORDS = re.compile(r"\b(?:(?:[0-9]{1,2}[.):]\s?)?[a-z]{3,8}[\s,\\\"']{1,4}){11,23}(?:[0-9]{1,2}[.):]\s?)?[a-z]{3,8}\b")
_FUNCTION_WORDS = frozenset(
    [
        "the",
        "and",
        "for",
        "from",
        "with",
        "are",
        "was",
        "were",
        "not",
        "has",
        "had",
        "which",
        "your",
        "been",
        "its",
        "our",
        "into",
        "these",
        "those",
        "should",
        "would",
        "could",
    ]
)
_NUMBER = re.compile(r"[0-9]{4,12}")
_LONG = 8
_NEAR_VALUE = 300
_NEAR_LINK = 60
_AS = re.compile(
    r"(?:[\s,，]|(?<=[”“»«›‹」』’‘\"'`]))\s?(?:as|is|are|was|being|als|ist|war|comme|est|c'est|como|es|será|come|è|é|как|это|是|作为|为|作|当作)(?:\s|(?=[\u4e00-\u9fff]))"
    r"|[,，]\s?这是"
)
_VALUE_BEFORE = re.compile(
    r"(?:[“„”«‹»›「『‘‚\"'`]\s?(?P<q>[^\s“”„«»‹›」』’‘\"'`]{4,256})\s?[“”«»‹›」』’‘\"'`]|(?<![^\s：:（(])(?P<b>[^\s“”„«»‹›」』’‘\"'`]{6,256}))(?:[,，]\s?(?:[^\W\d_]{1,7}\s?){0,2})?\s?\Z"
)
_CELLS = {
    separator: re.compile(
        rf"(?:(?<=\A)|(?<=[\n{separator}]))"
        rf"(?:[ \\]*\"(?:[^\"\n]|\"\")*\"[ \\\v\r]*(?=[\n{separator}]|\Z)|[^\n{separator}]*)"
    )
    for separator in "|\t;,"
}
_WRAPPED = " \t\r\v\"'`*\\"


def _read_key(match: re.Match[str]) -> Iterator[Span]:
    """The lines of a private key behind its head, up to its end or as far as there are any."""
    text, start = match.string, match.end()
    stop = text.find("----", start, start + _LONGEST_KEY)
    region = text[start : stop if stop >= 0 else start + _LONGEST_KEY]
    runs = [run.span() for run in _RUN.finditer(region) if not _CODE.fullmatch(run[0])]
    if not runs:
        return
    end = runs[-1][1]
    if stop >= 0 and "END" in text[stop : stop + 12]:
        end = max(end, len(region.rstrip().rstrip("\\\"'+,> \t\r\n\v")))
    else:
        end = _end_of_lines(region, runs[0][0])
    yield start + runs[0][0], start + end


def _end_of_lines(text: str, start: int) -> int:
    """Where a key ends that is cut off: with the last of the lines that are its own."""
    end, at = start, start
    while at < len(text):
        line = _LINE.match(text, at)
        if line is None or not line[0]:
            break
        ends = [run.end() for run in _RUN.finditer(text, at, line.end()) if _is_line(run, first=end == start)]
        if ends:
            end = ends[-1]
        else:
            last = _LAST.match(line[0])
            if line[0].strip() and last is not None and end > start:
                end = at + last.end(1)
            if line[0].strip():
                break
        at = line.end()
    return end


def _is_line(run: re.Match[str], *, first: bool) -> bool:
    return first or run.end() - run.start() >= _WIDE or not _CODE.fullmatch(run[0])


def _read_key_before(match: re.Match[str]) -> Iterator[Span]:
    """The lines of a private key before its end, where its head is cut off."""
    text, end = match.string, match.start()
    low = max(0, end - _LONGEST_KEY)
    head = text.rfind("----", low, end)
    if head >= 0 and "PRIVATE" in text[max(0, head - 40) : head]:
        return
    start = end
    lines = list(_LINE.finditer(text, max(low, head), end))
    for index, line in enumerate(reversed([line for line in lines if _LETTER.search(line[0])])):
        runs = [run for run in _RUN.finditer(text, line.start(), line.end()) if run.end() - run.start() >= _WIDE]
        if runs:
            start = runs[0].start()
        elif start < end and (piece := _PIECE.search(line[0])) is not None:
            start = line.start() + piece.start(1)
            break
        elif index == 0 and (last := _LAST.match(line[0])) is not None:
            start = line.start() + last.start(1)
        else:
            break
    if start < end and len(text[start:end].strip()) >= _WIDE:
        yield start, start + len(text[start:end].rstrip().rstrip("\\\"'+,> \t\r\n\v"))


def _read_encoded(match: re.Match[str]) -> Iterator[Span]:
    """Base64 that holds a private key with its head."""
    try:
        plain = base64.b64decode(match[0][:80])
    except binascii.Error:
        return
    if b"PRIVATE KEY" in plain:
        yield match.span()


def _read_column(match: re.Match[str], *, numbers: bool = False) -> Iterator[Span]:
    """The values below a heading of a table, of CSV, or in the tuples of SQL."""
    text = match.string
    low = max(0, match.start() - _LONGEST_ROW)
    low = max(low, text.rfind("\n", low, match.start()) + 1)
    bracket = text.rfind("(", low, match.start())
    if bracket >= 0:
        yield from _in_tuples(match, bracket)
        return
    line = _HEADINGS.match(text, low)
    separator = next((sign for sign in "|\t;," if sign in line[0]), None) if line else None
    if line is None or separator is None or line[0].rstrip().endswith((",", ";")):
        return
    index, cells = text.count(separator, low, match.start()), line[0].count(separator) + 1
    for row in _rows(text, line.end() + 1, separator, cells):
        start, end = row[index].span()
        value = text[start:end].strip(_WRAPPED)
        start += len(text[start:end]) - len(text[start:end].lstrip(_WRAPPED))
        if is_made_up(value) or (numbers and _NUMBER.fullmatch(value)):
            yield start, start + len(value)


def _rows(text: str, at: int, separator: str, cells: int) -> Iterator[list[re.Match[str]]]:
    """The cells of the rows of a table, as long as there are as many as in its head."""
    cell = _CELLS[separator]
    for _, line in zip(range(_LONGEST_TABLE), _LINE.finditer(text, at), strict=False):
        if _RULE.match(line[0]) and line[0].strip():
            continue
        found = list(cell.finditer(text, line.start(), line.end()))[:cells]
        end = found[-1].end() if found else line.start()
        if len(found) < cells or text[end : line.end()].strip():
            return
        yield found


def _in_tuples(match: re.Match[str], bracket: int) -> Iterator[Span]:
    text = match.string
    closed = text.find(")", match.end() - 1, match.end() + _LONGEST_ROW)
    values = _VALUES.match(text, closed + 1) if closed >= 0 else None
    if values is None:
        return
    index = text.count(",", bracket, match.start())
    at = values.end()
    while (row := _TUPLE.match(text, at)) is not None:
        cells = [cell for cell in _CELL.finditer(text, *row.span(1)) if cell[0]]
        if index < len(cells):
            value = cells[index][1].strip(_WRAPPED)
            start = text.index(value, cells[index].start(1))
            if is_made_up(value) or (len(value) > 2 and cells[index][1].lstrip(" \\")[:1] in "'\""):
                yield start, start + len(value)
        at = row.end()


def _read_phrase(match: re.Match[str]) -> Iterator[Span]:
    """Twelve words and more on either side of the name of a phrase."""
    text = match.string
    low = max(0, match.start() - _NEAR_PHRASE)
    found = [words for words in _WORDS.finditer(text, match.end(), match.end() + _NEAR_PHRASE) if _is_phrase(words[0])][
        :1
    ]
    for words in found or [words for words in _WORDS.finditer(text, low, match.start()) if _is_phrase(words[0])][-1:]:
        yield words.span()


def _is_phrase(text: str) -> bool:
    return _FUNCTION_WORDS.isdisjoint(re.findall("[a-z]+", text))


def _read_before(match: re.Match[str]) -> Iterator[Span]:
    """Find a made-up value before words that call it the secret: use … as the password."""
    text = match.string
    low = max(text.rfind("\n", max(0, match.start() - _NEAR_VALUE), match.start()) + 1, match.start() - _NEAR_VALUE)
    for link in reversed(list(_AS.finditer(text, max(low, match.start() - _NEAR_LINK), match.start()))):
        value = _VALUE_BEFORE.search(text, low, link.start())
        if value is None:
            continue
        start, end = value.span("q" if value["q"] is not None else "b")
        one = text[start:end].rstrip(".,;:!?")
        if (is_made_up(one) and (value["q"] is not None or len(one) >= _LONG)) or (
            value["q"] is not None and _NUMBER.fullmatch(one)
        ):
            yield start, start + len(one)
            return


def _read_suffixed(match: re.Match[str]) -> Iterator[Span]:
    """A key that is told by its end."""
    yield match.start() - _HEX, match.end()


def _read_manifest(match: re.Match[str]) -> Iterator[Span]:
    """The values of Kubernetes' Secrets, whose fields have names of all kinds."""
    text, start = match.string, match.start()
    low = max(0, start - _LONGEST_MANIFEST)
    low = max(low, text.rfind("\n---", low, start), text.rfind("kind:", low, start))
    ends = (text.find(mark, match.end() - 1, match.end() + _LONGEST_MANIFEST) for mark in ("\n---", "\nkind:"))
    end = min((end for end in ends if end >= 0), default=match.end() + _LONGEST_MANIFEST)
    for data in _DATA.finditer(text, low, end):
        for entry in _ENTRY.finditer(text, *data.span("b")):
            yield entry.span("v")


READERS: Mapping[str, Reader] = {
    "key": _read_key,
    "key before": _read_key_before,
    "encoded key": _read_encoded,
    "column": _read_column,
    "number column": partial(_read_column, numbers=True),
    "manifest": _read_manifest,
    "phrase": _read_phrase,
    "suffix": _read_suffixed,
    "before": _read_before,
}
