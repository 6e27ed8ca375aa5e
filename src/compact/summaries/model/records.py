"""What records of data say of a thing: by it, a property is found that a summary took from another record."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from compact.summaries.model.bindings import Passage
from compact.summaries.model.words import plain

_FIELD = re.compile(r'"([A-Za-z_]{2,30})":\s*(?:"([^"\n]{1,40})"|(true|false)\b|(\d[\d.]{2,20})(?![\w.]))')
_OPENS = ("{", '"')
_PARTS = re.compile(r"[;—]\s|[.!?]\s|\n|,?\s(?:while|but|whereas)\s")
_WORDS = re.compile(r"\w+(?:[.'-]\w+)*")
_NOT = r"\b(?:not|no|never|without|isn't|aren't|wasn't|no longer|nor)\b(?:\W+\w+){0,2}\W+"
_TRUE, _FALSE = frozenset({"true", "yes"}), frozenset({"false", "no"})
_FLAGS = _TRUE | _FALSE
_OPPOSITE = {"true": "false", "false": "true", "yes": "no", "no": "yes"}
_ID = re.compile(r"(?=(?:\D*\d){3})[\w-]{4,}")
"""A value that names one thing."""
_LONGEST = 600
"""Characters of a passage that may be one record."""
_MOST_WORDS = 3
"""Words of a property."""
_FEWEST = 3
"""Records with a field, fewer of which do not tell whether it names things or describes them."""
_NAMES = 0.7
"""How many of the values of a field are different, where it names the things."""

Record = dict[str, str]


class Records:
    """The objects of the sources, as far as they have simple fields."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages

    def mistaken(self, text: str) -> tuple[str, str] | None:
        """A property that a statement gives to a thing, and the one that all records of that thing have instead."""
        if not self._names:
            return None
        text = plain(text)
        found = (self._other_property(part, _said(text)) for part in _PARTS.split(text))
        return next(filter(None, found), None)

    def _other_property(self, part: str, anywhere: set[str]) -> tuple[str, str] | None:
        said = _said(part)
        named = [set(self._names[value]) for value in said & self._names.keys()]
        about = [self._records[at] for at in sorted(set.intersection(*named))] if named else []
        for field in sorted({field for record in about for field in record} & self._describing.keys()):
            own = {record[field] for record in about if field in record}
            others = (self._describing[field] - own) & said
            if own <= _FLAGS:
                if (flag := _flag(field, part)) and flag.isdisjoint(own):
                    return f"{field}: {_OPPOSITE[min(own)]}", f"{field}: {min(own)}"
            elif others and own.isdisjoint(anywhere):
                return min(others), min(own)
        return None

    @cached_property
    def _records(self) -> list[Record]:
        """Each record once; an object with two fields of one name has several things in it."""
        texts = dict.fromkeys(one.text for one in self._passages if len(one.text) <= _LONGEST and '":' in one.text)
        read = (_FIELD.findall(text) for text in texts if text.lstrip().startswith(_OPENS))
        single = (fields for fields in read if len({field[0] for field in fields}) == len(fields) > 1)
        return [{name: (text or flag or number).casefold() for name, text, flag, number in fields} for fields in single]

    @cached_property
    def _values(self) -> dict[str, list[str]]:
        """The values of each field, one for each record that says something else."""
        values: defaultdict[str, list[str]] = defaultdict(list)
        for record in {tuple(sorted(record.items())) for record in self._records}:
            for field, value in record:
                values[field].append(value)
        return values

    def _tells_apart(self, field: str) -> bool:
        """Whether a field names things: nearly all of its values are different."""
        values = self._values[field]
        return len(set(values)) >= _NAMES * len(values) and _FLAGS.isdisjoint(values)

    @cached_property
    def _names(self) -> dict[str, list[int]]:
        """The records that have a value by which things are told apart."""
        names: defaultdict[str, list[int]] = defaultdict(list)
        for at, record in enumerate(self._records):
            for field, value in record.items():
                if _ID.fullmatch(value) and self._tells_apart(field):
                    names[value].append(at)
        return names

    @cached_property
    def _describing(self) -> dict[str, set[str]]:
        """The values of each field that describes things, all of them in few words."""
        return {
            field: set(values)
            for field, values in self._values.items()
            if len(values) >= _FEWEST
            and not self._tells_apart(field)
            and all(value.count(" ") < _MOST_WORDS for value in values)
        }


def _said(part: str) -> set[str]:
    """The words of a text, and each two and three that follow each other."""
    found = [word.casefold() for word in _WORDS.findall(part)]
    return {" ".join(found[at : at + size]) for size in (1, 2, 3) for at in range(len(found) - size + 1)}


def _flag(field: str, part: str) -> frozenset[str] | None:
    """What a text says of a field that is true or false."""
    name = re.escape(field.replace("_", " "))
    if not re.search(rf"\b{name}\b", part, re.IGNORECASE):
        return None
    return _FALSE if re.search(rf"{_NOT}{name}\b|\b(?:un|in|non-?){name}\b", part, re.IGNORECASE) else _TRUE
