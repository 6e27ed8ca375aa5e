"""The user's own patterns: read, and refused where they could stall the program."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence

from compact.errors import InvalidConfiguration

HOSTILE_CHARS = 100_000
SLOWEST_SECONDS = 0.050

_BEYOND = {
    "a lookahead": re.compile(r"\(\?[=!]"),
    "a lookbehind": re.compile(r"\(\?<[=!]"),
    "a backreference": re.compile(r"\\[1-9]|\(\?P="),
    "a condition": re.compile(r"\(\?\("),
    "an atomic group": re.compile(r"\(\?>"),
    "a possessive quantifier": re.compile(r"[*+?}]\+"),
}
_PLAIN = re.compile(r"\\[^1-9]|\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_WORDS = re.compile(r"[A-Za-z0-9_-]{2,}")


def compile_patterns(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """The patterns, ready for use; the first that is invalid or dangerous is refused by its place in the list."""
    return tuple(_compile(pattern, f"redaction.patterns[{index}]") for index, pattern in enumerate(patterns))


def _compile(pattern: str, field: str) -> re.Pattern[str]:
    # Escapes and sets become a letter, so that what is left to look at is structure.
    bare = _PLAIN.sub("x", pattern)
    for what, sign in _BEYOND.items():
        if sign.search(bare):
            raise InvalidConfiguration(
                f"{pattern!r} uses {what}, with which matching may take forever",
                field=field,
                remedy="Use groups, sets and quantifiers only; a group marks the part to redact",
            )
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidConfiguration(
            f"{pattern!r} is no regular expression: {error}", field=field, remedy="Correct it"
        ) from error
    if compiled.search("") or compiled.match(" \n"):
        raise InvalidConfiguration(
            f"{pattern!r} matches where there is nothing", field=field, remedy="Let it require what it is to find"
        )
    _time(compiled, field)
    return compiled


def _time(pattern: re.Pattern[str], field: str) -> None:
    """Tries the pattern on ever longer hostile texts, so that even one of exponential time is refused soon."""
    for seed in _hostile(pattern.pattern):
        size, length = 8.0, 0
        while length < HOSTILE_CHARS:
            length = min(int(size), HOSTILE_CHARS)
            text = (seed * (length // len(seed) + 1))[:length] + "\x00"
            if _seconds(pattern, text) > SLOWEST_SECONDS and _seconds(pattern, text) > SLOWEST_SECONDS:
                raise InvalidConfiguration(
                    f"{pattern.pattern!r} takes more than {SLOWEST_SECONDS * 1000:.0f} ms on {length:,} characters",
                    field=field,
                    remedy="Begin with a literal, bound the quantifiers (\\S{1,200}), put no two of them side by side",
                )
            size *= 1.25 if size < 64 else 2.0


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    start = time.process_time()
    for _ in pattern.finditer(text):
        pass
    return time.process_time() - start


def _hostile(pattern: str) -> Iterable[str]:
    """Short texts that, repeated, make a pattern like this one work hardest: its own words and usual fillers."""
    words = _WORDS.findall(pattern)[:8]
    yield from dict.fromkeys(
        ["a", "0", " ", "=", "aA0_-", "a ", "a.", "a@", *words, *(f"{word}=" for word in words), "".join(words) or "x"]
    )
