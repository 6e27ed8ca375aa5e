"""The words of a text as they are compared: in any script, whatever the ending, and with whatever signs around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise

from compact.history.speech import common_words

# Letters up to here may belong to a name in a program; other scripts make words of their own, as in 文件server.py第3行.
_LATIN = r"[^\W\u0250-\U0010ffff]"
WORD = re.compile(
    rf"(?!_){_LATIN}(?:(?:{_LATIN}|[./@#$+~'-]|(?<=\d),(?=\d))*{_LATIN})?|#\d+|__{_LATIN}+|[^\W\x00-\u024f]+"
)
PARTS = re.compile(r"[^\w.]+|(?<=[^\W\d])\.|\.(?=[^\W\d])")
FIGURE = re.compile(r"\d[\d.,]*")
_EDGES = ".'-/~+$@"
_JOINED = re.compile(r"[\W\d_]+|(?<=[a-z])(?=[A-Z])")
"""Where the words of a name are joined: in_this_way or inThisWay."""
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|es|s|e|ly)\Z")
_STEM = 6
"""Letters of a word that are compared: what follows is an ending in most languages."""
_UNSPACED = "\u0e00"
"""From Thai on, most scripts do without spaces: there, pairs of letters are compared."""
_ABBREVIATION = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_NAMED = re.compile(r"[\d_/]|\w\.\w|[a-z][A-Z]")
"""How the name of something is written: with figures, joined by signs, or with capitals inside."""
_TYPOGRAPHY = (
    dict.fromkeys(map(ord, "“”„‟«»\u2039\u203a「」『』〝〞"), '"')
    | dict.fromkeys(map(ord, "’\u2018\u201a"), "'")
    | dict.fromkeys(map(ord, "\u2010\u2011"), "-")
)
_SET_IN = str.maketrans("", "", "\"'`*")
_ESCAPED = re.compile(r"\\[ntr]")
CODE = re.compile(r"`[^`\n]*`")
_COMMON_WORDS = """
the a an and or but if then than that this these those there here with from into of to for in on at by as is are
was were be been being has have had do does did done it its they them their he him his she her we us our you
your i my me not no nor so such also only just any all each both more most other which who what when where why
how while until before after about over under again still yet up down out very can could may might must shall
should will would user users wants want wanted asks asked ask requests requested said says
"""
COMMON = common_words() | frozenset(_COMMON_WORDS.split())


def plain(text: str) -> str:
    """The text with the usual letters, figures, quotation marks, apostrophes and line breaks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_TYPOGRAPHY)
    return _ESCAPED.sub("\n", text).replace('\\"', '"')


def fold(texts: Iterable[str]) -> str:
    """The texts as one line that quotations are looked for in, whatever they are set in."""
    return " ".join(chain.from_iterable(text.casefold().translate(_SET_IN).split() for text in texts))


def stem(word: str) -> str:
    return _ENDING.sub("", word)[:_STEM] if word.isalpha() else word


def digits(figure: str) -> str:
    """A number as it is compared: 1,200.50 is 1.200,5 elsewhere."""
    whole = figure.rstrip(".,")
    return re.sub(r"[.,]", "", whole.rstrip("0") if re.search(r"[.,]\d{1,2}\Z", whole) else whole)


def words(text: str) -> Iterator[str]:
    """The words of a text as they are compared, without the commonest; names also in parts."""
    return chain.from_iterable(map(spellings, WORD.findall(text)))


@lru_cache(maxsize=1 << 16)
def spellings(word: str) -> tuple[str, ...]:
    """What a word is compared by, first as a whole; nothing for the commonest. The same words come again and again."""
    name = word.casefold().strip(_EDGES).removesuffix("'s")
    bare = word.strip(_EDGES)
    if name in COMMON:
        return ()
    if word[0] >= _UNSPACED and len(word) > 1:
        return tuple(map("".join, pairwise(word)))
    if not _NAMED.search(bare) or _ABBREVIATION.fullmatch(bare):
        return (stem(name),)
    inner = (part.casefold() for part in _JOINED.split(word) if len(part) > 2)
    parts = (stem(part) for part in (*PARTS.split(name), *inner) if part and part not in COMMON)
    return tuple(dict.fromkeys((name, *parts, *map(digits, FIGURE.findall(name)), name.rpartition("/")[2])))


def quotations(text: str) -> Iterator[str]:
    """What a text quotes, where that is more than a word."""
    # Every other piece between quotation marks stands inside them.
    pieces = CODE.sub(lambda code: code[0].replace('"', "'"), text).split('"')[1::2]
    return (piece for piece in pieces if " " in piece.strip() or piece[:1] >= _UNSPACED)
