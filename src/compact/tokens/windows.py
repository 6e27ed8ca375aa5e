"""Counts of long texts, exact and in bounded memory: one window of the text is encoded at a time.

A window begins where a token of the window before began, and must begin with the same tokens. Then the tokens of all
windows are those of the whole text: byte-pair encoding decides by neighbours, so tokens are right if every pair of
neighbours is, and the pair at the cut stood side by side in the earlier window. Most vocabularies split a text into
words first, by a pattern; so a text is cut only where the pattern goes on from the cut as it would have gone on anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Final, TypeAlias
from unicodedata import category

WINDOW: Final = 1 << 16
"""Characters that are encoded at a time."""
_LOOKED_AT: Final = 64
"""Tokens at the end of a window among which a place for the cut is looked for."""
_AGREE: Final = 16
"""Tokens with which the next window must begin."""
_TOKEN_BYTES: Final = 4
_BLANK: Final = "\u2581"
"""What some vocabularies have in the place of a space."""

Encode: TypeAlias = Callable[[str], bytes]
"""Gives the tokens of a text, as 32-bit integers."""
BytesOf: TypeAlias = Callable[[int], bytes]
"""Gives what a token stands for."""

# Where every pattern begins a word: behind a letter or digit, at anything else but an apostrophe or an accent.
_NEXT_WORD: Final = re.compile(r"(?<=[A-Za-z])[\x00-&(-@\[-`{-\x7f]|(?<=[0-9])[\x00-&(-/:-\x7f]")
_LOWER_OR_BLANK: Final = re.compile(r"[a-z]{2}|[ \t]{2}")


@dataclass(frozen=True, slots=True)
class _Cut:
    """Where a window begins, how many tokens are before it, how it must begin, and how long the window before was."""

    start: int = 0
    total: int = 0
    expected: bytes = b""
    size: int = 0


def count_in_windows(text: str, encode: Encode, bytes_of: BytesOf, window: int = WINDOW) -> int:
    """The number of tokens in the text, never an approximation: what cannot be cut is encoded at once."""
    cuts, size = [_Cut()], window
    while True:
        here = cuts[-1]
        piece = text[here.start : here.start + size]
        tokens = encode(piece)
        if not tokens.startswith(here.expected):
            cuts.pop()
            size = 2 * here.size
        elif here.start + size >= len(text):
            return here.total + len(tokens) // _TOKEN_BYTES
        elif (found := _cut(here, piece, tokens, bytes_of)) is None:
            size *= 2
        else:
            cuts.append(found)
            size = window


def _cut(here: _Cut, piece: str, tokens: bytes, bytes_of: BytesOf) -> _Cut | None:
    """Where the next window may begin; None where no place is safe."""
    for kept, chars in _boundaries(piece, tokens, bytes_of):
        if _is_safe(piece, chars):
            expected = tokens[kept * _TOKEN_BYTES :][: _AGREE * _TOKEN_BYTES]
            return _Cut(here.start + chars, here.total + kept, expected, len(piece))
    return None


def _boundaries(piece: str, tokens: bytes, bytes_of: BytesOf) -> Iterator[tuple[int, int]]:
    """Where the last tokens begin, from the end on: how many tokens and how many characters are before it."""
    ids = memoryview(tokens).cast("I")
    chars, pending = len(piece), b""
    for kept in range(len(ids) - 1, max(0, len(ids) - _LOOKED_AT), -1):
        pending = bytes_of(ids[kept]) + pending
        try:
            spelled = pending.decode()
        except UnicodeDecodeError:  # the token begins inside of a character
            continue
        chars, pending = chars - len(spelled), b""
        if piece[chars : chars + len(spelled)].replace(_BLANK, " ") != spelled.replace(_BLANK, " "):
            return  # the text was changed before it was encoded
        if kept <= len(ids) - _AGREE and chars:
            yield kept, chars


def _is_safe(piece: str, place: int) -> bool:
    """Whether the pattern would split what follows the place in the same way if it began there."""
    if "'" in piece[max(0, place - 3) : place + 1]:
        return False
    if _NEXT_WORD.match(piece, place) or _LOWER_OR_BLANK.match(piece, place - 1):
        return True
    # Inside of a run of one kind, where it is known what the pattern takes the run for. What precedes the run may
    # change that; a run that reaches the beginning of the piece began there, or was cut before for the same reason.
    before, after = piece[place - 1], piece[place]
    for kind in (ascii_uppercase, "\r\n", "/"):
        if before in kind and after in kind:
            return _may_precede(piece[:place].rstrip(kind)[-1:], kind)
    if _is_caseless(before) and _is_caseless(after):
        return not any(map(str.islower, set(piece[:place]))) or not _before_caseless(piece, place).islower()
    return _is_sign(before) and _is_sign(after)


def _may_precede(char: str, kind: str) -> bool:
    if kind == "/":
        return char not in ("\r", "\n")  # behind signs, these and slashes are one
    if kind == "\r\n":
        return not char or char.isalnum() or char.isspace()
    return not _is_caseless(char)


def _before_caseless(piece: str, place: int) -> str:
    return next((char for char in reversed(piece[:place]) if not _is_caseless(char)), "")


def _is_caseless(char: str) -> bool:
    """Whether it is a letter that is neither small nor large, or an accent."""
    return category(char) in ("Lo", "Lm", "Mn", "Mc", "Me") if char else False


def _is_sign(char: str) -> bool:
    return not char.isalnum() and not char.isspace() and char not in "'\u2019/" and not category(char).startswith("M")
