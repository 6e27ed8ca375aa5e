"""The words that a judge goes by: negations, fates, speakers, in the language of the world and in English."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Letters of languages that do not put blanks between words."""
_LABEL_BEFORE = re.compile(r"(?:^|[—–\-:：(（\[【|•·✓✗*_=→>])\s*$")  # noqa: RUF001 - the marks themselves
_LABEL_AFTER = re.compile(r"^\s*(?:$|[:：)）\]】|*_])")  # noqa: RUF001 - the marks themselves


_CLAUSE = re.compile(r"[,，、،.;；:：()\"“”«»—–|]")  # noqa: RUF001 - the marks themselves
_NEAR = 14
"""So many letters before a word a no is about it."""
_OPPOSITE = {"done": "open", "ok": "failed", "failed": "ok"}
_COUNT = re.compile(r"=\d")
_OPTION = re.compile(r"(?<!\S)--[a-z][\w-]*")
"""An option of a command: `--stop-on-failure` says nothing about how it ended."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a group, and where it stands."""

    group: str
    start: int
    end: int
    label: bool
    """It stands by itself, as a label does: between brackets, after a dash, before a colon. A count is none."""


class Words:
    """Groups of words that can be looked for at once; of two that begin at one place, the longer counts."""

    def __init__(self, groups: Iterable[tuple[str, str]]) -> None:
        # Most words are not there: the plain search for their letters comes first.
        self._entries = [
            (group, word.lower().partition("*")[0].rstrip(), re.compile(_pattern(word)))
            for group, word in dict.fromkeys(groups)
        ]

    def _matches(self, text: str) -> list[tuple[int, int, str]]:
        found = [
            (match.start(), -match.end(), group)
            for group, letters, pattern in self._entries
            if letters in text
            for match in pattern.finditer(text)
        ]
        found.sort()
        kept: list[tuple[int, int, str]] = []
        for start, end, group in found:
            if not kept or start >= kept[-1][1]:
                kept.append((start, -end, group))
        return kept

    def find(self, text: str) -> list[Word]:
        """All words of the groups; the text is in lower case."""
        found = []
        for start, end, group in self._matches(text):
            before, after = text[:start], text[end : end + 3]
            label = not before.strip() or bool(_LABEL_BEFORE.search(before[-4:]) or _LABEL_AFTER.match(after))
            counted = before.rstrip()[-1:].isdigit() or bool(_COUNT.match(after))
            found.append(Word(group, start, end, label and not counted))
        return found

    def groups(self, text: str) -> set[str]:
        """The groups that occur."""
        return {group for _, _, group in self._matches(text)} - {"nobody"}

    def mask(self, text: str) -> str:
        """The text without the words, at the same length."""
        for start, end, _ in self._matches(text):
            text = text[:start] + " " * (end - start) + text[end:]
        return text

    def occur(self, text: str) -> bool:
        """Whether any of the words occurs."""
        return any(letters in text and pattern.search(text) for _, letters, pattern in self._entries)


def _pattern(word: str) -> str:
    text = re.escape(word.lower()).replace(r"\ \*\ ", r" \S+ ")
    stem = text.endswith(r"\*")
    text = text.removesuffix(r"\*") + (r"\w*" if stem else "")
    if SPACELESS.search(word):
        return text
    start = r"(?<![\w=])" if word[0].isdigit() else r"(?<![\w])" if word[0].isalnum() else ""
    end = r"(?![\w])" if word[-1].isalnum() else ""
    return f"{start}{text}{end}"


class Lexicon:
    """What the words of a language mean to a judge."""

    def __init__(self, tables: list[dict[str, Any]]) -> None:
        def words(*path: str) -> list[str]:
            found = []
            for table in tables:
                value: Any = table
                for key in path:
                    value = value.get(key, {})
                found += [word for word in value if table is tables[0] or word not in foreign]
            return found

        foreign = set(tables[0].get("foreign", ()))

        def named(*path: str) -> Words:
            return Words((path[-1], word) for word in words(*path))

        self._affirmation = named("affirmation")
        self._negation = named("negation")
        self._double = [re.compile(pattern) for pattern in words("double")]
        self._prohibitions = Words([("no", word) for word in words("prohibitions")])
        self._mixed = named("mixed")
        self.condition = named("condition")
        self.history = named("history")
        self.renewal = named("renewal")
        self.rejected_before = named("rejected_before")
        self.rejected_after = named("rejected_after")
        self.chosen = named("chosen")
        self.join = named("join")
        self.fates = Words((group, word) for group in tables[0]["fates"] for word in words("fates", group))
        # A word of nobody only looks like one that names a speaker.
        self.speakers = Words(
            (group, word) for table in tables for group in table["speakers"] for word in table["speakers"][group]
        )
        self.words = {group: words("fates", group) for group in tables[0]["fates"]}
        self.negations = words("negation")

    def states(self, text: str) -> list[Word]:
        """The words that tell a fate or an outcome; one right behind a no tells the opposite."""
        found = []
        text = _OPTION.sub(lambda option: " " * len(option[0]), text)
        for word in self.fates.find(text):
            before = _CLAUSE.split(text[max(0, word.start - _NEAR) : word.start])[-1]
            turned = word.group in _OPPOSITE and self._negation.occur(before)
            found.append(replace(word, group=_OPPOSITE[word.group]) if turned else word)
        return found

    def negates(self, text: str) -> bool:
        """Whether the clause says no; of two that cancel each other out, neither counts."""
        text = self._affirmation.mask(text).replace("…", "¤")
        for pattern in self._double:
            text = pattern.sub(" ", text)
        return self._negation.occur(text)

    def forbids(self, head: str) -> bool:
        """Whether a heading forbids what stands below it; one that speaks of rules of all kinds does not."""
        return self._prohibitions.occur(head) and not self._mixed.occur(self._prohibitions.mask(head))


@lru_cache
def load_lexicon(language: str) -> Lexicon:
    """The words of the language, and the English ones: accounts are often in English whatever is spoken."""
    folder = files(__package__) / "words"
    names = dict.fromkeys((language, "en"))
    return Lexicon([tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8")) for name in names])
