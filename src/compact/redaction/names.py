"""Names of secrets in several languages, in every way that they are written."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from compact.redaction.tries import trie

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_OTHER = re.compile(r"[\W_]+")
_GAPS = (" ", "_", "-", "")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_GAP = "[ _-]?"
_LOOSE = {"'": f"(?:['’]|{_GAP})", "ä": "(?:ä|ae?)", "ö": "(?:ö|oe?)", "ü": "(?:ü|ue?)", "ß": "(?:ß|ss)"}


_OPEN = frozenset({"fr", "es", "it", "pt", "ru"})
"""Languages in which words that say more about a thing follow its name."""


@dataclass(frozen=True, slots=True)
class SecretNames:
    """The names of one class: those that end what they are part of, and those that more words may follow."""

    closed: tuple[str, ...]
    open: tuple[str, ...]

    def __iter__(self) -> Iterator[str]:
        yield from self.closed
        yield from self.open


@cache
def built_in_names() -> Mapping[str, SecretNames]:
    """The names of the data file beside this module, by class."""
    data = tomllib.loads((files("compact.redaction") / "names.toml").read_text(encoding="utf-8"))
    return {
        kind: SecretNames(
            tuple(name for language, names in languages.items() if language not in _OPEN for name in names),
            tuple(name for language, names in languages.items() if language in _OPEN for name in names),
        )
        for kind, languages in data.items()
    }


@cache
def labels() -> frozenset[str]:
    """The names of passwords and keys of interfaces in every spelling, in lower case: so forms label fields."""
    kinds = built_in_names()
    return frozenset(
        spelling.lower() for kind in ("password", "key") for name in kinds[kind] for spelling in spellings(name)
    )


def spellings(name: str) -> Iterator[str]:
    """A name with and without gaps and accents; ASCII letters are in lower case."""
    for gap in _GAPS if " " in name else ("",):
        for accented in dict.fromkeys((name, name.translate(_UMLAUTS), _bare(name))):
            quotes = dict.fromkeys((accented, accented.replace("'", "’"), accented.replace("'", " ")))
            yield from dict.fromkeys(lowered(one.replace(" ", gap)) for each in quotes for one in _cased(each))


def _cased(name: str) -> Iterator[str]:
    """A name in lower and upper case, and with capital letters at the start of its words."""
    words = name.split(" ")
    capital = [word.capitalize() for word in words]
    yield from (name, name.upper(), name.capitalize(), " ".join(capital), " ".join([words[0], *capital[1:]]))


def any_spelling(names: Iterable[str]) -> str:
    """A regular expression for the names in all their spellings, in any case."""
    pattern = trie(names).replace("\\ ", _GAP)
    loose = {letter: f"[{letter}{_bare(letter)}]" for letter in pattern if _bare(letter) != letter} | _LOOSE
    return f"(?u:{''.join(loose.get(letter, letter) for letter in pattern)})"


def _bare(name: str) -> str:
    """The name without accents."""
    letters = (letter for letter in unicodedata.normalize("NFD", name) if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", "".join(letters))


def lowered(text: str) -> str:
    """The text with its ASCII letters in lower case: others may change their length."""
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def parts_of(name: str) -> str:
    """A field's name in lower case with its parts joined by underscores: `apiKey`, `API-KEY` → `api_key`."""
    return _OTHER.sub("_", _HUMP.sub("_", name).lower()).strip("_")
