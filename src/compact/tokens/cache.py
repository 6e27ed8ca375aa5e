"""Remembers how many tokens a text has."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final

DEFAULT_MAX_CHARS: Final = 32_000_000

# What an entry costs beside its text: the string's header and its place in the dictionary, in characters. Without it,
# a bound on characters would not bound memory, for most texts are short.
_ENTRY: Final = 128


class CountCache:
    """Counts texts with the function given, each once while it is remembered; may be called like that function.

    Texts are found by content: Python keeps a string's hash with it, so that asking again for the same string costs
    one look-up in a dictionary. What was not asked for lately is forgotten: texts live in two generations, and when
    the young one holds `max_chars`, it becomes the old one and the old one is dropped. At most twice `max_chars` are
    kept. May be used from many threads: a hit takes no lock.
    """

    def __init__(self, count: Callable[[str], int], *, max_chars: int = DEFAULT_MAX_CHARS) -> None:
        self.max_chars = max_chars
        self.hits = 0
        """How often a text was remembered; a few less when threads raced."""
        self.misses = 0
        """How often a text had to be counted."""
        self._function = count
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}
        self._young_chars = self._old_chars = 0
        self._writing = Lock()

    @property
    def chars(self) -> int:
        """How many characters are kept, the cost of the entries themselves included."""
        return self._young_chars + self._old_chars

    def count(self, text: str) -> int:
        tokens = self._young.get(text)
        if tokens is None:
            return self._recall(text)
        self.hits += 1
        return tokens

    # Where every nanosecond matters, call the method: Python finds it several times faster.
    __call__ = count

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())

    def _recall(self, text: str) -> int:
        tokens = self._old.get(text)
        if tokens is not None:
            self.hits += 1
            self._keep(text, tokens)
            return tokens
        # Outside the lock: two threads may count the same text, but none waits for another's long one.
        tokens = self._function(text)
        self._keep(text, tokens, missed=1)
        return tokens

    def _keep(self, text: str, tokens: int, *, missed: int = 0) -> None:
        cost = len(text) + _ENTRY
        with self._writing:
            self.misses += missed
            # A text so long would push out many others that are asked for more often.
            if cost > self.max_chars // 4 or text in self._young:
                return
            if self._young_chars + cost > self.max_chars:
                # The old generation first: a reader between the two statements finds everything still there.
                self._old, self._old_chars = self._young, self._young_chars
                self._young, self._young_chars = {}, 0
            self._young[text] = tokens
            self._young_chars += cost
