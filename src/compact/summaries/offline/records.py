"""The pieces that a result is made of, lines, sentences and records of JSON, and the names in them."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate, pairwise
from typing import NamedTuple

from compact.messages import Json

_LONG_LINE = 200
_SENTENCE = re.compile(r".{60,200}?(?:[.!?;]\s+|\Z)|.{1,160}", re.DOTALL)
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')
_LONGEST_RECORD, _DEEPEST = 300, 12
_NAME = re.compile(r"(?<![A-Za-z_])[A-Za-z_]+(?:[\d_/.-]|(?<=[a-z])[A-Z])[\w./-]{1,60}|#?\d[\w.,:-]{2,31}")
"""A name or a number, not a plain word."""
_COMPOUND = re.compile(
    r"(?:self|well|non|re|multi|anti|pre|post|semi|ever|real|long|short|high|low|in|on|up|off|one|two|much|half|hands|lesser"
    r"|all|top|like|day|step|face|eye)(?:-[a-z]+)+"
    r"|(?:[a-z]+-)+(?:[a-z]+(?:ed|ing|ly|able|ful|ic|ive|ous)|free|known|term|world|time|life|level|like|wide|made|driven"
    r"|efficient|conscious|dry|new|up|off|out|hand|based|fresh)",
    re.IGNORECASE,
)
"""Words with a hyphen that are plain all the same."""
_WORD, _VALUE = re.compile(r"\w{5,40}"), re.compile(r"\w{3,40}")
_NEAR, _TOGETHER, _LATER = 4, 0.5, 0.25
"""How many words apart something is said together, what that counts, and what it counts at most to be said late."""
_LONGEST_LOOK, _LONGEST_SCAN = 20_000, 3_000
JOIN, _MORE = " / ", "…"
_KNOWN_FIELD = 20
"""Characters of a field that two records hardly have by chance."""
_RECORDS = 2
"""So many records at least are to fit where some are picked."""
_TELLING = 8
"""A name that stands in more places than this counts less in each."""
_RARE = 2
"""A word in more pieces than this says nothing about any of them."""


class Piece(NamedTuple):
    """Where a piece of a text begins and ends."""

    start: int
    end: int


class Record(NamedTuple):
    """The fields of a JSON object, and the keys (`field_key`) of those that earlier records have, too."""

    fields: Mapping[str, Json]
    known: AbstractSet[str] = frozenset()
    asked: AbstractSet[str] = frozenset()


def names_in(text: str) -> set[str]:
    """The names and numbers of a text, as they are compared."""
    found = {name.rstrip(".,:-/") for name in _NAME.findall(text)}
    return {name for name in found if "-" not in name or not _COMPOUND.fullmatch(name)}


def words_in(text: str) -> set[str]:
    """The longer words of a text, whatever their case."""
    return set(_WORD.findall(text.lower()))


def count_names(text: str, pieces: Sequence[Piece], names: AbstractSet[str]) -> list[float]:
    """How many of the names each piece has, less for a name that stands in many."""
    findall = _NAME.findall
    found: dict[int, list[str]] = {}
    for at, piece in enumerate(pieces if names else ()):
        if mine := [name for each in findall(text, piece.start, piece.end) if (name := each.rstrip(".,:-/")) in names]:
            found[at] = mine
    often = Counter(name for mine in found.values() for name in mine)
    counts = [0.0] * len(pieces)
    for at, mine in found.items():
        counts[at] = sum(min(1.0, _TELLING / often[name]) for name in mine)
    return counts


def place_words(text: str) -> dict[str, int]:
    """The words of a text, in lower case, with the place of each among them, where it stands last."""
    return {word: at for at, word in enumerate(_VALUE.findall(text.lower()))}


def count_words(text: str, pieces: Sequence[Piece], words: Mapping[str, int]) -> list[float]:
    """How many of the words each piece has, without those that most pieces have; `words` have their places.

    Those tell none from another, as the names of fields in a list of records. In records short words are values; words
    that were said together count more, and later ones: who changes something names last what it is to be.
    """
    records, lowered = is_json(text), text.lower()
    findall = (_VALUE if records else _WORD).findall
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for at, piece in enumerate(pieces if words else ()):
        for word in words.keys() & findall(lowered, piece.start, piece.end):
            holders[word].append(at)
    places: defaultdict[int, list[int]] = defaultdict(list)
    for word, found in holders.items():
        for at in found if len(found) <= max(len(pieces) // 2, 1) else ():
            places[at].append(words[word])
    return [_together(places[at], len(words)) if records else len(places[at]) for at in range(len(pieces))]


def _together(places: list[int], size: int) -> float:
    near = any(other - one <= _NEAR for one, other in pairwise(sorted(places)))
    return len(places) + _TOGETHER * near + _LATER * sum(places) / max(size * len(places), 1)


class Mentions:
    """The pieces of a text, by how much they share with the words that were said of it."""

    def __init__(self, text: str, words: Mapping[str, int]) -> None:
        text = text[:_LONGEST_SCAN] if words else ""
        found = _with_leads(text, pieces_of(text))
        self._pieces = [text[piece.start : piece.end].strip(" ,\n") for piece in found]
        shared = count_words(text, found, words)
        self._order = sorted((at for at, share in enumerate(shared) if share), key=lambda at: (-shared[at], at))
        self._is_list = not is_json(text)

    def pick(self, longest: int) -> str:
        """Return the pieces that share the most, in order; nothing where none does.

        Where it ends with "…", there are others.
        """
        places: list[int] = []
        left = longest
        for at in self._order:
            left -= len(self._pieces[at]) + len(JOIN)
            if left < 0:
                break
            places.append(at)
        chosen = [self._pieces[at] for at in sorted(places)]
        return _joined(chosen, more=len(chosen) < len(self._pieces) and self._is_list)


def _with_leads(text: str, pieces: Sequence[Piece]) -> list[Piece]:
    """The pieces, with a line that leads in to the next one joined to it: alone it says nothing."""
    found: list[Piece] = []
    leads = False
    for piece in pieces:
        if leads:
            piece = Piece(found.pop().start, piece.end)  # noqa: PLW2901 - the same piece, from its lead-in on
        found.append(piece)
        leads = text[piece.start : piece.end].rstrip().endswith(":")
    return found


def pick(text: str, wanted: AbstractSet[str], longest: int) -> str:
    """The pieces of a text with names or rare words that are wanted, in lower case; nothing where none has any.

    Where it ends with "…", there are others.
    """
    if not wanted:
        return ""
    text = text[:_LONGEST_LOOK]
    pieces = [text[piece.start : piece.end].strip(" ,\n") for piece in pieces_of(text, longest // _RECORDS)]
    chosen: list[str] = []
    left = longest
    for piece, found in zip(pieces, find_wanted(pieces, wanted), strict=True):
        if found and len(piece) <= left:
            chosen.append(piece)
            left -= len(piece) + len(JOIN)
    return _joined(chosen, more=len(chosen) < len(pieces) and not is_json(text))


def _joined(pieces: list[str], *, more: bool) -> str:
    """The pieces on a line; "…" says that a list has `more`. That a record has other fields goes without saying."""
    return JOIN.join([*pieces, _MORE] if pieces and more else pieces)


def find_wanted(pieces: Sequence[str], wanted: AbstractSet[str]) -> list[set[str]]:
    """The wanted words of each piece, in lower case, without those that too many pieces have."""
    lowered = [piece.lower() for piece in pieces]
    text = "\n".join(lowered)
    ends = list(accumulate(len(piece) + 1 for piece in lowered))
    found: list[set[str]] = [set() for _ in pieces]
    for word in wanted:
        holders: list[int] = []
        at = _find_word(text, word)
        while at >= 0 and len(holders) <= _RARE:
            holders.append(bisect_right(ends, at))
            at = _find_word(text, word, ends[holders[-1]])
        for holder in holders if len(holders) <= _RARE else ():
            found[holder].add(word)
    return found


def _find_word(text: str, word: str, start: int = 0) -> int:
    """Where a text has the word next, from its beginning on, a number only as a whole; -1 where nowhere."""
    at = text.find(word, start)
    while at >= 0:
        end = at + len(word)
        begins = not (at and text[at - 1].isalnum() and word[0].isalnum())
        if begins and not (word[-1].isdigit() and text[end : end + 1].isalnum()):
            break
        at = text.find(word, end)
    return at


def pieces_of(text: str, longest: int = _LONGEST_RECORD) -> list[Piece]:
    """The lines of the text, each with its line feed, very long ones in parts; of JSON the records.

    A record of at most `longest` characters is not taken apart.
    """
    if is_json(text):
        return list(_records(text, longest))
    lines = text.splitlines(keepends=True)
    ends = list(accumulate(map(len, lines)))
    if max(map(len, lines), default=0) <= _LONG_LINE:
        return list(map(Piece._make, pairwise([0, *ends])))
    found: list[Piece] = []
    for line, end in zip(lines, ends, strict=True):
        start = end - len(line)
        if len(line) <= _LONG_LINE:
            found.append(Piece(start, end))
        elif is_json(line):
            found += (Piece(start + part.start, start + part.end) for part in _records(line, longest))
        else:
            found += (Piece(start + part.start(), start + part.end()) for part in _SENTENCE.finditer(line))
    return found


def scalars_in(text: str, longest: int) -> str:
    """The plain fields of a JSON object, such as a status, as far as they fit."""
    value = load_record(text)
    told: list[str] = []
    for key, entry in value.items():
        if isinstance(entry, str | int | float | bool) and len(field := f"{key}: {entry}") <= longest // 2:
            told.append(field)
            if sum(map(len, told)) + 2 * len(told) > longest:
                told.pop()
                break
    return "; ".join(told)


def fields_in(record: Record, longest: int, without: Collection[Json] = ()) -> str:
    """The fields of a record on one line: plain ones first, then records within it, of which all are told or none.

    Lists and records that are asked for come before others. What is known from earlier records comes last, as an
    address that every order has.
    """
    fields = [(key, entry) for key, entry in record.fields.items() if entry not in (None, "", [], {}, *without)]
    told: list[str] = []
    left = longest - len(_MORE)

    def rank(field: tuple[str, Json]) -> tuple[bool, int, bool]:
        key, entry = field
        known = field_key(key, entry) in record.known and key not in record.asked
        return known, isinstance(entry, dict | list) and 1 + (key not in record.asked), isinstance(entry, dict)

    order = sorted(fields, key=rank)
    for key, entry in order:
        forms = (f"{key}: {form}" for form in (_plain(entry), *_outlines(entry)))
        if text := next((form for form in forms if len(form) + 2 <= left), ""):
            told.append(text)
            left -= len(text) + 2
    return "; ".join([*told, _MORE] if told and len(told) < len(fields) else told)


def keys_with(value: Json, words: AbstractSet[str], depth: int = 0) -> set[str]:
    """The keys of a record that have one of the words, or under which such a key stands."""
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, dict) or depth > _DEEPEST:
        return set()
    return {
        key
        for key, entry in value.items()
        if any(word in key.lower() for word in words) or keys_with(entry, words, depth + 1)
    }


def field_key(key: str, entry: Json) -> str:
    """By what a field is known again in another record; nothing for one so short that two may have it by chance."""
    text = f"{key}={_plain(entry)}"
    return text if isinstance(entry, dict | list) or len(text) >= _KNOWN_FIELD else ""


def load_record(text: str) -> dict[str, Json]:
    """The JSON object that a text is; an empty one where it is none."""
    if not text.lstrip().startswith("{") or len(text) > _LONGEST_LOOK:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _outlines(entry: Json) -> Iterator[str]:
    """Shorter forms of records: each with its plain fields, then with the first two, then by what names it alone."""
    named = list(entry.items()) if isinstance(entry, dict) else [("", each) for each in _listed(entry)]
    if not named or not all(isinstance(each, dict) for _, each in named):
        return
    flat = [
        (name, [(key, value) for key, value in each.items() if value != name and _is_scalar(value)])
        for name, each in named
        if isinstance(each, dict)
    ]
    if not all(fields for _, fields in flat):
        return
    for most in (None, 2):
        told = ((name, "; ".join(f"{key}: {value}" for key, value in fields[:most])) for name, fields in flat)
        yield ", ".join(f"{name} {{{fields}; …}}".lstrip() for name, fields in told)
    yield ", ".join(name or str(fields[0][1]) for name, fields in flat)


def _listed(entry: Json) -> Sequence[Json]:
    return entry if isinstance(entry, list) else ()


def _is_scalar(value: Json) -> bool:
    return isinstance(value, str | int | float | bool)


def _plain(entry: Json, depth: int = 0) -> str:
    """A value without the signs of JSON, but for those that say what holds together."""
    if depth > _DEEPEST:
        return "…"
    if isinstance(entry, dict):
        return "{" + "; ".join(f"{key}: {_plain(each, depth + 1)}" for key, each in entry.items()) + "}"
    if isinstance(entry, list):
        return ", ".join(_plain(each, depth + 1) for each in entry)
    return entry if isinstance(entry, str) else json.dumps(entry)


def is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[") and '":' in text


def _records(text: str, longest: int) -> Iterator[Piece]:
    """The elements of JSON: whole records where they are not too long, else what those are made of.

    A record is not taken apart, so that no value can seem to belong to another.
    """
    begins: defaultdict[int, list[int]] = defaultdict(list)
    depth = 0
    for found in _STRUCTURE.finditer(text):
        sign = found[0]
        depth += (sign in "{[") - (sign in "}]")
        if sign in ("{", "[", ","):
            begins[depth].append(found.end())

    def split(start: int, end: int, level: int) -> Iterator[Piece]:
        if end - start <= longest:
            yield Piece(start, end)
        elif level > _DEEPEST:
            yield from (Piece(at, min(at + _LONG_LINE, end)) for at in range(start, end, _LONG_LINE))
        else:
            places = begins[level]
            inner = places[bisect_right(places, start) : bisect_left(places, end)]
            bounds = [start, *inner, end]
            for one, other in pairwise(bounds):
                yield from split(one, other, level + 1)

    yield from split(0, len(text), 1)
